// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terms that say which page an address is in, and the id of an event: of
 * pages whose size and place in memory are known beforehand.
 *
 * A breakpoint gives a sample for each access to an address, which is then the
 * sample's data address and is mapped; a page fault gives one whose page is not
 * mapped yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nl.h"
#include "tap.h"

#define ORDER	3	/* of the events' buffers, in pages */
#define TIMES	10	/* that an address is written to */
#define HUGE	(2UL << 20)

static struct nl nl;
static unsigned long page;

static int breakpoint_open(volatile void *at)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)at,
		.bp_len = HW_BREAKPOINT_LEN_4,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		tap_abort("cannot open a breakpoint: %s", strerror(errno));
	return fd;
}

static uint32_t filter(int fd, const struct lockheld_insn *insns, size_t n)
{
	uint32_t id;
	int err = nl_filter_add(&nl, insns, n, 0, &id);

	if (!err)
		err = nl_filter_attach(&nl, id, fd);
	if (err)
		tap_abort("cannot filter an event: %s: %s", strerror(-err),
			  nl.text);
	return id;
}

/* Samples of what happened until now; the event is gone then. */
static unsigned int finish(int fd, uint32_t id, void *buffer)
{
	unsigned int samples;

	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	samples = event_samples(buffer, ORDER);
	munmap(buffer, page * (1 + (1 << ORDER)));
	/* The filter would keep it, and there are few breakpoints. */
	nl_filter_del(&nl, id);
	close(fd);
	return samples;
}

/* Samples of writes to @at for which "term == value". */
static unsigned int writes_with(volatile int *at, enum lockheld_term term,
				uint64_t value)
{
	const struct lockheld_insn insns[] = {
		NL_TERM(term), NL_IMM(value), NL_OP(LOCKHELD_OP_EQ),
	};
	int i, fd = breakpoint_open(at);
	void *buffer = event_buffer(fd, ORDER);
	uint32_t id;

	if (!buffer)
		tap_abort("no buffer: %s", strerror(errno));
	id = filter(fd, insns, 3);
	for (i = 0; i < TIMES; i++)
		*at = i;
	return finish(fd, id, buffer);
}

/* For all writes "term == value" is true, "term == other" for none. */
static void check(volatile int *at, enum lockheld_term term, uint64_t value,
		  uint64_t other, const char *what, const char *which)
{
	unsigned int with = writes_with(at, term, value);
	unsigned int without = writes_with(at, term, other);
	char name[80];

	snprintf(name, sizeof(name), "%s of %s", what, which);
	tap(with == TIMES && !without, name,
	    "%u of %d samples with %#llx, %u with %#llx", with, TIMES,
	    (unsigned long long)value, without, (unsigned long long)other);
}

/* Where the kernel says that an address is in memory. */
static uint64_t where_is(volatile void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0 ||
	    pread(fd, &entry, sizeof(entry), (unsigned long)at / page * 8) !=
	    sizeof(entry) || !(entry >> 63))
		tap_abort("cannot read /proc/self/pagemap");
	close(fd);
	return (entry & ((1ULL << 55) - 1)) * page + (unsigned long)at % page;
}

static void check_pages(volatile char *base, unsigned long size,
			const char *which)
{
	/* Not where the page begins, or its size would not matter. */
	volatile int *at = (volatile int *)(base + size - page + 0x234);
	uint64_t phys;

	*at = 1;
	phys = where_is(at);
	check(at, LOCKHELD_TERM_DATA_PGSZ, size, size == page ? HUGE : page,
	      "size", which);
	check(at, LOCKHELD_TERM_PHYS_ADDR, phys, phys + page,
	      "place in memory", which);
	check(at, LOCKHELD_TERM_ADDR, (unsigned long)at,
	      (unsigned long)at + 4, "address", which);
}

static void ordinary_page(void)
{
	char *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		tap_abort("no memory");
	check_pages(p, page, "an ordinary page");
	check((int *)p, LOCKHELD_TERM_CODE_PGSZ, page, HUGE, "size",
	      "the code's page");
	munmap(p, page);
}

static void huge_page(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	char *p;

	if (!f && errno == ENOENT) {
		tap(true, "a huge page # SKIP this kernel has none", NULL);
		return;
	}
	if (!f || fputs("2\n", f) < 0 || fclose(f))
		tap_abort("no huge pages: %s", strerror(errno));
	p = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED)
		tap_abort("no huge page: %s", strerror(errno));
	check_pages(p, HUGE, "a huge page");
	munmap(p, HUGE);
	f = fopen("/proc/sys/vm/nr_hugepages", "w");
	if (f) {
		fputs("0\n", f);
		fclose(f);
	}
}

/* Page faults of writes to TIMES pages from @p on for which "term == value". */
static unsigned int faults_with(volatile char *p, enum lockheld_term term,
				uint64_t value)
{
	const struct lockheld_insn insns[] = {
		NL_TERM(LOCKHELD_TERM_ADDR), NL_IMM((unsigned long)p),
		NL_OP(LOCKHELD_OP_GE),
		NL_TERM(LOCKHELD_TERM_ADDR),
		NL_IMM((unsigned long)p + TIMES * page),
		NL_OP(LOCKHELD_OP_LT), NL_OP(LOCKHELD_OP_LAND),
		NL_TERM(term), NL_IMM(value), NL_OP(LOCKHELD_OP_EQ),
		NL_OP(LOCKHELD_OP_LAND),
	};
	int i, fd = event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
			       1, 0, -1, false);
	void *buffer = event_buffer(fd, ORDER);
	uint32_t id;

	if (!buffer)
		tap_abort("no buffer: %s", strerror(errno));
	id = filter(fd, insns, sizeof(insns) / sizeof(insns[0]));
	for (i = 0; i < TIMES; i++)
		p[i * page] = 1;
	return finish(fd, id, buffer);
}

/* Forgets what was written, so that it can be written to anew. */
static void forget(char *p)
{
	madvise(p, TIMES * page, MADV_DONTNEED);
	madvise(p, TIMES * page, MADV_NOHUGEPAGE);
}

/* Reading first maps the page of zeroes, which a write then has to replace. */
static void read_first(char *p)
{
	int i;

	forget(p);
	for (i = 0; i < TIMES; i++)
		*(volatile char *)(p + i * page);
}

static void faults(void)
{
	char *p = mmap(NULL, TIMES * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t zeroes;

	if (p == MAP_FAILED)
		tap_abort("no memory");
	forget(p);
	tap(faults_with(p, LOCKHELD_TERM_DATA_PGSZ, 0) == TIMES,
	    "a page that is not mapped yet has no size", NULL);
	forget(p);
	tap(faults_with(p, LOCKHELD_TERM_PHYS_ADDR, 0) == TIMES,
	    "nor a place in memory", NULL);
	read_first(p);
	tap(faults_with(p, LOCKHELD_TERM_DATA_PGSZ, page) == TIMES,
	    "a fault on a page that is mapped for reading knows it", NULL);
	read_first(p);
	zeroes = where_is(p);
	tap(faults_with(p, LOCKHELD_TERM_PHYS_ADDR, zeroes) == TIMES,
	    "it is the page of zeroes", NULL);
	munmap(p, TIMES * page);
}

static unsigned int faults_with_id(char *p, uint64_t difference)
{
	struct lockheld_insn insns[] = {
		NL_TERM(LOCKHELD_TERM_ID), NL_IMM(0), NL_OP(LOCKHELD_OP_EQ),
	};
	int i, fd = event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
			       1, 0, -1, false);
	void *buffer = event_buffer(fd, ORDER);
	uint64_t id;
	uint32_t f;

	if (!buffer || ioctl(fd, PERF_EVENT_IOC_ID, &id))
		tap_abort("an event without a buffer or an id");
	insns[1].imm = id + difference;
	f = filter(fd, insns, 3);
	forget(p);
	for (i = 0; i < TIMES; i++)
		((volatile char *)p)[i * page] = 1;
	return finish(fd, f, buffer);
}

static void ids(void)
{
	char *p = mmap(NULL, TIMES * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int own, other;

	if (p == MAP_FAILED)
		tap_abort("no memory");
	own = faults_with_id(p, 0);
	other = faults_with_id(p, 1);
	tap(own >= TIMES && !other, "the id of an event",
	    "%u samples with it, %u with another one", own, other);
	munmap(p, TIMES * page);
}

int main(void)
{
	page = sysconf(_SC_PAGESIZE);
	printf("TAP version 13\n");
	nl_open(&nl);
	ordinary_page();
	huge_page();
	faults();
	ids();
	nl_close(&nl);
	return tap_end();
}
