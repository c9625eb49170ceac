/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report adds up: rows of samples, by lock, site or symbol. */
#ifndef LOCKHELD_CTL_AGGREGATE_H
#define LOCKHELD_CTL_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/lockheld.h>

#include "sample.h"
#include "symbols.h"

/*
 * What makes a row. Only the last two have each sample in one row: by where it
 * was, or all in one, as for whoever wants nothing but the call chains.
 */
enum report_sort { SORT_LOCK, SORT_SITE, SORT_SYMBOL, SORT_NOTHING };

/*
 * How often something was seen, and what was seen with it: call chains, from
 * the outermost caller down to where the sample was, or just a list.
 */
struct node {
	const struct label *label;
	uint64_t samples;	/* through here */
	uint64_t self;		/* that end here */
	const struct node *parent;
	struct node *children, *next;	/* most samples first, once sorted */
	size_t nr_children;
};

struct row {
	/* the key: what is not part of it is 0 */
	const struct label *lock;	/* NULL: no name, see @addr */
	uint64_t addr;
	uint8_t family, mode;		/* 0: no lock was held */
	const struct label *site;
	const struct label *symbol;

	uint64_t samples;
	uint64_t matched;	/* where it made a lock_held() true */
	uint64_t timed;		/* where it is known since when it was held */
	uint64_t held_sum, held_max;	/* ns, of these */
	uint64_t *objects;	/* addresses behind the name, sorted */
	size_t nr_objects;
	struct node sites, symbols, locks;	/* lists */
	struct node chains;
};

struct aggregate {
	enum report_sort sort;
	bool locks_call;	/* SORT_NOTHING: chains begin with the locks held */
	struct symbols *symbols;
	struct row **rows;	/* most samples first, once sorted */
	size_t nr_rows;
	uint64_t samples;
	uint64_t with_locks;	/* samples that hold at least one lock */
	uint64_t with_record;	/* samples that say what was held */
	uint64_t omitted;	/* locks that did not fit into their sample */
	uint64_t damaged;

	/* private */
	struct row **table;
	size_t table_size;
	struct node **nodes;	/* all but the rows' own */
	size_t nodes_size, nr_nodes;
};

void aggregate_add(struct aggregate *a, const struct perf_event_attr *attr,
		   const struct perf_event_header *record);
void aggregate_sort(struct aggregate *a);
/* A lock that made no lock_held() true; such rows are sorted behind others. */
bool aggregate_besides(const struct row *row);
void aggregate_free(struct aggregate *a);

#endif
