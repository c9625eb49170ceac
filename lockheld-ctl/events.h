/* SPDX-License-Identifier: GPL-2.0-only */
/* Events as users name them, turned into what the kernel wants to be asked. */
#ifndef LOCKHELD_CTL_EVENTS_H
#define LOCKHELD_CTL_EVENTS_H

#include <stddef.h>
#include <linux/perf_event.h>

struct tep_event;
struct tep_handle;

/**
 * struct event - one event of a recording
 * @name: as the user wrote it
 * @attr: type, config and what modifiers ask for
 * @tp: its format if it is a tracepoint, else NULL
 * @tp_system: of the tracepoint
 * @tp_name: of the tracepoint
 */
struct event {
	char *name;
	struct perf_event_attr attr;
	struct tep_event *tp;
	char *tp_system;
	char *tp_name;
};

struct events {
	struct event *all;
	size_t n;
	struct tep_handle *tep;
};

/* Adds the events of a list separated by commas. Return: enum ctl_status; an
 * error has been said. */
int events_add(struct events *events, const char *list);
void events_free(struct events *events);

#endif
