// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of held locks. Also compiled for the host, where the tests run it
 * under sanitizers; so it uses nothing but held.h.
 *
 * An interrupt may come between any two stores here and push and pop on the
 * same stack. It finds a top; what is there and below is not its own, and it
 * puts the top back. The entry above may have been used by it and is 0 again.
 */
#include "held.h"

void lh_stack_trim(struct lh_stack *stack, u32 count)
{
	struct lh_entry *top = READ_ONCE(stack->top);

	while (READ_ONCE(top->lock) == LH_GONE &&
	       lh_context_of(top->count) >= lh_context_of(count)) {
		WRITE_ONCE(top->lock, 0);
		barrier();
		top--;
		WRITE_ONCE(stack->top, top);
	}
}

/* An interrupt sees the old one, none or the new one. */
static void set_entry(struct lh_entry *entry, const struct lh_entry *new)
{
	WRITE_ONCE(entry->lock, 0);
	barrier();
	entry->ip = new->ip;
	entry->time = new->time;
	entry->count = new->count;
	entry->seen = new->seen;
	entry->site = new->site;
	barrier();
	WRITE_ONCE(entry->lock, new->lock);
}

bool lh_stack_push(struct lh_stack *stack, const struct lh_entry *new)
{
	struct lh_entry *entry;

	lh_stack_trim(stack, new->count);
	/* What is of an interrupted context stays: it is no obstacle here. */
	entry = READ_ONCE(stack->top) + 1;
	if (entry > &stack->slot[LH_STACK_DEPTH])
		return false;
	WRITE_ONCE(stack->top, entry);
	barrier();
	set_entry(entry, new);
	return true;
}

void lh_stack_push_bottom(struct lh_stack *stack, const struct lh_entry *new)
{
	struct lh_entry *bottom = lh_stack_entry(stack, 0);
	struct lh_entry above = *bottom;

	if (!lh_stack_nr(stack)) {
		lh_stack_push(stack, new);
		return;
	}
	/* There twice for a moment, so that an NMI does not miss it. */
	lh_stack_push(stack, &above);
	set_entry(bottom, new);
}

bool lh_stack_push_once(struct lh_stack *stack, const struct lh_entry *new)
{
	struct lh_entry *top = READ_ONCE(stack->top);

	if (top->lock == new->lock && top->site.mode == new->site.mode &&
	    lh_context_of(top->count) == lh_context_of(new->count) &&
	    new->site.mode != LOCKHELD_MODE_READ &&
	    new->site.family != LOCKHELD_FAMILY_SEMAPHORE) {
		/* What calls another says better what it is. */
		WRITE_ONCE(top->site.word, new->site.word);
		return true;
	}
	return lh_stack_push(stack, new);
}

bool lh_stack_pop(struct lh_stack *stack, u8 family, unsigned long lock,
		  u32 count)
{
	struct lh_entry *entry = READ_ONCE(stack->top);

	for (; entry != stack->slot; entry--) {
		if (entry->lock != lock || entry->site.family != family)
			continue;
		WRITE_ONCE(entry->lock, LH_GONE);
		barrier();
		lh_stack_trim(stack, count);
		return true;
	}
	return false;
}

struct lh_entry *lh_stack_find(struct lh_stack *stack, unsigned long lock)
{
	struct lh_entry *entry = READ_ONCE(stack->top);

	for (; entry != stack->slot; entry--) {
		if (READ_ONCE(entry->lock) == lock)
			return entry;
	}
	return NULL;
}

unsigned int lh_stack_keep_top(struct lh_stack *stack, unsigned int nr)
{
	unsigned int n = lh_stack_nr(stack);
	unsigned int gone = 0, i;

	if (n <= nr)
		return 0;

	for (i = 0; i < n - nr; i++)
		gone += lh_entry_used(lh_stack_entry(stack, i));
	for (i = 0; i < nr; i++) {
		set_entry(lh_stack_entry(stack, i),
			  lh_stack_entry(stack, n - nr + i));
	}
	for (i = nr; i < n; i++)
		WRITE_ONCE(lh_stack_entry(stack, i)->lock, 0);
	barrier();
	WRITE_ONCE(stack->top, &stack->slot[nr]);
	return gone;
}

void lh_stack_clear(struct lh_stack *stack)
{
	if (!stack->top)
		stack->top = stack->slot;
	lh_stack_keep_top(stack, 0);
}
