// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks by kprobes. An acquisition is seen when its function is entered: the
 * tracepoints of wait.c and the lock's own word tell whether it succeeded.
 * Only where nothing else can tell, a kretprobe looks at the return value; and
 * a wait for RCU's readers lasts until its function returns.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "lockheld.h"

/**
 * struct lh_hook - a hooked function
 * @func: index in lh_funcs[]
 * @site: what its entries have
 * @only: the lock that is wanted, or 0 for all; in lh_only
 * @by_return: @rp is in use, not @kp
 * @kp: probe of the entry
 * @rp: probe of entry and return
 */
struct lh_hook {
	unsigned int func;
	union lh_site site;
	const unsigned long *only;
	bool by_return;
	union {
		struct kprobe kp;
		struct kretprobe rp;
	};
};

static unsigned long lock_arg(const struct lh_hook *hook, struct pt_regs *regs)
{
	const struct lh_func *func = &lh_funcs[hook->func];

	if (func->self)
		return lh_extents[hook->func].start;
	return regs_get_kernel_argument(regs, func->arg);
}

static __always_inline bool unwanted(const struct lh_hook *hook,
				     unsigned long lock)
{
	unsigned long only = READ_ONCE(*hook->only);

	return only && only != lock;
}

/* Where nothing is between an entry and the stack, as in hook_ftrace.c. */
#define HANDLERS(name, kind)						\
static int acquired_##name(struct kprobe *kp, struct pt_regs *regs)	\
{									\
	struct lh_hook *hook = container_of(kp, struct lh_hook, kp);	\
	unsigned long lock = regs_get_kernel_argument(regs, 0);		\
									\
	if (!unwanted(hook, lock))					\
		lh_push(kind, hook->site, lock, lh_regs_caller(regs));	\
	return 0;							\
}									\
									\
static int released_##name(struct kprobe *kp, struct pt_regs *regs)	\
{									\
	struct lh_hook *hook = container_of(kp, struct lh_hook, kp);	\
	unsigned long lock = regs_get_kernel_argument(regs, 0);		\
									\
	if (!unwanted(hook, lock))					\
		lh_pop(kind, hook->site, lock);				\
	return 0;							\
}

HANDLERS(spinning, LH_SPINS)
HANDLERS(sleeping, LH_SLEEPS)
HANDLERS(named, LH_NAMED)

static int entered_downgrade(struct kprobe *kp, struct pt_regs *regs)
{
	struct lh_hook *hook = container_of(kp, struct lh_hook, kp);

	lh_downgraded(hook->site, lock_arg(hook, regs),
		      lh_regs_caller(regs));
	return 0;
}

static int entered_trial(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lh_hook *hook = container_of(lh_kretprobe(ri), struct lh_hook,
					    rp);
	unsigned long lock = lock_arg(hook, regs);

	*(unsigned long *)ri->data = lock;
	/* Not 0: its return is not looked at. */
	return unwanted(hook, lock);
}

static bool got_lock(const struct lh_func *func, int ret)
{
	switch (func->ret) {
	case LH_RET_ZERO:
		return !ret;
	case LH_RET_NONZERO:
		return ret;
	default:
		return true;
	}
}

static int returned_trial(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = lh_kretprobe(ri);
	/* The functions return int: the upper half is not theirs. */
	int ret = (int)regs_return_value(regs);
	struct lh_hook *hook;

	if (!rp)
		return 0;	/* unhooked while the function ran */
	hook = container_of(rp, struct lh_hook, rp);
	if (got_lock(&lh_funcs[hook->func], ret))
		lh_acquired(hook->site, *(unsigned long *)ri->data,
			    lh_kretprobe_caller(ri));
	return 0;
}

static int entered_wait(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lh_hook *hook = container_of(lh_kretprobe(ri), struct lh_hook,
					    rp);
	unsigned long lock = lock_arg(hook, regs);

	if (unwanted(hook, lock))
		return 1;
	*(unsigned long *)ri->data = lock;
	lh_acquired(hook->site, lock, lh_regs_caller(regs));
	return 0;
}

static int returned_wait(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = lh_kretprobe(ri);

	if (rp)
		lh_released(container_of(rp, struct lh_hook, rp)->site.family,
			    *(unsigned long *)ri->data);
	return 0;
}

int lh_kprobe_find(unsigned long addr[], int err[])
{
	struct kprobe **found, *kps;
	unsigned int i;
	int nr = 0;

	kps = kcalloc(lh_nr_funcs, sizeof(*kps), GFP_KERNEL);
	found = kcalloc(lh_nr_funcs, sizeof(*found), GFP_KERNEL);
	if (!kps || !found) {
		kfree(kps);
		kfree(found);
		return -ENOMEM;
	}

	for (i = 0; i < lh_nr_funcs; i++) {
		kps[i].symbol_name = lh_funcs[i].name;
		kps[i].flags = KPROBE_FLAG_DISABLED;
		err[i] = register_kprobe(&kps[i]);
		if (err[i])
			continue;
		addr[i] = (unsigned long)kps[i].addr;
		found[nr++] = &kps[i];
	}
	unregister_kprobes(found, nr);
	kfree(kps);
	kfree(found);
	return 0;
}

static kprobe_pre_handler_t handler_of(const struct lh_func *func)
{
	static const kprobe_pre_handler_t acquires[] = {
		[LH_SPINS] = acquired_spinning,
		[LH_SLEEPS] = acquired_sleeping,
		[LH_NAMED] = acquired_named,
	};
	static const kprobe_pre_handler_t releases[] = {
		[LH_SPINS] = released_spinning,
		[LH_SLEEPS] = released_sleeping,
		[LH_NAMED] = released_named,
	};
	enum lh_kind kind = lh_kind(func->family, func->mode);

	switch (func->verb) {
	case LH_ACQUIRE:
		return acquires[kind];
	case LH_RELEASE:
		return releases[kind];
	default:
		return entered_downgrade;
	}
}

static int install(struct lh_hook *hook)
{
	const struct lh_func *func = &lh_funcs[hook->func];

	if (!hook->by_return) {
		hook->kp.symbol_name = func->name;
		hook->kp.pre_handler = handler_of(func);
		return register_kprobe(&hook->kp);
	}
	hook->rp.kp.symbol_name = func->name;
	if (func->verb == LH_WAIT) {
		hook->rp.entry_handler = entered_wait;
		hook->rp.handler = returned_wait;
	} else {
		hook->rp.entry_handler = entered_trial;
		hook->rp.handler = returned_trial;
	}
	hook->rp.data_size = sizeof(unsigned long);
	/*
	 * A trylock does not sleep: one for each context of each CPU will do.
	 * Another function keeps its instance for as long as it waits.
	 */
	if (func->ret == LH_RET_NONZERO && !func->arg)
		hook->rp.maxactive = 4 * num_possible_cpus();
	else
		hook->rp.maxactive = 4096;
	return register_kretprobe(&hook->rp);
}

struct lh_hook *lh_kprobe_install(unsigned int func, bool by_return)
{
	struct lh_hook *hook;
	int err;

	hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	if (!hook)
		return ERR_PTR(-ENOMEM);
	hook->func = func;
	hook->site = lh_site_of(&lh_funcs[func],
				by_return || lh_funcs[func].verb == LH_DOWNGRADE ?
				LH_OWNED : LH_ENTERED);
	hook->only = &lh_only[lh_group(lh_funcs[func].family,
				       lh_funcs[func].mode)];
	hook->by_return = by_return;
	err = install(hook);
	if (err) {
		kfree(hook);
		return ERR_PTR(err);
	}
	return hook;
}

void lh_kprobe_remove(struct lh_hook *hooks[], unsigned int nr)
{
	/* Static, since this must not fail; under filters_lock of event.c. */
	static struct kprobe *kps[LH_NR_FUNCS];
	static struct kretprobe *rps[LH_NR_FUNCS];
	int nr_kps = 0, nr_rps = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (hooks[i]->by_return)
			rps[nr_rps++] = &hooks[i]->rp;
		else
			kps[nr_kps++] = &hooks[i]->kp;
	}
	unregister_kprobes(kps, nr_kps);
	unregister_kretprobes(rps, nr_rps);
	for (i = 0; i < nr; i++)
		kfree(hooks[i]);
}

u64 lh_kprobe_missed(const struct lh_hook *hook)
{
	if (hook->by_return)
		return hook->rp.nmissed + hook->rp.kp.nmissed;
	return hook->kp.nmissed;
}
