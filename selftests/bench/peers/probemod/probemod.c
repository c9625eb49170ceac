// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that do nothing: what a way of hooking costs by itself, and so the
 * least that any tool pays which uses it.
 *
 *	how=ftrace	entry and entry, by ftrace: one operation for the
 *			functions that acquire and one for those that release
 *	how=kprobe	entry and entry, by kprobes
 *	how=kretprobe	return and entry, by kretprobes and kprobes; what spins
 *			has its entry hooked, since a kretprobe there is deadly
 *	families=	mutex, rwsem, spinlock, rwlock; commas between them
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>

#include "funcs.h"

static char *how = "kprobe";
module_param(how, charp, 0444);
static char *families = "mutex";
module_param(families, charp, 0444);

struct func {
	const char *family;
	const char *name;
	bool releases;
	union {
		struct kprobe kp;
		struct kretprobe rp;
	};
};

#define ACQUIRES_FUNC(fam, func) { .family = #fam, .name = #func },
#define RELEASES_FUNC(fam, func) { .family = #fam, .name = #func, .releases = true },

static struct func funcs[] = {
	LOCK_FUNCTIONS(ACQUIRES_FUNC, ACQUIRES_FUNC, ACQUIRES_FUNC,
		       RELEASES_FUNC)
};

static unsigned int nr_hooked;	/* of funcs[], wanted or not */

static int entered(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static void traced(unsigned long ip, unsigned long caller,
		   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops ops[] = {
	{ .func = traced },
	{ .func = traced },
};

static bool is_wanted(const struct func *func)
{
	const char *at = families;
	size_t len = strlen(func->family);

	while (at) {
		if (!strncmp(at, func->family, len) &&
		    (at[len] == ',' || !at[len] || at[len] == '\n'))
			return true;
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return false;
}

static bool by_return(const struct func *func)
{
	return !strcmp(how, "kretprobe") && !func->releases &&
	       !strstarts(func->name, "_raw");
}

static int hook(struct func *func)
{
	if (by_return(func)) {
		func->rp = (struct kretprobe) {
			.kp.symbol_name = func->name,
			.handler = returned,
			.maxactive = 4096,
		};
		return register_kretprobe(&func->rp);
	}
	func->kp = (struct kprobe) {
		.symbol_name = func->name,
		.pre_handler = entered,
	};
	return register_kprobe(&func->kp);
}

static void unhook_all(void)
{
	unsigned int i;

	for (i = 0; i < nr_hooked; i++) {
		if (!is_wanted(&funcs[i]))
			continue;
		if (by_return(&funcs[i]))
			unregister_kretprobe(&funcs[i].rp);
		else
			unregister_kprobe(&funcs[i].kp);
	}
}

static int probe_all(void)
{
	int err;

	for (; nr_hooked < ARRAY_SIZE(funcs); nr_hooked++) {
		if (!is_wanted(&funcs[nr_hooked]))
			continue;
		err = hook(&funcs[nr_hooked]);
		if (err) {
			pr_err("cannot hook %s: error %d\n",
			       funcs[nr_hooked].name, err);
			unhook_all();
			return err;
		}
	}
	return 0;
}

static int trace_all(void)
{
	unsigned int i;
	char name[64];
	int err;

	for (i = 0; i < ARRAY_SIZE(funcs); i++) {
		if (!is_wanted(&funcs[i]))
			continue;
		strscpy(name, funcs[i].name, sizeof(name));
		err = ftrace_set_filter(&ops[funcs[i].releases], name,
					strlen(name), 0);
		if (err)
			return err;
	}
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		err = register_ftrace_function(&ops[i]);
		if (err) {
			while (i--)
				unregister_ftrace_function(&ops[i]);
			return err;
		}
	}
	return 0;
}

static int __init probemod_init(void)
{
	return strcmp(how, "ftrace") ? probe_all() : trace_all();
}

static void __exit probemod_exit(void)
{
	unsigned int i;

	if (strcmp(how, "ftrace")) {
		unhook_all();
		return;
	}
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		unregister_ftrace_function(&ops[i]);
		ftrace_free_filter(&ops[i]);
	}
}

module_init(probemod_init);
module_exit(probemod_exit);
MODULE_DESCRIPTION("hooks that do nothing");
MODULE_LICENSE("GPL");
