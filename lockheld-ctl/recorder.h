/* SPDX-License-Identifier: GPL-2.0-only */
/* From the rings into the file, while the recording runs. */
#ifndef LOCKHELD_CTL_RECORDER_H
#define LOCKHELD_CTL_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "evopen.h"
#include "perfdata.h"
#include "workload.h"

/* What every event of a recording asks for: what is found by its place. */
#define RECORDER_SAMPLE_TYPE						\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

struct recorder {
	struct pd_writer *file;
	const char *path;
	struct ringset *rings;
	struct workload *work;
	int watched;		/* pidfd of the process of -p; -1: none */
	int notices;		/* calls on_notice when it can be read; -1: none */
	void (*on_notice)(void *arg);
	void *arg;
	bool system_wide;
	uint64_t samples;
	uint64_t own;		/* samples of this program, left out */
	uint64_t lost;		/* records that the kernel found no room for */
	uint64_t first, last;	/* times of samples, ns */

	/* private */
	uint64_t exec_time;
	bool exec_seen;
	unsigned char *held;
	size_t held_len;
	unsigned char *out;
	size_t out_len;
	bool unsealed;
	int error;
};

/* Appends a record of ours. Return: 0 or -errno. */
int recorder_put(const struct perf_event_header *record, void *arg);
/* The signals that recorder_run() waits for; the caller has to block them. */
void recorder_signals(sigset_t *set);
/*
 * Records until the command or the watched process has ended or a signal says so.
 * Return: 0, or -errno of the write that failed.
 */
int recorder_run(struct recorder *r);
/* What is left in the rings, after the events were stopped. Return as above. */
int recorder_finish(struct recorder *r);
void recorder_free(struct recorder *r);

#endif
