/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of the tests written in C, and perf events for them. */
#ifndef TAP_H
#define TAP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* "ok N - name", or "not ok" with what fmt says, which may be NULL. */
bool tap(bool good, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* An error number must be the one wanted; text is what the kernel said. */
bool tap_errno(int err, int wanted, const char *text, const char *name);

/* The plan, and the exit status. */
int tap_end(void);

/* As tap_end(), for a test that cannot go on. */
void tap_abort(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Numbers that are the same each time. */
uint64_t tap_random(void);

/*
 * An event of the type that samples every period-th time; period 0 only
 * counts. Ends the test if it cannot be opened.
 */
int event_open(uint32_t type, uint64_t config, uint64_t period, pid_t pid,
	       int cpu, bool inherit);

/* Id of a tracepoint, "holdmod/tick". */
uint64_t event_id(const char *tracepoint);

/* What the event has counted. */
uint64_t event_count(int fd);

/* Gives the event a buffer of 2^order pages; NULL if it cannot have one. */
void *event_buffer(int fd, unsigned int order);

/* Samples in the buffer that have not been read, which are then gone. */
unsigned int event_samples(void *buffer, unsigned int order);

#endif /* TAP_H */
