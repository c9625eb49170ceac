// SPDX-License-Identifier: LGPL-2.1-or-later
/* .gnu_debugdata: an ELF file with the local symbols, compressed by xz. */
#include <errno.h>

#include "internal.h"

/* What it takes to decompress one into memory, as far as can be told: twice
 * what comes out. It is not to come on top of another big piece of memory. */
enum { RATIO = 2 * 8, AT_ONCE = 10 << 20 };

/* A dictionary as xz has it unless it is told otherwise, and a bit. */
enum { DICTIONARY = 9 << 20 };

static int unpack_to_memory(struct file *f, struct symres *s,
			    const GElf_Shdr *sh)
{
	unsigned char *mem;
	size_t size;
	int ret;

	if (s->spare.room * sizeof(*s->spare.v) + RATIO * sh->sh_size > AT_ONCE)
		range_list_free(&s->spare);
	ret = unpack(f->elf.in, sh->sh_offset, sh->sh_size, &mem, &size);
	if (!ret)
		input_from_memory(&f->mini_in, mem, size);
	return ret;
}

/* It is of no use, wherever it would be unpacked to. */
static bool is_final(int ret)
{
	return ret == -EBADMSG || ret == -EFBIG;
}

/* Takes what is kept, or decompresses it to be kept; else it is in memory. */
static int open_unpacked(struct file *f, struct symres *s, const GElf_Shdr *sh,
			 bool wait)
{
	struct room room = { 0 };
	int ret;

	if (f->unpacking && !wait)
		return -EINPROGRESS;
	ret = f->unpacking ? cache_unpack_end(f, s) : -ENOENT;
	if (!ret || is_final(ret))
		return ret;
	ret = cache_load(f, s, KEPT_MINI);
	if (!ret || ret == -ENOMEM)
		return ret;
	if (!wait && !cache_unpack_ahead(f, s, sh->sh_offset, sh->sh_size))
		return -EINPROGRESS;
	/* The list of symbols comes after that, and takes the same memory. */
	if (!range_reserve(&s->spare, DICTIONARY / sizeof(*s->spare.v)))
		room = (struct room) {
			s->spare.v, s->spare.room * sizeof(*s->spare.v),
		};
	ret = cache_unpack_mini(f, s, sh->sh_offset, sh->sh_size, &room);
	if (!ret || is_final(ret) || ret == -ENOMEM)
		return ret;
	return unpack_to_memory(f, s, sh);
}

/*
 * Opens f->mini if the file has one that is well. 0, -ENOMEM, or without @wait
 * -EINPROGRESS: the worker has yet to decompress it.
 */
int minidebug_open(struct file *f, struct symres *s, bool wait)
{
	static const char sh_name[] = ".gnu_debugdata";
	const GElf_Shdr *sh = elf_section(&f->elf, sh_name);
	int ret;

	/* Nothing relocatable has one. */
	if (!sh || f->elf.section_addr ||
	    packing_of(f->elf.in, sh->sh_offset) != PACKING_XZ)
		return 0;
	if (f->mini_bad)
		return debugfile_leave(f, NULL, sh_name, SYMRES_LEFT_CUT_SHORT,
				       0);
	ret = open_unpacked(f, s, sh, wait);
	if (ret == -EINPROGRESS)
		return ret;
	if (!ret) {
		ret = elf_open(&f->mini, &f->mini_in);
		if (!ret && elf_alike(&f->mini, &f->elf))
			return 0;
		elf_close(&f->mini);
		f->mini.in = NULL;
		input_close(&f->mini_in);
	}
	if (ret == -ENOMEM)
		return ret;
	f->mini_bad = true;
	return debugfile_leave(f, NULL, sh_name, SYMRES_LEFT_CUT_SHORT, 0);
}
