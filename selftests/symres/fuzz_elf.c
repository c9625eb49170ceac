// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an ELF file: no address may crash the reader, and an answer must
 * hold the address it was asked for. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct file *f, struct symres *s, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	if (f->miss || file_name(f, s, addr, &sym) <= 0)
		return;
	if (sym.addr > addr || !sym.name || !*sym.name)
		abort();
	if (sym.sym_size && addr - sym.addr >= sym.sym_size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file *f = calloc(1, sizeof(*f));
	unsigned char *mem = malloc(size ? size : 1);
	struct symres s = { .debug_dirs = (char[]){ "" } };
	uint64_t addr;

	/* The size chooses among the ways in, so that a corpus finds them all. */
	s.perf = size & 1;
	s.demangle = size & 2;

	memcpy(mem, data, size);
	input_from_memory(&f->in, mem, size);
	f->debug_in.fd = -1;
	f->mini_in.fd = -1;
	file_load(f);
	if (!f->miss && file_index(f, &s))
		abort();
	for (uint64_t at = 0; at < size && at < 1 << 16; at += 61)
		if (elf_offset_to_addr(&f->elf, at, &addr))
			look(f, &s, addr);
	for (uint32_t c = 0; c < f->index.nchunk; c++) {
		const struct index_chunk *chunk = &f->index.chunk[c];

		for (uint32_t i = 0; i < chunk->n; i++) {
			addr = chunk->base + f->index.key[chunk->first + i];
			look(f, &s, addr);
			look(f, &s, addr - 1);
		}
	}
	look(f, &s, 0);
	look(f, &s, UINT64_MAX);
	range_list_free(&s.spare);
	free(s.name.s);
	file_free(f);
	return 0;
}
