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
 * @lock: the one that is wanted, if it is for one
 * @only: where lh_only has it, or 0 when all are wanted since
 */
struct lh_hook_set {
	struct ftrace_ops ops;
	union lh_site site;
	unsigned long lock;
	const unsigned long *only;
};

static __always_inline const struct lh_hook_set *
set_of(const struct ftrace_ops *ops)
{
	return container_of(ops, struct lh_hook_set, ops);
}

/* For one lock: is this another one? The least there is, since most are. */
static __always_inline bool is_other(const struct lh_hook_set *set,
				     struct ftrace_regs *fregs)
{
	if (likely(lh_ftrace_arg(fregs, 0) != set->lock))
		return !static_branch_unlikely(&lh_widened) ||
		       READ_ONCE(*set->only);
	return false;
}

static __always_inline void acquired(enum lh_kind kind, bool only,
				     struct ftrace_ops *ops,
				     struct ftrace_regs *fregs,
				     unsigned long caller)
{
	const struct lh_hook_set *set = set_of(ops);

	if (only && is_other(set, fregs))
		return;
	/* Below this nothing is prepared above. */
	OPTIMIZER_HIDE_VAR(fregs);
	preempt_disable_notrace();
	lh_push(kind, set->site, lh_ftrace_arg(fregs, 0), caller);
	preempt_enable_notrace();
}

static __always_inline void released(enum lh_kind kind, bool only,
				     struct ftrace_ops *ops,
				     struct ftrace_regs *fregs)
{
	const struct lh_hook_set *set = set_of(ops);

	if (only && is_other(set, fregs))
		return;
	OPTIMIZER_HIDE_VAR(fregs);
	/* Whoever has a lock that spins cannot be preempted. */
	if (kind != LH_SPINS)
		preempt_disable_notrace();
	lh_pop(kind, set->site, lh_ftrace_arg(fregs, 0));
	if (kind != LH_SPINS)
		preempt_enable_notrace();
}

/* One handler of each kind, so that nothing has to be asked at run time. */
#define HANDLERS(name, kind, only)					\
static void acquired_##name(unsigned long ip, unsigned long caller,	\
			    struct ftrace_ops *ops,			\
			    struct ftrace_regs *fregs)			\
{									\
	acquired(kind, only, ops, fregs, caller);			\
}									\
									\
static void released_##name(unsigned long ip, unsigned long caller,	\
			    struct ftrace_ops *ops,			\
			    struct ftrace_regs *fregs)			\
{									\
	released(kind, only, ops, fregs);				\
}

HANDLERS(spinning, LH_SPINS, false)
HANDLERS(sleeping, LH_SLEEPS, false)
HANDLERS(named, LH_NAMED, false)
HANDLERS(one_spinning, LH_SPINS, true)
HANDLERS(one_sleeping, LH_SLEEPS, true)
HANDLERS(one_named, LH_NAMED, true)

static void downgraded(unsigned long ip, unsigned long caller,
		       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	preempt_disable_notrace();
	lh_downgraded(set_of(ops)->site, lh_ftrace_arg(fregs, 0), caller);
	preempt_enable_notrace();
}

static ftrace_func_t handler_of(const struct lh_func *func, bool only)
{
	static const ftrace_func_t acquires[][2] = {
		[LH_SPINS] = { acquired_spinning, acquired_one_spinning },
		[LH_SLEEPS] = { acquired_sleeping, acquired_one_sleeping },
		[LH_NAMED] = { acquired_named, acquired_one_named },
	};
	static const ftrace_func_t releases[][2] = {
		[LH_SPINS] = { released_spinning, released_one_spinning },
		[LH_SLEEPS] = { released_sleeping, released_one_sleeping },
		[LH_NAMED] = { released_named, released_one_named },
	};
	enum lh_kind kind = lh_kind(func->family, func->mode);

	switch (func->verb) {
	case LH_ACQUIRE:
		return acquires[kind][only];
	case LH_RELEASE:
		return releases[kind][only];
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

struct lh_hook_set *lh_ftrace_install(const struct lh_func *func, bool only,
				      unsigned long ips[], unsigned int nr)
{
	struct lh_hook_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int err;

	if (!set)
		return ERR_PTR(-ENOMEM);
	set->site = lh_site_of(func, func->verb == LH_DOWNGRADE ? LH_OWNED :
								  LH_ENTERED);
	set->only = &lh_only[lh_group(func->family, func->mode)];
	set->lock = *set->only;
	set->ops.func = handler_of(func, only);
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

struct lh_hook_set *lh_ftrace_install(const struct lh_func *func, bool only,
				      unsigned long ips[], unsigned int nr)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void lh_ftrace_remove(struct lh_hook_set *set)
{
}

#endif
