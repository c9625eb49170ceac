// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks by ftrace: a group's functions that do the same have one ftrace_ops, so
 * each of them calls a trampoline that calls a handler here, with nothing to
 * look up. Only entries can be seen.
 *
 * The handlers ask for no protection against recursion, since they call none of
 * the functions that are hooked: they take no lock.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "lockheld.h"

#ifdef LH_HAVE_FTRACE_ARGS

/**
 * struct lh_hook_set - functions that do the same to the same kind of lock
 * @ops: ftrace's
 * @site: what their entries have
 * @group: of the locks
 */
struct lh_hook_set {
	struct ftrace_ops ops;
	union lh_site site;
	unsigned int group;
};

static __always_inline const struct lh_hook_set *
set_of(const struct ftrace_ops *ops)
{
	return container_of(ops, struct lh_hook_set, ops);
}

static __always_inline void acquired(const struct lh_hook_set *set, bool sleeps,
				     struct ftrace_regs *fregs,
				     unsigned long caller)
{
	unsigned long lock = lh_ftrace_arg(fregs, 0);

	if (lh_unwanted(set->group, lock))
		return;
	preempt_disable_notrace();
	lh_push(set->site, sleeps, lock, caller);
	preempt_enable_notrace();
}

static void acquired_spinning(unsigned long ip, unsigned long caller,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	acquired(set_of(ops), false, fregs, caller);
}

static void acquired_sleeping(unsigned long ip, unsigned long caller,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	acquired(set_of(ops), true, fregs, caller);
}

/* Whoever has such a lock cannot be preempted, nor has an interrupt taken it. */
static void released_spinning(unsigned long ip, unsigned long caller,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct lh_hook_set *set = set_of(ops);
	unsigned long lock = lh_ftrace_arg(fregs, 0);

	if (lh_unwanted(set->group, lock))
		return;
	if (unlikely(!lh_stack_pop_top(this_cpu_read(lh_cpus.cpu), lock)))
		lh_released(set->site.family, lock);
}

/* An interrupt may release what the task below it has taken. */
static void released_sleeping(unsigned long ip, unsigned long caller,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct lh_hook_set *set = set_of(ops);
	unsigned long lock = lh_ftrace_arg(fregs, 0);

	if (lh_unwanted(set->group, lock))
		return;
	preempt_disable_notrace();
	if (unlikely(lh_preempt_count() & LH_INTERRUPTS ||
		     !lh_stack_pop_top(this_cpu_read(lh_cpus.task), lock)))
		lh_released(set->site.family, lock);
	preempt_enable_notrace();
}

static void downgraded(unsigned long ip, unsigned long caller,
		       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	preempt_disable_notrace();
	lh_downgraded(set_of(ops)->site, lh_ftrace_arg(fregs, 0), caller);
	preempt_enable_notrace();
}

static ftrace_func_t handler_of(const struct lh_func *func)
{
	bool sleeps = lh_sleeps(func->family);

	switch (func->verb) {
	case LH_ACQUIRE:
		return sleeps ? acquired_sleeping : acquired_spinning;
	case LH_RELEASE:
		return sleeps ? released_sleeping : released_spinning;
	default:
		return downgraded;
	}
}

const char *lh_ftrace_reason(void)
{
	if (!lh_wait_known())
		return "this kernel does not say when a lock is waited for";
	return NULL;
}

struct lh_hook_set *lh_ftrace_install(const struct lh_func *func,
				      unsigned long ips[], unsigned int nr)
{
	struct lh_hook_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int err;

	if (!set)
		return ERR_PTR(-ENOMEM);
	set->site = lh_site_of(func, func->verb == LH_DOWNGRADE ? LH_OWNED :
								  LH_ENTERED);
	set->group = lh_group(func->family, func->mode);
	set->ops.func = handler_of(func);
	/* As long as it is hooked ftrace cannot be switched off by sysctl. */
	set->ops.flags = FTRACE_OPS_FL_PERMANENT;
	err = ftrace_set_filter_ips(&set->ops, ips, nr, 0, 1);
	if (!err)
		err = register_ftrace_function(&set->ops);
	if (err) {
		ftrace_free_filter(&set->ops);
		kfree(set);
		return ERR_PTR(err);
	}
	return set;
}

void lh_ftrace_remove(struct lh_hook_set *set)
{
	WARN_ON(unregister_ftrace_function(&set->ops));
	ftrace_free_filter(&set->ops);
	kfree(set);
}

#else

const char *lh_ftrace_reason(void)
{
	return "ftrace of this kernel does not tell a function's arguments";
}

struct lh_hook_set *lh_ftrace_install(const struct lh_func *func,
				      unsigned long ips[], unsigned int nr)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void lh_ftrace_remove(struct lh_hook_set *set)
{
}

#endif
