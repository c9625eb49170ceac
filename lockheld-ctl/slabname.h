/* SPDX-License-Identifier: GPL-2.0-only */
/* Slab caches by their names, of which one cache may have several. */
#ifndef LOCKHELD_CTL_SLABNAME_H
#define LOCKHELD_CTL_SLABNAME_H

struct suggest;

/**
 * slabname_find() - what the kernel itself calls a slab cache
 * @root: stands in front of /sys and /proc; NULL: nothing
 * @name: one of the cache's names
 * @near: is offered all names if there is no cache of that one
 * @own: the kernel's own name of it, for the caller to free
 * @others: "A, B and 2 more": names of other caches that were merged with it,
 *	for the caller to free; NULL if there are none
 * @error: on failure, why, for the caller to free; a name that does not exist
 *	leaves the sentence open for suggestions
 *
 * Return: enum ctl_status.
 */
int slabname_find(const char *root, const char *name, struct suggest *near,
		  char **own, char **others, char **error);

#endif
