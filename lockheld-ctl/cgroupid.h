/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups by their path. */
#ifndef LOCKHELD_CTL_CGROUPID_H
#define LOCKHELD_CTL_CGROUPID_H

#include <linux/types.h>

/**
 * cgroupid_find() - the number that perf knows a control group by
 * @root: stands in front of /proc; NULL: nothing
 * @path: below the mount point of the hierarchy, or with it
 * @id: of the group
 * @error: on failure, why, for the caller to free
 *
 * Return: enum ctl_status.
 */
int cgroupid_find(const char *root, const char *path, __u64 *id, char **error);

#endif
