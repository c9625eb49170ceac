// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of held locks. Also compiled for the host, where the tests run it
 * under sanitizers; so it uses nothing but held.h.
 *
 * An interrupt may come between any two stores here and push and pop on the
 * same stack. It finds n entries; those below n are not its own, and it puts
 * n back. The entry at n may have been used by it and is 0 again.
 */
#include "held.h"

/*
 * Drops released entries from the top, but for those of a context that the
 * running one, @context, has interrupted: that one may be in the middle of
 * doing so. Those of an interrupt are left over from one that is gone.
 */
static void trim(struct lh_stack *stack, u8 context)
{
	unsigned int n = READ_ONCE(stack->n);

	while (n) {
		struct lh_entry *entry = &stack->entry[n - 1];

		if (READ_ONCE(entry->lock) != LH_GONE ||
		    entry->context < context)
			break;
		WRITE_ONCE(entry->lock, 0);
		barrier();
		n--;
		WRITE_ONCE(stack->n, n);
	}
}

bool lh_stack_push(struct lh_stack *stack, const struct lh_entry *new)
{
	unsigned int n = READ_ONCE(stack->n);
	struct lh_entry *entry;

	/* Released by another task, see lh_released(). */
	if (n && READ_ONCE(stack->entry[n - 1].lock) == LH_GONE) {
		trim(stack, new->context);
		n = READ_ONCE(stack->n);
	}
	if (n) {
		entry = &stack->entry[n - 1];
		if (entry->lock == new->lock && entry->mode == new->mode &&
		    entry->context == new->context &&
		    new->mode != LOCKHELD_MODE_READ &&
		    new->family != LOCKHELD_FAMILY_SEMAPHORE) {
			WRITE_ONCE(entry->state, new->state);
			return true;
		}
	}
	if (n >= LH_STACK_DEPTH)
		return false;

	entry = &stack->entry[n];
	/* First the place, so that an interrupt goes on top of it ... */
	WRITE_ONCE(stack->n, n + 1);
	barrier();
	entry->ip = new->ip;
	entry->time = new->time;
	entry->family = new->family;
	entry->mode = new->mode;
	entry->state = new->state;
	entry->context = new->context;
	entry->gen = new->gen;
	entry->func = new->func;
	/* ... and last the address, which makes it visible. */
	barrier();
	WRITE_ONCE(entry->lock, new->lock);
	return true;
}

bool lh_stack_pop(struct lh_stack *stack, u8 family, unsigned long lock,
		  u8 context)
{
	unsigned int i = READ_ONCE(stack->n);

	while (i--) {
		struct lh_entry *entry = &stack->entry[i];

		if (entry->lock != lock || entry->family != family)
			continue;
		WRITE_ONCE(entry->lock, LH_GONE);
		barrier();
		trim(stack, context);
		return true;
	}
	return false;
}

struct lh_entry *lh_stack_find(struct lh_stack *stack, unsigned long lock)
{
	unsigned int i = READ_ONCE(stack->n);

	while (i--) {
		if (READ_ONCE(stack->entry[i].lock) == lock)
			return &stack->entry[i];
	}
	return NULL;
}

unsigned int lh_stack_keep_top(struct lh_stack *stack, unsigned int nr)
{
	unsigned int n = READ_ONCE(stack->n);
	unsigned int gone = 0, i;

	if (n <= nr)
		return 0;

	for (i = 0; i < n - nr; i++)
		gone += stack->entry[i].lock > LH_GONE;
	for (i = 0; i < nr; i++) {
		struct lh_entry *from = &stack->entry[n - nr + i];
		unsigned long lock = from->lock;

		WRITE_ONCE(stack->entry[i].lock, 0);
		barrier();
		stack->entry[i] = *from;
		stack->entry[i].lock = 0;
		barrier();
		WRITE_ONCE(stack->entry[i].lock, lock);
	}
	for (i = nr; i < n; i++)
		WRITE_ONCE(stack->entry[i].lock, 0);
	barrier();
	WRITE_ONCE(stack->n, nr);
	return gone;
}

void lh_stack_clear(struct lh_stack *stack)
{
	lh_stack_keep_top(stack, 0);
}
