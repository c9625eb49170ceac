// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an ELF file: no address may crash the reader, and an answer must
 * hold the address it was asked for. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same file once more, as if it were asked about for the first time: what is
 * found without an index must be what the index tells. */
static void look_once(const struct file *f, const struct symres *s,
		      uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) }, first = sym;
	struct symres once = {
		.debug_dirs = s->debug_dirs, .perf = s->perf,
		.demangle = s->demangle,
	};
	struct file *f2 = calloc(1, sizeof(*f2));
	int ret, ret2;

	f2->in = f->in;
	f2->debug_in.fd = -1;
	f2->mini_in.fd = -1;
	file_load(f2);
	ret2 = file_lookup(f2, &once, addr, &first);
	ret = file_name((struct file *)f, (struct symres *)s, addr, &sym);
	if (ret2 < 0 || ret != ret2 ||
	    (ret && (strcmp(sym.name, first.name) || sym.addr != first.addr ||
		     sym.sym_size != first.sym_size)))
		abort();
	memset(&f2->in, 0, sizeof(f2->in));
	f2->in.fd = -1;
	free(once.name.s);
	range_list_free(&once.spare);
	file_free(f2);
}

static void look(struct file *f, struct symres *s, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	if (f->miss)
		return;
	/* Seldom, since each reads all tables. */
	if (addr % 16 == 5 && !f->mini.in)
		look_once(f, s, addr);
	if (file_name(f, s, addr, &sym) <= 0)
		return;
	if (sym.addr > addr || !sym.name || !*sym.name)
		abort();
	if (sym.sym_size && addr - sym.addr >= sym.sym_size)
		abort();
}

/* Where sections were given addresses, no two may share one. */
static void check_places(const struct elf *elf)
{
	size_t n = elf->section_addr && elf->nphdr < 64 ? elf->nphdr : 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			const GElf_Phdr *a = &elf->phdr[i], *b = &elf->phdr[k];

			if (i != k && a->p_memsz && b->p_memsz &&
			    a->p_vaddr <= b->p_vaddr &&
			    b->p_vaddr - a->p_vaddr < a->p_memsz)
				abort();
		}
}

/* The same bytes in a gzip stream, which nothing in them can damage. */
static unsigned char *packed(const uint8_t *data, size_t size, size_t *len)
{
	z_stream z = { 0 };
	unsigned char *mem;

	if (deflateInit2(&z, 0, Z_DEFLATED, 16 + MAX_WBITS, 9,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	/* Its bound is meant for levels that do compress. */
	*len = deflateBound(&z, size) + size / 8 + 1024;
	mem = malloc(*len);
	z.next_in = (unsigned char *)data;
	z.avail_in = (uInt)size;
	z.next_out = mem;
	z.avail_out = (uInt)*len;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	*len = z.total_out;
	deflateEnd(&z);
	return mem;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file *f = calloc(1, sizeof(*f));
	unsigned char *mem = malloc(size ? size : 1);
	size_t len = size;
	struct symres s = { .debug_dirs = (char[]){ "" } };
	uint64_t addr;

	/* The size chooses among the ways in, so that a corpus finds them all. */
	s.perf = size & 1;
	s.demangle = size & 2;

	if (size & 4) {
		free(mem);
		mem = packed(data, size, &len);
	} else {
		memcpy(mem, data, size);
	}
	input_from_memory(&f->in, mem, len);
	f->debug_in.fd = -1;
	f->mini_in.fd = -1;
	file_load(f);
	check_places(&f->elf);
	if (!f->miss && file_index(f, &s, true))
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
