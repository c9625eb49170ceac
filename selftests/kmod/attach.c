// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be attached to a filter and what cannot, who may do it, and when a
 * filter goes away.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nl.h"
#include "tap.h"

#define ORDER	6	/* of the events' buffers, in pages */

static const struct lockheld_insn any_mutex[] = {
	NL_TYPE(LOCKHELD_FAMILY_MUTEX, LOCKHELD_MODE_ANY),
};
static const struct lockheld_insn never[] = { NL_IMM(0) };
static const struct lockheld_insn always[] = { NL_IMM(1) };

static struct nl nl;
static int script_fd;

static void script(const char *text)
{
	if (write(script_fd, text, strlen(text)) < 0)
		tap_abort("holdmod refuses '%s': %s", text, strerror(errno));
}

static uint32_t add(const struct lockheld_insn *insns, size_t n,
		    uint32_t flags)
{
	uint32_t id;
	int err = nl_filter_add(&nl, insns, n, flags, &id);

	if (err)
		tap_abort("cannot add a filter: %s: %s", strerror(-err),
			  nl.text);
	return id;
}

static int ticks(uint64_t period, pid_t pid, bool inherit)
{
	return event_open(PERF_TYPE_TRACEPOINT, event_id("holdmod/tick"),
			  period, pid, -1, inherit);
}

static void refuses(uint32_t id, int fd, int wanted, const char *name)
{
	int err = nl_filter_attach(&nl, id, fd);

	tap_errno(err, -wanted, nl.text, name);
}

/* Waits until there are @wanted filters, as some go only after a while. */
static bool filters_become(int wanted)
{
	struct nl_filter f[LOCKHELD_FILTERS_MAX];
	int i, n = 0;

	for (i = 0; i < 60; i++) {
		n = nl_filters(&nl, 0, f, LOCKHELD_FILTERS_MAX);
		if (n == wanted)
			return true;
		usleep(100000);
	}
	printf("# %d filters, should be %d\n", n, wanted);
	return false;
}

static void wrong_descriptors(void)
{
	uint32_t id = add(any_mutex, 1, 0);
	int pipes[2], fd, eventfds;

	refuses(id, 999, EBADF, "a descriptor that was never open");
	fd = ticks(1, 0, false);
	close(fd);
	refuses(id, fd, EBADF, "a descriptor that has been closed");
	refuses(id, -1, EBADF, "descriptor -1");
	fd = open("/dev/null", O_RDONLY);
	refuses(id, fd, EINVAL, "a device");
	close(fd);
	fd = open("/proc/self/exe", O_RDONLY);
	refuses(id, fd, EINVAL, "a file");
	close(fd);
	fd = open("/proc/self/exe", O_PATH);
	tap(nl_filter_attach(&nl, id, fd) < 0, "a path", NULL);
	close(fd);
	if (pipe(pipes))
		tap_abort("no pipe: %s", strerror(errno));
	refuses(id, pipes[0], EINVAL, "a pipe");
	close(pipes[0]);
	close(pipes[1]);
	eventfds = eventfd(0, 0);
	refuses(id, eventfds, EINVAL, "another anonymous file");
	close(eventfds);
	refuses(id, nl.fd, EINVAL, "the netlink socket itself");
	fd = ticks(0, 0, false);
	refuses(id, fd, EINVAL, "an event that only counts");
	close(fd);
	fd = event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0,
			-1, true);
	refuses(id, fd, EINVAL, "an inherited event that only counts");
	close(fd);
	nl_filter_del(&nl, id);
}

static void twice(void)
{
	uint32_t id = add(any_mutex, 1, 0), other = add(never, 1, 0);
	int fd = ticks(1, 0, false), copy;

	refuses(id, fd, 0, "an event that samples");
	refuses(id, fd, EBUSY, "the same event again");
	refuses(other, fd, EBUSY, "another filter on the same event");
	copy = dup(fd);
	refuses(other, copy, EBUSY, "another descriptor of the same event");
	close(copy);
	tap_errno(nl_filter_del(&nl, other), 0, nl.text, "delete a filter");
	tap_errno(nl_filter_del(&nl, other), -ENOENT, nl.text,
		  "delete it again");
	refuses(other, fd, ENOENT, "a filter that is gone");
	refuses(0, fd, ENOENT, "filter 0");
	tap_errno(nl_filter_del(&nl, id), 0, nl.text,
		  "delete the one with an event");
	id = add(never, 1, 0);
	refuses(id, fd, 0, "the event is free for another one then");
	nl_filter_del(&nl, id);
	close(fd);
}

static void one_event_per_filter(void)
{
	uint32_t id = add(always, 1, 0);
	struct nl_filter f;
	int fds[8], i;

	for (i = 0; i < 8; i++) {
		fds[i] = ticks(1, 0, false);
		if (nl_filter_attach(&nl, id, fds[i]))
			break;
	}
	nl_filters(&nl, id, &f, 1);
	tap(i == 8 && f.nr_events == 8, "eight events on a filter",
	    "%d attached, %u listed", i, f.nr_events);
	script("tick 10");
	nl_filters(&nl, id, &f, 1);
	tap(f.evaluated == 80 && f.passed == 80 && !f.dropped,
	    "all of them are counted", "evaluated %llu passed %llu",
	    (unsigned long long)f.evaluated, (unsigned long long)f.passed);
	while (i--)
		close(fds[i]);
	nl_filter_del(&nl, id);
}

static void deleting_lets_all_through(void)
{
	uint32_t id = add(any_mutex, 1, 0);
	int fd = ticks(1, 0, false);
	void *buffer = event_buffer(fd, ORDER);
	unsigned int n;

	if (!buffer)
		tap_abort("no buffer for an event: %s", strerror(errno));
	script("tick 10");
	n = event_samples(buffer, ORDER);
	tap(n == 10, "before: all samples", "%u samples", n);
	if (nl_filter_attach(&nl, id, fd))
		tap_abort("cannot attach: %s", nl.text);
	script("tick 10; take mutex_lock mutex; tick 5; drop mutex; tick 3");
	n = event_samples(buffer, ORDER);
	tap(n == 5, "with the filter: those with the lock held",
	    "%u samples", n);
	nl_filter_del(&nl, id);
	script("tick 10; take mutex_lock mutex; tick 5; drop mutex; tick 3");
	n = event_samples(buffer, ORDER);
	tap(n == 18, "afterwards: all samples", "%u samples", n);
	tap(event_count(fd) == 46, "the event's count is not touched",
	    "it is %llu", (unsigned long long)event_count(fd));
	close(fd);
}

static void run_child(const char *text)
{
	pid_t pid = fork();

	if (pid < 0)
		tap_abort("cannot fork: %s", strerror(errno));
	if (!pid) {
		script(text);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Children that exist already when the filter comes, and later ones. */
static void inherited(void)
{
	int fd = ticks(1, 0, true), go[2], done[2];
	uint32_t id = add(any_mutex, 1, 0);
	struct nl_filter f;
	pid_t early;
	char c = 0;

	if (pipe(go) || pipe(done))
		tap_abort("no pipe: %s", strerror(errno));
	early = fork();
	if (!early) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		script("tick 7; take mutex_lock obj0.mutex; tick 11; drop obj0.mutex");
		if (write(done[1], &c, 1) != 1)
			_exit(1);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		_exit(0);
	}
	if (nl_filter_attach(&nl, id, fd))
		tap_abort("cannot attach: %s", nl.text);
	if (write(go[1], &c, 1) != 1 || read(done[0], &c, 1) != 1)
		tap_abort("the child has died");
	nl_filters(&nl, id, &f, 1);
	tap(f.passed == 11 && f.dropped == 7, "a child that was there before",
	    "passed %llu dropped %llu", (unsigned long long)f.passed,
	    (unsigned long long)f.dropped);
	run_child("tick 5; take mutex_lock mutex; tick 13; drop mutex");
	nl_filters(&nl, id, &f, 1);
	tap(f.passed == 24 && f.dropped == 12, "a child that came later",
	    "passed %llu dropped %llu", (unsigned long long)f.passed,
	    (unsigned long long)f.dropped);
	tap(f.nr_events == 1, "children are not counted as events",
	    "%u events", f.nr_events);
	/* The early child is still there while its event goes. */
	close(fd);
	nl_filter_del(&nl, id);
	if (write(go[1], &c, 1) != 1)
		tap_abort("the child has died");
	waitpid(early, NULL, 0);
	close(go[0]);
	close(go[1]);
	close(done[0]);
	close(done[1]);
}

static void going_away(void)
{
	struct nl second;
	uint32_t id;
	int fd, other;

	tap(filters_become(0), "no filter is left so far", NULL);

	nl_open(&second);
	nl_filter_add(&second, any_mutex, 1, 0, &id);
	fd = ticks(1, 0, false);
	nl_filter_attach(&second, id, fd);
	tap(filters_become(1), "a filter of another socket is listed", NULL);
	nl_close(&second);
	tap(filters_become(0), "it goes with its socket", NULL);
	id = add(never, 1, 0);
	refuses(id, fd, 0, "its event is free then");
	nl_filter_del(&nl, id);
	close(fd);

	nl_open(&second);
	nl_filter_add(&second, any_mutex, 1, LOCKHELD_FILTER_PERSIST, &id);
	fd = ticks(1, 0, false);
	other = ticks(1, 0, false);
	nl_filter_attach(&second, id, fd);
	nl_filter_attach(&second, id, other);
	nl_close(&second);
	sleep(2);
	tap(filters_become(1), "a persistent one stays", NULL);
	close(fd);
	sleep(2);
	tap(filters_become(1), "also when one of two events is closed", NULL);
	close(other);
	tap(filters_become(0), "and goes with its last event", NULL);

	id = add(any_mutex, 1, 0);
	fd = ticks(1, 0, false);
	nl_filter_attach(&nl, id, fd);
	close(fd);
	tap(filters_become(0), "one that is not persistent does, too", NULL);
}

static void too_many(void)
{
	uint32_t ids[LOCKHELD_FILTERS_MAX + 1];
	int i, err = 0;

	for (i = 0; i <= LOCKHELD_FILTERS_MAX && !err; i++)
		err = nl_filter_add(&nl, never, 1, 0, &ids[i]);
	tap_errno(err, -ENOSPC, nl.text, "too many filters");
	tap(i == LOCKHELD_FILTERS_MAX + 1, "but as many as promised",
	    "%d were accepted", i - 1);
	for (i = 0; i < LOCKHELD_FILTERS_MAX; i++)
		nl_filter_del(&nl, ids[i]);
}

/* Runs fn() in a child and reports what it returns, an errno. */
static void in_child(int (*fn)(void), int wanted, const char *name)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	waitpid(pid, &status, 0);
	tap(WIFEXITED(status) && WEXITSTATUS(status) == wanted, name,
	    "the child ended with status 0x%x", status);
}

/* Returns EPERM if each command is refused so. */
static int try_all(struct nl *socket)
{
	struct nl_filter f;
	uint64_t value;
	uint32_t id;
	int answers[] = {
		nl_filter_add(socket, never, 1, 0, &id),
		nl_filter_del(socket, 1),
		nl_filter_attach(socket, 1, 0),
		nl_filters(socket, 0, &f, 1),
		nl_stat(socket, "waits", &value),
	};
	unsigned int i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i] == -EPERM && socket->text[0])
			continue;
		printf("# command %u is answered with %d: %s\n", i,
		       answers[i], socket->text);
		fflush(stdout);
		return 101;
	}
	return EPERM;
}

static int nobody(void)
{
	struct nl own;

	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return 100;
	nl_open(&own);
	return try_all(&own);
}

/* Root's socket in the hands of nobody. */
static int nobody_with_socket(void)
{
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return 100;
	return try_all(&nl);
}

/* Has all capabilities, but only in a namespace of its own. */
static int root_of_namespace(void)
{
	struct nl own;

	if (unshare(CLONE_NEWUSER))
		return 100;
	nl_open(&own);
	return try_all(&own);
}

int main(void)
{
	printf("TAP version 13\n");
	script_fd = open("/sys/kernel/debug/holdmod/run", O_WRONLY);
	if (script_fd < 0)
		tap_abort("holdmod is not there");
	nl_open(&nl);
	wrong_descriptors();
	twice();
	one_event_per_filter();
	deleting_lets_all_through();
	inherited();
	going_away();
	too_many();
	in_child(nobody, EPERM, "nobody may do anything");
	in_child(nobody_with_socket, EPERM,
		 "nobody may not use a socket of root");
	in_child(root_of_namespace, EPERM,
		 "root of a user namespace may do nothing");
	nl_close(&nl);
	return tap_end();
}
