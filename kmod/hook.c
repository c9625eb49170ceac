// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lock functions are hooked now, and for whom. Everything here runs
 * under filters_lock of event.c.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "lockheld.h"

struct lh_extent lh_extents[LH_NR_FUNCS];
/* Raised when a group's hooks go: what they have seen is out of date. */
u16 lh_group_gen[LH_NR_GROUPS];

static char *hook = "auto";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "how to hook lock functions: auto, ftrace or kprobe");

static bool use_ftrace;
static int func_err[LH_NR_FUNCS];
static struct lh_hook *hooks[LH_NR_FUNCS];
static struct lh_hook_set *sets[LH_NR_GROUPS][LH_DOWNGRADE + 1];
static unsigned int users[LH_NR_GROUPS];
static char reasons[LH_NR_GROUPS][96];
unsigned long lh_only[LH_NR_GROUPS];
DEFINE_STATIC_KEY_FALSE(lh_widened);
static u32 widened;		/* groups for which it is on */
static u64 missed_before;	/* by hooks that are gone */

/* See find_interiors(). */
static const struct lh_extent *interiors[LH_NR_GROUPS][16];
static unsigned int nr_interiors[LH_NR_GROUPS];

static u32 func_groups(unsigned int i)
{
	const struct lh_func *func = &lh_funcs[i];

	if (func->verb == LH_SLOW)
		return 0;
	if (func->verb == LH_DOWNGRADE)
		return lh_groups_of(func->family, LOCKHELD_MODE_ANY);
	return BIT(lh_group(func->family, func->mode));
}

/* A wait goes with the acquisitions: one hook sees both its ends. */
static bool is_acquire(unsigned int i)
{
	return lh_funcs[i].verb == LH_ACQUIRE || lh_funcs[i].verb == LH_WAIT;
}

/*
 * Where nothing else can tell, an acquisition is seen when its function
 * returns.
 */
static bool is_by_return(const struct lh_func *func)
{
	switch (func->verb) {
	case LH_WAIT:
		return true;
	case LH_ACQUIRE:
		return func->by_return || func->ret == LH_RET_NONZERO ||
		       (!func->nowait && !lh_wait_known());
	default:
		return false;
	}
}

/* Is it hooked by its group's set, and not by itself? */
static bool is_in_set(unsigned int i)
{
	return use_ftrace && lh_funcs[i].verb <= LH_DOWNGRADE &&
	       !is_by_return(&lh_funcs[i]);
}

/* The kernel tells a function's size only as text: "name+0x0/0x40". */
static void find_extent(unsigned int i, unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN], *at;
	unsigned long offset, size;

	sprint_symbol(text, addr);
	at = strrchr(text, '+');
	if (!at || sscanf(at, "+%lx/%lx", &offset, &size) != 2)
		return;
	lh_extents[i].hook = addr;
	lh_extents[i].start = addr - offset;
	lh_extents[i].end = addr - offset + size;
}

/*
 * Where an entry of the group may not be held yet: in the functions that are
 * seen when they are entered, and in those in which they wait.
 */
static void find_interiors(void)
{
	unsigned int i, group;

	for (i = 0; i < lh_nr_funcs; i++) {
		const struct lh_func *func = &lh_funcs[i];
		bool enters = func->verb == LH_ACQUIRE && !is_by_return(func);

		if (func_err[i] || (!enters && func->verb != LH_SLOW))
			continue;
		group = lh_group(func->family, func->mode);
		if (WARN_ON(nr_interiors[group] == ARRAY_SIZE(interiors[0])))
			continue;
		interiors[group][nr_interiors[group]++] = &lh_extents[i];
	}
}

static void find_reason(unsigned int group)
{
	u8 family = group / 2;
	u8 mode = group % 2 ? LOCKHELD_MODE_WRITE : LOCKHELD_MODE_READ;
	const char *untracked = lh_untracked(family, mode);
	bool acquires = false, releases = false;
	unsigned int i;

	if (untracked)
		strscpy(reasons[group], untracked, sizeof(reasons[group]));
	if (untracked || lh_counted(family, mode))
		return;

	for (i = 0; i < lh_nr_funcs; i++) {
		const struct lh_func *func = &lh_funcs[i];

		if (!(func_groups(i) & BIT(group)))
			continue;
		if (func->inlined) {
			snprintf(reasons[group], sizeof(reasons[group]),
				 "%s is inlined on this kernel", func->name);
			return;
		}
		if (func_err[i] && func_err[i] != -ENOENT) {
			snprintf(reasons[group], sizeof(reasons[group]),
				 "%s cannot be probed (error %d)", func->name,
				 func_err[i]);
			return;
		}
		if (!func->core || func_err[i])
			continue;
		acquires |= is_acquire(i);
		releases |= func->verb == LH_RELEASE || func->verb == LH_WAIT;
	}
	if (!acquires && !lh_is_lock(family) && mode == LOCKHELD_MODE_WRITE)
		strscpy(reasons[group],
			"this kernel has no function that waits for its readers",
			sizeof(reasons[group]));
	else if (!acquires || !releases)
		snprintf(reasons[group], sizeof(reasons[group]),
			 "this kernel has no function to %s it",
			 acquires ? "release" : "acquire");
}

/* What places hooks: @hook, as far as the kernel has it. */
static int choose_backend(void)
{
	const char *reason = lh_ftrace_reason();

	if (!strcmp(hook, "kprobe"))
		return 0;
	if (strcmp(hook, "auto") && strcmp(hook, "ftrace")) {
		pr_err("hook=%s is none of auto, ftrace and kprobe\n", hook);
		return -EINVAL;
	}
	use_ftrace = !reason;
	if (reason && !strcmp(hook, "ftrace")) {
		pr_err("hook=ftrace: %s\n", reason);
		return -EOPNOTSUPP;
	}
	return 0;
}

int lh_hooks_init(void)
{
	unsigned long *addr;
	unsigned int i;
	int err;

	err = choose_backend();
	if (err)
		return err;
	addr = kcalloc(lh_nr_funcs, sizeof(*addr), GFP_KERNEL);
	if (!addr)
		return -ENOMEM;

	err = lh_kprobe_find(addr, func_err);
	if (!err) {
		for (i = 0; i < lh_nr_funcs; i++) {
			if (!func_err[i])
				find_extent(i, addr[i]);
		}
		find_interiors();
		for (i = 0; i < LH_NR_GROUPS; i++) {
			if (lh_groups() & BIT(i))
				find_reason(i);
		}
	}
	kfree(addr);
	return err;
}

void lh_hooks_exit(void)
{
	unsigned int group;

	for (group = 0; group < LH_NR_GROUPS; group++)
		WARN_ON(users[group]);
}

const char *lh_hooks_backend(void)
{
	return use_ftrace ? "ftrace" : "kprobe";
}

const char *lh_hooks_backend_reason(void)
{
	if (!strcmp(hook, "auto"))
		return use_ftrace ? "it costs less than kprobes" :
				    lh_ftrace_reason();
	return "the module's parameter hook asks for it";
}

union lh_site lh_site_of(const struct lh_func *func, enum lh_state state)
{
	return (union lh_site) {
		.family = func->family,
		.mode = func->mode,
		.state = state,
		.gen = lh_group_gen[lh_group(func->family, func->mode)],
	};
}

bool lh_in_lock_function(unsigned int group, unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < nr_interiors[group]; i++) {
		const struct lh_extent *extent = interiors[group][i];

		/* Up to the hook the lock has not been pushed. */
		if (ip > extent->hook && ip < extent->end)
			return true;
	}
	return false;
}

const char *lh_hooks_reason(u32 mask)
{
	unsigned int group;

	for (group = 0; group < LH_NR_GROUPS; group++) {
		if ((mask & BIT(group)) && reasons[group][0])
			return reasons[group];
	}
	return NULL;
}

u32 lh_depth_groups(void)
{
	unsigned int group;
	u32 mask = lh_groups();

	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (reasons[group][0] || !lh_is_lock(group / 2))
			mask &= ~BIT(group);
	}
	return mask;
}

void lh_wants_add(struct lh_wants *wants, u32 groups, unsigned long lock)
{
	unsigned int group;

	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (!(groups & BIT(group)))
			continue;
		if (!(wants->groups & BIT(group)))
			wants->lock[group] = lock;
		else if (wants->lock[group] != lock)
			wants->lock[group] = 0;
	}
	wants->groups |= groups;
}

/*
 * With more users a group may have to see more locks. It goes on seeing them
 * until its hooks go: whatever is in a stack must be seen leaving.
 */
static void user_add(unsigned int group, unsigned long lock)
{
	if (!users[group]) {
		WRITE_ONCE(lh_only[group], lock);
	} else if (lh_only[group] && lh_only[group] != lock) {
		WRITE_ONCE(lh_only[group], 0);
		static_branch_inc(&lh_widened);
		widened |= BIT(group);
	}
	WRITE_ONCE(users[group], users[group] + 1);
}

/* The hooks of the group are gone. */
static void group_gone(unsigned int group)
{
	WRITE_ONCE(lh_group_gen[group], lh_group_gen[group] + 1);
	WRITE_ONCE(lh_only[group], 0);
	if (widened & BIT(group))
		static_branch_dec(&lh_widened);
	widened &= ~BIT(group);
}

bool lh_group_hooked(unsigned int group)
{
	return READ_ONCE(users[group]);
}

static u32 active(void)
{
	unsigned int group;
	u32 mask = 0;

	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (users[group])
			mask |= BIT(group);
	}
	return mask;
}

/* Of a set of hooks, as of a function: see func_groups(). */
static u32 groups_of_set(unsigned int group, enum lh_verb verb)
{
	return verb == LH_DOWNGRADE ?
	       lh_groups_of(group / 2, LOCKHELD_MODE_ANY) : BIT(group);
}

static void remove_unwanted_sets(u32 wanted, bool acquires)
{
	unsigned int group, verb;

	for (group = 0; group < LH_NR_GROUPS; group++) {
		for (verb = 0; verb <= LH_DOWNGRADE; verb++) {
			if (!sets[group][verb] ||
			    (groups_of_set(group, verb) & wanted) ||
			    (verb == LH_ACQUIRE) != acquires)
				continue;
			lh_ftrace_remove(sets[group][verb]);
			sets[group][verb] = NULL;
		}
	}
}

static void remove_unwanted(u32 wanted, bool acquires)
{
	/* Static, since this must not fail; under filters_lock of event.c. */
	static struct lh_hook *gone[LH_NR_FUNCS];
	unsigned int i, nr = 0;

	remove_unwanted_sets(wanted, acquires);
	for (i = 0; i < lh_nr_funcs; i++) {
		if (!hooks[i] || (func_groups(i) & wanted) ||
		    is_acquire(i) != acquires)
			continue;
		missed_before += lh_kprobe_missed(hooks[i]);
		gone[nr++] = hooks[i];
		hooks[i] = NULL;
	}
	if (nr)
		lh_kprobe_remove(gone, nr);
}

/* Hooks all functions that do what @func does and are hooked like it. */
static int install_set(const struct lh_func *func)
{
	unsigned int group = lh_group(func->family, func->mode), nr = 0, i;
	static unsigned long ips[LH_NR_FUNCS];
	struct lh_hook_set *set;

	if (sets[group][func->verb])
		return 0;
	for (i = 0; i < lh_nr_funcs; i++) {
		if (!func_err[i] && is_in_set(i) &&
		    lh_funcs[i].verb == func->verb &&
		    lh_funcs[i].family == func->family &&
		    lh_funcs[i].mode == func->mode)
			ips[nr++] = lh_extents[i].hook;
	}
	set = lh_ftrace_install(func, lh_only[group], ips, nr);
	if (IS_ERR(set))
		return PTR_ERR(set);
	sets[group][func->verb] = set;
	return 0;
}

static int install(unsigned int i)
{
	const struct lh_func *func = &lh_funcs[i];
	struct lh_hook *hook;

	if (is_in_set(i))
		return install_set(func);
	if (hooks[i])
		return 0;
	hook = lh_kprobe_install(i, is_by_return(func));
	if (IS_ERR(hook))
		return PTR_ERR(hook);
	hooks[i] = hook;
	return 0;
}

static int install_wanted(u32 wanted, bool acquires)
{
	unsigned int i;
	int err;

	for (i = 0; i < lh_nr_funcs; i++) {
		if (func_err[i] || !(func_groups(i) & wanted) ||
		    is_acquire(i) != acquires)
			continue;
		err = install(i);
		if (err) {
			pr_warn("cannot hook %s: error %d\n",
				lh_funcs[i].name, err);
			return err;
		}
	}
	return 0;
}

int lh_hooks_get(const struct lh_wants *wants)
{
	u32 mask = wants->groups;
	unsigned int group;
	int err;

	if (!mask)
		return 0;
	if (lh_hooks_reason(mask))
		return -EOPNOTSUPP;
	if (!active()) {
		err = lh_records_start();
		if (err)
			return err;
	}
	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (mask & BIT(group))
			user_add(group, wants->lock[group]);
	}

	/* A release that nobody waits for is harmless, a missed one is not. */
	err = install_wanted(active(), false);
	if (!err)
		err = install_wanted(active(), true);
	if (err)
		lh_hooks_put(wants);
	return err;
}

void lh_hooks_put(const struct lh_wants *wants)
{
	u32 mask = wants->groups;
	unsigned int group;
	u32 gone = 0;

	if (!mask)
		return;
	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (!(mask & BIT(group)))
			continue;
		WRITE_ONCE(users[group], users[group] - 1);
		if (!users[group])
			gone |= BIT(group);
	}

	/* Releases are seen for as long as acquisitions are, and longer. */
	remove_unwanted(active(), true);
	remove_unwanted(active(), false);
	for (group = 0; group < LH_NR_GROUPS; group++) {
		if (gone & BIT(group))
			group_gone(group);
	}
	if (active())
		lh_records_forget(gone);
	else
		lh_records_stop();
}

u64 lh_hooks_missed(void)
{
	u64 sum = missed_before;
	unsigned int i;

	for (i = 0; i < lh_nr_funcs; i++) {
		if (hooks[i])
			sum += lh_kprobe_missed(hooks[i]);
	}
	return sum;
}
