// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which symbols count, and what each of them covers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static bool has_mapping_symbols(const struct elf *elf)
{
	return elf->ehdr.e_machine == EM_ARM ||
	       elf->ehdr.e_machine == EM_AARCH64 ||
	       elf->ehdr.e_machine == EM_RISCV;
}

/* Marks between code and data. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]);
}

/* Labels that tools put into code and data; they name nothing. */
static bool is_tool_label(const struct elf *elf, const char *name)
{
	return !strncmp(name, ".L", 2) ||
	       (has_mapping_symbols(elf) && is_mapping_symbol(name));
}

/* @xindex: the section's number where it is too big for the symbol. */
static const GElf_Shdr *section_of(const struct elf *elf, const GElf_Sym *sym,
				   uint32_t xindex)
{
	const GElf_Shdr *sh;
	uint32_t at = sym->st_shndx;

	if (at == SHN_XINDEX)
		at = xindex;
	else if (at >= SHN_LORESERVE)
		return NULL;
	if (at == SHN_UNDEF || at >= elf->nshdr)
		return NULL;
	sh = &elf->shdr[at];
	if (!(sh->sh_flags & SHF_ALLOC))
		return NULL;
	/* A label at a section's end belongs to what follows by address only. */
	if (sym->st_value < sh->sh_addr ||
	    sym->st_value - sh->sh_addr >= sh->sh_size)
		return NULL;
	return sh;
}

/* perf's measure: what is between sections counts, odd numbers do not. */
static const GElf_Shdr *perf_section_of(const struct elf *elf,
					const GElf_Sym *sym, uint32_t xindex)
{
	uint32_t at = sym->st_shndx == SHN_XINDEX ? xindex : sym->st_shndx;

	if (at == SHN_UNDEF || at >= elf->nshdr ||
	    (at >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX) ||
	    !(elf->shdr[at].sh_flags & SHF_ALLOC))
		return NULL;
	return &elf->shdr[at];
}

/* perf takes labels where a section says "text" or "data" in its name. */
static bool perf_takes_labels(const struct elf *elf, const GElf_Shdr *sh)
{
	const char *name = elf_section_name(elf, sh);

	return strstr(name, "text") || strstr(name, "data");
}

static bool perf_classify(const struct elf *elf, struct symtab *t,
			  const GElf_Sym *sym, uint32_t xindex,
			  struct text *name, struct range *r)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	unsigned int bind = GELF_ST_BIND(sym->st_info);
	const GElf_Shdr *sh = perf_section_of(elf, sym, xindex);

	if (!sh || !sym->st_name || sym->st_name >= t->str.size)
		return false;
	if (type == STT_NOTYPE) {
		if (GELF_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_INTERNAL ||
		    !perf_takes_labels(elf, sh) ||
		    (has_mapping_symbols(elf) &&
		     (strings_get(&t->str, sym->st_name, name) ||
		      is_mapping_symbol(name->s))))
			return false;
	} else if (type != STT_FUNC && type != STT_GNU_IFUNC &&
		   type != STT_OBJECT) {
		return false;
	}
	r->start = sym->st_value;
	if (elf->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		r->start &= ~(uint64_t)1;
	r->end = r->start + sym->st_size;
	r->own_end = sym->st_size && r->end > r->start;
	if (r->end < r->start)
		r->end = UINT64_MAX;
	r->name = sym->st_name;
	r->rank = (uint8_t)(!!sym->st_size << 3 | (type != STT_NOTYPE) << 2 |
			    (bind != STB_WEAK) << 1 | (bind == STB_GLOBAL));
	return true;
}

static uint8_t rank_of(const GElf_Sym *sym)
{
	static const uint8_t types[16] = {
		[STT_FUNC] = 3, [STT_GNU_IFUNC] = 2, [STT_OBJECT] = 1,
	};
	unsigned int bind = GELF_ST_BIND(sym->st_info);

	return (uint8_t)(types[GELF_ST_TYPE(sym->st_info)] << 2 |
			 (bind != STB_WEAK) << 1 |
			 (bind == STB_GLOBAL || bind == STB_GNU_UNIQUE));
}

/* Turns one symbol into a range; false if it can name nothing. */
static bool classify(const struct elf *elf, struct symtab *t,
		     const GElf_Sym *sym, uint32_t xindex, struct text *name,
		     struct range *r)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	const GElf_Shdr *sh = section_of(elf, sym, xindex);
	uint64_t room;

	if (!sh || !sym->st_name || sym->st_name >= t->str.size)
		return false;
	r->start = sym->st_value;
	if (elf->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		r->start &= ~(uint64_t)1;	/* Thumb, not part of it */
	room = sh->sh_size - (r->start - sh->sh_addr);
	r->end = r->start + (sym->st_size && sym->st_size < room ?
			     sym->st_size : room);
	r->own_end = sym->st_size && sym->st_size <= room;
	if (r->end < r->start)
		r->end = UINT64_MAX;
	r->name = sym->st_name;
	r->rank = rank_of(sym);
	r->exact_only = false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		r->layer = sym->st_size ? LAYER_TYPED : LAYER_SIZELESS;
		break;
	case STT_NOTYPE:
		if (strings_get(&t->str, sym->st_name, name) ||
		    is_tool_label(elf, name->s))
			return false;
		r->layer = sym->st_size ? LAYER_UNTYPED : LAYER_SIZELESS;
		/* Hidden ones are the notes of compiler plug-ins. */
		if (!(sh->sh_flags & SHF_EXECINSTR) ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_INTERNAL)
			r->layer = LAYER_BOUND;
		break;
	default:
		return false;
	}
	/* .dynsym lacks the local symbols that would end a sizeless one. */
	if (r->layer == LAYER_SIZELESS && t->source == SYMRES_SOURCE_DYNSYM)
		r->exact_only = true;
	return true;
}

/*
 * All of a table that reads well; the rest is as if it were not there. Names
 * are read of labels alone.
 */
int symbols_collect(struct symtab *t, bool perf, struct range_list *l)
{
	enum { WINDOW = 1024 };
	const struct elf *elf = t->elf;
	struct text name = { 0 };
	GElf_Sym *syms = malloc(WINDOW * sizeof(*syms));
	uint32_t xindex[WINDOW] = { 0 };
	int ret = syms ? range_reserve(l, t->count) : -ENOMEM;

	for (uint32_t at = 0; at < t->count && !ret; ) {
		uint32_t n = t->count - at < WINDOW ? t->count - at : WINDOW;

		if (symtab_read(t, at, n, syms) ||
		    symtab_read_xindex(t, elf, at, n, xindex))
			break;
		for (uint32_t i = 0; i < n; i++) {
			struct range *r = &l->v[l->n];

			*r = (struct range) { .ref = t->first + at + i };
			l->n += perf ? perf_classify(elf, t, &syms[i],
						     xindex[i], &name, r) :
				       classify(elf, t, &syms[i], xindex[i],
						&name, r);
		}
		at += n;
	}
	free(syms);
	free(name.s);
	return ret;
}
