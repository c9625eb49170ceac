// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's tracepoints of waiting for a lock. They make a look at the
 * return of blocking lock functions unnecessary.
 */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "lockheld.h"

static struct tracepoint *begin, *end;

struct find {
	const char *name;
	struct tracepoint *tp;
};

static void find_one(struct tracepoint *tp, void *arg)
{
	struct find *find = arg;

	if (!strcmp(tp->name, find->name))
		find->tp = tp;
}

/* By name, since not every kernel exports its tracepoints. */
struct tracepoint *lh_find_tracepoint(const char *name)
{
	struct find find = { .name = name };

	for_each_kernel_tracepoint(find_one, &find);
	return find.tp;
}

/* Some kernels call tracepoints with preemption on. */
static void contention_begin(void *data, void *lock, unsigned int flags)
{
	preempt_disable_notrace();
	lh_waits((unsigned long)lock, lh_spins_for(flags));
	preempt_enable_notrace();
}

static void contention_end(void *data, void *lock, int ret)
{
	preempt_disable_notrace();
	lh_waited((unsigned long)lock, ret);
	preempt_enable_notrace();
}

bool lh_wait_known(void)
{
#ifdef LH_HAVE_CONTENTION_EVENTS
	/* Fails to compile where the prototypes have changed. */
	check_trace_callback_type_contention_begin(contention_begin);
	check_trace_callback_type_contention_end(contention_end);
#endif
	return begin && end;
}

void lh_wait_init(void)
{
	begin = lh_find_tracepoint("contention_begin");
	end = lh_find_tracepoint("contention_end");
}

int lh_wait_start(void)
{
	int err;

	if (!lh_wait_known())
		return 0;

	err = tracepoint_probe_register(end, contention_end, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(begin, contention_begin, NULL);
	if (err)
		tracepoint_probe_unregister(end, contention_end, NULL);
	return err;
}

void lh_wait_stop(void)
{
	if (!lh_wait_known())
		return;
	tracepoint_probe_unregister(begin, contention_begin, NULL);
	tracepoint_probe_unregister(end, contention_end, NULL);
}
