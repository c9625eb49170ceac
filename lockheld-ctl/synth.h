/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of what ran and was mapped before the recording began: the kernel
 * tells only of what comes later.
 */
#ifndef LOCKHELD_CTL_SYNTH_H
#define LOCKHELD_CTL_SYNTH_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/perf_event.h>

struct symres;

/* Takes a finished record. Return: 0 or -errno. */
typedef int (*synth_fn)(const struct perf_event_header *record, void *arg);

struct synth {
	synth_fn emit;
	void *arg;
	size_t trailer;		/* bytes of it, see record_trailer() */
};

/* All return 0 or what @emit returned. */
int synth_kernel(const struct synth *s, struct symres *symres);
int synth_process(const struct synth *s, pid_t pid);
/* All but the calling process. */
int synth_all(const struct synth *s);

#endif
