// SPDX-License-Identifier: LGPL-2.1-or-later
/* From the tables of a file to its index: which of several names is given. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The two names that are compared. */
struct name_pair {
	struct file *f;
	bool shown;		/* names count as they are shown */
	bool hashed;		/* equal worth is not enough */
	struct text a, b;
};

static int name_of(struct file *f, const struct range *r, struct text *name)
{
	struct symtab *t = file_table(f, r->ref);

	/* A stub has no rival: its name is not asked for here. */
	if (!t || r->ref >= f->plt_first)
		return -ENOENT;
	return strings_get(&t->str, r->name, name);
}

/* The same of one whose name was weighed. */
static int weighed_name(struct file *f, const struct range *r,
			struct text *name)
{
	struct symtab *t = file_table(f, r->ref);
	GElf_Sym sym;
	int ret = symtab_read(t, r->ref - t->first, 1, &sym);

	return ret ? ret : strings_get(&t->str, sym.st_name, name);
}

static int better_name(void *arg, const struct range *a, const struct range *b)
{
	struct name_pair *p = arg;

	if (a->key >> 1 != b->key >> 1)
		return a->key > b->key ? 1 : -1;
	/* The same name in two tables. */
	if (a->hash == b->hash)
		return a->ref < b->ref ? 1 : -1;
	if (weighed_name(p->f, a, &p->a) || weighed_name(p->f, b, &p->b))
		return -1;
	return strcmp(p->a.s, p->b.s);
}

uint32_t name_hash(const char *s, size_t len)
{
	uint32_t h = 2166136261;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 16777619;
	return h;
}

/* What a name is worth, and what it is compared by where that is equal. */
static void take_weight(struct range *r, const char *name, size_t len,
			bool hashed)
{
	r->key = name_key(name, len);
	if (hashed)
		r->hash = name_hash(name, len);
}

/* What the stored name of a symbol is worth; 0: it has none. */
static uint32_t stored_worth(struct name_pair *p, const struct range *r)
{
	return name_of(p->f, r, &p->a) ? 0 : name_key(p->a.s, strlen(p->a.s));
}

enum { STRETCH = 64 << 10, AHEAD = 8 };

/* Names of one table, in the order of the table. */
static void weigh_sorted(struct name_pair *p, struct range_list *l,
			 const struct pair *v, size_t n, struct stretch *st)
{
	struct symtab *t = file_table(p->f, l->v[v[0].at].ref);
	bool there = strings_there(&t->str);

	st->len = 0;
	for (size_t i = 0; i < n; i++) {
		struct range *r = &l->v[v[i].at];
		const char *name = NULL;
		size_t len;

		/* The list is long, and this is not its order. */
		if (i + AHEAD < n)
			__builtin_prefetch(&l->v[v[i + AHEAD].at], 1);
		if (!p->shown && there)
			name = strings_in_place(&t->str, r->name, &len);
		else if (!p->shown)
			name = strings_stretch(&t->str, st, r->name,
					       v[n - 1].key, &len);
		/* Version text, if it is to go, is cut in a copy. */
		if (name && len && (t->str.keep_version ||
				    !memchr(name, '@', len)))
			take_weight(r, name, len, p->hashed);
		else if (!name_of(p->f, r, &p->a) &&
			 !(p->shown && text_demangle(&p->a)))
			take_weight(r, p->a.s, strlen(p->a.s), p->hashed);
		else
			r->key = 0;
	}
}

/* Rivals begin together but are called alike seldom, so their names are far
 * apart: they are read in the order of the tables. */
static int weigh(void *arg, struct range_list *l)
{
	struct name_pair *p = arg;
	struct file *f = p->f;
	struct stretch st = { .room = STRETCH };
	size_t n[MAX_TABLES] = { 0 };
	struct pair *v, *spare;
	int ret = -ENOMEM;

	/* Any table may have them all; what is not used takes no memory. */
	v = reallocarray(NULL, l->n, (f->ntab + 1) * sizeof(*v));
	st.buf = malloc(st.room);
	if (!v || !st.buf)
		goto out;
	spare = v + f->ntab * l->n;
	for (size_t i = 0; i < l->n; i++) {
		const struct range *r = &l->v[i];

		if (r->rival) {
			ptrdiff_t t = file_table(f, r->ref) - f->tab;

			v[t * l->n + n[t]++] =
				(struct pair) { r->name, (uint32_t)i };
		}
	}
	for (unsigned int t = 0; t < f->ntab; t++)
		if (n[t])
			weigh_sorted(p, l, pair_sort(v + t * l->n, spare, n[t]),
				     n[t], &st);
	ret = 0;
out:
	free(v);
	free(st.buf);
	return ret;
}

/* Stubs without a name of their own: by the function that is resolved there. */
struct resolver {
	uint64_t addr;
	struct range best;	/* empty: none yet */
	bool ifunc;		/* it is known as one */
};

static int compare_resolvers(const void *va, const void *vb)
{
	const struct resolver *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static bool is_ifunc(struct file *f, uint32_t ref)
{
	struct symtab *t = file_table(f, ref);
	GElf_Sym sym;

	return t && !symtab_read(t, ref - t->first, 1, &sym) &&
	       GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
}

/* perf names it as it would name the resolver; the rest of us want the IFUNC. */
static void resolver_offer(struct file *f, bool perf, struct resolver *to,
			   const struct range *r, struct name_pair *names)
{
	bool ifunc = is_ifunc(f, r->ref);
	bool first = to->best.end == 0;
	uint32_t a, b;

	if (!perf && !ifunc)
		return;
	to->ifunc |= ifunc;
	if (!first && to->best.rank > r->rank)
		return;
	if (!first && to->best.rank == r->rank) {
		a = stored_worth(names, &to->best);
		b = stored_worth(names, r);
		if (a > b || (a == b && to->best.ref < r->ref))
			return;
	}
	to->best = *r;
	to->best.end = 1;
}

static int name_resolvers(struct file *f, bool perf, const struct range_list *l,
			  struct name_pair *names)
{
	struct resolver *v, *hit;
	size_t n = 0;

	for (size_t i = 0; i < f->plt.n; i++)
		n += f->plt.v[i].kind == PLT_IRELATIVE;
	if (!n)
		return 0;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < f->plt.n; i++)
		if (f->plt.v[i].kind == PLT_IRELATIVE)
			v[n++].addr = f->plt.target[i];
	qsort(v, n, sizeof(*v), compare_resolvers);
	for (size_t i = 1, last = 0; i <= n; i++)
		if (i == n)
			n = last + 1;
		else if (v[i].addr != v[last].addr)
			v[++last] = v[i];
	for (size_t i = 0; i < l->n; i++) {
		struct resolver key = { .addr = l->v[i].start };

		hit = bsearch(&key, v, n, sizeof(*v), compare_resolvers);
		if (hit)
			resolver_offer(f, perf, hit, &l->v[i], names);
	}
	for (size_t i = 0; i < f->plt.n; i++) {
		struct plt_slot *stub = &f->plt.v[i];
		struct resolver key = { .addr = f->plt.target[i] };

		if (stub->kind != PLT_IRELATIVE)
			continue;
		hit = bsearch(&key, v, n, sizeof(*v), compare_resolvers);
		if (hit && hit->ifunc) {
			stub->sym = hit->best.ref;
			continue;
		}
		/* perf counts it all the same; its place it knows. */
		stub->kind = PLT_UNKNOWN;
	}
	free(v);
	return 0;
}

static int collect_plt(struct file *f, bool perf, struct range_list *l)
{
	int ret = 0;

	for (size_t i = 0; i < f->plt.n && !ret; i++) {
		uint64_t end = f->plt.v[i].addr + f->plt.v[i].size;
		struct range r = {
			.start = f->plt.v[i].addr,
			.end = end,
			.ref = f->plt_first + (uint32_t)i,
			.layer = LAYER_UNTYPED,
			.rank = RANK_STUB,
			.own_end = true,
		};

		if (end > r.start && (perf || f->plt.v[i].kind != PLT_UNKNOWN))
			ret = range_push(l, &r);
	}
	return ret;
}

/* Few symbols, by the rules of an honest session. */
int index_from_list(struct file *f, struct range_list *l)
{
	struct name_pair names = { .f = f, .hashed = true };
	int ret = ranges_to_index(l, &f->index, weigh, better_name, &names);

	free(names.a.s);
	free(names.b.s);
	return ret;
}

/* All symbols of a file, and the hashes of their names as they are shown. */
int names_collect(struct file *f, struct symres *s, struct range_list *l)
{
	struct name_pair names = {
		.f = f, .shown = s->demangle, .hashed = true,
	};
	int ret = 0;

	for (unsigned int i = 0; i < f->ntab && !ret; i++)
		ret = symbols_collect(&f->tab[i], s->perf, NULL, l);
	for (size_t i = 0; i < l->n; i++)
		l->v[i].rival = true;
	if (!ret)
		ret = weigh(&names, l);
	free(names.a.s);
	return ret;
}

/* What all tables have, or with @focus what matters to its address. */
int collect_symbols(struct file *f, bool perf, struct focus *focus,
		    struct range_list *l)
{
	int ret = focus ? 0 : range_reserve(l, f->plt_first + SORT_ROOM);

	for (unsigned int i = 0; i < f->ntab && !ret; i++)
		ret = symbols_collect(&f->tab[i], perf, focus, l);
	if (!focus || ret)
		return ret;
	focus->found = true;
	for (unsigned int i = 0; i < f->ntab && !ret; i++)
		ret = symbols_collect(&f->tab[i], perf, focus, l);
	return ret;
}

/*
 * Reads the tables that were found. 0, or -ENOMEM. @focus: NULL, or the one
 * address that the index will be good for.
 */
int index_build(struct file *f, struct symres *s, struct focus *focus)
{
	struct name_pair names = {
		.f = f, .shown = s->perf && s->demangle, .hashed = !s->perf,
	};
	struct range_list l = s->spare;
	int ret;

	for (unsigned int i = 0; i < f->ntab; i++)
		strings_cache(&f->tab[i].str);
	ret = collect_symbols(f, s->perf, focus, &l);
	if (!ret)
		ret = plt_read(&f->plt, &f->elf, f->dynsym ? f->dynsym->count : 0,
			       s->perf);
	if (!ret)
		ret = name_resolvers(f, s->perf, &l, &names);
	if (!ret)
		ret = collect_plt(f, s->perf, &l);
	if (!ret && !focus && !l.n)
		f->miss = SYMRES_MISS_NO_SYMBOLS;
	if (!ret && s->perf)
		ret = perf_to_index(&l, &f->index, weigh, &names);
	else if (!ret)
		ret = ranges_to_index(&l, &f->index, weigh, better_name,
				      &names);
	for (unsigned int i = 0; i < f->ntab; i++)
		strings_uncache(&f->tab[i].str);
	free(names.a.s);
	free(names.b.s);
	/* The next file can have the room. */
	l.n = 0;
	s->spare = l;
	return ret;
}
