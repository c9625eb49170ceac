/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What crosses the files of the command symres. */
#ifndef SYMRES_CMD_H
#define SYMRES_CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "symres.h"

enum status { DONE = 0, FAILED = 1, NOT_HERE = 2, USAGE = 64 };

/* How an answer is written. */
struct format {
	bool offset;		/* NAME+0xOFFSET, not NAME alone */
	bool address;		/* what was asked, before it */
	bool json;
};

/* --- cmd.c --- */

/* Options that several verbs have. */
enum { OPT_DEBUG_DIR = 256, OPT_ROOT, OPT_POLICY, OPT_CACHE, OPT_MAX_BYTES,
       OPT_NO_DEBUGINFOD, OPT_JSON, OPT_OWN };

/* Who runs a command has asked for what his environment says. */
#define SESSION_DEFAULTS { .size = sizeof(struct symres_opts), .debuginfod = 1 }

#define SESSION_OPTIONS							\
	{ "debug-dir", required_argument, NULL, OPT_DEBUG_DIR },	\
	{ "root", required_argument, NULL, OPT_ROOT },			\
	{ "policy", required_argument, NULL, OPT_POLICY },		\
	{ "cache", required_argument, NULL, OPT_CACHE },		\
	{ "max-bytes", required_argument, NULL, OPT_MAX_BYTES },	\
	{ "no-debuginfod", no_argument, NULL, OPT_NO_DEBUGINFOD },	\
	{ "demangle", no_argument, NULL, 'C' },				\
	{ "help", no_argument, NULL, 'h' },				\
	{ "version", no_argument, NULL, 'V' }

enum option_is { OTHER, TAKEN, WRONG, ANSWERED };

enum option_is session_option(int c, struct symres_opts *opts);
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int refuse(const char *fmt, const char *what);
bool is_hex(const char *s, size_t len);
bool parse_hex(const char *s, size_t len, uint64_t *v);
bool parse_address(const char *s, uint64_t *addr);
bool parse_size(const char *s, uint64_t *size);
bool first_time(void **told, const char *text);
void forget_told(void *told);
char *default_cache(void);
int open_session(struct symres **s, struct symres_opts *opts);
void close_session(struct symres *s);

/* --- output.c --- */

enum { ESCAPED = 5 };	/* a byte takes so many at most, with a NUL */

size_t escape(char c, char out[ESCAPED]);
void print_text(const char *text);
void json_string(const char *text);

/* The reason of a miss: its errno in words. */
const char *why_of(int err);

void json_left(const char *path, enum symres_left why, int err);
size_t put_name(char *to, size_t room, const struct format *format,
		const struct symres_answer *is, uint64_t addr);
void print_name(const struct format *format, const char *name, uint64_t offset);

/* @ret: what the look-up returned; @path: NULL if none was asked. */
void print_answer(const struct format *format, const char *path, uint64_t addr,
		  int ret, const struct symres_sym *sym);

void print_refused(const struct format *format, uint64_t line, const char *why);

/* --- lookup.c --- */

void tell_left(const char *module, const char *path, enum symres_left why,
	       int err);
void tell_miss(uint64_t addr, const struct symres_sym *sym);

/* --- the verbs: lookup.c, batch.c, kept.c, sortcmd.c --- */

int cmd_lookup(int argc, char **argv);
enum status lookup_batch(struct symres *s, const struct format *format,
			 bool verbose);
int cmd_index(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_sort(int argc, char **argv);

#endif
