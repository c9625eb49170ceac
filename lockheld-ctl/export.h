/* SPDX-License-Identifier: GPL-2.0-only */
/* Call chains of a recording, between what gathers them and what writes them. */
#ifndef LOCKHELD_CTL_EXPORT_H
#define LOCKHELD_CTL_EXPORT_H

#include <stdio.h>

#include "report.h"

/* The frames of all chains, numbered from 0 as they are met. */
struct frames {
	const struct label **v;
	size_t n;

	/* private */
	void *tree;
};

/* The number of a label, a new one if it was not met before. */
size_t frames_number(struct frames *f, const struct label *label);
void frames_free(struct frames *f);

/* Events that have samples; perf's recordings have one that never does. */
size_t export_nr_events(const struct report *r);
bool export_has(const struct report *r, size_t i);

/*
 * Calls @fn for each call chain in which samples of event @i ended: its frames
 * from the outermost caller on. @fn returns 0 to go on.
 */
int export_each(const struct report *r, size_t i,
		int (*fn)(const struct label *const *chain, size_t n,
			  uint64_t samples, void *arg),
		void *arg);

void export_speedscope(const struct report *r);
/* gzip, as pprof wants it. Return: 0 or -errno. */
int export_pprof(const struct report *r, FILE *to);

#endif
