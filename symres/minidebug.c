// SPDX-License-Identifier: LGPL-2.1-or-later
/* .gnu_debugdata: an ELF file with the local symbols, compressed by xz. */
#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

#include "internal.h"

/* A symbol table and its names; the limits are for hostile files. */
#define MAX_SIZE (256u << 20)
#define MAX_DECODER (128u << 20)

static int grow(unsigned char **mem, size_t *room)
{
	size_t more = *room ? *room * 2 : 256 << 10;
	unsigned char *bigger = more > MAX_SIZE ? NULL : realloc(*mem, more);

	if (!bigger)
		return more > MAX_SIZE ? -ENOEXEC : -ENOMEM;
	*mem = bigger;
	*room = more;
	return 0;
}

static int decode(lzma_stream *xz, const struct elf *elf, const GElf_Shdr *sh,
		  unsigned char **mem, size_t *size)
{
	enum { STEP = 1 << 16 };
	unsigned char *in = malloc(STEP);
	lzma_ret state = LZMA_OK;
	uint64_t at = 0;
	size_t room = 0;
	int ret = in ? 0 : -ENOMEM;

	while (!ret && state == LZMA_OK) {
		if (!xz->avail_in && at < sh->sh_size) {
			size_t n = sh->sh_size - at < STEP ?
				   (size_t)(sh->sh_size - at) : STEP;

			ret = input_read(elf->in, sh->sh_offset + at, in, n);
			xz->next_in = in;
			xz->avail_in = n;
			at += n;
		}
		if (!ret && xz->total_out == room)
			ret = grow(mem, &room);
		if (ret)
			break;
		xz->next_out = *mem + xz->total_out;
		xz->avail_out = room - xz->total_out;
		state = lzma_code(xz, at < sh->sh_size ? LZMA_RUN :
							 LZMA_FINISH);
	}
	free(in);
	*size = xz->total_out;
	if (!ret && state == LZMA_MEM_ERROR)
		ret = -ENOMEM;
	return !ret && state != LZMA_STREAM_END ? -ENOEXEC : ret;
}

/* Opens f->mini if the file has one that is well. 0, or -ENOMEM. */
int minidebug_open(struct file *f)
{
	const GElf_Shdr *sh = elf_section(&f->elf, ".gnu_debugdata");
	lzma_stream xz = LZMA_STREAM_INIT;
	unsigned char *mem = NULL;
	size_t size = 0;
	int ret = -ENOEXEC;

	/* Nothing relocatable has one. */
	if (!sh || f->elf.section_addr)
		return 0;
	if (lzma_stream_decoder(&xz, MAX_DECODER, 0) == LZMA_OK)
		ret = decode(&xz, &f->elf, sh, &mem, &size);
	lzma_end(&xz);
	if (ret) {
		free(mem);
		return ret == -ENOMEM ? ret : 0;
	}
	input_from_memory(&f->mini_in, mem, size);
	ret = elf_open(&f->mini, &f->mini_in);
	if (!ret && elf_alike(&f->mini, &f->elf))
		return 0;
	elf_close(&f->mini);
	f->mini.in = NULL;
	input_close(&f->mini_in);
	return ret == -ENOMEM ? ret : 0;
}
