/* SPDX-License-Identifier: GPL-2.0-only */
/* A report, between what gathers it and what shows it. */
#ifndef LOCKHELD_CTL_REPORT_H
#define LOCKHELD_CTL_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregate.h"
#include "notes.h"
#include "perfdata.h"

struct report {
	const struct pd_reader *file;
	struct notes notes;
	struct aggregate *events;	/* one for each event of the file */
	struct symbols *symbols;
	struct procmaps *maps;
	enum report_sort sort;
	bool locks_call;		/* as in struct aggregate */
	size_t limit;			/* rows shown; 0: all */
	uint64_t lost;
	uint64_t foreign;		/* samples of events the file lacks */
	char *damage;			/* where reading ended, or NULL */
};

/* Adds up @file, as r->sort and r->locks_call say; the rest of @r is 0. */
void report_load(struct report *r, struct pd_reader *file);
void report_unload(struct report *r);

void report_print(const struct report *r);
void report_print_json(const struct report *r);

/* Of a verb that reads a recording: argv[optind] has no place. CTL_USAGE. */
int report_extra_word(char **argv);

/* Did the recorder get to its end, and is all of it there? */
bool report_complete(const struct report *r);
/* The filter that event @i was recorded with; NULL: none, or not known. */
const struct note_filter *report_filter(const struct report *r, size_t i);
/* Its name, or a description by type and number. From the heap. */
char *report_event_name(const struct report *r, size_t i);

#endif
