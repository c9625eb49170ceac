/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was mapped where, in each process at each time of a recording, as the
 * records in it tell. Samples can then be looked at in any order.
 */
#ifndef LOCKHELD_CTL_PROCMAPS_H
#define LOCKHELD_CTL_PROCMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

struct procmap {
	uint64_t start, end;
	uint64_t pgoff;		/* bytes */
	uint64_t time;		/* when it was mapped */
	uint64_t order;		/* breaks ties of time */
	uint64_t inode;		/* 0: not known */
	const unsigned char *build_id;	/* NULL: not known */
	size_t build_id_len;
	const char *path;
	bool hit;		/* for the user of this */
};

struct procmaps;

struct procmaps *procmaps_new(void);
void procmaps_free(struct procmaps *p);
/* Takes what is of interest in a record; damaged ones have nothing. */
void procmaps_add(struct procmaps *p, const struct perf_event_header *record,
		  uint64_t time, size_t trailer);
/* After the last procmaps_add(), before the first procmaps_find(). */
void procmaps_ready(struct procmaps *p);
/* NULL: nothing was mapped there then. */
struct procmap *procmaps_find(struct procmaps *p, uint32_t pid, uint64_t addr,
			      uint64_t time);
/* The kernel or the module that an address is in. */
struct procmap *procmaps_find_kernel(struct procmaps *p, uint64_t addr);
/* Calls @fn for each mapping there ever was, the kernel's (pid -1) too. */
void procmaps_each(struct procmaps *p,
		   void (*fn)(struct procmap *m, bool kernel, void *arg),
		   void *arg);

#endif
