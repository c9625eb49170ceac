/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes that lockheld leaves at the end of a perf.data file, as lines of text:
 * what perf's format has no place for, and names that can be found out only
 * while the kernel that was recorded runs.
 */
#ifndef LOCKHELD_CTL_NOTES_H
#define LOCKHELD_CTL_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct note_filter {
	uint32_t id;		/* as in the samples; 0: kernel's filter only */
	size_t event;		/* index in the file */
	uint64_t evaluated, passed, dropped, uncertain;
	bool deleted;		/* at some moment; counts are not known then */
	char *text;
};

/* A kernel address that occurs in the recording. */
struct note_symbol {
	uint64_t addr;
	uint64_t offset;	/* from the symbol's first byte */
	char *name;
	char *module;		/* "[kernel]", "[ext4]" */
};

/* A lock without a symbol, and the slab cache of the object it is in. */
struct note_slab {
	uint64_t addr;
	char *name;
};

struct notes {
	bool complete;		/* the recorder got to its end */
	uint64_t samples, lost;
	uint64_t own;		/* samples of the recorder itself, left out */
	struct note_filter *filters;
	size_t nr_filters;
	struct note_symbol *symbols;	/* by address, once parsed */
	size_t nr_symbols;
	struct note_slab *slabs;	/* likewise */
	size_t nr_slabs;
};

/* All strings are copied. */
void notes_add_filter(struct notes *n, const struct note_filter *f);
void notes_add_symbol(struct notes *n, uint64_t addr, uint64_t offset,
		      const char *name, const char *module);
void notes_add_slab(struct notes *n, uint64_t addr, const char *name);
/* From the heap; @len without the NUL. */
char *notes_text(const struct notes *n, size_t *len);
/* Lines that are damaged or not known are left out. */
void notes_parse(struct notes *n, const char *text, size_t len);
const struct note_symbol *notes_symbol(const struct notes *n, uint64_t addr);
const struct note_slab *notes_slab(const struct notes *n, uint64_t addr);
void notes_free(struct notes *n);

#endif
