// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols in order of address, by their digits: a comparison for each of their
 * pairs is what takes longest when an index is made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

struct pair {
	uint32_t key, at;
};

static void by_digit(const struct pair *from, struct pair *to, size_t n,
		     int shift)
{
	size_t place[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		place[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t here = place[d];

		place[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
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

/* @compare: by start first; it decides among those that begin together. */
int range_sort(struct range_list *l, range_compare_fn compare)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct pair *a, *b, *swap;

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
	b = a + l->n;
	for (size_t i = 0; i < l->n; i++)
		a[i] = (struct pair) {
			(uint32_t)(l->v[i].start - low), (uint32_t)i,
		};
	swap = a;
	for (int shift = 0; shift < 32 && (high - low) >> shift; shift += DIGIT) {
		struct pair *t = a;

		by_digit(a, b, l->n, shift);
		a = b;
		b = t;
	}
	permute(l->v, a, l->n);
	free(swap);
	for (size_t i = 0, j; i < l->n; i = j) {
		for (j = i + 1; j < l->n && l->v[j].start == l->v[i].start; j++)
			;
		if (j > i + 1)
			qsort(&l->v[i], j - i, sizeof(*l->v), compare);
	}
	return 0;
}
