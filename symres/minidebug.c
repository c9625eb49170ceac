// SPDX-License-Identifier: LGPL-2.1-or-later
/* .gnu_debugdata: an ELF file with the local symbols, compressed by xz. */
#include <errno.h>

#include "internal.h"

/* What it takes to decompress one, as far as can be told: twice what comes out.
 * It is not to come on top of another big piece of memory. */
enum { RATIO = 2 * 8, AT_ONCE = 10 << 20 };

/* Opens f->mini if the file has one that is well. 0, or -ENOMEM. */
int minidebug_open(struct file *f, struct symres *s)
{
	const GElf_Shdr *sh = elf_section(&f->elf, ".gnu_debugdata");
	unsigned char *mem;
	size_t size;
	int ret;

	/* Nothing relocatable has one. */
	if (!sh || f->elf.section_addr ||
	    packing_of(f->elf.in, sh->sh_offset) != PACKING_XZ)
		return 0;
	/* The room for the list is wanted after that. */
	if (s->spare.room * sizeof(*s->spare.v) + RATIO * sh->sh_size > AT_ONCE)
		range_list_free(&s->spare);
	ret = unpack(f->elf.in, sh->sh_offset, sh->sh_size, &mem, &size);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	input_from_memory(&f->mini_in, mem, size);
	ret = elf_open(&f->mini, &f->mini_in);
	if (!ret && elf_alike(&f->mini, &f->elf))
		return 0;
	elf_close(&f->mini);
	f->mini.in = NULL;
	input_close(&f->mini_in);
	return ret == -ENOMEM ? ret : 0;
}
