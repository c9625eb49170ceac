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
#include <linux/preempt.h>
#include <linux/types.h>

#define LH_STACK_DEPTH	64

/* How sure it is that an entry's lock is held. */
enum lh_state {
	LH_ENTERED,	/* the lock function was entered */
	LH_WAITING,	/* it waits */
	LH_OWNED,	/* it has the lock */
};

/**
 * union lh_site - what is known of a lock by the function that takes it
 * @family: enum lockheld_family
 * @mode: enum lockheld_mode, READ or WRITE
 * @state: enum lh_state
 * @timed: the entry's time is valid
 * @gen: generation of the hooks that saw it (see lh_group_gen)
 * @preempted: how often the task was preempted on its way to the lock
 * @word: all of it, to be copied at once
 */
union lh_site {
	struct {
		u8 family;
		u8 mode;
		u8 state;
		u8 timed;
		u16 gen;
		u8 preempted;
		u8 pad;
	};
	u64 word;
};

/**
 * struct lh_entry - one lock
 * @lock: its address; 0 while the entry is being filled, LH_GONE when released
 * @ip: where it was taken
 * @time: local_clock() when it was taken, see @timed
 * @count: preempt_count() of the code that took it
 * @seen: first bytes of the lock when its function was entered, where they
 *	tell whether it was free
 * @site: the rest
 */
struct lh_entry {
	unsigned long lock;
	unsigned long ip;
	u64 time;
	u32 count;
	u32 seen;
	union lh_site site;
};

#define LH_GONE	1UL	/* no lock has this address */

/**
 * struct lh_stack - locks, the last one taken on top
 * @top: the entry on top; @slot[0], which is none, in an empty stack
 * @slot: the entries; above @top every lock is 0
 */
struct lh_stack {
	struct lh_entry *top;
	struct lh_entry slot[LH_STACK_DEPTH + 1];
};

/* What a preempt_count() has of interrupts. */
#define LH_INTERRUPTS	(NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)

/* enum lockheld_context of a preempt_count(). */
static inline u8 lh_context_of(u32 count)
{
	if (count & NMI_MASK)
		return LOCKHELD_CTX_NMI;
	if (count & HARDIRQ_MASK)
		return LOCKHELD_CTX_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? LOCKHELD_CTX_SOFTIRQ :
					LOCKHELD_CTX_TASK;
}

static inline unsigned int lh_stack_nr(const struct lh_stack *stack)
{
	return READ_ONCE(stack->top) - stack->slot;
}

/* The @ith entry from the bottom, which is the 0th. */
static inline struct lh_entry *lh_stack_entry(struct lh_stack *stack,
					      unsigned int i)
{
	return &stack->slot[i + 1];
}

/* Is there a lock in the entry? */
static inline bool lh_entry_used(const struct lh_entry *entry)
{
	return READ_ONCE(entry->lock) > LH_GONE;
}

/**
 * lh_stack_trim() - drops released entries from the top
 * @stack: stack of the running CPU or task
 * @count: preempt_count() of the running code
 *
 * But for those of a context that the running one has interrupted: that one
 * may be in the middle of doing so. Those of an interrupt are left over from
 * one that is gone.
 */
void lh_stack_trim(struct lh_stack *stack, u32 count);

/**
 * lh_stack_push() - adds a lock
 * @stack: stack of the running CPU or task
 * @new: the entry, copied
 *
 * Return: false if the stack is full.
 */
bool lh_stack_push(struct lh_stack *stack, const struct lh_entry *new);

/**
 * lh_stack_push_bottom() - adds a lock below those that are there
 * @stack: stack of the running CPU, with one lock at most
 * @new: as with lh_stack_push()
 *
 * For a moment at which no interrupt comes but an NMI.
 */
void lh_stack_push_bottom(struct lh_stack *stack, const struct lh_entry *new);

/**
 * lh_stack_push_quick() - adds a lock without a time
 * @stack: stack of the running CPU or task
 * @new: as with lh_stack_push()
 *
 * Return: false, with nothing done, if something is in the way.
 */
static __always_inline bool lh_stack_push_quick(struct lh_stack *stack,
						const struct lh_entry *new)
{
	struct lh_entry *top = READ_ONCE(stack->top), *entry = top + 1;

	if (unlikely(READ_ONCE(top->lock) == LH_GONE ||
		     top == &stack->slot[LH_STACK_DEPTH]))
		return false;
	/* First the place, so that an interrupt goes on top of it ... */
	WRITE_ONCE(stack->top, entry);
	barrier();
	entry->ip = new->ip;
	entry->count = new->count;
	entry->seen = new->seen;
	entry->site.word = new->site.word;
	/* ... and last the address, which makes it visible. */
	barrier();
	WRITE_ONCE(entry->lock, new->lock);
	return true;
}

/**
 * lh_stack_push_once() - adds a lock unless it is there
 * @stack: stack of the running CPU or task
 * @new: as with lh_stack_push()
 *
 * A lock on top that is taken again for writing by the same context is one
 * acquisition seen twice: a lock function that calls another, or a release
 * that was missed. But a semaphore may count.
 *
 * Return: false if the stack is full.
 */
bool lh_stack_push_once(struct lh_stack *stack, const struct lh_entry *new);

/**
 * lh_stack_pop() - takes a lock away, the last one taken first
 * @stack: stack of the running CPU or task
 * @family: enum lockheld_family
 * @lock: address
 * @count: preempt_count() of the running code
 *
 * Return: false if the lock is not in the stack.
 */
bool lh_stack_pop(struct lh_stack *stack, u8 family, unsigned long lock,
		  u32 count);

/**
 * lh_stack_pop_top() - takes away the lock on top, if it is the one
 * @stack: stack of the running CPU or task
 * @lock: address
 *
 * For the context that took it, since only that one may lower the stack. No two
 * locks that are in stacks of one kind begin at the same address, so the
 * address is enough.
 *
 * Return: false if another lock, or none, is on top.
 */
static __always_inline bool lh_stack_pop_top(struct lh_stack *stack,
					     unsigned long lock)
{
	struct lh_entry *top = READ_ONCE(stack->top);

	if (unlikely(READ_ONCE(top->lock) != lock))
		return false;
	WRITE_ONCE(top->lock, 0);
	barrier();
	WRITE_ONCE(stack->top, top - 1);
	return true;
}

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

/* Forgets all; also makes a stack out of memory that is 0. */
void lh_stack_clear(struct lh_stack *stack);

#endif /* LH_HELD_H */
