/* SPDX-License-Identifier: GPL-2.0-only */
/* A 64-bit little-endian ELF file whose one section is what is fuzzed: the file
 * that $FUZZ_ELF names. */
#ifndef FUZZ_BASE_H
#define FUZZ_BASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static unsigned char *base;
static size_t base_size;

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

static inline void base_read(void)
{
	const char *path = getenv("FUZZ_ELF");
	FILE *f = path ? fopen(path, "r") : NULL;
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		die("FUZZ_ELF");
	base_size = (size_t)st.st_size;
	base = malloc(base_size);
	if (!base || fread(base, 1, base_size, f) != base_size)
		die(path);
	fclose(f);
}

/* The file with other content in a section, or NULL; to be freed. */
static inline unsigned char *base_with(const char *section, const void *content,
				       size_t len, size_t *size)
{
	unsigned char *out = malloc(base_size + len + 1);
	Elf64_Ehdr eh;
	Elf64_Shdr names, sh;

	if (!out)
		die("malloc");
	memcpy(out, base, base_size);
	memcpy(out + base_size, content, len);
	*size = base_size + len;
	memcpy(&eh, base, sizeof(eh));
	memcpy(&names, base + eh.e_shoff + eh.e_shstrndx * sizeof(sh),
	       sizeof(names));
	for (size_t i = 1; i < eh.e_shnum; i++) {
		memcpy(&sh, base + eh.e_shoff + i * sizeof(sh), sizeof(sh));
		if (strcmp((char *)base + names.sh_offset + sh.sh_name, section))
			continue;
		sh.sh_offset = base_size;
		sh.sh_size = len;
		memcpy(out + eh.e_shoff + i * sizeof(sh), &sh, sizeof(sh));
		return out;
	}
	die(section);
	return NULL;
}

/* Every address of a file: what is named must hold it. */
static inline void look_everywhere(struct symres *s, const char *path)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	for (uint64_t addr = 0x1000; addr < 0x1400; addr += 3) {
		if (symres_lookup_file(s, path, addr, &sym) <= 0)
			continue;
		if (!sym.name || !*sym.name || sym.addr > addr ||
		    (sym.sym_size && addr - sym.addr >= sym.sym_size))
			abort();
	}
}

static inline void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	if (!f || fchmod(fileno(f), 0600) || fwrite(data, 1, len, f) != len ||
	    fclose(f))
		die(path);
}

#endif
