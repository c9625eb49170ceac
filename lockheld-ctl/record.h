/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user asked lockheld-ctl record for. */
#ifndef LOCKHELD_CTL_RECORD_H
#define LOCKHELD_CTL_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"

#define RECORD_FILE	"perf.data"	/* as perf's, for record and report */

struct record_opts {
	bool all;		/* -a, or -C */
	bool chains;		/* -g */
	uint64_t freq;		/* -F, in Hz; 0: not given */
	uint64_t period;	/* -c; 0: not given */
	pid_t pid;		/* -p; 0: not given */
	const char *cpus;	/* -C; NULL: all */
	const char *file;	/* -o */
	size_t pages;		/* -m */
	char **command;		/* NULL: none */
	struct events events;
	const char **filters;	/* one for each event; NULL: none */
	bool help;		/* was asked for, and has been given */
};

/* Return: enum ctl_status; an error has been said. */
int record_options(int argc, char **argv, struct record_opts *o);
void record_options_free(struct record_opts *o);

#endif
