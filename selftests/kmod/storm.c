// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm [CYCLES [HOOKS]]: attaches and detaches filters, CYCLES times (default
 * 1000), and places and removes all hooks, HOOKS times (default 20), while
 * tasks take locks, fault pages in, fork and exit under inherited events.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nl.h"
#include "tap.h"

#define LOCKERS		4
#define FORKERS		2
#define PAGES		8

static struct nl nl;
static pid_t load[LOCKERS + FORKERS];
static unsigned int nr_load;
static uint64_t mutex_address;
static unsigned long errors;

static void touch_pages(void)
{
	size_t page = sysconf(_SC_PAGESIZE), i;
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	for (i = 0; i < PAGES; i++)
		p[i * page] = 1;
	munmap(p, PAGES * page);
}

static void locker(unsigned int i)
{
	static const char * const scripts[LOCKERS] = {
		"repeat 1000000000; take mutex_lock mutex; busy 20;"
		"take spin_lock spinlock; drop spinlock; drop mutex;"
		"take mutex_trylock obj0.mutex; drop obj0.mutex; end",
		"repeat 1000000000; take down_write rwsem; busy 10;"
		"downgrade rwsem; drop rwsem; take read_lock rwlock;"
		"drop rwlock; end",
		"repeat 1000000000; take down_read rwsem; take mutex_lock"
		" obj1.mutex; sleep 50; drop rwsem; drop obj1.mutex;"
		"take write_lock_bh rwlock; busy 5; drop rwlock; end",
		"repeat 1000000000; take mutex_lock mutex; hard; take"
		" raw_spin_lock hard_raw_spinlock; drop hard_raw_spinlock; end;"
		"soft; take spin_lock soft_spinlock; drop soft_spinlock; end;"
		"drop mutex; take rt_mutex_lock rt_mutex; take down semaphore;"
		"take srcu_read_lock srcu; sleep 50; drop rt_mutex; drop srcu;"
		"drop semaphore; take rcu_read_lock rcu; drop rcu; end",
	};
	int fd = open("/sys/kernel/debug/holdmod/run", O_WRONLY);

	/* Returns when the task is killed. */
	if (fd >= 0 && write(fd, scripts[i], strlen(scripts[i])) < 0)
		_exit(1);
	_exit(0);
}

static void forker(void)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			touch_pages();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void start_load(void)
{
	unsigned int i;

	for (i = 0; i < LOCKERS + FORKERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			tap_abort("cannot fork: %s", strerror(errno));
		if (!pid) {
			/* Fills the CPUs without making this wait for it. */
			if (nice(10) < 0)
				_exit(1);
			if (i < LOCKERS)
				locker(i);
			forker();
		}
		load[nr_load++] = pid;
	}
}

static void stop_load(void)
{
	unsigned int i, early = 0;

	for (i = 0; i < nr_load; i++)
		if (waitpid(load[i], NULL, WNOHANG) == load[i])
			early++;
	for (i = 0; i < nr_load; i++)
		kill(load[i], SIGKILL);
	for (i = 0; i < nr_load; i++)
		waitpid(load[i], NULL, 0);
	tap(!early, "the load has run all the time", "%u tasks have ended",
	    early);
}

static void expect_done(int err, const char *what)
{
	if (!err)
		return;
	errors++;
	if (errors < 10)
		printf("# %s: %s: %s\n", what, strerror(-err), nl.text);
}

static uint32_t add(struct nl *on, unsigned int which, uint32_t flags)
{
	static const struct lockheld_insn by_type[] = {
		NL_TYPE(LOCKHELD_FAMILY_MUTEX, 0),
		NL_TYPE(LOCKHELD_FAMILY_RWSEM, LOCKHELD_MODE_READ),
		NL_OP(LOCKHELD_OP_LOR),
	};
	static const struct lockheld_insn never[] = { NL_IMM(0) };
	struct lockheld_insn by_address[] = { NL_LOCK(mutex_address) };
	uint32_t id = 0;

	/* Which its bytes alone do not tell on every kernel. */
	by_address[0].family = LOCKHELD_FAMILY_MUTEX;

	switch (which % 3) {
	case 0:
		expect_done(nl_filter_add(on, by_type, 3, flags, &id), "add");
		break;
	case 1:
		expect_done(nl_filter_add(on, never, 1, flags, &id), "add");
		break;
	default:
		expect_done(nl_filter_add(on, by_address, 1, flags, &id),
			    "add");
	}
	return id;
}

static int event(unsigned int which)
{
	switch (which % 4) {
	case 0:	/* own page faults, and the children's */
		return event_open(PERF_TYPE_SOFTWARE,
				  PERF_COUNT_SW_PAGE_FAULTS, 1, 0, -1, true);
	case 1:	/* the time of a CPU */
		return event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
				  500000, -1, which / 4 % 2, false);
	case 2:	/* page faults of one that forks, and its children's */
		return event_open(PERF_TYPE_SOFTWARE,
				  PERF_COUNT_SW_PAGE_FAULTS, 1,
				  load[LOCKERS + which % FORKERS], -1, true);
	default: /* the time of one that takes locks */
		return event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
				  200000, load[which / 4 % LOCKERS], -1, true);
	}
}

static void child_faults(pid_t *pid)
{
	*pid = fork();
	if (!*pid) {
		touch_pages();
		_exit(0);
	}
}

static void cycle(unsigned int i)
{
	struct nl second;
	uint32_t id;
	int fd = event(i);
	pid_t pid = 0;

	switch (i % 5) {
	case 0:	/* the filter goes first */
		id = add(&nl, i / 5, 0);
		expect_done(nl_filter_attach(&nl, id, fd), "attach");
		child_faults(&pid);
		expect_done(nl_filter_del(&nl, id), "delete");
		close(fd);
		break;
	case 1:	/* the event goes first */
		id = add(&nl, i / 5, 0);
		expect_done(nl_filter_attach(&nl, id, fd), "attach");
		child_faults(&pid);
		close(fd);
		nl_filter_del(&nl, id);
		break;
	case 2:	/* the socket goes first */
		nl_open(&second);
		id = add(&second, i / 5, 0);
		expect_done(nl_filter_attach(&second, id, fd), "attach");
		child_faults(&pid);
		nl_close(&second);
		close(fd);
		break;
	case 3:	/* all goes with a process that is killed */
		pid = fork();
		if (!pid) {
			nl_open(&second);
			id = add(&second, i / 5, 0);
			nl_filter_attach(&second, id, fd);
			touch_pages();
			pause();
		}
		close(fd);
		usleep(tap_random() % 4000);
		kill(pid, SIGKILL);
		break;
	default: /* the event goes while it is busy, the filter stays */
		id = add(&nl, i / 5, LOCKHELD_FILTER_PERSIST);
		expect_done(nl_filter_attach(&nl, id, fd), "attach");
		usleep(tap_random() % 2000);
		close(fd);
		break;
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static int wait_for_filters(int wanted)
{
	struct nl_filter f[LOCKHELD_FILTERS_MAX];
	int i, n = 0;

	for (i = 0; i < 100; i++) {
		n = nl_filters(&nl, 0, f, LOCKHELD_FILTERS_MAX);
		if (n >= 0 && n <= wanted)
			return n;
		usleep(100000);
	}
	return n;
}

static void attach_and_detach(unsigned long cycles)
{
	uint32_t id = add(&nl, 0, 0);
	struct nl_filter f;
	unsigned long i;
	int fd, n;

	/* One filter stays, so that the hooks stay in place. */
	fd = event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 500000,
			-1, 0, false);
	expect_done(nl_filter_attach(&nl, id, fd), "attach");
	errors = 0;
	for (i = 0; i < cycles; i++) {
		cycle(i);
		/* What waits for its events to be gone must not pile up. */
		if (i % 100 == 99)
			wait_for_filters(8);
	}
	tap(!errors, "attach and detach", "%lu errors in %lu cycles", errors,
	    cycles);
	n = wait_for_filters(1);
	tap(n == 1, "no filter but the first is left", "there are %d", n);
	nl_filters(&nl, id, &f, 1);
	tap(f.id == id && f.passed && f.dropped,
	    "it has worked all the time", "passed %llu dropped %llu",
	    (unsigned long long)f.passed, (unsigned long long)f.dropped);
	nl_filter_del(&nl, id);
	close(fd);
}

/* The kinds of locks that can be tracked here, as one program. */
static size_t all_kinds(struct lockheld_insn *insns)
{
	static const struct lockheld_insn either = NL_OP(LOCKHELD_OP_LOR);
	size_t n = 0;
	uint32_t id;
	int family, mode;

	for (family = 1; family <= LOCKHELD_FAMILY_MAX; family++) {
		for (mode = LOCKHELD_MODE_READ; mode <= LOCKHELD_MODE_WRITE;
		     mode++) {
			struct lockheld_insn insn = NL_TYPE(family, mode);

			if (nl_filter_add(&nl, &insn, 1, 0, &id))
				continue;
			nl_filter_del(&nl, id);
			insns[n++] = insn;
			if (n > 1)
				insns[n++] = either;
		}
	}
	return n;
}

static void hook_and_unhook(unsigned long times)
{
	struct lockheld_insn all[LOCKHELD_INSNS_MAX];
	size_t n = all_kinds(all);
	unsigned long i;
	uint32_t id;
	int fd;

	tap(n > 10, "many kinds of locks can be tracked", "%zu instructions",
	    n);
	errors = 0;
	for (i = 0; i < times; i++) {
		expect_done(nl_filter_add(&nl, all, n, LOCKHELD_FILTER_TIMES,
					  &id), "add");
		fd = event(i);
		expect_done(nl_filter_attach(&nl, id, fd), "attach");
		usleep(20000);
		expect_done(nl_filter_del(&nl, id), "delete");
		close(fd);
	}
	tap(!errors, "place and remove all hooks", "%lu errors", errors);
}

static uint64_t find_address(const char *name)
{
	FILE *f = fopen("/sys/kernel/debug/holdmod/locks", "r");
	unsigned long long address;
	char is[64];

	while (f && fscanf(f, "%63s %*s 0x%llx", is, &address) == 2)
		if (!strcmp(is, name)) {
			fclose(f);
			return address;
		}
	tap_abort("holdmod does not tell its locks");
}

int main(int argc, char **argv)
{
	unsigned long cycles = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
	unsigned long hooks = argc > 2 ? strtoul(argv[2], NULL, 0) : 20;

	printf("TAP version 13\n");
	mutex_address = find_address("mutex");
	nl_open(&nl);
	start_load();
	attach_and_detach(cycles);
	hook_and_unhook(hooks);
	stop_load();
	nl_close(&nl);
	return tap_end();
}
