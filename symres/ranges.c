// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From symbols that overlap to ranges that do not.
 *
 * At an address the innermost symbol whose own size holds it wins: of those
 * that hold it, the one that starts last and then ends first. When an inner one
 * ends, the outer one goes on. A symbol without size fills only what no sized
 * one holds, up to the next symbol of any kind or the end of its section.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int range_reserve(struct range_list *l, size_t more)
{
	size_t room = l->n + more > 2 * l->room ? l->n + more : 2 * l->room;
	struct range *v;

	if (l->room - l->n >= more)
		return 0;
	v = reallocarray(l->v, room, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	l->room = room;
	return 0;
}

int range_push(struct range_list *l, const struct range *r)
{
	int ret = range_reserve(l, 1);

	if (!ret)
		l->v[l->n++] = *r;
	return ret;
}

void range_list_free(struct range_list *l)
{
	free(l->v);
	*l = (struct range_list) { 0 };
}

int range_compare_start(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

/* Outer before inner, worse before better. */
static int compare(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	/* A complete table knows more about a sizeless symbol's end. */
	if (a->exact_only != b->exact_only)
		return a->exact_only ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->ref != b->ref)
		return a->ref > b->ref ? -1 : 1;
	return 0;
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* Fewer leading underscores, then longer; the rest only to be repeatable. */
int compare_names(const char *a, const char *b)
{
	size_t ua = underscores(a), ub = underscores(b);
	size_t la, lb;

	if (ua != ub)
		return ua < ub ? 1 : -1;
	la = strlen(a);
	lb = strlen(b);
	if (la != lb)
		return la > lb ? 1 : -1;
	return strcmp(a, b);
}

/*
 * What a name is worth in one number: fewer leading underscores, then its
 * length, then no second name of a system call.
 */
uint32_t name_key(const char *name, size_t len)
{
	size_t under = 0;
	bool twin = (len >= 3 && !memcmp(name, "SyS", 3)) ||
		    (len >= 10 && !memcmp(name, "compat_SyS", 10));

	while (under < UINT8_MAX && under < len && name[under] == '_')
		under++;
	return (uint32_t)((UINT8_MAX - under) << 24 | len << 1 | !twin);
}

static bool equal(const struct range *a, const struct range *b)
{
	return a->start == b->start && a->layer == b->layer &&
	       (a->layer == LAYER_SIZELESS || a->end == b->end);
}

static bool compete(const struct range *a, const struct range *b)
{
	return a->layer != LAYER_BOUND && a->rank == b->rank &&
	       a->rank != RANK_STUB && a->exact_only == b->exact_only;
}

/* Of equal ranges the last and those of its rank compete. */
static void mark_rivals(struct range_list *l)
{
	struct range *last = NULL;

	for (size_t i = l->n; i-- > 0; ) {
		struct range *r = &l->v[i];

		if (!last || !equal(r, last)) {
			last = r;
		} else if (compete(r, last)) {
			last->rival = true;
			r->rival = true;
		}
	}
}

/* Leave one range of each that differ in their names only. */
static void choose_aliases(struct range_list *l, better_fn better, void *arg)
{
	size_t out = 0, i = 0, j;

	while (i < l->n) {
		struct range best;

		for (j = i; j + 1 < l->n && equal(&l->v[i], &l->v[j + 1]); j++)
			;
		best = l->v[j];
		for (size_t k = j; k-- > i; )
			if (compete(&l->v[k], &best) &&
			    better(arg, &l->v[k], &best) > 0)
				best = l->v[k];
		l->v[out++] = best;
		i = j + 1;
	}
	l->n = out;
}

/*
 * A symbol without size ends where anything else begins. One that begins with a
 * sized one is the same thing, whose size is known.
 */
static void end_sizeless(struct range_list *l)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = l->n; i-- > 0; ) {
		struct range *r = &l->v[i];

		if (i + 1 < l->n && l->v[i + 1].start != r->start)
			next = l->v[i + 1].start;
		if (r->layer != LAYER_SIZELESS)
			continue;
		if (i + 1 < l->n && l->v[i + 1].start == r->start)
			r->end = r->start;
		else if (r->exact_only)
			r->end = r->start + 1;
		else if (r->end > next)
			r->end = next;
	}
}

/* The ranges open at the sweep's place, a stack for each layer. */
struct sweep {
	struct range *stack[LAYERS];
	size_t depth[LAYERS];
	struct index *ix;
};

static struct range *top(struct sweep *sw, int layer)
{
	return sw->depth[layer] ? &sw->stack[layer][sw->depth[layer] - 1] :
				  NULL;
}

static uint32_t current(struct sweep *sw)
{
	for (int layer = LAYERS - 1; layer > LAYER_BOUND; layer--)
		if (sw->depth[layer])
			return top(sw, layer)->ref;
	return INDEX_NONE;
}

/* Let ranges end, one at a time, up to @to. */
static int advance(struct sweep *sw, uint64_t to)
{
	for (;;) {
		uint64_t at = UINT64_MAX;
		bool own = true;
		uint32_t now;
		int ret;

		for (int i = LAYER_BOUND + 1; i < LAYERS; i++)
			if (sw->depth[i] && top(sw, i)->end < at)
				at = top(sw, i)->end;
		if (at > to || at == UINT64_MAX)
			return 0;
		for (int i = LAYER_BOUND + 1; i < LAYERS; i++)
			while (sw->depth[i] && top(sw, i)->end <= at) {
				own &= top(sw, i)->own_end;
				sw->depth[i]--;
			}
		now = current(sw);
		/* Who finds the symbol there will see that it has ended. */
		if (now == INDEX_NONE && own)
			continue;
		ret = index_add(sw->ix, at, now);
		if (ret)
			return ret;
	}
}

static bool is_open(const struct sweep *sw)
{
	for (int layer = LAYER_BOUND + 1; layer < LAYERS; layer++)
		if (sw->depth[layer])
			return true;
	return false;
}

/* It knows its end, and the next begins there or later. */
static bool lies_alone(const struct range_list *l, size_t i)
{
	return l->v[i].own_end && i + 1 < l->n &&
	       l->v[i + 1].start >= l->v[i].end;
}

/* index_add() of what is like most: it begins later and means something else. */
static inline int add(struct index *ix, uint64_t start, uint32_t val)
{
	struct index_chunk *last;
	uint64_t key;

	if (!ix->n || ix->n == ix->room)
		return index_add(ix, start, val);
	last = &ix->chunk[ix->nchunk - 1];
	key = start - last->base;
	if (key > UINT32_MAX || key == ix->key[ix->n - 1] ||
	    val == ix->val[ix->n - 1])
		return index_add(ix, start, val);
	ix->key[ix->n] = (uint32_t)key;
	ix->val[ix->n++] = val;
	last->n++;
	return 0;
}

static int sweep_all(struct sweep *sw, struct range_list *l)
{
	int ret = 0;

	for (size_t i = 0; i < l->n && !ret; i++) {
		struct range *r = &l->v[i];

		if (r->layer == LAYER_BOUND || r->start >= r->end)
			continue;
		if (is_open(sw)) {
			ret = advance(sw, r->start);
			if (ret)
				break;
		}
		/* As most do: nothing is open, and nothing stays so. */
		if (lies_alone(l, i) && !is_open(sw)) {
			ret = add(sw->ix, r->start, r->ref);
			continue;
		}
		sw->stack[r->layer][sw->depth[r->layer]++] = *r;
		ret = index_add(sw->ix, r->start, current(sw));
	}
	return ret ? ret : advance(sw, UINT64_MAX - 1);
}

/* From ranges in order to an index: of those open, the last one begun wins. */
int ranges_sweep(struct range_list *l, struct index *ix)
{
	struct sweep sw = { .ix = ix };
	size_t n[LAYERS] = { 0 };
	int ret = -ENOMEM;

	for (size_t i = 0; i < l->n; i++)
		n[l->v[i].layer]++;
	for (int i = LAYER_BOUND + 1; i < LAYERS; i++) {
		sw.stack[i] = reallocarray(NULL, n[i] ? n[i] : 1, sizeof(*l->v));
		if (!sw.stack[i])
			goto out;
	}
	ret = sweep_all(&sw, l);
	if (!ret)
		ret = index_finish(ix);
out:
	for (int i = 0; i < LAYERS; i++)
		free(sw.stack[i]);
	return ret;
}

/* Uses up the list's content. */
int ranges_to_index(struct range_list *l, struct index *ix, weigh_fn weigh,
		    better_fn better, void *arg)
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
	choose_aliases(l, better, arg);
	end_sizeless(l);
	return ranges_sweep(l, ix);
}
