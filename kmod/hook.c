// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lock functions are hooked now, and for whom. Everything here runs
 * under filters_lock of event.c.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "lockheld.h"

struct lh_extent lh_extents[LH_NR_FUNCS];
/* Raised when a group's hooks go: what they have seen is out of date. */
u16 lh_group_gen[LH_NR_GROUPS];

static int func_err[LH_NR_FUNCS];
static struct lh_hook *hooks[LH_NR_FUNCS];
static unsigned int users[LH_NR_GROUPS];
static char reasons[LH_NR_GROUPS][96];
static u64 missed_before;	/* by hooks that are gone */

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

/* The kernel tells a function's size only as text: "name+0x0/0x40". */
static void find_extent(unsigned int i, unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN], *at;
	unsigned long offset, size;

	sprint_symbol(text, addr);
	at = strrchr(text, '+');
	if (!at || sscanf(at, "+%lx/%lx", &offset, &size) != 2)
		return;
	lh_extents[i].start = addr - offset;
	lh_extents[i].end = addr - offset + size;
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

int lh_hooks_init(void)
{
	unsigned long *addr;
	unsigned int i;
	int err;

	addr = kcalloc(lh_nr_funcs, sizeof(*addr), GFP_KERNEL);
	if (!addr)
		return -ENOMEM;

	err = lh_kprobe_find(addr, func_err);
	if (!err) {
		for (i = 0; i < lh_nr_funcs; i++) {
			if (!func_err[i])
				find_extent(i, addr[i]);
		}
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

static void remove_unwanted(u32 wanted, bool acquires)
{
	/* Static, since this must not fail; under filters_lock of event.c. */
	static struct lh_hook *gone[LH_NR_FUNCS];
	unsigned int i, nr = 0;

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

static int install_wanted(u32 wanted, bool acquires)
{
	unsigned int i;

	for (i = 0; i < lh_nr_funcs; i++) {
		const struct lh_func *func = &lh_funcs[i];
		struct lh_hook *hook;

		if (hooks[i] || func_err[i] || !(func_groups(i) & wanted) ||
		    is_acquire(i) != acquires)
			continue;
		hook = lh_kprobe_install(i, is_by_return(func));
		if (IS_ERR(hook)) {
			pr_warn("cannot hook %s: error %ld\n", func->name,
				PTR_ERR(hook));
			return PTR_ERR(hook);
		}
		hooks[i] = hook;
	}
	return 0;
}

int lh_hooks_get(u32 mask)
{
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
			WRITE_ONCE(users[group], users[group] + 1);
	}

	/* A release that nobody waits for is harmless, a missed one is not. */
	err = install_wanted(active(), false);
	if (!err)
		err = install_wanted(active(), true);
	if (err)
		lh_hooks_put(mask);
	return err;
}

void lh_hooks_put(u32 mask)
{
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
			WRITE_ONCE(lh_group_gen[group],
				   lh_group_gen[group] + 1);
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
