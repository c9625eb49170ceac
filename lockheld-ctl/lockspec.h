/* SPDX-License-Identifier: GPL-2.0-only */
/* Global locks by the name of their symbol. */
#ifndef LOCKHELD_CTL_LOCKSPEC_H
#define LOCKHELD_CTL_LOCKSPEC_H

#include <linux/types.h>

struct suggest;
struct symres;

/**
 * lockspec_find() - address of a lock
 * @symbols: a session whose kernel symbols are searched
 * @name: "name" or "module:name"
 * @near: is offered all names of variables if there is none of that name
 * @addr: of the lock
 * @extent: bytes to the next symbol, 0 if there is none
 * @error: on failure, why, for the caller to free; a name that does not exist
 *	leaves the sentence open for suggestions
 *
 * Return: enum ctl_status.
 */
int lockspec_find(struct symres *symbols, const char *name,
		  struct suggest *near, __u64 *addr, __u64 *extent,
		  char **error);

/**
 * lockspec_percpu() - value of the symbol of a per-CPU variable of the kernel
 * @symbols: a session whose kernel symbols are searched
 * @name: of the variable
 * @value: of its symbol
 * @error: on failure, why, for the caller to free
 *
 * Return: enum ctl_status.
 */
int lockspec_percpu(struct symres *symbols, const char *name, __u64 *value,
		    char **error);

#endif
