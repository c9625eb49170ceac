// SPDX-License-Identifier: GPL-2.0-only
/* Global locks by the name of their symbol, from the kernel's symbol table. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <symres.h>

#include "ctl.h"
#include "lockspec.h"
#include "suggest.h"

#define LISTED_MAX 8
/* What symres calls the module that is the kernel itself. */
#define KERNEL "[kernel]"

struct found {
	unsigned int n;
	uint64_t addr;
	enum symres_kind kind;
	bool in_module;
	char *list;		/* "0xADDR MODULE, ..." */
};

static int add_found(const struct symres_sym *sym, void *arg)
{
	struct found *f = arg;
	char *list;

	/* Aliases of one address are one lock. */
	if (f->n && f->addr == sym->addr)
		return 0;
	if (++f->n > LISTED_MAX)
		return 0;
	f->addr = sym->addr;
	f->kind = sym->kind;
	f->in_module = sym->module && strcmp(sym->module, KERNEL);
	list = ctl_printf("%s%s%#llx %s", f->list ? f->list : "",
			  f->list ? ", " : "", (unsigned long long)sym->addr,
			  sym->module ? sym->module : KERNEL);
	free(f->list);
	f->list = list;
	return 0;
}

static int take_addr(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return 0;
}

/* Is @addr between two symbols of the kernel's own? */
static bool is_between(struct symres *symbols, uint64_t addr,
		       const char *first, const char *last)
{
	uint64_t from = 0, to = 0;

	return symres_find_kernel(symbols, first, take_addr, &from) > 0 &&
	       symres_find_kernel(symbols, last, take_addr, &to) > 0 &&
	       addr >= from && addr < to;
}

/*
 * Per-CPU variables are numbers where the kernel is linked like that, else
 * addresses in a section of their own, out of which modules get theirs as well.
 */
static bool is_percpu(struct symres *symbols, const struct found *f)
{
	return f->kind == SYMRES_KIND_ABS || !(f->addr >> 63) ||
	       is_between(symbols, f->addr, "vmlinux:__per_cpu_start",
			  "vmlinux:__per_cpu_end") ||
	       (f->in_module && is_between(symbols, f->addr, "vmlinux:_stext",
					   "vmlinux:_end"));
}

struct next {
	uint64_t addr;
	uint64_t next;
};

static int find_next(const struct symres_sym *sym, void *arg)
{
	struct next *n = arg;

	/* In order of address: the first behind it is the next. */
	if (sym->addr <= n->addr)
		return 0;
	n->next = sym->addr;
	return -ECANCELED;
}

/* @module: as symres calls it, NULL if any will do; @loaded: it has symbols */
struct names {
	struct suggest *near;
	char *module;
	bool loaded;
	unsigned long functions;
	unsigned long variables;
};

static int offer(const struct symres_sym *sym, void *arg)
{
	struct names *names = arg;

	if (names->module && sym->module &&
	    !strcmp(names->module, sym->module))
		names->loaded = true;
	if (sym->kind == SYMRES_KIND_FUNC)
		names->functions++;
	if (sym->kind != SYMRES_KIND_DATA)
		return 0;
	names->variables++;
	suggest_offer(names->near, sym->name);
	return 0;
}

static int no_such_name(struct symres *symbols, const char *name,
			struct suggest *near, char **error)
{
	struct names names = { .near = near };
	int len = strcspn(name, ":");
	int status = CTL_USAGE;

	if (name[len] && strncmp(name, "vmlinux:", len + 1))
		names.module = ctl_printf("[%.*s]", len, name);
	symres_find_kernel(symbols, NULL, offer, &names);
	/* There are a few variables among the functions even then. */
	if (!near->n && names.variables * 10 < names.functions) {
		*error = ctl_strdup("the kernel's symbol table has functions only (CONFIG_KALLSYMS_ALL is not set): give the address of the lock");
		status = CTL_IMPOSSIBLE;
	} else if (!names.module) {
		*error = ctl_strdup("the kernel has no such symbol");
	} else if (names.loaded) {
		*error = ctl_printf("module %.*s has no such symbol", len, name);
	} else {
		*error = ctl_printf("no module %.*s is loaded", len, name);
	}
	free(names.module);
	return status;
}

static int cannot_read(long err, char **error)
{
	if (err == -EPERM) {
		*error = ctl_strdup("the kernel hides its addresses: this needs CAP_SYSLOG (run as root) and kernel.kptr_restrict below 2");
		return CTL_IMPOSSIBLE;
	}
	*error = ctl_printf("cannot read the kernel's symbols: %s",
			    strerror(-err));
	return CTL_FAILED;
}

int lockspec_find(struct symres *symbols, const char *name,
		  struct suggest *near, __u64 *addr, __u64 *extent,
		  char **error)
{
	struct found f = { 0 };
	struct next n = { 0 };
	int status = CTL_USAGE;
	long ret;

	*error = NULL;
	ret = symres_find_kernel(symbols, name, add_found, &f);
	if (ret < 0) {
		status = cannot_read(ret, error);
	} else if (!f.n) {
		status = no_such_name(symbols, name, near, error);
	} else if (f.n > 1) {
		*error = ctl_printf("%u symbols have that name, write MODULE:NAME or the address of one: %s%s",
				    f.n, f.list,
				    f.n > LISTED_MAX ? ", ..." : "");
	} else if (f.kind == SYMRES_KIND_FUNC) {
		*error = ctl_strdup("a function, and not a lock");
	} else if (is_percpu(symbols, &f)) {
		*error = ctl_strdup("a per-CPU variable, and so not one lock but one for each CPU: give the address of one, or the kind of lock");
	} else {
		n.addr = f.addr;
		symres_find_kernel(symbols, NULL, find_next, &n);
		*addr = f.addr;
		*extent = n.next ? n.next - f.addr : 0;
		status = CTL_DONE;
	}
	free(f.list);
	return status;
}

int lockspec_percpu(struct symres *symbols, const char *name, __u64 *value,
		    char **error)
{
	char *own = ctl_printf("vmlinux:%s", name);
	struct found f = { 0 };
	int status = CTL_IMPOSSIBLE;
	long ret = symres_find_kernel(symbols, own, add_found, &f);

	*error = NULL;
	if (ret < 0) {
		status = cannot_read(ret, error);
	} else if (f.n != 1) {
		*error = ctl_strdup("not in the kernel's symbol table (CONFIG_KALLSYMS_ALL)");
	} else {
		*value = f.addr;
		status = CTL_DONE;
	}
	free(f.list);
	free(own);
	return status;
}
