/* SPDX-License-Identifier: GPL-2.0-only */
/* What all verbs share: exit statuses, the way errors are said, allocation. */
#ifndef LOCKHELD_CTL_H
#define LOCKHELD_CTL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses; functions that can fail for the user's sake return them too. */
enum ctl_status {
	CTL_DONE = 0,
	CTL_FAILED = 1,
	CTL_IMPOSSIBLE = 2,	/* not on this kernel, or not with these rights */
	CTL_USAGE = 64,
};

/* Prints "lockheld-ctl: MESSAGE" as one line to stderr and returns @status. */
int ctl_error(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for what does not end the verb: "lockheld-ctl: warning: MESSAGE". */
void ctl_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says what getopt_long() disliked when it returned @opt, '?' or ':'; for verbs
 * that set opterr = 0 and begin their option string with ':'. CTL_USAGE. */
int ctl_bad_option(int opt, char **argv);

/* Allocation that ends the program with one line when memory is out. */
void *ctl_realloc(void *p, size_t n, size_t size);
void *ctl_zalloc(size_t size);
char *ctl_strdup(const char *s);
char *ctl_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *ctl_vprintf(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* @s with its control bytes made blanks, for text that comes from elsewhere. */
char *ctl_one_line(char *s);

/* A whole decimal, octal or hex number in [0, max]; false if @s is not one. */
bool ctl_number(const char *s, unsigned long long max,
		unsigned long long *value);

int cmd_check(int argc, char **argv);
int cmd_add_filter(int argc, char **argv);
int cmd_del_filter(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_export(int argc, char **argv);

#endif
