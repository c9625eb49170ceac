// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbols in order of address, by their digits: a comparison for each of their
 * pairs is what takes longest when an index is made.
 */
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

/*
 * Ranges are sorted by the leading bits of their starts first. A list that is
 * long is parted in place, by few enough bits for the ends of all parts to stay
 * in the cache; a part that stays in the cache itself is copied, by enough bits
 * to leave a handful together.
 */
enum { HANDFUL_BITS = 2, LONG_BITS = 8,
       DIGITS = 2 * SORT_ROOM >> HANDFUL_BITS };

struct sorting {
	range_compare_fn compare;
	uint64_t low;		/* no start is below that */
	struct range *part;	/* room for one */
};

/* Puts one more in order, behind @n that are. */
static inline void insert_range(struct range *v, size_t n, struct range r,
				range_compare_fn compare)
{
	for (; n && (v[n - 1].start > r.start ||
		     (v[n - 1].start == r.start &&
		      compare(&v[n - 1], &r) > 0)); n--)
		v[n] = v[n - 1];
	v[n] = r;
}

static uint32_t digit_of(const struct sorting *s, const struct range *r,
			 int shift, uint32_t digits)
{
	return (uint32_t)((r->start - s->low) >> shift) & (digits - 1);
}

/* Where those of each digit begin; and one more, where the last ones end. */
static void count_digits(const struct sorting *s, const struct range *v,
			 size_t n, int shift, uint32_t digits, uint32_t *begin)
{
	uint32_t sum = 0;

	memset(begin, 0, (digits + 1) * sizeof(*begin));
	for (size_t i = 0; i < n; i++)
		begin[digit_of(s, &v[i], shift, digits)]++;
	for (uint32_t d = 0; d <= digits; d++) {
		uint32_t here = begin[d];

		begin[d] = sum;
		sum += here;
	}
}

static void sort_bits(const struct sorting *s, struct range *v, size_t n,
		      int bits);

static void sort_by_copy(const struct sorting *s, struct range *v, size_t n,
			 int shift, uint32_t digits)
{
	uint32_t end[DIGITS + 1];

	count_digits(s, v, n, shift, digits, end);
	for (size_t i = 0; i < n; i++)
		s->part[end[digit_of(s, &v[i], shift, digits)]++] = v[i];
	/* Back they come in order, unless it takes another round. */
	for (uint32_t d = 0, at = 0; d < digits; at = end[d++]) {
		uint32_t few = end[d] - at;

		if (few > VERY_FEW)
			memcpy(v + at, s->part + at, few * sizeof(*v));
		else
			for (uint32_t i = 0; i < few; i++)
				insert_range(v + at, i, s->part[at + i],
					     s->compare);
	}
	for (uint32_t d = 0, at = 0; d < digits; at = end[d++])
		if (end[d] - at > VERY_FEW)
			sort_bits(s, v + at, end[d] - at, shift);
}

/*
 * Each is exchanged for what is where it belongs, and the loop goes on behind it
 * whatever that was, so that no exchange has to wait for the one before.
 */
static void sort_by_exchange(const struct sorting *s, struct range *v, size_t n,
			     int shift, uint32_t digits)
{
	uint32_t next[DIGITS + 1], end[DIGITS], left;

	count_digits(s, v, n, shift, digits, next);
	memcpy(end, next + 1, digits * sizeof(*end));
	do {
		left = 0;
		for (uint32_t d = 0; d < digits; d++) {
			for (uint32_t i = next[d]; i < end[d]; i++) {
				uint32_t to = next[digit_of(s, &v[i], shift,
							    digits)]++;
				struct range r = v[i];

				v[i] = v[to];
				v[to] = r;
			}
			left += end[d] - next[d];
		}
	} while (left);
	for (uint32_t d = 0, at = 0; d < digits; at = end[d++])
		sort_bits(s, v + at, end[d] - at, shift);
}

/* Their starts differ in the lowest @bits at most. */
static void sort_bits(const struct sorting *s, struct range *v, size_t n,
		      int bits)
{
	int by;

	if (n <= VERY_FEW) {
		for (size_t i = 1; i < n; i++)
			insert_range(v, i, v[i], s->compare);
	} else if (!bits) {
		qsort(v, n, sizeof(*v), s->compare);
	} else if (n <= SORT_ROOM) {
		by = 64 - __builtin_clzll(n) - HANDFUL_BITS;
		by = by < bits ? by : bits;
		sort_by_copy(s, v, n, bits - by, 1u << by);
	} else {
		by = LONG_BITS < bits ? LONG_BITS : bits;
		sort_by_exchange(s, v, n, bits - by, 1u << by);
	}
}

/* 0, or -ENOMEM. @compare: by start first; it decides among those that begin
 * together. */
int range_sort(struct range_list *l, range_compare_fn compare)
{
	struct sorting s = { .compare = compare, .low = UINT64_MAX };
	uint64_t high = 0;
	int ret;

	if (l->n < 2)
		return 0;
	ret = range_reserve(l, l->n < SORT_ROOM ? l->n : SORT_ROOM);
	if (ret)
		return ret;
	s.part = l->v + l->n;
	for (size_t i = 0; i < l->n; i++) {
		s.low = l->v[i].start < s.low ? l->v[i].start : s.low;
		high = l->v[i].start > high ? l->v[i].start : high;
	}
	sort_bits(&s, l->v, l->n,
		  high > s.low ? 64 - __builtin_clzll(high - s.low) : 0);
	return 0;
}
