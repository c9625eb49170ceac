// SPDX-License-Identifier: GPL-2.0-only
/* Saying errors, and allocation that does not fail. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

char *ctl_one_line(char *s)
{
	char *c;

	for (c = s; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return s;
}

static void say(const char *prefix, const char *fmt, va_list ap)
{
	char *message = ctl_one_line(ctl_vprintf(fmt, ap));

	/* What the verb has printed so far belongs before this. */
	fflush(stdout);
	fprintf(stderr, "lockheld-ctl: %s%s\n", prefix, message);
	free(message);
}

int ctl_error(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
	return status;
}

void ctl_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

int ctl_bad_option(int opt, char **argv)
{
	const char *what = opt == ':' ? "a value is missing after" :
					"unknown option";

	/* A short option may stand in the middle of an argument. */
	if (optopt > 0 && optopt < 128 && isgraph(optopt))
		return ctl_error(CTL_USAGE,
				 "%s: %s '-%c' (see lockheld-ctl %s --help)",
				 argv[0], what, optopt, argv[0]);
	return ctl_error(CTL_USAGE, "%s: %s '%s' (see lockheld-ctl %s --help)",
			 argv[0], what, argv[optind - 1], argv[0]);
}

static void *checked(void *p)
{
	if (p)
		return p;
	/* ctl_error() would need some. */
	fputs("lockheld-ctl: out of memory\n", stderr);
	exit(CTL_FAILED);
}

void *ctl_realloc(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return checked(NULL);
	size *= n;
	return checked(realloc(p, size ? size : 1));
}

void *ctl_zalloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

char *ctl_strdup(const char *s)
{
	return checked(strdup(s));
}

char *ctl_vprintf(const char *fmt, va_list ap)
{
	char *s;

	return vasprintf(&s, fmt, ap) < 0 ? checked(NULL) : s;
}

char *ctl_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = ctl_vprintf(fmt, ap);
	va_end(ap);
	return s;
}

bool ctl_number(const char *s, unsigned long long max,
		unsigned long long *value)
{
	unsigned long long v;
	char *end;

	/* strtoull() would take blanks and signs. */
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || *end || v > max)
		return false;
	*value = v;
	return true;
}
