/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the lock is in a CPU's run queue, which differs by kernel. */
#ifndef LOCKHELD_CTL_RQLOCK_H
#define LOCKHELD_CTL_RQLOCK_H

#include <linux/types.h>

/*
 * Bytes from a run queue's beginning to its lock, by the kernel's description of
 * its types; @root stands in front of /sys, NULL: nothing. Return: a ctl_status;
 * where it is not CTL_DONE @error says why, from the heap.
 */
int rqlock_offset(const char *root, __u64 *offset, char **error);

#endif
