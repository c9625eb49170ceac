/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's netlink interface, one function for each command.
 *
 * All functions that return int return enum ctl_status; when it is not 0,
 * lhnl_error() is a complete message for the user, with the module's own
 * words in it, and lhnl_errno() the positive errno. CTL_IMPOSSIBLE stands for
 * a missing module, missing rights, and what this kernel cannot do.
 */
#ifndef LOCKHELD_CTL_NL_H
#define LOCKHELD_CTL_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/lockheld.h>

struct lhnl;

/* A handle is always made, for its error text; close it also after failure. */
int lhnl_open(struct lhnl **nl);
void lhnl_close(struct lhnl *nl);
const char *lhnl_error(const struct lhnl *nl);
int lhnl_errno(const struct lhnl *nl);

struct lhnl_cap {
	__u32 family;		/* enum lockheld_family */
	__u32 mode;		/* enum lockheld_mode */
	__u32 mechanism;	/* enum lockheld_mechanism */
	char *version;
	char *backend;
	char *backend_reason;
	char *reason;		/* NULL unless LOCKHELD_MECH_NONE */
};

struct lhnl_term {
	__u32 insn;
	__u32 mechanism;
	__u32 family;
	__u32 mode;
};

struct lhnl_filter {
	__u32 id;
	__u32 flags;		/* LOCKHELD_FILTER_* */
	__u32 owner_pid;
	__u32 nr_events;
	__u64 evaluated;
	__u64 passed;
	__u64 dropped;
	__u64 uncertain;
	char *text;
	struct lhnl_term *terms;
	size_t nr_terms;
};

struct lhnl_stat {
	char *name;
	__u64 value;
};

/* Arrays come from the heap: give them to the _free function beside it. */
int lhnl_caps(struct lhnl *nl, struct lhnl_cap **caps, size_t *n);
void lhnl_caps_free(struct lhnl_cap *caps, size_t n);

/* @flags: LOCKHELD_FILTER_*. The filter goes when @nl does, unless persistent. */
int lhnl_filter_add(struct lhnl *nl, const struct lockheld_insn *insns,
		    unsigned int n, const char *text, __u32 flags, __u32 *id);
/* After a refusal by lhnl_filter_add(): which of the @n instructions is at fault
 * or -1, and the module's own words or NULL. */
int lhnl_insn(const struct lhnl *nl, unsigned int n);
const char *lhnl_reason(const struct lhnl *nl);

int lhnl_filter_attach(struct lhnl *nl, __u32 id, int fd);
int lhnl_filter_del(struct lhnl *nl, __u32 id);

/* All filters, or with @id not 0 that one (CTL_FAILED and ENOENT if gone). */
int lhnl_filters(struct lhnl *nl, __u32 id, struct lhnl_filter **filters,
		 size_t *n);
void lhnl_filters_free(struct lhnl_filter *filters, size_t n);

/* Lets the module say when a filter or its lock is gone. Returns a descriptor that
 * can be read then, closed by lhnl_close(), or -1 if that is not possible. */
int lhnl_watch(struct lhnl *nl);
/* The next notice that has come: of filter @id, whose lock was in @module, which
 * the caller frees, or which was deleted: NULL. False if there is none. */
bool lhnl_notice(struct lhnl *nl, __u32 *id, char **module);

int lhnl_stats(struct lhnl *nl, struct lhnl_stat **stats, size_t *n);
void lhnl_stats_free(struct lhnl_stat *stats, size_t n);

/* Slab cache of the object at @addr; CTL_FAILED and ENOENT if there is none. */
int lhnl_lock_name(struct lhnl *nl, __u64 addr, char *buf, size_t size);

#endif
