// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Function descriptors of 64-bit PowerPC: a function's symbol lies in .opd, and
 * what is there says where its code begins. They are read a piece at a time,
 * when a symbol is.
 */
#include <endian.h>
#include <string.h>

#include "internal.h"

void opd_find(struct elf *elf)
{
	const GElf_Shdr *sh = elf->ehdr.e_machine == EM_PPC64 ?
			      elf_section(elf, ".opd") : NULL;

	/* Before it is linked, what is there says nothing. */
	if (!sh || elf->ehdr.e_type == ET_REL || sh->sh_type != SHT_PROGBITS)
		return;
	elf->opd.addr = sh->sh_addr;
	elf->opd.size = sh->sh_size;
	elf->opd.off = sh->sh_offset;
}

bool opd_holds(const struct elf *elf, uint64_t addr)
{
	return addr - elf->opd.addr < elf->opd.size;
}

/* From a descriptor's address to its function's; else it stays what it is. */
uint64_t opd_code(struct elf *elf, uint64_t addr)
{
	struct opd *o = &elf->opd;
	uint64_t at = addr - o->addr, start, code;

	if (!opd_holds(elf, addr) || o->size - at < sizeof(code))
		return addr;
	if (at < o->at || at - o->at + sizeof(code) > o->len) {
		start = at;
		o->len = o->size - start < sizeof(o->buf) ?
			 (size_t)(o->size - start) : sizeof(o->buf);
		o->at = start;
		if (input_read(elf->in, o->off + start, o->buf, o->len)) {
			o->len = 0;
			return addr;
		}
	}
	memcpy(&code, o->buf + (at - o->at), sizeof(code));
	return elf->encoding == ELFDATA2MSB ? be64toh(code) : le64toh(code);
}
