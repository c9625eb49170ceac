/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data file: the only place that knows how its bytes lie.
 *
 * header, ids of each event, attributes of each event, feature sections, data
 * (records as they came from the kernel, and ours), a table of the sections,
 * more sections. Behind the table, where perf does not look, stand lockheld's
 * notes.
 */
#ifndef LOCKHELD_CTL_PERFDATA_H
#define LOCKHELD_CTL_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/perf_event.h>

/* Feature sections, by their bit in the header. */
enum pd_feature {
	PD_TRACING_DATA	= 1,
	PD_BUILD_ID	= 2,
	PD_HOSTNAME	= 3,
	PD_OSRELEASE	= 4,
	PD_VERSION	= 5,
	PD_ARCH		= 6,
	PD_NRCPUS	= 7,
	PD_CMDLINE	= 11,
	PD_EVENT_DESC	= 12,
	PD_SAMPLE_TIME	= 21,
	PD_NR_FEATURES	= 256,
};

/* Records that come from the recorder and not from the kernel. */
enum pd_record {
	PD_RECORD_UNUSED	= 65,	/* readers skip it */
	PD_RECORD_FINISHED_ROUND = 68,
	PD_RECORD_AUXTRACE	= 71,
	PD_RECORD_COMPRESSED	= 81,
};

#define PD_RECORD_MAX	65528	/* bytes */
#define PD_BUILD_ID_LEN 20

struct pd_event {
	struct perf_event_attr attr;
	char *name;		/* NULL: the file does not say */
	uint64_t *ids;
	size_t nr_ids;
};

/* A build-id as the file keeps it for a program, library, kernel or module. */
struct pd_build_id {
	uint16_t misc;		/* PERF_RECORD_MISC_KERNEL or _USER */
	unsigned char id[PD_BUILD_ID_LEN];
	size_t len;
	char *path;
};

/*
 * Writing. All functions that return int return 0 or -errno. The file is
 * readable after each pd_seal(), whatever happens to the program later.
 */
struct pd_writer;

int pd_create(struct pd_writer **out, const char *path,
	      const struct pd_event *events, size_t nr_events);
/* Appends to the data. A failed write leaves no part of @buf in the data, and
 * room for pd_seal(). */
int pd_write(struct pd_writer *w, const void *buf, size_t len);
/* Takes @buf (from the heap) as the content of a feature from now on. */
void pd_set_feature(struct pd_writer *w, enum pd_feature feature, void *buf,
		    size_t len);
void pd_set_string(struct pd_writer *w, enum pd_feature feature,
		   const char *text);
void pd_set_cmdline(struct pd_writer *w, const char *program, int argc,
		    char **argv);
void pd_set_event_desc(struct pd_writer *w, const struct pd_event *events,
		       size_t nr_events);
void pd_set_build_ids(struct pd_writer *w, const struct pd_build_id *ids,
		      size_t n);
void pd_set_notes(struct pd_writer *w, const char *text, size_t len);
/* Makes the data written so far, the features and the notes a whole file. */
int pd_seal(struct pd_writer *w);
/* Bytes of it that are sealed. */
uint64_t pd_data_size(const struct pd_writer *w);
/* Closes the file as it was last sealed; what came later is cut off. */
int pd_close(struct pd_writer *w);
/* Closes and removes it. */
void pd_abandon(struct pd_writer *w);

/*
 * Reading. What a file says is never believed before it is checked; every
 * failure has a message that names the file.
 */
struct pd_reader {
	char *path;
	int fd;
	uint64_t file_size;
	struct pd_event *events;
	size_t nr_events;
	uint64_t data_offset;
	uint64_t data_size;
	char *hostname, *osrelease, *version, *arch, *cmdline;
	struct pd_build_id *build_ids;
	size_t nr_build_ids;
	char *notes;		/* NULL: written by something else */
	size_t notes_len;
	bool unfinished;	/* the recorder did not get to close it */

	/* private */
	struct pd_id { uint64_t id; size_t event; } *ids;
	size_t nr_ids;
	unsigned char *buf;
	size_t buf_len, buf_at;
	uint64_t pos;		/* in the file, of buf[buf_len] */
	char *error;
};

/* Return: 0, or -1 and a message in @r->error. Always pd_reader_close(). */
int pd_reader_open(struct pd_reader *r, const char *path);
void pd_reader_close(struct pd_reader *r);
void pd_rewind(struct pd_reader *r);
/*
 * The next record, valid until the next call. @offset: where it is in the
 * file. Return: 1, 0 at the end, -1 and a message in @r->error.
 */
int pd_next(struct pd_reader *r, const struct perf_event_header **record,
	    uint64_t *offset);
/* Which event a record belongs to; SIZE_MAX: none of those in the file. */
size_t pd_event_of(const struct pd_reader *r,
		   const struct perf_event_header *record);

#endif
