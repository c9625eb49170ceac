/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter of one event of a recording, from the option to its counters. */
#ifndef LOCKHELD_CTL_RECFILTER_H
#define LOCKHELD_CTL_RECFILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"
#include "evopen.h"
#include "expr.h"
#include "nl.h"

/**
 * struct recfilter - what one event is filtered by
 * @text: as the user wrote it; NULL: nothing
 * @res: what it was compiled to; no instructions: the module has no part in it
 * @flags: LOCKHELD_FILTER_*
 * @id: of the filter in the module, once added
 * @gone: its lock is gone with the module that it was in, once asked for
 * @deleted: somebody has deleted it: what came then is not filtered
 * @counts: what the filter saw, once asked for
 */
struct recfilter {
	const char *text;
	struct expr_result res;
	uint32_t flags;
	uint32_t id;
	bool gone;
	bool deleted;
	struct {
		uint64_t evaluated, passed, dropped, uncertain;
	} counts;
};

/* All return enum ctl_status; an error has been said. */

/* @not_pid: a process whose samples are never wanted; 0: none. */
int recfilter_compile(struct recfilter *f, const struct event *event,
		      pid_t not_pid);
/* Hands the program to the module. */
int recfilter_add(struct recfilter *f, struct lhnl *nl);
/* Puts it in front of an event that is not enabled yet. */
int recfilter_attach(const struct recfilter *f, struct lhnl *nl,
		     const struct evopen *ev);
int recfilter_counts(struct recfilter *f, struct lhnl *nl);
void recfilter_free(struct recfilter *f);

#endif
