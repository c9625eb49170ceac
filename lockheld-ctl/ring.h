/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory through which the kernel hands over records, one for each CPU. */
#ifndef LOCKHELD_CTL_RING_H
#define LOCKHELD_CTL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

struct ring {
	int fd;			/* of the event that owns it */
	int cpu;
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	size_t size;		/* bytes for records, a power of two */
	uint64_t at;		/* what has been read */
	uint64_t end;		/* what there was when the round began */
	unsigned char copy[65536];	/* a record that wraps */
};

/* Return: 0 or -errno. */
int ring_map(struct ring *r, int fd, int cpu, size_t pages);
void ring_unmap(struct ring *r);
/* Begins a round: what comes later belongs to the next one. */
void ring_begin(struct ring *r);
/* The next record of the round; NULL at its end. */
const struct perf_event_header *ring_next(struct ring *r);
/* Gives the round's room back to the kernel. */
void ring_done(struct ring *r);

#endif
