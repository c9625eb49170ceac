// SPDX-License-Identifier: GPL-2.0-only
/*
 * events [FILE]: opens two perf events of its own process that never happen by
 * themselves, one with raw data, writes their descriptors' numbers to FILE, says
 * "ready", and waits for a signal. So there is something that a filter can be
 * attached to.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER_PAGES	64

static void die(const char *what)
{
	fprintf(stderr, "events: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_event(int raw)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_EMULATION_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       (raw ? PERF_SAMPLE_RAW : 0),
		/* Nobody reads, so nobody need be woken. */
		.watermark = 1,
		.wakeup_watermark = 1U << 31,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		die("perf_event_open");
	/* Without PROT_WRITE old samples are overwritten by new ones. */
	if (mmap(NULL, (BUFFER_PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ,
		 MAP_SHARED, fd, 0) == MAP_FAILED)
		die("mmap");
	return fd;
}

static void tell(const char *path, int event)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || dprintf(fd, "%d\n", event) < 0 || close(fd))
		die(path);
}

int main(int argc, char **argv)
{
	int raw, event;

	if (argc > 2) {
		fprintf(stderr, "usage: events [FILE]\n");
		return 64;
	}
	for (raw = 0; raw < 2; raw++) {
		event = open_event(raw);
		if (argc == 2)
			tell(argv[1], event);
	}
	if (puts("ready") == EOF || fflush(stdout))
		die("standard output");
	pause();
	return 0;
}
