// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is split off for the kernel's tracepoint filter means to the kernel what
 * it meant in the expression: system calls are counted that pass it. Needs
 * tracefs and the right to open tracepoints.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include <event-parse.h>
#include <tracefs.h>

#include "ctl.h"
#include "expr.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Each is made a different number of times: the sum tells which ones passed. */
static const long calls[] = {
	SYS_getpid, SYS_getppid, SYS_getuid, SYS_getgid, SYS_gettid,
};

#define CASE(name, condition)						\
	static bool name(long id) { return condition; }

CASE(equal, id == SYS_getpid)
CASE(unequal, id != SYS_getpid)
CASE(less, id < SYS_getppid)
CASE(at_least, id >= SYS_getppid)
CASE(any_bit, id & 0x41)
CASE(bits, (id & 0x47) == 0x42)
CASE(other_bits, (id & 0x47) != 0x42)
CASE(no_bit, (id & 0x41) == 0)
CASE(never, id == -1)
CASE(always, id != -1)
CASE(either, id == SYS_getpid || id == SYS_gettid)
CASE(nested, !(id == SYS_getpid || (id > SYS_getuid && id < SYS_gettid)))
CASE(both, id > SYS_getpid && id != SYS_gettid)

static const struct {
	const char *text;
	bool (*passes)(long id);
} cases[] = {
	{ "id == %getpid", equal },
	{ "%getpid == id", equal },
	{ "id != %getpid", unequal },
	{ "!id == %getpid", unequal },
	{ "id < %getppid", less },
	{ "!(id < %getppid)", at_least },
	{ "id & 0x41", any_bit },
	{ "(id & 0x41) != 0", any_bit },
	{ "id & 0x47 == 0x42", bits },
	{ "!(id & 0x47 == 0x42)", other_bits },
	{ "id & 0x47 != 0x42", other_bits },
	{ "id & 0x41 == 0", no_bit },
	{ "id & 0x41 == 2", never },
	{ "id & 0 == 0", always },
	{ "id & 0x41 != 2", always },
	{ "id == -1", never },
	{ "id > -1", always },
	{ "id", always },
	{ "id == %getpid || id == %gettid", either },
	{ "(id == %getpid) == 1 || id == %gettid", either },
	{ "!(id == %getpid || (id > %getuid && id < %gettid))", nested },
	{ "id > %getpid, id != %gettid", both },
	{ "!(lock_held(mutex) || id <= %getpid || id == %gettid)", both },
	{ "common_pid >= 0 && id == %getpid && sample.pid == 1", equal },
};

/* "%name" becomes the number of that system call. */
static char *fill_in(const char *text)
{
	static const struct {
		const char *name;
		long id;
	} names[] = {
		{ "%getpid", SYS_getpid }, { "%getppid", SYS_getppid },
		{ "%getuid", SYS_getuid }, { "%gettid", SYS_gettid },
	};
	char *filled = ctl_strdup(text);
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		size_t len = strlen(names[i].name);
		char *at, *next;

		while ((at = strstr(filled, names[i].name))) {
			*at = 0;
			next = ctl_printf("%s%ld%s", filled, names[i].id,
					  at + len);
			free(filled);
			filled = next;
		}
	}
	return filled;
}

static int open_event(const struct tep_event *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event->id,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static uint64_t measure(int fd)
{
	uint64_t count = ~0ULL;
	size_t i;
	int n;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i < COUNT(calls); i++)
		for (n = 0; n < 1 << i; n++)
			syscall(calls[i]);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return ~0ULL;
	return count;
}

/* The calls that switch the event off and on again count as well. */
static bool run_case(struct tep_event *event, const char *text,
		     bool (*passes)(long id))
{
	struct expr_opts opts = { .event = event };
	struct expr_result res;
	uint64_t want, got = 0;
	bool ok = false;
	size_t i;
	int fd;

	want = passes(SYS_ioctl);
	for (i = 0; i < COUNT(calls); i++)
		want += passes(calls[i]) ? 1 << i : 0;
	if (expr_compile(text, &opts, &res)) {
		printf("# %s\n", res.error);
	} else {
		fd = open_event(event);
		if (fd < 0 || !res.tp_filter ||
		    ioctl(fd, PERF_EVENT_IOC_SET_FILTER, res.tp_filter)) {
			printf("# '%s': %s\n", res.tp_filter ? res.tp_filter :
			       "(none)", strerror(errno));
		} else {
			got = measure(fd);
			ok = got == want;
			if (!ok)
				printf("# '%s': %llu calls passed, not %llu\n",
				       res.tp_filter, (unsigned long long)got,
				       (unsigned long long)want);
		}
		close(fd);
	}
	expr_result_free(&res);
	return ok;
}

int main(void)
{
	static const char *const systems[] = { "raw_syscalls", NULL };
	struct tep_handle *tep = tracefs_local_events_system(NULL, systems);
	struct tep_event *event = tep ? tep_find_event_by_name(tep,
						"raw_syscalls", "sys_enter") :
					NULL;
	int failed = 0;
	size_t i;
	int fd;

	puts("TAP version 13");
	fd = event ? open_event(event) : -1;
	if (fd < 0) {
		puts("1..0 # SKIP no tracepoints here");
		tep_free(tep);
		return 4;
	}
	close(fd);
	printf("1..%zu\n", COUNT(cases));
	for (i = 0; i < COUNT(cases); i++) {
		char *text = fill_in(cases[i].text);
		bool ok = run_case(event, text, cases[i].passes);

		printf("%sok %zu - kernel filter for %s\n", ok ? "" : "not ",
		       i + 1, text);
		failed += !ok;
		free(text);
	}
	tep_free(tep);
	return failed ? 1 : 0;
}
