/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What crosses the files of the command symres. */
#ifndef SYMRES_CMD_H
#define SYMRES_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "symres.h"

enum status { DONE = 0, FAILED = 1, NOT_HERE = 2, USAGE = 64 };

/* How an answer is written. */
struct format {
	bool offset;		/* NAME+0xOFFSET, not NAME alone */
	bool json;
};

void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool is_hex(const char *s, size_t len);
bool parse_hex(const char *s, size_t len, uint64_t *v);
bool parse_address(const char *s, uint64_t *addr);

void print_name(const struct format *format, const char *name, uint64_t offset);

/* output.c; @ret: what the look-up returned; @path: NULL if none was asked. */
void print_answer(const struct format *format, const char *path, uint64_t addr,
		  int ret, const struct symres_sym *sym);

/* batch.c */
enum status lookup_batch(struct symres *s, const struct format *format);

#endif
