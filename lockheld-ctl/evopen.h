/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording's events in the kernel: on which CPUs and tasks, with what rings. */
#ifndef LOCKHELD_CTL_EVOPEN_H
#define LOCKHELD_CTL_EVOPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/perf_event.h>

#include "ring.h"

/* What is recorded. */
struct target {
	int *cpus;
	size_t nr_cpus;
	pid_t *tids;		/* system-wide: the one entry -1 */
	size_t nr_tids;
	bool system_wide;
	size_t pages;		/* of a ring, a power of two */
};

/* CPUs that are on, or those of @list ("0-3,7"). Return: enum ctl_status. */
int target_cpus(struct target *t, const char *list);
/* All threads of a process. Return: enum ctl_status. */
int target_process(struct target *t, pid_t pid);
void target_free(struct target *t);

/* One event, opened for each CPU and each task. */
struct evopen {
	const char *name;
	struct perf_event_attr attr;
	int *fds;
	uint64_t *ids;
	size_t n;
	uint64_t lost;		/* samples, set by evopen_lost() */
};

struct ringset {
	struct ring *rings;
	size_t n;
};

/* Return: enum ctl_status, an error has been said. */
int evopen_open(struct evopen *ev, const struct target *t);
/* Whether the kernel takes such an event at all, for the current task. */
bool evopen_works(const struct perf_event_attr *attr);
void evopen_close(struct evopen *ev);
/* Lets @owner's rings take the records of @ev too, CPU by CPU. */
int evopen_rings(struct ringset *rings, struct evopen *owner,
		 const struct target *t);
int evopen_share(const struct ringset *rings, struct evopen *ev);
void ringset_free(struct ringset *rings);
/* @request: PERF_EVENT_IOC_ENABLE or _DISABLE. */
int evopen_ioctl(const struct evopen *ev, unsigned long request,
		 unsigned long arg);
/* Asks the kernel how many samples found no room. */
void evopen_lost(struct evopen *ev);

#endif
