// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files without section headers: the dynamic segment tells where the symbols
 * are that the dynamic linker needs, and its hash tables tell how many. From
 * that the sections are made up that the rest of the library looks for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_DYNAMIC 4096

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

/* Where an address is in the file, and how much of its segment follows. */
static bool addr_to_offset(const struct elf *elf, uint64_t addr, uint64_t *off,
			   uint64_t *room)
{
	for (size_t i = 0; i < elf->nphdr; i++) {
		const GElf_Phdr *ph = &elf->phdr[i];

		if (ph->p_type != PT_LOAD || addr < ph->p_vaddr ||
		    addr - ph->p_vaddr >= ph->p_filesz)
			continue;
		*off = ph->p_offset + (addr - ph->p_vaddr);
		*room = ph->p_filesz - (addr - ph->p_vaddr);
		return elf_extent_ok(elf, *off, *room);
	}
	return false;
}

static void take(struct dynamic *d, int64_t tag, uint64_t val)
{
	switch (tag) {
	case DT_SYMTAB:
		d->symtab = val;
		break;
	case DT_STRTAB:
		d->strtab = val;
		break;
	case DT_STRSZ:
		d->strsz = val;
		break;
	case DT_HASH:
		d->hash = val;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = val;
		break;
	}
}

static bool read_dynamic(const struct elf *elf, struct dynamic *d)
{
	bool wide = elf->class == ELFCLASS64;
	size_t size = wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	const GElf_Phdr *ph = NULL;

	for (size_t i = 0; i < elf->nphdr && !ph; i++)
		if (elf->phdr[i].p_type == PT_DYNAMIC)
			ph = &elf->phdr[i];
	for (uint64_t i = 0; ph && i < MAX_DYNAMIC &&
	     (i + 1) * size <= ph->p_filesz; i++) {
		uint64_t off = ph->p_offset + i * size;
		Elf64_Dyn d64 = { 0 };
		Elf32_Dyn d32 = { 0 };

		if (wide ? elf_read(elf, ELF_T_DYN, off, &d64, size) :
			   elf_read(elf, ELF_T_DYN, off, &d32, size))
			break;
		if (!d64.d_tag && !d32.d_tag)
			break;
		take(d, wide ? d64.d_tag : d32.d_tag,
		     wide ? d64.d_un.d_val : d32.d_un.d_val);
	}
	return d->symtab && d->strtab && d->strsz;
}

static bool read_words(const struct elf *elf, uint64_t off, uint32_t *out,
		       size_t n)
{
	return !elf_read(elf, ELF_T_WORD, off, out, n * sizeof(*out));
}

/* How many symbols DT_HASH says there are. */
static uint64_t count_by_hash(const struct elf *elf, uint64_t addr)
{
	uint64_t off, room;
	uint32_t head[2];

	/* These two have words of 64 bits there. */
	if (elf->class == ELFCLASS64 && (elf->ehdr.e_machine == EM_S390 ||
					 elf->ehdr.e_machine == EM_ALPHA))
		return 0;
	if (!addr_to_offset(elf, addr, &off, &room) || room < sizeof(head) ||
	    !read_words(elf, off, head, 2))
		return 0;
	return head[1];
}

/* DT_GNU_HASH says where chains begin; the end of the last one is the end. */
static uint64_t count_by_gnu_hash(const struct elf *elf, uint64_t addr)
{
	uint64_t off, room, buckets, chains, last = 0;
	uint64_t word = elf->class == ELFCLASS64 ? 8 : 4;
	uint32_t head[4], v[256];

	if (!addr_to_offset(elf, addr, &off, &room) || room < sizeof(head) ||
	    !read_words(elf, off, head, 4))
		return 0;
	buckets = off + sizeof(head) + head[2] * word;
	chains = buckets + head[0] * sizeof(*v);
	for (uint32_t at = 0, n; at < head[0]; at += n) {
		n = head[0] - at < 256 ? head[0] - at : 256;
		if (!read_words(elf, buckets + at * sizeof(*v), v, n))
			return 0;
		for (uint32_t i = 0; i < n; i++)
			last = v[i] > last ? v[i] : last;
	}
	if (last < head[1])
		return head[1];
	while (read_words(elf, chains + (last - head[1]) * sizeof(*v), v, 1)) {
		last++;
		if (v[0] & 1)
			return last;
	}
	return 0;
}

static void add(struct elf *elf, uint32_t type, uint64_t flags, uint64_t addr,
		uint64_t off, uint64_t size)
{
	elf->shdr[elf->nshdr++] = (GElf_Shdr) {
		.sh_type = type, .sh_flags = flags, .sh_addr = addr,
		.sh_offset = off, .sh_size = size,
	};
}

/* Segments stand in for sections. 0, or -ENOMEM; nothing may be found. */
int elf_make_up_sections(struct elf *elf)
{
	size_t entry = elf->class == ELFCLASS64 ? sizeof(Elf64_Sym) :
						  sizeof(Elf32_Sym);
	uint64_t sym, sym_room, str, str_room, count = 0;
	struct dynamic d = { 0 };

	if (!read_dynamic(elf, &d) ||
	    !addr_to_offset(elf, d.symtab, &sym, &sym_room) ||
	    !addr_to_offset(elf, d.strtab, &str, &str_room))
		return 0;
	if (d.hash)
		count = count_by_hash(elf, d.hash);
	if (!count && d.gnu_hash)
		count = count_by_gnu_hash(elf, d.gnu_hash);
	if (!count)
		return 0;
	elf->shdr = calloc(elf->nphdr + 3, sizeof(*elf->shdr));
	if (!elf->shdr)
		return -ENOMEM;
	elf->made_up = true;
	add(elf, SHT_NULL, 0, 0, 0, 0);
	add(elf, SHT_STRTAB, SHF_ALLOC, d.strtab, str,
	    d.strsz < str_room ? d.strsz : str_room);
	add(elf, SHT_DYNSYM, SHF_ALLOC, d.symtab, sym,
	    count < sym_room / entry ? count * entry :
				       sym_room / entry * entry);
	elf->shdr[2].sh_link = 1;
	elf->shdr[2].sh_entsize = entry;
	for (size_t i = 0; i < elf->nphdr; i++)
		if (elf->phdr[i].p_type == PT_LOAD)
			add(elf, SHT_PROGBITS, SHF_ALLOC |
			    (elf->phdr[i].p_flags & PF_X ? SHF_EXECINSTR : 0),
			    elf->phdr[i].p_vaddr, elf->phdr[i].p_offset,
			    elf->phdr[i].p_memsz);
	return 0;
}
