// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Disjoint ranges: 6 or 8 bytes each, a key and a value, the latter as wide as
 * the numbers of the file's symbols ask for. Keys are 32 bits relative to a
 * chunk's base; a new chunk begins where they would not do. Those of a chunk lie
 * in the order in which a search meets them (Eytzinger's), so the first steps of
 * all searches share few cache lines.
 *
 * A range reaches to the next one or to the end of what its value means,
 * whichever comes first: gaps behind symbols that know their size are not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

#define NARROW_NONE UINT16_MAX

static int grow(void **v, uint32_t *room, size_t size)
{
	uint64_t more = *room ? (uint64_t)*room * 2 : 64;
	void *bigger;

	if (more > INT32_MAX)
		return -ENOMEM;
	bigger = reallocarray(*v, more, size);
	if (!bigger)
		return -ENOMEM;
	*v = bigger;
	*room = (uint32_t)more;
	return 0;
}

static int grow_ranges(struct index *ix)
{
	uint32_t room = ix->room;
	int ret = grow((void **)&ix->key, &room, sizeof(*ix->key));

	if (!ret)
		ret = grow((void **)&ix->val, &ix->room, sizeof(*ix->val));
	return ret;
}

/* Append a range; @start never goes back. The last word on an address wins. */
int index_add(struct index *ix, uint64_t start, uint32_t val)
{
	struct index_chunk *last = ix->nchunk ? &ix->chunk[ix->nchunk - 1] :
						NULL;
	int ret;

	if (last && start == last->base + ix->key[ix->n - 1]) {
		ix->val[ix->n - 1] = val;
		return 0;
	}
	if (ix->n ? ix->val[ix->n - 1] == val : val == INDEX_NONE)
		return 0;
	if (ix->n == ix->room) {
		ret = grow_ranges(ix);
		if (ret)
			return ret;
	}
	if (!last || start - last->base > UINT32_MAX) {
		if (ix->nchunk == ix->chunk_room) {
			ret = grow((void **)&ix->chunk, &ix->chunk_room,
				   sizeof(*ix->chunk));
			if (ret)
				return ret;
		}
		last = &ix->chunk[ix->nchunk++];
		last->base = start;
		last->first = ix->n;
		last->n = 0;
	}
	ix->key[ix->n] = (uint32_t)(start - last->base);
	ix->val[ix->n++] = val;
	last->n++;
	return 0;
}

/* The same for keys that may be equal; all in one chunk. */
int index_append(struct index *ix, uint32_t key, uint32_t val)
{
	int ret = ix->n == ix->room ? grow_ranges(ix) : 0;

	if (!ret && !ix->nchunk) {
		ret = grow((void **)&ix->chunk, &ix->chunk_room,
			   sizeof(*ix->chunk));
		if (!ret)
			ix->chunk[ix->nchunk++] = (struct index_chunk) { 0 };
	}
	if (ret)
		return ret;
	ix->key[ix->n] = key;
	ix->val[ix->n++] = val;
	ix->chunk->n++;
	return 0;
}

/* From the place of one to that of the next in order: down to the left, or up as
 * long as it comes from the right. */
static uint64_t next_place(uint64_t k, uint64_t n)
{
	if (2 * k + 1 > n)
		return k >> (__builtin_ctzll(~k) + 1);
	for (k = 2 * k + 1; 2 * k <= n; k *= 2)
		;
	return k;
}

/* Values that are small are kept small. */
static bool is_narrow(const struct index *ix)
{
	for (uint32_t i = 0; i < ix->n; i++)
		if (ix->val[i] >= NARROW_NONE && ix->val[i] != INDEX_NONE)
			return false;
	return true;
}

/* Nothing is added any more; from now on it can be searched. */
int index_finish(struct index *ix)
{
	uint32_t *key = NULL, *val = NULL;
	bool narrow = is_narrow(ix);

	if (ix->n) {
		key = reallocarray(NULL, ix->n, sizeof(*key));
		val = reallocarray(NULL, ix->n, narrow ? sizeof(uint16_t) :
							 sizeof(uint32_t));
		if (!key || !val) {
			free(key);
			free(val);
			return -ENOMEM;
		}
	}
	for (uint32_t c = 0; c < ix->nchunk; c++) {
		uint32_t first = ix->chunk[c].first, n = ix->chunk[c].n;
		uint64_t k = 1;

		while (2 * k <= n)
			k *= 2;
		for (uint32_t at = first; at < first + n; at++) {
			uint64_t to = first + k - 1;

			key[to] = ix->key[at];
			if (narrow)
				((uint16_t *)val)[to] = (uint16_t)ix->val[at];
			else
				val[to] = ix->val[at];
			k = next_place(k, n);
		}
	}
	free(ix->key);
	free(ix->val);
	ix->key = key;
	ix->val = val;
	ix->room = ix->n;
	ix->narrow = narrow;
	return 0;
}

static const struct index_chunk *chunk_of(const struct index *ix, uint64_t addr)
{
	uint32_t lo = 0, hi = ix->nchunk;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ix->chunk[mid].base <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &ix->chunk[lo - 1] : NULL;
}

/* The value at the last start not above @addr. */
uint32_t index_find(const struct index *ix, uint64_t addr)
{
	const struct index_chunk *c = ix->nchunk == 1 ? ix->chunk :
							chunk_of(ix, addr);
	const uint32_t *key;
	size_t k = 1, n, far;
	uint32_t off;

	if (!c || addr < c->base)
		return INDEX_NONE;
	/* Behind the last range no key is bigger, whatever the distance. */
	off = addr - c->base > UINT32_MAX ? UINT32_MAX :
					    (uint32_t)(addr - c->base);
	key = ix->key + c->first - 1;
	n = c->n;
	/* Four steps ahead are 16 neighbours, which share a line. */
	for (far = n / 16; k <= far; k = 2 * k + 1 - (off < key[k]))
		__builtin_prefetch(key + 16 * k);
	while (k <= n)
		k = 2 * k + 1 - (off < key[k]);
	/* Back to where the search last went right. */
	k >>= __builtin_ctzll(k) + 1;
	return k ? index_value(ix, c->first + (uint32_t)k - 1) : INDEX_NONE;
}

uint32_t index_value(const struct index *ix, uint32_t at)
{
	uint16_t small;

	if (!ix->narrow)
		return ix->val[at];
	small = ((const uint16_t *)ix->val)[at];
	return small == NARROW_NONE ? INDEX_NONE : small;
}

uint32_t index_key(const struct index *ix, uint32_t at)
{
	return ix->key[at - 1];
}

/* The first place, from 1, whose key is not below @key; 0: there is none. */
uint32_t index_first(const struct index *ix, uint32_t key)
{
	size_t k = 1;

	while (k <= ix->n)
		k = 2 * k + (ix->key[k - 1] < key);
	/* Back to where the search last went left. */
	k >>= __builtin_ctzll(~k) + 1;
	return (uint32_t)k;
}

/* The place behind @at in the order of keys; 0: it is the last one. */
uint32_t index_next(const struct index *ix, uint32_t at)
{
	return (uint32_t)next_place(at, ix->n);
}

void index_free(struct index *ix)
{
	if (ix->map) {
		munmap(ix->map, ix->map_size);
	} else {
		free(ix->key);
		free(ix->val);
		free(ix->chunk);
	}
	*ix = (struct index) { 0 };
}
