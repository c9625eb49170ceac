/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures of the perf.data file that its reader and its writer share. */
#ifndef LOCKHELD_CTL_PERFDATA_FORMAT_H
#define LOCKHELD_CTL_PERFDATA_FORMAT_H

#include <stdint.h>
#include <sys/types.h>
#include <linux/perf_event.h>

#define PD_MAGIC	"PERFILE2"
#define PD_MAGIC_SWAPPED "2ELIFREP"
#define PD_NOTES_MAGIC	"LHNOTES1"
#define PD_BUF_SIZE	(1u << 20)	/* more than any record, 65,535 bytes */
#define PD_STRING_ALIGN	64	/* strings are padded to a multiple of it */

struct pd_section {
	uint64_t offset;
	uint64_t size;
};

struct pd_file_header {
	char magic[8];
	uint64_t size;		/* of this header; a stream's is shorter */
	uint64_t attr_size;	/* of an attribute with the section of its ids */
	struct pd_section attrs;
	struct pd_section data;
	struct pd_section unused;
	uint64_t features[4];	/* bitmap */
};

/* Each entry of the build-id section; the path follows. */
struct pd_build_id_entry {
	struct perf_event_header header;
	int32_t pid;
	unsigned char id[20];
	uint8_t len;		/* if PD_MISC_BUILD_ID_SIZE is in header.misc */
	uint8_t pad[3];
};
#define PD_MISC_BUILD_ID_SIZE	(1u << 15)

/* Stands behind the table of features of a file with notes, then their text. */
struct pd_notes_head {
	char magic[8];
	uint64_t size;
};

struct pd_reader;

/* Both set the reader's message and return -1. */
int pd_fail(struct pd_reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int pd_damaged(struct pd_reader *r, const char *what);
/* Return: bytes read, fewer than @len at the end of the file; -1 on errors. */
ssize_t pd_read_at(struct pd_reader *r, void *buf, size_t len, uint64_t offset);
int pd_compare_ids(const void *a, const void *b);

#endif
