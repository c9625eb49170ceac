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

/* Stubs rank above all symbols, so they come first where they begin. */
static bool is_stub(const struct range *r)
{
	return r->rank == RANK_STUB;
}

/* Of those that begin together, the first and its equals in rank compete. */
static void mark_rivals(struct range_list *l)
{
	struct range *first = NULL;

	for (size_t i = 0; i < l->n; i++) {
		struct range *r = &l->v[i];

		if (!first || r->start != first->start) {
			first = r;
		} else if (r->rank == first->rank && !is_stub(r)) {
			first->rival = true;
			r->rival = true;
		}
	}
}

/* Where a symbol without size ends that reaches to @next. */
static void end_sizeless(struct range *r, uint64_t next, uint64_t first_stub)
{
	if (r->start < first_stub && first_stub < next)
		r->end = first_stub;
	else
		r->end = next;
}

/*
 * Leaves one of those that begin together, and lets the ones without size reach
 * to the next symbol, whether or not that gives way to a stub itself.
 */
static void choose(struct range_list *l)
{
	struct range *sizeless = NULL;
	uint64_t first_stub = UINT64_MAX;
	size_t out = 0;

	for (size_t i = 0, j; i < l->n; i = j) {
		uint64_t start = l->v[i].start;
		struct range *best = &l->v[i];

		for (j = i + 1; j < l->n && l->v[j].start == start; j++)
			if (l->v[j].rival && l->v[j].key > best->key)
				best = &l->v[j];
		if (is_stub(best) && start < first_stub)
			first_stub = start;
		if (sizeless && !is_stub(&l->v[j - 1])) {
			end_sizeless(sizeless, start, first_stub);
			sizeless = NULL;
		}
		l->v[out] = *best;
		best = &l->v[out++];
		best->layer = LAYER_TYPED;
		if (best->end == start)
			sizeless = best;
	}
	if (sizeless && sizeless->start < UINT64_MAX - 2 * PERF_PAGE)
		end_sizeless(sizeless, (sizeless->start + 2 * PERF_PAGE - 1) &
				       ~(uint64_t)(PERF_PAGE - 1), first_stub);
	l->n = out;
}

/* Uses up the list's content. */
int perf_to_index(struct range_list *l, struct index *ix, weigh_fn weigh,
		  void *arg)
{
	int ret;

	if (!l->n)
		return 0;
	ret = range_sort(l, compare);
	if (ret)
		return ret;
	mark_rivals(l);
	ret = weigh(arg, l);
	if (ret)
		return ret;
	choose(l);
	return ranges_sweep(l, ix);
}
