/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that is under way. */
#ifndef LOCKHELD_CTL_RECORDING_H
#define LOCKHELD_CTL_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evopen.h"
#include "losses.h"
#include "nl.h"
#include "notes.h"
#include "recfilter.h"
#include "record.h"
#include "recorder.h"
#include "workload.h"

struct symres;

/* The user's events, and one more that brings what they lack. */
struct recording {
	const struct record_opts *o;
	int argc;
	char **argv;
	struct target target;
	struct evopen *ev;	/* nr_ev; the last is the one that tracks maps */
	size_t nr_ev;
	struct recfilter *filters;	/* one for each of the user's events */
	struct lhnl *nl;	/* NULL: the module has no part in it */
	struct losses losses;
	struct ringset rings;
	struct workload work;
	struct recorder recorder;
	struct symres *symres;
	char *tracing;
	size_t tracing_len;
};

/* Writes all that is known before there are samples. Return: enum ctl_status. */
int record_create_file(struct recording *r);
/*
 * Makes the file whole, then adds names to it as far as there is room.
 * @cut: not all of the recording is in it. Return: 0 or -errno.
 */
int record_finish_file(struct recording *r, struct notes *notes, bool cut);
/* Says so. @error: -errno. @kept: samples in the file that stays; 0: none does.
 * Return: CTL_FAILED. */
int record_write_failed(const struct recording *r, int error, uint64_t kept);

#endif
