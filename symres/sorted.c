// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sort sections, as the linkers of Solaris and illumos write them and "symres
 * sort" adds them: numbers of symbols in order of address. With one of these the
 * symbols around an address are found in the file itself. Nothing in it is
 * believed that the symbols do not confirm; in any doubt an index is made.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

/* No more begin together in what a linker writes. */
#define MAX_GROUP 64

struct sorted {
	struct file *f;
	uint64_t off;		/* of the section */
	uint32_t n;
	struct symtab *first, *second;	/* numbered through; second may be NULL */
};

static struct symtab *table_of(struct file *f, enum symres_source source)
{
	for (unsigned int i = 0; i < f->ntab; i++)
		if (f->tab[i].source == source)
			return &f->tab[i];
	return NULL;
}

static bool find_section(struct sorted *so, const struct elf *elf)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		if (sh->sh_type != SHT_SUNW_SYMSORT ||
		    sh->sh_entsize != sizeof(uint32_t) ||
		    sh->sh_link != so->first->section ||
		    sh->sh_size / sizeof(uint32_t) > INT32_MAX ||
		    !elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
			continue;
		so->off = sh->sh_offset;
		so->n = (uint32_t)(sh->sh_size / sizeof(uint32_t));
		return so->n > 0;
	}
	return false;
}

/* The table that names most, if it is the file's own, and its sort section. */
static bool find_sorted(struct sorted *so, struct file *f)
{
	struct symtab *symtab = table_of(f, SYMRES_SOURCE_SYMTAB);
	struct symtab *local = table_of(f, SYMRES_SOURCE_LDYNSYM);
	struct symtab *dynsym = table_of(f, SYMRES_SOURCE_DYNSYM);

	so->f = f;
	if (f->debug.in || f->mini.in)
		return false;
	if (symtab) {
		so->first = symtab;
	} else if (local) {
		so->first = local;
		so->second = dynsym;
	} else {
		so->first = dynsym;
	}
	return so->first && find_section(so, &f->elf);
}

/* The symbol at place @i of the order; false: there is none such. */
static bool symbol_at(struct sorted *so, uint32_t i, struct symtab **t,
		      uint32_t *at, uint64_t *addr)
{
	GElf_Sym sym;
	uint32_t number;

	if (elf_read(&so->f->elf, ELF_T_WORD, so->off + i * sizeof(number),
		     &number, sizeof(number)))
		return false;
	*t = so->first;
	*at = number;
	if (number >= so->first->count && so->second) {
		*t = so->second;
		*at = number - so->first->count;
	}
	if (!number || *at >= (*t)->count || symtab_read(*t, *at, 1, &sym))
		return false;
	*addr = sym.st_value;
	return true;
}

/* Collects those that begin last before an address or at it. */
static bool collect_group(struct sorted *so, uint64_t addr,
			  struct range_list *l)
{
	uint32_t lo = 0, hi = so->n, at;
	uint64_t value, start;
	struct symtab *t;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (!symbol_at(so, mid, &t, &at, &value))
			return false;
		if (value <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !symbol_at(so, lo - 1, &t, &at, &start) || start > addr)
		return false;
	for (uint32_t i = lo; i-- > 0 && lo - i < MAX_GROUP; ) {
		if (!symbol_at(so, i, &t, &at, &value) || value > start)
			return false;
		if (value < start)
			return true;
		if (symbol_collect(t, at, false, l))
			return false;
	}
	return lo < MAX_GROUP;
}

/* 1: named; -EAGAIN: an index is needed; or -ENOMEM. */
int sorted_lookup(struct file *f, struct symres *s, uint64_t addr,
		  struct symres_sym *sym)
{
	struct range_list l = { 0 };
	struct sorted so = { 0 };
	int ret = -EAGAIN;

	/* perf knows nothing of it, and its rules need all symbols. */
	if (s->perf || !find_sorted(&so, f))
		return -EAGAIN;
	if (collect_group(&so, addr, &l) && l.n)
		ret = index_from_list(f, &l);
	if (!ret)
		ret = file_name(f, s, addr, sym);
	range_list_free(&l);
	index_free(&f->index);
	/* Only its own size can say that it holds the address. */
	if (ret == -ENOMEM || (ret == 1 && sym->sym_size))
		return ret;
	return -EAGAIN;
}
