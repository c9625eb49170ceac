// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Disjoint ranges in order: 8 bytes each. A range ends where the next begins;
 * a gap is a range too, with INDEX_NONE. Keys are 32 bits relative to a chunk's
 * base, and a new chunk begins where they would not do.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

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
	}
	ix->key[ix->n] = (uint32_t)(start - last->base);
	ix->val[ix->n++] = val;
	return 0;
}

/* The value of the range that holds an address, or INDEX_NONE. */
uint32_t index_find(const struct index *ix, uint64_t addr)
{
	uint32_t lo = 0, hi = ix->nchunk, end;
	uint64_t off;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ix->chunk[mid].base <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return INDEX_NONE;
	end = lo < ix->nchunk ? ix->chunk[lo].first : ix->n;
	off = addr - ix->chunk[lo - 1].base;
	lo = ix->chunk[lo - 1].first;
	hi = end;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ix->key[mid] <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return ix->val[lo - 1];
}

void index_free(struct index *ix)
{
	free(ix->key);
	free(ix->val);
	free(ix->chunk);
	*ix = (struct index) { 0 };
}
