// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols in order of address, by their digits: a comparison for each of their
 * pairs is what takes longest when an index is made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Short lists are not worth big tables. */
enum { BITS = 11, BITS_OF_FEW = 7, FEW = 1 << BITS, VERY_FEW = 24 };

static void by_digit(const struct pair *from, struct pair *to, size_t n,
		     int shift, int bits)
{
	uint32_t place[1 << BITS], sum = 0;
	uint32_t digits = 1u << bits, mask = digits - 1;

	memset(place, 0, digits * sizeof(*place));
	for (size_t i = 0; i < n; i++)
		place[from[i].key >> shift & mask]++;
	for (uint32_t d = 0; d < digits; d++) {
		uint32_t here = place[d];

		place[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i].key >> shift & mask]++] = from[i];
}

static void insert(struct pair *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct pair p = v[i];
		size_t at = i;

		for (; at && v[at - 1].key > p.key; at--)
			v[at] = v[at - 1];
		v[at] = p;
	}
}

/* Sorts by key, those of equal key as they were; in @v or in @spare. */
struct pair *pair_sort(struct pair *v, struct pair *spare, size_t n)
{
	int bits = n < FEW ? BITS_OF_FEW : BITS;
	uint32_t any = 0;

	if (n <= VERY_FEW) {
		insert(v, n);
		return v;
	}
	for (size_t i = 0; i < n; i++)
		any |= v[i].key;
	for (int shift = 0; shift < 32 && any >> shift; shift += bits) {
		struct pair *t = v;

		by_digit(v, spare, n, shift, bits);
		v = spare;
		spare = t;
	}
	return v;
}

/* Puts v[order[i].at] at place i for every i, along the cycles. */
static void permute(struct range *v, struct pair *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct range first = v[i];
		size_t at = i;

		while (order[at].at != i) {
			size_t from = order[at].at;

			v[at] = v[from];
			order[at].at = (uint32_t)at;
			at = from;
		}
		v[at] = first;
		order[at].at = (uint32_t)at;
	}
}

/* Seldom do more than a handful begin together. */
static void sort_few(struct range *v, size_t n, range_compare_fn compare)
{
	if (n > VERY_FEW) {
		qsort(v, n, sizeof(*v), compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct range r = v[i];
		size_t at = i;

		for (; at && compare(&v[at - 1], &r) > 0; at--)
			v[at] = v[at - 1];
		v[at] = r;
	}
}

/* @compare: by start first; it decides among those that begin together. */
int range_sort(struct range_list *l, range_compare_fn compare)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct pair *a, *order;

	for (size_t i = 0; i < l->n; i++) {
		low = l->v[i].start < low ? l->v[i].start : low;
		high = l->v[i].start > high ? l->v[i].start : high;
	}
	if (l->n < 64 || high - low > UINT32_MAX || l->n > UINT32_MAX) {
		if (l->n)
			qsort(l->v, l->n, sizeof(*l->v), compare);
		return 0;
	}
	a = reallocarray(NULL, l->n, 2 * sizeof(*a));
	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		a[i] = (struct pair) {
			(uint32_t)(l->v[i].start - low), (uint32_t)i,
		};
	order = pair_sort(a, a + l->n, l->n);
	permute(l->v, order, l->n);
	free(a);
	for (size_t i = 0, j; i < l->n; i = j) {
		for (j = i + 1; j < l->n && l->v[j].start == l->v[i].start; j++)
			;
		sort_few(&l->v[i], j - i, compare);
	}
	return 0;
}
