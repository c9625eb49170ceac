// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a kept index, sealed and labelled as if they were one of this
 * file: they may cost answers, nothing else. */
#include <dirent.h>
#include <unistd.h>

#include "fuzz_base.h"

static char dir[] = "/tmp/symres-fuzz-XXXXXX";
static char elf_path[64], store[64], *index_path;
static struct symres_opts opts = {
	.size = sizeof(opts), .debug_dirs = "", .cache_dir = store,
};
static unsigned char good[512];	/* its head */

/* Where things are in a head, as cache.c has them; see index_is_used(). */
enum { SUM = 16, SIZE = 24, HOW = 32, STAMPS = 40, TABLES = 88, BUILD_ID = 196,
       HEAD = 264 };

static void remove_all(void)
{
	unlink(index_path);
	unlink(elf_path);
	rmdir(store);
	rmdir(dir);
}

static uint64_t sum_of(const unsigned char *d, size_t len)
{
	uint64_t sum[4] = { 0 }, all = len - HEAD, w;
	size_t parts[] = { 0, HEAD, HEAD + (len - HEAD) / 8 * 8, len };

	for (int p = 0; p < 3; p++) {
		size_t n = (parts[p + 1] - parts[p] + 7) / 8;

		for (size_t i = 0; i < n || (p == 2 && i == 0); i++) {
			size_t at = parts[p] + 8 * i;

			w = 0;
			if (at < len)
				memcpy(&w, d + at, len - at < 8 ? len - at : 8);
			w = (sum[i < n / 4 * 4 ? i % 4 : 0] ^ w) *
			    0x9e3779b97f4a7c15u;
			sum[i < n / 4 * 4 ? i % 4 : 0] = w;
		}
	}
	for (int i = 0; i < 4; i++) {
		all = (all ^ sum[i]) * 0xd6e8feb86659fd93u;
		all ^= all >> 32;
	}
	return all;
}

static void seal(unsigned char *d, uint64_t len)
{
	uint64_t sum;

	memcpy(d, good, SUM);
	memset(d + SUM, 0, 8);
	memcpy(d + SIZE, &len, 8);
	memcpy(d + HOW, good + HOW, 4);
	memcpy(d + STAMPS, good + STAMPS, TABLES - STAMPS);
	memcpy(d + BUILD_ID - 4, good + BUILD_ID - 4, HEAD - BUILD_ID + 4);
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
static void check_seal(void)
{
	unsigned char d[1 << 16];
	FILE *f = fopen(index_path, "r");
	size_t n = f ? fread(d, 1, sizeof(d), f) : 0;
	uint64_t sum;

	if (f)
		fclose(f);
	if (n < HEAD)
		die(index_path);
	memcpy(good, d, HEAD);
	memcpy(&sum, d + SUM, 8);
	seal(d, n);
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
		    asprintf(&index_path, "%s/%s", store, e->d_name) < 0)
			die("asprintf");
	if (d)
		closedir(d);
	if (!index_path)
		die(store);
	check_seal();
	atexit(remove_all);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy;

	if (size < HEAD)
		return 0;
	copy = malloc(size);
	if (!copy)
		die("malloc");
	memcpy(copy, data, size);
	seal(copy, size);
	unlink(index_path);
	write_file(index_path, copy, size);
	look();
	free(copy);
	return 0;
}
