/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stack of held locks: what one CPU or one task holds.
 *
 * A stack is changed only on the CPU it belongs to, by the code running there
 * and by the interrupts on top of it. An interrupt leaves what it found: it
 * pushes on top and pops what it pushed. So plain loads and stores in the
 * right order are enough, and the only barriers are the compiler's. Others may
 * mark as released what nobody will release any more.
 */
#ifndef LH_HELD_H
#define LH_HELD_H

#include <linux/compiler.h>
#include <linux/lockheld.h>
#include <linux/types.h>

#define LH_STACK_DEPTH	64

/* How sure it is that an entry's lock is held. */
enum lh_state {
	LH_ENTERED,	/* the lock function was entered and the lock was free */
	LH_BUSY,	/* the lock function was entered and the lock was taken */
	LH_WAITING,	/* it waits */
	LH_OWNED,	/* it has the lock */
};

/**
 * struct lh_entry - one lock
 * @lock: its address; 0 while the entry is being filled, LH_GONE when released
 * @ip: where it was taken
 * @time: local_clock() when it was taken, or 0
 * @family: enum lockheld_family
 * @mode: enum lockheld_mode, READ or WRITE
 * @state: enum lh_state
 * @context: enum lockheld_context that took it
 * @gen: generation of the hooks that saw it (see lh_group_gen)
 * @func: index of the lock function in lh_funcs[]
 */
struct lh_entry {
	unsigned long lock;
	unsigned long ip;
	u64 time;
	u8 family;
	u8 mode;
	u8 state;
	u8 context;
	u16 gen;
	u16 func;
};

#define LH_GONE	1UL	/* no lock has this address */

struct lh_stack {
	unsigned int n;		/* entries in use; above them every lock is 0 */
	struct lh_entry entry[LH_STACK_DEPTH];
};

/**
 * lh_stack_push() - adds a lock
 * @stack: stack of the running CPU or task
 * @new: the entry, copied
 *
 * A lock on top that is taken again for writing by the same context is one
 * acquisition seen twice (a lock function that calls another), unless it is a
 * semaphore, which may count.
 *
 * Return: false if the stack is full.
 */
bool lh_stack_push(struct lh_stack *stack, const struct lh_entry *new);

/**
 * lh_stack_pop() - takes a lock away, the last one taken first
 * @stack: stack of the running CPU or task
 * @family: enum lockheld_family
 * @lock: address
 * @context: enum lockheld_context of the running code
 *
 * Return: false if the lock is not in the stack.
 */
bool lh_stack_pop(struct lh_stack *stack, u8 family, unsigned long lock,
		  u8 context);

/**
 * lh_stack_find() - the last entry of a lock
 * @stack: any stack
 * @lock: address
 *
 * Return: the entry, or NULL.
 */
struct lh_entry *lh_stack_find(struct lh_stack *stack, unsigned long lock);

/**
 * lh_stack_keep_top() - forgets what must have been released
 * @stack: stack of the running CPU
 * @nr: entries on top that may stay
 *
 * For a moment at which no more than @nr locks can be held.
 *
 * Return: how many were forgotten.
 */
unsigned int lh_stack_keep_top(struct lh_stack *stack, unsigned int nr);

/* Forgets all. */
void lh_stack_clear(struct lh_stack *stack);

/* Is there a lock in the entry? */
static inline bool lh_entry_used(const struct lh_entry *entry)
{
	return READ_ONCE(entry->lock) > LH_GONE;
}

#endif /* LH_HELD_H */
