// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols in order of address, by their digits: a comparison for each of their
 * pairs is what takes longest when an index is made.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Short lists are not worth big tables. */
enum { BITS = 11, BITS_OF_FEW = 7, FEW = 1 << BITS, VERY_FEW = 24,
       PART_BITS = 8, PARTS = 1 << PART_BITS };

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

/*
 * By the digit of the start at @shift, in place, each range moved to its part
 * at once, and then each part by the next digit. There are few enough parts for
 * all their ends to stay in the cache. Short ones must not come as far as here:
 * they would take longer than they have.
 */
static void sort_digit(struct range *v, size_t n, uint64_t low, int shift,
		       range_compare_fn compare)
{
	size_t from[PARTS], to[PARTS] = { 0 }, sum = 0;
	int next = shift ? shift - PART_BITS : -1;

	for (size_t i = 0; i < n; i++)
		to[(v[i].start - low) >> shift & (PARTS - 1)]++;
	for (size_t d = 0; d < PARTS; d++) {
		from[d] = sum;
		sum += to[d];
		to[d] = sum;
	}
	for (size_t d = 0; d < PARTS; d++)
		while (from[d] < to[d]) {
			struct range r = v[from[d]];
			size_t is = (r.start - low) >> shift & (PARTS - 1);

			if (is == d) {
				from[d]++;
			} else {
				v[from[d]] = v[from[is]];
				v[from[is]++] = r;
			}
		}
	for (size_t d = 0, at = 0; d < PARTS; at = to[d++])
		if (to[d] - at > VERY_FEW && next >= 0)
			sort_digit(v + at, to[d] - at, low, next, compare);
		else if (to[d] - at > 1)
			sort_few(v + at, to[d] - at, compare);
}

/* @compare: by start first; it decides among those that begin together. */
void range_sort(struct range_list *l, range_compare_fn compare)
{
	uint64_t low = UINT64_MAX, high = 0;
	int shift = 0;

	for (size_t i = 0; i < l->n; i++) {
		low = l->v[i].start < low ? l->v[i].start : low;
		high = l->v[i].start > high ? l->v[i].start : high;
	}
	while (l->n && shift < 64 - PART_BITS &&
	       (high - low) >> shift >> PART_BITS)
		shift += PART_BITS;
	if (l->n > VERY_FEW)
		sort_digit(l->v, l->n, low, shift, compare);
	else
		sort_few(l->v, l->n, compare);
}
