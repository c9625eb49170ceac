// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains as a tree, outermost callers first:
 *
 *    |
 *     -- 98.40%--asm_exc_page_fault
 *                exc_page_fault
 *                |
 *                |-- 60.00%--handle_mm_fault
 *                |           __handle_mm_fault
 *                |
 *                 -- 38.40%--bad_area
 */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "report_tree.h"

#define SMALL(samples, whole) ((samples) * 200 < (whole))	/* below 0.5 % */

static void put_branches(struct page *p, const struct node *node,
			 uint64_t whole, const char *prefix);

/* The node, then those below as long as the way does not fork. */
static void put_branch(struct page *p, const struct node *node, uint64_t whole,
		       const char *prefix, bool last)
{
	char *below = ctl_printf("%s%c%11s", prefix, last ? ' ' : '|', "");

	page_put(p, "%s%c--", prefix, last ? ' ' : '|');
	page_percent(p, node->samples, whole);
	page_put(p, "--%s", node->label->name);
	page_end(p);
	while (!node->self && node->children && !node->children->next) {
		node = node->children;
		page_put(p, "%s%s", below, node->label->name);
		page_end(p);
	}
	put_branches(p, node, whole, below);
	free(below);
}

static void put_branches(struct page *p, const struct node *node,
			 uint64_t whole, const char *prefix)
{
	const struct node *child;
	uint64_t small = 0;
	size_t nr_small = 0;

	for (child = node->children; child; child = child->next) {
		if (!SMALL(child->samples, whole))
			continue;
		small += child->samples;
		nr_small++;
	}
	for (child = node->children; child; child = child->next) {
		if (SMALL(child->samples, whole))
			continue;
		page_put(p, "%s|", prefix);
		page_end(p);
		put_branch(p, child, whole, prefix, !nr_small &&
			   (!child->next || SMALL(child->next->samples, whole)));
	}
	if (!nr_small)
		return;
	page_put(p, "%s|", prefix);
	page_end(p);
	page_put(p, "%s --", prefix);
	page_percent(p, small, whole);
	page_put(p, "--in %zu small branches", nr_small);
	page_end(p);
}

void report_tree(struct page *p, const struct node *root)
{
	const struct node *child;
	bool callers = false;

	for (child = root->children; child; child = child->next)
		callers |= child->children != NULL;
	if (!callers)
		return;
	page_put(p, "  call chains:");
	page_end(p);
	put_branches(p, root, root->samples, "    ");
}
