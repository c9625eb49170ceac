// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perf events that other processes have open: found in /proc, brought here by
 * pidfd_getfd(). All threads of a process share its descriptors.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "ctl.h"
#include "pevents.h"

static const char perf_link[] = "anon_inode:[perf_event]";

static int cannot_look(unsigned int pid)
{
	if (errno == ENOENT || errno == ESRCH)
		return ctl_error(CTL_FAILED, "there is no process %u", pid);
	if (errno == EACCES || errno == EPERM)
		return ctl_error(CTL_IMPOSSIBLE,
				 "not allowed to take descriptors of process %u: run it as root, or with CAP_SYS_PTRACE",
				 pid);
	return ctl_error(CTL_FAILED, "cannot take descriptors of process %u: %s",
			 pid, strerror(errno));
}

static int by_id(const void *a, const void *b)
{
	const struct pevent *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Descriptors that were duplicated are one event. */
static void drop_duplicates(struct pevent *events, size_t *n)
{
	size_t i, kept = 0;

	if (*n)
		qsort(events, *n, sizeof(*events), by_id);
	for (i = 0; i < *n; i++) {
		if (kept && events[kept - 1].id == events[i].id)
			close(events[i].fd);
		else
			events[kept++] = events[i];
	}
	*n = kept;
}

void pevents_close(struct pevent *events, size_t n)
{
	while (n)
		close(events[--n].fd);
	free(events);
}

static int take(int pidfd, DIR *dir, struct pevent **events, size_t *n)
{
	struct dirent *entry;
	char target[64];
	ssize_t len;

	while (errno = 0, (entry = readdir(dir))) {
		unsigned long long number;
		__u64 id;
		int fd;

		if (!ctl_number(entry->d_name, ~0U, &number))
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, target,
				 sizeof(target));
		if (len != sizeof(perf_link) - 1 ||
		    memcmp(target, perf_link, len))
			continue;
		fd = syscall(SYS_pidfd_getfd, pidfd, (int)number, 0);
		/* Closed meanwhile; perhaps there is another file by now. */
		if (fd < 0 && errno == EBADF)
			continue;
		if (fd < 0)
			return -1;
		if (ioctl(fd, PERF_EVENT_IOC_ID, &id)) {
			close(fd);
			continue;
		}
		*events = ctl_realloc(*events, *n + 1, sizeof(**events));
		(*events)[(*n)++] = (struct pevent){ id, fd };
	}
	return errno ? -1 : 0;
}

int pevents_of(unsigned int pid, struct pevent **events, size_t *n)
{
	char *path = ctl_printf("/proc/%u/fd", pid);
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	DIR *dir = pidfd < 0 ? NULL : opendir(path);
	int status = CTL_DONE;

	*events = NULL;
	*n = 0;
	/* pidfd_open() takes process leaders only. */
	if (pidfd < 0 && errno == EINVAL)
		status = ctl_error(CTL_FAILED,
				   "%u is a thread, not a process: give the process's id",
				   pid);
	else if (!dir || take(pidfd, dir, events, n))
		status = cannot_look(pid);
	if (dir)
		closedir(dir);
	if (pidfd >= 0)
		close(pidfd);
	free(path);
	drop_duplicates(*events, n);
	if (!status && !*n)
		status = ctl_error(CTL_FAILED,
				   "process %u has no perf event open (perf opens its events some time after it has started)",
				   pid);
	if (status) {
		pevents_close(*events, *n);
		*events = NULL;
		*n = 0;
	}
	return status;
}
