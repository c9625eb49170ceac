/* SPDX-License-Identifier: GPL-2.0-only */
/* TAP for the C tests: one line for each case, the plan at the end. */
#ifndef HOST_TAP_H
#define HOST_TAP_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_nr, tap_failed;
static bool tap_good;

/* Notes a failure in the running case and goes on. */
#define EXPECT(condition)						\
	do {								\
		if (!(condition)) {					\
			printf("# %s:%d: %s\n", __FILE__, __LINE__,	\
			       #condition);				\
			tap_good = false;				\
		}							\
	} while (0)

static inline void tap_case(const char *name, void (*run)(void))
{
	tap_good = true;
	run();
	tap_nr++;
	tap_failed += !tap_good;
	printf("%s %u - %s\n", tap_good ? "ok" : "not ok", tap_nr, name);
	fflush(stdout);
}

static inline int tap_end(void)
{
	printf("1..%u\n", tap_nr);
	return tap_failed ? 1 : 0;
}

#endif
