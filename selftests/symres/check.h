/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests in C: each prints "ok NAME" or "not ok NAME: FILE:LINE". */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int bad_line;

#define CHECK(cond)						\
	do {							\
		if (!(cond) && !bad_line)			\
			bad_line = __LINE__;			\
	} while (0)

static void report_of(const char *file, const char *name)
{
	if (bad_line)
		printf("not ok %s: %s:%d\n", name, file, bad_line);
	else
		printf("ok %s\n", name);
	bad_line = 0;
}

#endif
