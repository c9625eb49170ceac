// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One address of a big file: the first time it is faster to read its tables
 * twice than to make an index. First to find where symbols begin that can have
 * a say in what is there, then to collect these.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

static bool is_holder(const struct focus *focus, uint64_t start)
{
	for (size_t i = 0; i < focus->n; i++)
		if (focus->holder[i] == start)
			return true;
	return false;
}

/* Most symbols are far away, and need no closer look. */
bool focus_passes(const struct focus *focus, const GElf_Sym *sym)
{
	uint64_t start = sym->st_value;

	if (start <= focus->addr && focus->addr - start < sym->st_size)
		return true;
	if (focus->found)
		return (focus->any_below && start == focus->below) ||
		       (focus->above && start == focus->above) ||
		       is_holder(focus, start);
	if (start <= focus->addr)
		return !focus->any_below || start > focus->below;
	return !focus->above || start < focus->above;
}

static void add_holder(struct focus *focus, uint64_t start)
{
	size_t room = focus->room ? 2 * focus->room : 16;

	if (is_holder(focus, start))
		return;
	if (focus->n == focus->room) {
		uint64_t *v = reallocarray(focus->holder, room, sizeof(*v));

		if (!v) {
			focus->err = -ENOMEM;
			return;
		}
		focus->holder = v;
		focus->room = room;
	}
	focus->holder[focus->n++] = start;
}

/* Is it one to collect? Not before all of them are known. */
bool focus_takes(struct focus *focus, const struct range *r)
{
	if (focus->found)
		return true;
	if (r->start > focus->addr) {
		if (!focus->above || r->start < focus->above)
			focus->above = r->start;
		return false;
	}
	if (!focus->any_below || r->start > focus->below)
		focus->below = r->start;
	focus->any_below = true;
	if (focus->addr < r->end && r->own_end)
		add_holder(focus, r->start);
	return false;
}
