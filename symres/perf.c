// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rules by which perf chooses among symbols, in place of those of ranges.c.
 *
 * One symbol is left of those that begin together. If it has no size, it
 * reaches to the next one, the last of all to the end of the next page. Stubs
 * come after that: they win where they begin, and a symbol that was made to
 * reach over the first of them ends there. An address belongs to the nearest
 * symbol before it that still holds it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define PERF_PAGE 4096

/* Symbols in order of start, the better first; the name comes later. */
static int compare(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

/* Of those that begin together, the first and its equals in rank compete. */
static void mark_rivals(struct range_list *l)
{
	struct range *first = NULL;

	for (size_t i = 0; i < l->n; i++) {
		struct range *r = &l->v[i];

		if (!first || r->start != first->start) {
			first = r;
		} else if (r->rank == first->rank) {
			first->rival = true;
			r->rival = true;
		}
	}
}

/* Leaves one symbol of those that begin together. */
static void choose(struct range_list *l)
{
	size_t out = 0;

	for (size_t i = 0, j; i < l->n; i = j) {
		size_t best = i;

		for (j = i + 1; j < l->n && l->v[j].start == l->v[i].start; j++)
			if (l->v[j].rival && l->v[j].key > l->v[best].key)
				best = j;
		if (out != best)
			l->v[out] = l->v[best];
		out++;
	}
	l->n = out;
}

static void extend(struct range_list *l, const struct range_list *stubs)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < stubs->n; i++)
		if (stubs->v[i].start < first)
			first = stubs->v[i].start;
	for (size_t i = 0; i < l->n; i++) {
		struct range *r = &l->v[i];

		if (r->end > r->start)
			continue;
		if (i + 1 < l->n)
			r->end = l->v[i + 1].start;
		else if (r->start < UINT64_MAX - 2 * PERF_PAGE)
			r->end = (r->start + 2 * PERF_PAGE - 1) &
				 ~(uint64_t)(PERF_PAGE - 1);
		if (r->start < first && first < r->end)
			r->end = first;
	}
}

/* Both are in order, and stay so; a stub comes before what begins with it. */
static int merge(struct range_list *l, const struct range_list *stubs)
{
	size_t a = l->n, b = stubs->n, to = a + b;
	int ret = range_reserve(l, b);

	if (ret)
		return ret;
	l->n = to;
	while (b)
		l->v[--to] = a && l->v[a - 1].start >= stubs->v[b - 1].start ?
			     l->v[--a] : stubs->v[--b];
	return 0;
}

/* Uses up the content of both lists. */
int perf_to_index(struct range_list *l, struct range_list *stubs,
		  struct index *ix, weigh_fn weigh, void *arg)
{
	size_t out = 0;
	int ret;

	range_sort(l, compare);
	mark_rivals(l);
	ret = weigh(arg, l);
	if (ret)
		return ret;
	choose(l);
	extend(l, stubs);
	range_sort(stubs, compare);
	ret = merge(l, stubs);
	if (ret || !l->n)
		return ret;
	for (size_t i = 0; i < l->n; i++)
		if (!out || l->v[out - 1].start != l->v[i].start) {
			if (out != i)
				l->v[out] = l->v[i];
			l->v[out++].layer = LAYER_TYPED;
		}
	l->n = out;
	return ranges_sweep(l, ix);
}
