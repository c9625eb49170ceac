// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "ctl.h"

#define FRAMES_MAX 1024		/* of a call chain; the kernel gives 127 or so */

static size_t hash_node(const struct node *parent, const struct label *label)
{
	uint64_t h = (uintptr_t)parent * 0x9e3779b97f4a7c15ULL;

	return ((h ^ (uintptr_t)label) * 0x9e3779b97f4a7c15ULL) >> 32;
}

static struct node **find_node(struct aggregate *a, const struct node *parent,
			       const struct label *label)
{
	size_t i = hash_node(parent, label) & (a->nodes_size - 1);

	while (a->nodes[i] && (a->nodes[i]->parent != parent ||
			       a->nodes[i]->label != label))
		i = (i + 1) & (a->nodes_size - 1);
	return &a->nodes[i];
}

static void grow_nodes(struct aggregate *a)
{
	struct node **old = a->nodes;
	size_t n = a->nodes_size, i;

	a->nodes_size = n ? n * 2 : 1024;
	a->nodes = ctl_zalloc(a->nodes_size * sizeof(*a->nodes));
	for (i = 0; i < n; i++)
		if (old[i])
			*find_node(a, old[i]->parent, old[i]->label) = old[i];
	free(old);
}

/* The child of that name, one sample more. */
static struct node *count(struct aggregate *a, struct node *parent,
			  const struct label *label)
{
	struct node **slot, *node;

	if (a->nr_nodes * 2 >= a->nodes_size)
		grow_nodes(a);
	slot = find_node(a, parent, label);
	node = *slot;
	if (!node) {
		node = ctl_zalloc(sizeof(*node));
		node->label = label;
		node->parent = parent;
		node->next = parent->children;
		parent->children = node;
		parent->nr_children++;
		*slot = node;
		a->nr_nodes++;
	}
	node->samples++;
	return node;
}

static void list(struct aggregate *a, struct node *root,
		 const struct label *label)
{
	root->samples++;
	count(a, root, label);
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

static void add_chain(struct aggregate *a, struct node *root,
		      const struct label **chain, size_t n)
{
	struct node *node = root;

	root->samples++;
	while (n--)
		node = count(a, node, chain[n]);
	node->self++;
}

static void add_lock(struct row *row, const struct lockheld_sample_lock *lock)
{
	if (lock->flags & LOCKHELD_LOCK_MATCHED)
		row->matched++;
	if (lock->addr)
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
		list(a, &row->symbols, chain[0]);
		add_chain(a, &row->chains, chain, n);
	}
	if (!lock)
		return;
	add_lock(row, lock);
	site = site_of(a, lock);
	if (site)
		list(a, &row->sites, site);
	name = symbols_lock(a->symbols, lock->family, lock->addr);
	if (name)
		list(a, &row->locks, name);
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
		/* no frame, but how a chain of frame pointers ends */
		if (!addr && n)
			continue;
		chain[n] = kernel ? symbols_kernel(a->symbols, addr) :
				    symbols_user(a->symbols, s->pid, addr,
						 s->time);
		/* Code without frame pointers leads into nowhere: how far is
		 * of no interest. */
		if (!n || chain[n]->known || *chain[n]->module ||
		    chain[n] != chain[n - 1])
			n++;
	}
	if (!n)
		chain[n++] = symbols_user(a->symbols, 0, 0, 0);
	return n;
}

/* Each sample once. Behind its @n frames @chain has room for a frame per lock. */
static void add_whole(struct aggregate *a, const struct label **chain, size_t n,
		      const struct lockheld_sample_lock *locks, int nr)
{
	struct row *seen[1], key = { 0 };
	size_t nr_seen = 0;

	while (a->locks_call && nr-- > 0)
		chain[n++] = symbols_held(a->symbols, locks[nr].family,
					  locks[nr].mode, locks[nr].addr);
	add_to_row(a, &key, NULL, chain, n, seen, &nr_seen);
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
	key->lock = symbols_lock(a->symbols, lock->family, lock->addr);
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
	const struct label *chain[FRAMES_MAX + LOCKHELD_SAMPLE_LOCKS_MAX];
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
	if (a->sort == SORT_NOTHING) {
		add_whole(a, chain, n, locks, nr);
		return;
	}
	for (i = 0; i < nr; i++) {
		set_key(a, &key, &locks[i], chain[0]);
		add_to_row(a, &key, &locks[i], chain, n, seen, &nr_seen);
	}
	if (nr <= 0) {
		set_key(a, &key, NULL, chain[0]);
		add_to_row(a, &key, NULL, chain, n, seen, &nr_seen);
	}
}

static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a;
	const struct node *y = *(struct node *const *)b;
	int c;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	c = strcmp(x->label->name, y->label->name);
	return c ? c : strcmp(x->label->module, y->label->module);
}

static void sort_nodes(struct node *parent)
{
	struct node **all, *node, **at = &parent->children;
	size_t i = 0;

	if (!parent->nr_children)
		return;
	all = ctl_realloc(NULL, parent->nr_children, sizeof(*all));
	for (node = parent->children; node; node = node->next)
		all[i++] = node;
	qsort(all, i, sizeof(*all), compare_nodes);
	for (i = 0; i < parent->nr_children; i++) {
		*at = all[i];
		at = &all[i]->next;
		sort_nodes(all[i]);
	}
	*at = NULL;
	free(all);
}

bool aggregate_besides(const struct row *row)
{
	return row->family && !row->matched;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a;
	const struct row *y = *(struct row *const *)b;

	if (aggregate_besides(x) != aggregate_besides(y))
		return aggregate_besides(x) ? 1 : -1;
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
		sort_nodes(&a->rows[i]->sites);
		sort_nodes(&a->rows[i]->symbols);
		sort_nodes(&a->rows[i]->locks);
		sort_nodes(&a->rows[i]->chains);
	}
	if (a->nr_rows)
		qsort(a->rows, a->nr_rows, sizeof(*a->rows), compare_rows);
}

void aggregate_free(struct aggregate *a)
{
	size_t i;

	for (i = 0; i < a->nodes_size; i++)
		free(a->nodes[i]);
	for (i = 0; i < a->nr_rows; i++) {
		free(a->rows[i]->objects);
		free(a->rows[i]);
	}
	free(a->nodes);
	free(a->rows);
	free(a->table);
}
