// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "ctl.h"

#define FRAMES_MAX 1024		/* of a call chain; the kernel gives 127 or so */

static void count(struct tallies *t, const struct label *label)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->all[i].label == label)
			break;
	if (i == t->n) {
		t->all = ctl_realloc(t->all, t->n + 1, sizeof(*t->all));
		t->all[t->n++] = (struct tally){ .label = label };
	}
	t->all[i].samples++;
	/* the frequent ones are found first */
	if (i && t->all[i].samples > t->all[i - 1].samples) {
		struct tally swap = t->all[i];

		t->all[i] = t->all[i - 1];
		t->all[i - 1] = swap;
	}
}

static bool same_key(const struct row *a, const struct row *b)
{
	return a->lock == b->lock && a->addr == b->addr &&
	       a->family == b->family && a->mode == b->mode &&
	       a->site == b->site && a->symbol == b->symbol;
}

static size_t hash_key(const struct row *key)
{
	uint64_t h = (uintptr_t)key->lock;

	h = (h ^ key->addr) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ key->family ^ (uint64_t)key->mode << 8) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ (uintptr_t)key->site) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ (uintptr_t)key->symbol) * 0x9e3779b97f4a7c15ULL;
	return h >> 32;
}

static struct row **find_slot(struct aggregate *a, const struct row *key)
{
	size_t i = hash_key(key) & (a->table_size - 1);

	while (a->table[i] && !same_key(a->table[i], key))
		i = (i + 1) & (a->table_size - 1);
	return &a->table[i];
}

static void grow(struct aggregate *a)
{
	size_t i;

	free(a->table);
	a->table_size = a->table_size ? a->table_size * 2 : 256;
	a->table = ctl_zalloc(a->table_size * sizeof(*a->table));
	for (i = 0; i < a->nr_rows; i++)
		*find_slot(a, a->rows[i]) = a->rows[i];
}

static struct row *get_row(struct aggregate *a, const struct row *key)
{
	struct row **slot;

	if (a->nr_rows * 2 >= a->table_size)
		grow(a);
	slot = find_slot(a, key);
	if (*slot)
		return *slot;
	*slot = ctl_zalloc(sizeof(**slot));
	**slot = *key;
	a->rows = ctl_realloc(a->rows, a->nr_rows + 1, sizeof(*a->rows));
	a->rows[a->nr_rows++] = *slot;
	return *slot;
}

static void add_object(struct row *row, uint64_t addr)
{
	size_t low = 0, high = row->nr_objects;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (row->objects[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < row->nr_objects && row->objects[low] == addr)
		return;
	row->objects = ctl_realloc(row->objects, row->nr_objects + 1,
				   sizeof(*row->objects));
	memmove(row->objects + low + 1, row->objects + low,
		(row->nr_objects - low) * sizeof(*row->objects));
	row->objects[low] = addr;
	row->nr_objects++;
}

static void add_chain(struct node *root, const struct label **chain, size_t n)
{
	struct node *node = root, *child;

	root->samples++;
	while (n--) {
		for (child = node->children; child; child = child->next)
			if (child->label == chain[n])
				break;
		if (!child) {
			child = ctl_zalloc(sizeof(*child));
			child->label = chain[n];
			child->next = node->children;
			node->children = child;
		}
		child->samples++;
		node = child;
	}
	node->self++;
}

static void add_lock(struct row *row, const struct lockheld_sample_lock *lock)
{
	if (lock->flags & LOCKHELD_LOCK_MATCHED)
		row->matched++;
	add_object(row, lock->addr);
	if (!lock->held_ns)
		return;
	row->timed++;
	row->held_sum += lock->held_ns;
	if (lock->held_ns > row->held_max)
		row->held_max = lock->held_ns;
}

static const struct label *site_of(struct aggregate *a,
				   const struct lockheld_sample_lock *lock)
{
	/* the call itself is before its return address */
	return lock->ip ? symbols_kernel(a->symbols, lock->ip - 1) : NULL;
}

/* Two locks of one sample may be one row: they are one sample of it. */
static bool counted(struct row **rows, size_t n, const struct row *row)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i] == row)
			return true;
	return false;
}

static void add_to_row(struct aggregate *a, const struct row *key,
		       const struct lockheld_sample_lock *lock,
		       const struct label **chain, size_t n, struct row **seen,
		       size_t *nr_seen)
{
	struct row *row = get_row(a, key);
	const struct label *site, *name;

	if (!counted(seen, *nr_seen, row)) {
		seen[(*nr_seen)++] = row;
		row->samples++;
		count(&row->symbols, chain[0]);
		add_chain(&row->root, chain, n);
	}
	if (!lock)
		return;
	add_lock(row, lock);
	site = site_of(a, lock);
	if (site)
		count(&row->sites, site);
	name = symbols_lock(a->symbols, lock->addr);
	if (name)
		count(&row->locks, name);
}

static size_t name_chain(struct aggregate *a, const struct sample *s,
			 const struct label **chain)
{
	struct chain_walk walk;
	uint64_t addr;
	bool kernel;
	size_t n = 0;

	chain_start(&walk, s);
	while (n < FRAMES_MAX && chain_next(&walk, &addr, &kernel)) {
		/* frame pointers that lead nowhere end in a 0 */
		if (!addr && n)
			continue;
		chain[n++] = kernel ? symbols_kernel(a->symbols, addr) :
				      symbols_user(a->symbols, s->pid, addr,
						   s->time);
	}
	if (!n)
		chain[n++] = symbols_user(a->symbols, 0, 0, 0);
	return n;
}

static void set_key(struct aggregate *a, struct row *key,
		    const struct lockheld_sample_lock *lock,
		    const struct label *symbol)
{
	memset(key, 0, sizeof(*key));
	if (a->sort == SORT_SYMBOL) {
		key->symbol = symbol;
		return;
	}
	if (!lock)
		return;
	key->lock = symbols_lock(a->symbols, lock->addr);
	key->addr = key->lock ? 0 : lock->addr;
	key->family = lock->family;
	key->mode = lock->mode;
	if (a->sort == SORT_SITE)
		key->site = site_of(a, lock);
}

void aggregate_add(struct aggregate *a, const struct perf_event_attr *attr,
		   const struct perf_event_header *record)
{
	struct lockheld_sample_lock locks[LOCKHELD_SAMPLE_LOCKS_MAX];
	struct row *seen[LOCKHELD_SAMPLE_LOCKS_MAX + 1], key;
	const struct label *chain[FRAMES_MAX];
	struct lockheld_sample_tail tail;
	size_t n, nr_seen = 0;
	struct sample s;
	int i, nr;

	a->samples++;
	if (!sample_parse(attr, record, &s)) {
		a->damaged++;
		return;
	}
	n = name_chain(a, &s, chain);
	nr = sample_locks(&s, locks, &tail);
	a->with_record += nr >= 0;
	a->with_locks += nr > 0;
	if (nr >= 0)
		a->omitted += tail.omitted;
	for (i = 0; i < nr; i++) {
		set_key(a, &key, &locks[i], chain[0]);
		add_to_row(a, &key, &locks[i], chain, n, seen, &nr_seen);
	}
	if (nr <= 0) {
		set_key(a, &key, NULL, chain[0]);
		add_to_row(a, &key, NULL, chain, n, seen, &nr_seen);
	}
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->label->name, y->label->name);
}

static void sort_tallies(struct tallies *t)
{
	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), compare_tallies);
}

static bool node_before(const struct node *a, const struct node *b)
{
	if (a->samples != b->samples)
		return a->samples > b->samples;
	return strcmp(a->label->name, b->label->name) < 0;
}

/* Insertion: lists of callees are short. */
static void sort_nodes(struct node *parent)
{
	struct node *sorted = NULL, *node, **at;

	while ((node = parent->children)) {
		parent->children = node->next;
		for (at = &sorted; *at && node_before(*at, node);
		     at = &(*at)->next)
			;
		node->next = *at;
		*at = node;
	}
	parent->children = sorted;
	for (node = sorted; node; node = node->next)
		sort_nodes(node);
}

/* Locks the filter asked for come before those that were held besides. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a;
	const struct row *y = *(struct row *const *)b;

	if (!x->matched != !y->matched)
		return x->matched ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->lock && y->lock && x->lock != y->lock)
		return strcmp(x->lock->name, y->lock->name);
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void aggregate_sort(struct aggregate *a)
{
	size_t i;

	for (i = 0; i < a->nr_rows; i++) {
		sort_tallies(&a->rows[i]->sites);
		sort_tallies(&a->rows[i]->symbols);
		sort_tallies(&a->rows[i]->locks);
		sort_nodes(&a->rows[i]->root);
	}
	if (a->nr_rows)
		qsort(a->rows, a->nr_rows, sizeof(*a->rows), compare_rows);
}

static void free_nodes(struct node *node)
{
	while (node) {
		struct node *next = node->next;

		free_nodes(node->children);
		free(node);
		node = next;
	}
}

void aggregate_free(struct aggregate *a)
{
	size_t i;

	for (i = 0; i < a->nr_rows; i++) {
		struct row *row = a->rows[i];

		free(row->objects);
		free(row->sites.all);
		free(row->symbols.all);
		free(row->locks.all);
		free_nodes(row->root.children);
		free(row);
	}
	free(a->rows);
	free(a->table);
}
