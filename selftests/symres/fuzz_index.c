// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a kept index or as mini debug info that is kept decompressed,
 * sealed and labelled as if they were of this file: they may cost answers,
 * nothing else. */
#include <dirent.h>
#include <unistd.h>

#include "fuzz_base.h"

static char dir[] = "/tmp/symres-fuzz-XXXXXX";
static char elf_path[64], store[64];

enum { INDEX, MINI, KINDS };

static char *path[KINDS];
static struct symres_opts opts = {
	.size = sizeof(opts), .debug_dirs = "", .cache_dir = store,
};
/* Where things are in a head, as cache.c has them; see check_seal(). */
enum { SUM = 16, SIZE = 24, HOW = 32, STAMPS = 40, TABLES = 88, BUILD_ID = 196,
       HEAD = 264, HOW_MINI = 8 };

static unsigned char good[KINDS][HEAD];

static void remove_all(void)
{
	for (int i = 0; i < KINDS; i++)
		unlink(path[i]);
	unlink(elf_path);
	rmdir(store);
	rmdir(dir);
}

static void sum_add(uint64_t sum[4], const unsigned char *d, size_t len)
{
	size_t words = len / 8;

	for (size_t i = 0; i < (len + 7) / 8; i++) {
		size_t lane = i == words ? 1 : i < words / 4 * 4 ? i % 4 : 0;
		uint64_t w = 0;

		memcpy(&w, d + 8 * i, i == words ? len % 8 : 8);
		sum[lane] = (sum[lane] ^ w) * 0x9e3779b97f4a7c15u;
	}
}

static uint64_t sum_of(const unsigned char *d, size_t len)
{
	uint64_t sum[4] = { 0 }, all = len - HEAD;

	sum_add(sum, d + HEAD, len - HEAD);
	sum_add(sum, d, HEAD);
	for (int i = 0; i < 4; i++) {
		all = (all ^ sum[i]) * 0xd6e8feb86659fd93u;
		all ^= all >> 32;
	}
	return all;
}

static void seal(unsigned char *d, uint64_t len, int kind)
{
	const unsigned char *from = good[kind];
	uint64_t sum;

	memcpy(d, from, SUM);
	memset(d + SUM, 0, 8);
	memcpy(d + SIZE, &len, 8);
	memcpy(d + HOW, from + HOW, 4);
	memcpy(d + STAMPS, from + STAMPS, TABLES - STAMPS);
	memcpy(d + BUILD_ID - 4, from + BUILD_ID - 4, HEAD - BUILD_ID + 4);
	sum = sum_of(d, len);
	memcpy(d + SUM, &sum, 8);
}

static void look(void)
{
	struct symres *s;

	if (symres_open(&s, &opts))
		die("symres_open");
	look_everywhere(s, elf_path);
	symres_close(s);
}

/* The seal of this file must be the one of the library, or all is refused. */
static void check_seal(int kind)
{
	unsigned char d[1 << 16];
	FILE *f = fopen(path[kind], "r");
	size_t n = f ? fread(d, 1, sizeof(d), f) : 0;
	uint64_t sum;

	if (f)
		fclose(f);
	if (n < HEAD)
		die(path[kind]);
	memcpy(good[kind], d, HEAD);
	memcpy(&sum, d + SUM, 8);
	seal(d, n, kind);
	if (memcmp(&sum, d + SUM, 8)) {
		fprintf(stderr, "the seal is another one\n");
		exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct dirent *e;
	DIR *d;

	(void)argc;
	(void)argv;
	base_read();
	if (!mkdtemp(dir))
		die(dir);
	snprintf(elf_path, sizeof(elf_path), "%s/elf", dir);
	snprintf(store, sizeof(store), "%s/store", dir);
	write_file(elf_path, base, base_size);
	look();
	d = opendir(store);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' &&
		    asprintf(&path[strstr(e->d_name, "-m.") ? MINI : INDEX],
			     "%s/%s", store, e->d_name) < 0)
			die("asprintf");
	if (d)
		closedir(d);
	for (int i = 0; i < KINDS; i++) {
		if (!path[i])
			die(store);
		check_seal(i);
	}
	atexit(remove_all);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy;
	int kind;

	if (size < HEAD)
		return 0;
	kind = data[HOW] & HOW_MINI ? MINI : INDEX;
	copy = malloc(size);
	if (!copy)
		die("malloc");
	memcpy(copy, data, size);
	seal(copy, size, kind);
	/* What an earlier input left behind does not count. */
	for (int i = 0; i < KINDS; i++)
		unlink(path[i]);
	write_file(path[kind], copy, size);
	look();
	free(copy);
	return 0;
}
