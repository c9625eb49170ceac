// SPDX-License-Identifier: GPL-2.0-only
/* kmod/held.c: the stacks of held locks, with interrupts at every point. */
#include <stdlib.h>
#include <string.h>

#include "held.h"
#include "tap.h"

void (*host_interrupt)(void);

static struct lh_stack stack;

#define MUTEX	LOCKHELD_FAMILY_MUTEX
#define SPINLOCK	LOCKHELD_FAMILY_SPINLOCK
#define RWSEM	LOCKHELD_FAMILY_RWSEM
#define R	LOCKHELD_MODE_READ
#define W	LOCKHELD_MODE_WRITE
#define TASK	1u		/* with preemption off */
#define HARD	(HARDIRQ_MASK | TASK)

static bool push_as(unsigned long lock, u8 mode, u32 count, u8 family,
		    bool (*how)(struct lh_stack *, const struct lh_entry *))
{
	const struct lh_entry entry = {
		.lock = lock,
		.ip = lock + 1,
		.time = lock + 2,
		.count = count,
		.seen = 3,
		.site.family = family,
		.site.mode = mode,
		.site.state = LH_ENTERED,
		.site.timed = true,
		.site.gen = 7,
	};

	return how(&stack, &entry);
}

static bool push(unsigned long lock, u8 mode, u32 count)
{
	return push_as(lock, mode, count, MUTEX, lh_stack_push);
}

static bool push_once(unsigned long lock, u8 mode, u32 count)
{
	return push_as(lock, mode, count, MUTEX, lh_stack_push_once);
}

static bool push_quick(struct lh_stack *to, const struct lh_entry *new)
{
	return lh_stack_push_quick(to, new);
}

static bool pop(unsigned long lock, u32 count)
{
	return lh_stack_pop(&stack, MUTEX, lock, count);
}

static unsigned int nr(void)
{
	return lh_stack_nr(&stack);
}

static struct lh_entry *at(unsigned int i)
{
	return lh_stack_entry(&stack, i);
}

/* Everything above the top is 0, everything below is a lock or a released one. */
static bool sane(void)
{
	unsigned int i;

	for (i = 0; i < LH_STACK_DEPTH; i++) {
		if (i >= nr() && at(i)->lock)
			return false;
		if (i < nr() && !at(i)->lock)
			return false;
	}
	return true;
}

static unsigned int count(unsigned long lock)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr(); i++)
		n += at(i)->lock == lock;
	return n;
}

static void start(void)
{
	host_interrupt = NULL;
	memset(&stack, 0, sizeof(stack));
	lh_stack_clear(&stack);
}

static void lifo(void)
{
	start();
	EXPECT(push(0x10, W, TASK) && push(0x20, W, TASK));
	EXPECT(nr() == 2 && at(1)->lock == 0x20);
	EXPECT(at(1)->ip == 0x21 && at(1)->site.gen == 7 &&
	       at(1)->time == 0x22 && at(1)->seen == 3);
	EXPECT(pop(0x20, TASK) && nr() == 1);
	EXPECT(pop(0x10, TASK) && nr() == 0);
	EXPECT(sane());
}

static void any_order(void)
{
	start();
	push(0x10, W, TASK);
	push(0x20, W, TASK);
	push(0x30, W, TASK);
	EXPECT(pop(0x10, TASK) && count(0x10) == 0);
	EXPECT(count(0x20) == 1 && count(0x30) == 1);
	EXPECT(pop(0x20, TASK) && count(0x30) == 1);
	EXPECT(pop(0x30, TASK) && nr() == 0);
	EXPECT(sane());
}

static void unknown(void)
{
	start();
	EXPECT(!pop(0x10, TASK));
	push(0x10, W, TASK);
	EXPECT(!pop(0x20, TASK));
	EXPECT(!lh_stack_pop(&stack, RWSEM, 0x10, TASK));
	EXPECT(nr() == 1 && lh_stack_find(&stack, 0x10));
	EXPECT(!lh_stack_find(&stack, 0x20));
}

static void full(void)
{
	unsigned long i;

	start();
	for (i = 1; i <= LH_STACK_DEPTH; i++)
		EXPECT(push(i << 4, W, TASK));
	EXPECT(!push(0x9999, W, TASK));
	EXPECT(nr() == LH_STACK_DEPTH && count(0x9999) == 0);
	EXPECT(!pop(0x9999, TASK));
	for (i = 1; i <= LH_STACK_DEPTH; i++)
		EXPECT(pop(i << 4, TASK));
	EXPECT(nr() == 0 && sane());
}

static void recursion(void)
{
	start();
	push(0x10, R, TASK);
	push(0x10, R, TASK);
	EXPECT(nr() == 2);
	pop(0x10, TASK);
	EXPECT(count(0x10) == 1);
	pop(0x10, TASK);
	EXPECT(nr() == 0);

	/* A function of the table that calls another is one acquisition ... */
	push_once(0x10, W, TASK);
	push_once(0x10, W, TASK);
	EXPECT(nr() == 1);
	/* ... an interrupt's is another one. */
	push_once(0x10, W, HARD);
	EXPECT(nr() == 2);
	EXPECT(pop(0x10, HARD) && pop(0x10, TASK) && nr() == 0);

	/* A semaphore may be taken as often as it counts. */
	push_as(0x10, W, TASK, LOCKHELD_FAMILY_SEMAPHORE, lh_stack_push_once);
	push_as(0x10, W, TASK, LOCKHELD_FAMILY_SEMAPHORE, lh_stack_push_once);
	EXPECT(nr() == 2);
}

static void quick(void)
{
	unsigned long i;

	start();
	EXPECT(push_as(0x10, W, TASK, MUTEX, push_quick) && nr() == 1);
	EXPECT(at(0)->lock == 0x10 && at(0)->ip == 0x11);
	EXPECT(at(0)->seen == 3 && at(0)->site.gen == 7);
	/* Nothing is done where there is something to do first. */
	at(0)->lock = LH_GONE;
	EXPECT(!push_as(0x20, W, TASK, MUTEX, push_quick) && nr() == 1);
	EXPECT(push(0x20, W, TASK) && nr() == 1);
	for (i = nr(); i < LH_STACK_DEPTH; i++)
		EXPECT(push_as(0x20, R, TASK, MUTEX, push_quick));
	EXPECT(!push_as(0x20, R, TASK, MUTEX, push_quick));
	EXPECT(nr() == LH_STACK_DEPTH && sane());
}

static void pop_top(void)
{
	start();
	EXPECT(!lh_stack_pop_top(&stack, 0x10));
	push(0x10, W, TASK);
	push(0x20, W, TASK);
	EXPECT(!lh_stack_pop_top(&stack, 0x10) && nr() == 2);
	EXPECT(lh_stack_pop_top(&stack, 0x20) && nr() == 1);
	EXPECT(lh_stack_pop_top(&stack, 0x10) && nr() == 0);
	EXPECT(sane());
}

/* Locks released out of order, over and over, do not fill the stack. */
static void left_behind(void)
{
	unsigned int i;

	start();
	for (i = 0; i < 3 * LH_STACK_DEPTH; i++) {
		EXPECT(push(0x10, W, TASK) && push(0x20, W, TASK));
		EXPECT(pop(0x10, TASK) && lh_stack_pop_top(&stack, 0x20));
	}
	EXPECT(nr() <= 2 && count(0x10) == 0 && count(0x20) == 0);
	/* Nor do those of an interrupt that another task has released. */
	start();
	for (i = 0; i < 3 * LH_STACK_DEPTH; i++) {
		EXPECT(push(0x10, W, HARD));
		at(nr() - 1)->lock = LH_GONE;
		EXPECT(push(0x20, W, TASK) && pop(0x20, TASK));
	}
	EXPECT(nr() <= 1);
}

static void released_by_interrupt(void)
{
	start();
	push(0x10, W, TASK);
	push(0x20, W, TASK);
	/* What is below an interrupt stays in its place for the task to drop. */
	EXPECT(pop(0x20, HARD) && nr() == 2 && count(0x20) == 0);
	EXPECT(pop(0x10, TASK) && nr() == 0);
	EXPECT(sane());
}

static void keep_top(void)
{
	start();
	push(0x10, W, TASK);
	push(0x20, W, TASK);
	push(0x30, W, TASK);
	pop(0x10, TASK);
	EXPECT(lh_stack_keep_top(&stack, 1) == 1);
	EXPECT(nr() == 1 && at(0)->lock == 0x30);
	EXPECT(at(0)->ip == 0x31 && at(0)->site.mode == W);
	EXPECT(lh_stack_keep_top(&stack, 1) == 0);
	EXPECT(sane());
	lh_stack_clear(&stack);
	EXPECT(nr() == 0 && sane());
}

/* ---- an interrupt at each point of each operation ---- */

static int countdown;
static bool in_interrupt, interrupted;

static void interrupt(void)
{
	unsigned int before = nr();

	if (in_interrupt || countdown-- > 0)
		return;
	in_interrupt = true;
	interrupted = true;
	EXPECT(push(0x100, W, HARD));
	EXPECT(push(0x200, R, HARD));
	EXPECT(push(0x200, R, HARD));
	EXPECT(nr() == before + 3);
	/* Not in order. */
	EXPECT(pop(0x100, HARD));
	EXPECT(pop(0x200, HARD));
	EXPECT(pop(0x200, HARD));
	EXPECT(nr() == before);
	in_interrupt = false;
	host_interrupt = NULL;
}

static void each_point(void (*operation)(void), void (*check)(void))
{
	int point;

	for (point = 0; ; point++) {
		start();
		push(0x10, W, TASK);
		push(0x20, W, TASK);
		push(0x30, W, TASK);
		pop(0x20, TASK);
		countdown = point;
		in_interrupt = false;
		interrupted = false;
		host_interrupt = interrupt;
		operation();
		host_interrupt = NULL;
		check();
		EXPECT(sane());
		if (!interrupted)
			break;
	}
	EXPECT(point >= 3);
}

static void do_push(void)
{
	push(0x40, W, TASK);
}

static void do_push_quick(void)
{
	push_as(0x40, W, TASK, MUTEX, push_quick);
}

static void check_push(void)
{
	EXPECT(nr() == 4 && at(3)->lock == 0x40);
	EXPECT(at(3)->site.mode == W && at(3)->count == TASK);
	EXPECT(pop(0x40, TASK) && pop(0x30, TASK) && pop(0x10, TASK));
	EXPECT(nr() == 0);
}

static void do_pop_top(void)
{
	lh_stack_pop_top(&stack, 0x30);
}

static void check_pop_top(void)
{
	/* The released one below is dropped with the next that is taken. */
	EXPECT(count(0x30) == 0 && count(0x10) == 1);
	EXPECT(push(0x40, W, TASK) && nr() == 2 && at(1)->lock == 0x40);
}

static void do_pop(void)
{
	/* Drops the released one below as well. */
	pop(0x30, TASK);
}

static void check_pop(void)
{
	EXPECT(nr() == 1 && at(0)->lock == 0x10);
}

static void do_pop_below(void)
{
	pop(0x10, TASK);
}

static void check_pop_below(void)
{
	EXPECT(count(0x10) == 0 && count(0x30) == 1);
	EXPECT(pop(0x30, TASK) && nr() == 0);
}

static void do_push_bottom(void)
{
	struct lh_entry new = {
		.lock = 0x40,
		.count = TASK,
		.site = { .mode = W, .family = SPINLOCK },
	};

	lh_stack_keep_top(&stack, 1);
	lh_stack_push_bottom(&stack, &new);
}

static void check_push_bottom(void)
{
	EXPECT(nr() == 2 && at(0)->lock == 0x40 && at(1)->lock == 0x30);
	EXPECT(at(0)->site.family == SPINLOCK && at(1)->site.family == MUTEX);
	EXPECT(pop(0x30, TASK));
	EXPECT(lh_stack_pop(&stack, SPINLOCK, 0x40, TASK) && nr() == 0);
	/* Into an empty one. */
	do_push_bottom();
	EXPECT(nr() == 1 && at(0)->lock == 0x40);
}

/* What stays must be there for whoever looks in between. */
static bool seen_missing;

static void look(void)
{
	seen_missing |= !lh_stack_find(&stack, 0x30);
}

static void push_bottom(void)
{
	each_point(do_push_bottom, check_push_bottom);
	start();
	push(0x10, W, TASK);
	push(0x30, W, TASK);
	seen_missing = false;
	host_interrupt = look;
	do_push_bottom();
	host_interrupt = NULL;
	EXPECT(!seen_missing && nr() == 2);
}

static void push_interrupted(void)
{
	each_point(do_push, check_push);
	each_point(do_push_quick, check_push);
}

static void pop_interrupted(void)
{
	each_point(do_pop, check_pop);
	each_point(do_pop_top, check_pop_top);
	each_point(do_pop_below, check_pop_below);
}

/* ---- against a model, with interrupts anywhere ---- */

static void model(void)
{
	unsigned int held[LH_STACK_DEPTH] = { 0 }, total = 0, step, i;

	start();
	srand(1);
	for (step = 0; step < 200000; step++) {
		unsigned int which = rand() % 16;
		unsigned long lock = 0x1000 + 16 * which;

		countdown = rand() % 40;
		in_interrupt = false;
		host_interrupt = interrupt;
		/* Interrupts need room for three. */
		if (rand() % 2 && nr() < LH_STACK_DEPTH - 4) {
			EXPECT(push(lock, R, TASK));
			held[which]++;
			total++;
		} else {
			EXPECT(pop(lock, TASK) == (held[which] > 0));
			total -= held[which] > 0;
			held[which] -= held[which] > 0;
		}
		host_interrupt = NULL;
		for (i = 0; i < 16; i++)
			EXPECT(count(0x1000 + 16 * i) == held[i]);
		EXPECT(sane() && (total || !nr()));
		if (!tap_good)
			return;
	}
}

int main(void)
{
	printf("TAP version 13\n");
	tap_case("locks released in reverse order", lifo);
	tap_case("locks released in any order", any_order);
	tap_case("a release without a lock changes nothing", unknown);
	tap_case("64 locks fit, and the next is refused", full);
	tap_case("recursion of readers counts, nested functions do not",
		 recursion);
	tap_case("the quick way adds the same, or nothing", quick);
	tap_case("the lock on top goes, another one does not", pop_top);
	tap_case("released locks do not fill the stack", left_behind);
	tap_case("a lock released by an interrupt", released_by_interrupt);
	tap_case("what cannot be held is forgotten", keep_top);
	tap_case("an interrupt at each point of a push", push_interrupted);
	tap_case("an interrupt at each point of a pop", pop_interrupted);
	tap_case("a lock that goes below the one on top", push_bottom);
	tap_case("200000 random steps with interrupts", model);
	return tap_end();
}
