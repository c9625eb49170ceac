/* SPDX-License-Identifier: GPL-2.0-only */
/* What is in one record: a sample's fields, its held locks, any record's time. */
#ifndef LOCKHELD_CTL_SAMPLE_H
#define LOCKHELD_CTL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/lockheld.h>
#include <linux/perf_event.h>

struct sample {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;		/* ns */
	uint32_t cpu;
	uint64_t period;
	uint16_t misc;		/* PERF_RECORD_MISC_* */
	const uint64_t *chain;	/* with PERF_CONTEXT_* marks; NULL: none */
	uint64_t nr_chain;
	const unsigned char *raw;
	uint32_t raw_size;
};

/* Fields the event did not ask for are 0. False: the record is damaged. */
bool sample_parse(const struct perf_event_attr *attr,
		  const struct perf_event_header *record, struct sample *s);

/*
 * The held locks at the end of the raw data, outermost first.
 * Return: how many were put in @locks; -1 if there is no lock record.
 */
int sample_locks(const struct sample *s,
		 struct lockheld_sample_lock locks[LOCKHELD_SAMPLE_LOCKS_MAX],
		 struct lockheld_sample_tail *tail);

/* When the record was made, in ns; false if it does not say. */
bool record_time(const struct perf_event_attr *attr,
		 const struct perf_event_header *record, uint64_t *time);

/* Bytes at the end of a record that is no sample, for record_time() and ids. */
size_t record_trailer(const struct perf_event_attr *attr);

/* Calls for each address of a sample: the sampled one, then its callers. */
struct chain_walk {
	const struct sample *s;
	uint64_t at;
	bool kernel;
	bool first;		/* next one is where the code was, no return address */
};

void chain_start(struct chain_walk *w, const struct sample *s);
/* @addr: inside the call instruction for callers. False: no more. */
bool chain_next(struct chain_walk *w, uint64_t *addr, bool *kernel);

#endif
