// SPDX-License-Identifier: GPL-2.0-only
/* Results of the tests written in C, and perf events for them; see tap.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

static unsigned int tests, failed;

bool tap(bool good, const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	if (!good) {
		failed++;
		if (fmt) {
			printf("# ");
			va_start(ap, fmt);
			vprintf(fmt, ap);
			va_end(ap);
			printf("\n");
		}
	}
	fflush(stdout);
	return good;
}

bool tap_errno(int err, int wanted, const char *text, const char *name)
{
	if (err != wanted)
		return tap(false, name, "the answer is %d (%s), should be %d: %s",
			   err, strerror(-err), wanted, text);
	if (err && !*text)
		return tap(false, name, "the refusal says no word");
	return tap(true, name, NULL);
}

int tap_end(void)
{
	printf("1..%u\n", tests);
	return failed ? 1 : 0;
}

void tap_abort(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

uint64_t tap_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	/* xorshift: what it finds once, it finds again */
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int event_open(uint32_t type, uint64_t config, uint64_t period, pid_t pid,
	       int cpu, bool inherit)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_RAW,
		.inherit = inherit,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		tap_abort("cannot open a perf event: %s", strerror(errno));
	return fd;
}

uint64_t event_id(const char *tracepoint)
{
	unsigned long long id;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id",
		 tracepoint);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &id) != 1)
		tap_abort("cannot read %s", path);
	fclose(f);
	return id;
}

uint64_t event_count(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		tap_abort("cannot read a perf event: %s", strerror(errno));
	return count;
}

void *event_buffer(int fd, unsigned int order)
{
	size_t size = sysconf(_SC_PAGESIZE) * (1 + (1UL << order));
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

unsigned int event_samples(void *buffer, unsigned int order)
{
	struct perf_event_mmap_page *page = buffer;
	unsigned char *data = (unsigned char *)buffer + sysconf(_SC_PAGESIZE);
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE) << order;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	struct perf_event_header header;
	unsigned int n = 0;

	while (tail < head) {
		/* Records are aligned to 8, so a header does not wrap. */
		memcpy(&header, data + tail % size, sizeof(header));
		n += header.type == PERF_RECORD_SAMPLE;
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return n;
}
