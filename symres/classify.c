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

/* Where a made-up section or a function descriptor leaves its code. */
static const GElf_Shdr *section_at(const struct elf *elf, uint64_t addr)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		if (sh->sh_flags & SHF_ALLOC && addr >= sh->sh_addr &&
		    addr - sh->sh_addr < sh->sh_size)
			return sh;
	}
	return NULL;
}

/*
 * The section that a symbol is in, perf's measure: what lies between sections
 * counts, odd numbers do not. @xindex: its number where that is too big for the
 * symbol.
 */
static inline __attribute__((always_inline)) const GElf_Shdr *
perf_section_of(const struct symtab *t, const GElf_Sym *sym, uint32_t xindex)
{
	const struct elf *elf = t->elf;
	uint32_t at = sym->st_shndx == SHN_XINDEX ? xindex : sym->st_shndx;

	if (at == SHN_UNDEF ||
	    (at >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX))
		return NULL;
	if (elf->made_up)
		return section_at(elf, sym->st_value);
	if (at >= elf->nshdr || !(elf->shdr[at].sh_flags & SHF_ALLOC))
		return NULL;
	if (t->code->opd.size && opd_holds(t->code, elf->shdr[at].sh_addr) &&
	    !opd_holds(t->code, sym->st_value))
		return section_at(elf, sym->st_value);
	return &elf->shdr[at];
}

static const GElf_Shdr *section_of(const struct symtab *t, const GElf_Sym *sym,
				   uint32_t xindex)
{
	const GElf_Shdr *sh = perf_section_of(t, sym, xindex);

	/* A label at a section's end belongs to what follows by address only. */
	if (!sh || sym->st_value < sh->sh_addr ||
	    sym->st_value - sh->sh_addr >= sh->sh_size)
		return NULL;
	return sh;
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
	/* Where a section ends in a relocatable file, another one begins. */
	const GElf_Shdr *sh = t->elf->section_addr ?
		section_of(t, sym, xindex) : perf_section_of(t, sym, xindex);

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
	if (r->end < r->start)
		r->end = UINT64_MAX;
	r->own_end = sym->st_size;
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
	const GElf_Shdr *sh = section_of(t, sym, xindex);
	uint64_t room;

	if (!sh || !sym->st_name || sym->st_name >= t->str.size)
		return false;
	r->start = sym->st_value;
	if (elf->ehdr.e_machine == EM_ARM &&
	    (type == STT_FUNC || type == STT_GNU_IFUNC))
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
		/* Hidden ones are the notes of compiler plug-ins; those of
		 * thread-local storage are no addresses. */
		if (sh->sh_flags & SHF_TLS ||
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

/* Adds what a symbol covers, if that is anything, to a list with room for it. */
static void collect(struct symtab *t, uint32_t at, const GElf_Sym *sym,
		    uint32_t xindex, bool perf, struct range_list *l,
		    struct text *name)
{
	struct range *r = &l->v[l->n];

	*r = (struct range) { .ref = t->first + at };
	l->n += perf ? perf_classify(t->elf, t, sym, xindex, name, r) :
		       classify(t->elf, t, sym, xindex, name, r);
}

/*
 * All of a table that reads well; the rest is as if it were not there. Names
 * are read of labels alone. @focus: NULL, or what to leave out.
 */
int symbols_collect(struct symtab *t, bool perf, struct focus *focus,
		    struct range_list *l)
{
	enum { WINDOW = 1024 };
	struct text name = { 0 };
	GElf_Sym *syms = malloc(WINDOW * sizeof(*syms));
	uint32_t xindex[WINDOW] = { 0 };
	/* Descriptors and Thumb functions are not where they say. */
	bool pick = focus && !t->code->opd.size &&
		    t->code->ehdr.e_machine != EM_ARM;
	int ret = syms ? range_reserve(l, focus ? WINDOW : t->count) : -ENOMEM;

	for (uint32_t at = 0; at < t->count && !ret; ) {
		uint32_t n = t->count - at < WINDOW ? t->count - at : WINDOW;

		if (symtab_read(t, at, n, syms) ||
		    symtab_read_xindex(t, t->elf, at, n, xindex))
			break;
		for (uint32_t i = 0; i < n; i++) {
			size_t before = l->n;

			if (pick && !focus_passes(focus, &syms[i]))
				continue;
			collect(t, at + i, &syms[i], xindex[i], perf, l, &name);
			if (focus && l->n > before &&
			    !focus_takes(focus, &l->v[before]))
				l->n = before;
		}
		at += n;
		if (focus)
			ret = focus->err ? focus->err :
					   range_reserve(l, WINDOW);
	}
	free(syms);
	free(name.s);
	return ret;
}

/* One symbol of a table. */
int symbol_collect(struct symtab *t, uint32_t at, bool perf,
		   struct range_list *l)
{
	struct text name = { 0 };
	uint32_t xindex = 0;
	GElf_Sym sym;
	int ret = range_reserve(l, 1);

	if (!ret)
		ret = symtab_read(t, at, 1, &sym);
	if (!ret)
		ret = symtab_read_xindex(t, t->elf, at, 1, &xindex);
	if (!ret)
		collect(t, at, &sym, xindex, perf, l, &name);
	free(name.s);
	return ret;
}
