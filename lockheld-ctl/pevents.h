/* SPDX-License-Identifier: GPL-2.0-only */
/* Perf events that other processes have open. */
#ifndef LOCKHELD_CTL_PEVENTS_H
#define LOCKHELD_CTL_PEVENTS_H

#include <stddef.h>
#include <linux/types.h>

struct pevent {
	__u64 id;		/* the kernel's own, the same for duplicates */
	int fd;			/* in this process */
};

/**
 * pevents_of() - the perf events that a process has open
 * @pid: the process
 * @events: duplicates of its descriptors, one for each event, for
 *	pevents_close(); at least one
 *
 * Return: enum ctl_status; an error has been said.
 */
int pevents_of(unsigned int pid, struct pevent **events, size_t *n);
void pevents_close(struct pevent *events, size_t n);

#endif
