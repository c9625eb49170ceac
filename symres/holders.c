// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All symbols that hold an address: aliases, folded code, what is around it. And
 * what a look-up answers where none does: stubs, and what reaches as far as
 * there because nothing else begins before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The innermost first; of equal ones as the tables have them. */
static int compare(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

static bool holds(const struct range *r, uint64_t addr)
{
	return r->start == addr ||
	       (r->own_end && r->start <= addr && addr < r->end);
}

/* What a look-up answers; with end 0 if that is nothing. */
static struct range answer(struct file *f, struct symres *s, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct range r = { .ref = index_find(&f->index, addr) };

	if (r.ref == INDEX_NONE || !file_loads(f, addr) ||
	    file_symbol(f, r.ref, &s->name, &sym) ||
	    !symbol_holds(&sym, addr))
		return r;
	r.start = sym.addr;
	r.own_end = sym.sym_size;
	r.end = r.own_end ? r.start + sym.sym_size : UINT64_MAX;
	return r;
}

/* Other names of one without size. */
static bool is_other_name(const struct range *r, const struct range *of,
			  bool perf)
{
	return of->end && !of->own_end && r->start == of->start &&
	       !r->own_end && !r->exact_only &&
	       (perf || r->layer != LAYER_BOUND);
}

static int collect(struct file *f, struct symres *s, uint64_t addr,
		   struct range_list *l)
{
	struct range is = answer(f, s, addr);
	struct focus focus = { .addr = addr };
	bool listed = !is.end;
	size_t n = 0;
	int ret = file_read_sections(f);

	if (!ret)
		ret = collect_symbols(f, s->perf, &focus, l);
	file_free_sections(f);
	free(focus.holder);
	for (size_t i = 0; i < l->n; i++)
		if (holds(&l->v[i], addr) ||
		    is_other_name(&l->v[i], &is, s->perf)) {
			listed |= l->v[i].ref == is.ref;
			l->v[n++] = l->v[i];
		}
	l->n = n;
	if (!ret && !listed)
		ret = range_push(l, &is);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), compare);
	return ret;
}

/* Most symbols of .dynsym are in .symtab too. */
static bool told_before(struct file *f, const struct range_list *l, size_t i,
			struct text *a, struct text *b)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	if (file_symbol(f, l->v[i].ref, a, &sym))
		return true;
	for (size_t k = i; k-- > 0 && l->v[k].start == l->v[i].start; )
		if (l->v[k].end == l->v[i].end &&
		    !file_symbol(f, l->v[k].ref, b, &sym) &&
		    !strcmp(a->s, b->s))
			return true;
	return false;
}

long symres_find_address(struct symres *s, const char *path, uint64_t vaddr,
			 symres_sym_fn fn, void *arg)
{
	struct text a = { 0 }, b = { 0 };
	struct range_list l = { 0 };
	struct symres_place *pl;
	long n = 0;
	int ret = fn ? symres_place(s, path, &pl) : -EINVAL;

	if (ret)
		return ret;
	ret = place_indexed(s, pl);
	if (!ret && pl->file->indexed)
		ret = collect(pl->file, s, vaddr, &l);
	for (size_t i = 0; i < l.n && !ret; i++) {
		if (told_before(pl->file, &l, i, &a, &b))
			continue;
		ret = place_tell(s, pl, l.v[i].ref, vaddr, fn, arg);
		n += !ret;
	}
	free(a.s);
	free(b.s);
	range_list_free(&l);
	return ret ? ret : n;
}
