// SPDX-License-Identifier: GPL-2.0-only
/* kmod/held.c: the stacks of held locks, with interrupts at every point. */
#include <stdlib.h>
#include <string.h>

#include "held.h"
#include "tap.h"

void (*host_interrupt)(void);

static struct lh_stack stack;

#define MUTEX	LOCKHELD_FAMILY_MUTEX
#define RWSEM	LOCKHELD_FAMILY_RWSEM
#define R	LOCKHELD_MODE_READ
#define W	LOCKHELD_MODE_WRITE
#define TASK	LOCKHELD_CTX_TASK
#define HARD	LOCKHELD_CTX_HARDIRQ

static bool push(unsigned long lock, u8 mode, u8 context)
{
	const struct lh_entry entry = {
		.lock = lock,
		.ip = lock + 1,
		.family = MUTEX,
		.mode = mode,
		.state = LH_ENTERED,
		.context = context,
		.func = 7,
	};

	return lh_stack_push(&stack, &entry);
}

static bool pop(unsigned long lock, u8 context)
{
	return lh_stack_pop(&stack, MUTEX, lock, context);
}

/* Everything above n is 0, everything below is a lock or a released one. */
static bool sane(void)
{
	unsigned int i;

	for (i = 0; i < LH_STACK_DEPTH; i++) {
		if (i >= stack.n && stack.entry[i].lock)
			return false;
		if (i < stack.n && !stack.entry[i].lock)
			return false;
	}
	return true;
}

static unsigned int count(unsigned long lock)
{
	unsigned int i, n = 0;

	for (i = 0; i < stack.n; i++)
		n += stack.entry[i].lock == lock;
	return n;
}

static void start(void)
{
	host_interrupt = NULL;
	memset(&stack, 0, sizeof(stack));
}

static void lifo(void)
{
	start();
	EXPECT(push(0x10, W, TASK) && push(0x20, W, TASK));
	EXPECT(stack.n == 2 && stack.entry[1].lock == 0x20);
	EXPECT(stack.entry[1].ip == 0x21 && stack.entry[1].func == 7);
	EXPECT(pop(0x20, TASK) && stack.n == 1);
	EXPECT(pop(0x10, TASK) && stack.n == 0);
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
	EXPECT(pop(0x30, TASK) && stack.n == 0);
	EXPECT(sane());
}

static void unknown(void)
{
	start();
	EXPECT(!pop(0x10, TASK));
	push(0x10, W, TASK);
	EXPECT(!pop(0x20, TASK));
	EXPECT(!lh_stack_pop(&stack, RWSEM, 0x10, TASK));
	EXPECT(stack.n == 1 && lh_stack_find(&stack, 0x10));
	EXPECT(!lh_stack_find(&stack, 0x20));
}

static void full(void)
{
	unsigned long i;

	start();
	for (i = 1; i <= LH_STACK_DEPTH; i++)
		EXPECT(push(i << 4, W, TASK));
	EXPECT(!push(0x9999, W, TASK));
	EXPECT(stack.n == LH_STACK_DEPTH && count(0x9999) == 0);
	EXPECT(!pop(0x9999, TASK));
	for (i = 1; i <= LH_STACK_DEPTH; i++)
		EXPECT(pop(i << 4, TASK));
	EXPECT(stack.n == 0 && sane());
}

static void recursion(void)
{
	start();
	push(0x10, R, TASK);
	push(0x10, R, TASK);
	EXPECT(stack.n == 2);
	pop(0x10, TASK);
	EXPECT(count(0x10) == 1);
	pop(0x10, TASK);
	EXPECT(stack.n == 0);

	/* A function of the table that calls another is one acquisition ... */
	push(0x10, W, TASK);
	push(0x10, W, TASK);
	EXPECT(stack.n == 1);
	/* ... an interrupt's is another one. */
	push(0x10, W, HARD);
	EXPECT(stack.n == 2);
	EXPECT(pop(0x10, HARD) && pop(0x10, TASK) && stack.n == 0);
}

static void released_by_interrupt(void)
{
	start();
	push(0x10, W, TASK);
	push(0x20, W, TASK);
	/* What is below an interrupt stays in its place for the task to drop. */
	EXPECT(pop(0x20, HARD) && stack.n == 2 && count(0x20) == 0);
	EXPECT(pop(0x10, TASK) && stack.n == 0);
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
	EXPECT(stack.n == 1 && stack.entry[0].lock == 0x30);
	EXPECT(stack.entry[0].ip == 0x31 && stack.entry[0].mode == W);
	EXPECT(lh_stack_keep_top(&stack, 1) == 0);
	EXPECT(sane());
	lh_stack_clear(&stack);
	EXPECT(stack.n == 0 && sane());
}

/* ---- an interrupt at each point of each operation ---- */

static int countdown;
static bool in_interrupt, interrupted;

static void interrupt(void)
{
	unsigned int before = stack.n;

	if (in_interrupt || countdown-- > 0)
		return;
	in_interrupt = true;
	interrupted = true;
	EXPECT(push(0x100, W, HARD));
	EXPECT(push(0x200, R, HARD));
	EXPECT(push(0x200, R, HARD));
	EXPECT(stack.n == before + 3);
	/* Not in order. */
	EXPECT(pop(0x100, HARD));
	EXPECT(pop(0x200, HARD));
	EXPECT(pop(0x200, HARD));
	EXPECT(stack.n == before);
	in_interrupt = false;
	host_interrupt = NULL;
}

static void each_point(void (*operation)(void), void (*check)(void))
{
	int at;

	for (at = 0; ; at++) {
		start();
		push(0x10, W, TASK);
		push(0x20, W, TASK);
		push(0x30, W, TASK);
		pop(0x20, TASK);
		countdown = at;
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
	EXPECT(at >= 3);
}

static void do_push(void)
{
	push(0x40, W, TASK);
}

static void check_push(void)
{
	EXPECT(stack.n == 4 && stack.entry[3].lock == 0x40);
	EXPECT(stack.entry[3].mode == W && stack.entry[3].context == TASK);
	EXPECT(pop(0x40, TASK) && pop(0x30, TASK) && pop(0x10, TASK));
	EXPECT(stack.n == 0);
}

static void do_pop(void)
{
	/* Drops the released one below as well. */
	pop(0x30, TASK);
}

static void check_pop(void)
{
	EXPECT(stack.n == 1 && stack.entry[0].lock == 0x10);
}

static void do_pop_below(void)
{
	pop(0x10, TASK);
}

static void check_pop_below(void)
{
	EXPECT(count(0x10) == 0 && count(0x30) == 1);
	EXPECT(pop(0x30, TASK) && stack.n == 0);
}

static void push_interrupted(void)
{
	each_point(do_push, check_push);
}

static void pop_interrupted(void)
{
	each_point(do_pop, check_pop);
	each_point(do_pop_below, check_pop_below);
}

/* ---- against a model, with interrupts anywhere ---- */

static void model(void)
{
	unsigned int held[LH_STACK_DEPTH] = { 0 }, total = 0, step, i;

	start();
	srand(1);
	for (step = 0; step < 200000; step++) {
		unsigned int nr = rand() % 16;
		unsigned long lock = 0x1000 + 16 * nr;

		countdown = rand() % 40;
		in_interrupt = false;
		host_interrupt = interrupt;
		/* Interrupts need room for three. */
		if (rand() % 2 && stack.n < LH_STACK_DEPTH - 4) {
			EXPECT(push(lock, R, TASK));
			held[nr]++;
			total++;
		} else {
			EXPECT(pop(lock, TASK) == (held[nr] > 0));
			total -= held[nr] > 0;
			held[nr] -= held[nr] > 0;
		}
		host_interrupt = NULL;
		for (i = 0; i < 16; i++)
			EXPECT(count(0x1000 + 16 * i) == held[i]);
		EXPECT(sane() && (total || !stack.n));
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
	tap_case("a lock released by an interrupt", released_by_interrupt);
	tap_case("what cannot be held is forgotten", keep_top);
	tap_case("an interrupt at each point of a push", push_interrupted);
	tap_case("an interrupt at each point of a pop", pop_interrupted);
	tap_case("200000 random steps with interrupts", model);
	return tap_end();
}
