/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines that fit the terminal, and call chains drawn with them. */
#ifndef LOCKHELD_CTL_REPORT_TREE_H
#define LOCKHELD_CTL_REPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"

struct page {
	size_t width;		/* of the terminal; 0: lines may be of any length */
	size_t column;
	bool colours;
};

void page_put(struct page *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void page_end(struct page *p);
/* @code: of the terminal, "0" ends what others began. */
void page_colour(const struct page *p, const char *code);
void page_percent(struct page *p, uint64_t part, uint64_t whole);

/* Nothing if there are no callers in it. */
void report_tree(struct page *p, const struct node *root);

#endif
