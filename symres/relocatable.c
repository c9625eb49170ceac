// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Relocatable files, kernel modules above all: their sections have no addresses
 * yet, and values of symbols count from their section. So they get addresses
 * here, .text first, since that is what most addresses of such a file are
 * offsets in; code before data, so that what tools add moves no code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_ADDRESS INT64_MAX	/* no sum of two addresses overflows */

static bool is_text(const struct elf *elf, const GElf_Shdr *sh)
{
	return sh->sh_flags & SHF_EXECINSTR &&
	       !strcmp(elf_section_name(elf, sh), ".text");
}

/* Puts a section behind what ends at @end; without room it goes unloaded. */
static uint64_t put_section(GElf_Shdr *sh, uint64_t end)
{
	uint64_t align = sh->sh_addralign;
	uint64_t at = end;

	if (align > MAX_ADDRESS)
		align = MAX_ADDRESS;
	if (align && !(align & (align - 1)))
		at = (end + align - 1) & ~(align - 1);
	if (at > MAX_ADDRESS || sh->sh_size > MAX_ADDRESS - at) {
		sh->sh_flags &= ~(uint64_t)SHF_ALLOC;
		return end;
	}
	sh->sh_addr = at;
	return at + sh->sh_size;
}

/* One after another, in three rounds. */
static void put_sections(struct elf *elf)
{
	uint64_t end = 0;
	size_t text = 0;

	for (size_t i = 1; i < elf->nshdr && !text; i++)
		if (elf->shdr[i].sh_flags & SHF_ALLOC &&
		    is_text(elf, &elf->shdr[i]))
			text = i;
	if (text)
		end = put_section(&elf->shdr[text], end);
	for (int data = 0; data < 2; data++)
		for (size_t i = 1; i < elf->nshdr; i++) {
			GElf_Shdr *sh = &elf->shdr[i];
			bool code = sh->sh_flags & SHF_EXECINSTR;

			if (i != text && sh->sh_flags & SHF_ALLOC &&
			    code != data)
				end = put_section(sh, end);
		}
}

/* A segment around each section. */
static void cover(struct elf *elf)
{
	elf->nphdr = 0;
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		if (!(sh->sh_flags & SHF_ALLOC))
			continue;
		elf->phdr[elf->nphdr++] = (GElf_Phdr) {
			.p_type = PT_LOAD, .p_offset = sh->sh_offset,
			.p_flags = sh->sh_flags & SHF_EXECINSTR ? PF_X : 0,
			.p_vaddr = sh->sh_addr, .p_memsz = sh->sh_size,
			.p_filesz = sh->sh_type == SHT_NOBITS ? 0 : sh->sh_size,
		};
	}
}

/* What is left of sections when their headers are not needed any more. */
static void remember(struct elf *elf)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		elf->section_addr[i] = sh->sh_flags & SHF_ALLOC ? sh->sh_addr :
								  0;
	}
	cover(elf);
}

/* For a linked file without segments to load: tools are satisfied with its
 * sections. 0, or -ENOMEM. */
int elf_cover_sections(struct elf *elf)
{
	free(elf->phdr);
	elf->phdr = calloc(elf->nshdr, sizeof(*elf->phdr));
	if (!elf->phdr)
		return -ENOMEM;
	cover(elf);
	return 0;
}

/* Gives the sections of a relocatable file addresses, and segments around them.
 * 0, or -ENOMEM. */
int elf_place_sections(struct elf *elf)
{
	size_t n = elf->nshdr ? elf->nshdr : 1;

	free(elf->phdr);
	elf->phdr = calloc(n, sizeof(*elf->phdr));
	elf->section_addr = calloc(n, sizeof(*elf->section_addr));
	if (!elf->phdr || !elf->section_addr)
		return -ENOMEM;
	elf->nplaced = elf->nshdr;
	put_sections(elf);
	remember(elf);
	return 0;
}

static bool same_section(const struct elf *a, const GElf_Shdr *sa,
			 const struct elf *b, const GElf_Shdr *sb)
{
	return sb->sh_flags & SHF_ALLOC && sa->sh_size == sb->sh_size &&
	       !strcmp(elf_section_name(a, sa), elf_section_name(b, sb));
}

/*
 * A debug file has its sections where the program has them, even if one of the
 * two has some that the other lacks. What the program lacks is not loaded.
 */
void elf_place_like(struct elf *elf, const struct elf *program)
{
	enum { AHEAD = 64 };	/* no more are missing in a row */
	size_t next = 1;

	for (size_t i = 1; i < elf->nshdr; i++) {
		GElf_Shdr *sh = &elf->shdr[i];
		size_t at = next;

		if (!(sh->sh_flags & SHF_ALLOC))
			continue;
		while (at < program->nshdr && at - next < AHEAD &&
		       !same_section(elf, sh, program, &program->shdr[at]))
			at++;
		if (at < program->nshdr && at - next < AHEAD) {
			sh->sh_addr = program->shdr[at].sh_addr;
			next = at + 1;
		} else {
			sh->sh_flags &= ~(uint64_t)SHF_ALLOC;
		}
	}
	remember(elf);
}
