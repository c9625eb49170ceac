// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl.h"
#include "evopen.h"

static int sys_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* "0-3,7" as the kernel and users write it; false if it is not that. */
static bool parse_cpus(struct target *t, const char *list)
{
	char *end;

	for (;;) {
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list || last < first)
				return false;
		}
		if (last > 65535)
			return false;
		for (; first <= last; first++) {
			t->cpus = ctl_realloc(t->cpus, t->nr_cpus + 1,
					      sizeof(*t->cpus));
			t->cpus[t->nr_cpus++] = (int)first;
		}
		if (*end != ',')
			return *end == '\0' || *end == '\n';
		list = end + 1;
	}
}

static bool read_line(const char *path, char *buf, int size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(buf, size, f) != NULL;
	fclose(f);
	return ok;
}

static bool has_cpu(const struct target *t, int cpu)
{
	size_t i;

	for (i = 0; i < t->nr_cpus; i++)
		if (t->cpus[i] == cpu)
			return true;
	return false;
}

static int wanted_cpus(struct target *t, const char *list,
		       const struct target *online, const char *line)
{
	size_t i;

	if (!parse_cpus(t, list))
		return ctl_error(CTL_USAGE, "-C %s: not a list of CPUs such as 0-3,7",
				 list);
	for (i = 0; i < t->nr_cpus; i++)
		if (!has_cpu(online, t->cpus[i]))
			return ctl_error(CTL_USAGE, "-C %s: CPU %d is not on (these are: %.*s)",
					 list, t->cpus[i],
					 (int)strcspn(line, "\n"), line);
	return CTL_DONE;
}

int target_cpus(struct target *t, const char *list)
{
	struct target online = { 0 };
	char line[4096];
	int status;

	if (!read_line("/sys/devices/system/cpu/online", line, sizeof(line)) ||
	    !parse_cpus(list ? &online : t, line))
		return ctl_error(CTL_FAILED,
				 "cannot tell which CPUs are on: /sys/devices/system/cpu/online cannot be read");
	if (!list)
		return CTL_DONE;
	status = wanted_cpus(t, list, &online, line);
	target_free(&online);
	return status;
}

int target_process(struct target *t, pid_t pid)
{
	char *path = ctl_printf("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	struct dirent *d;

	free(path);
	if (!dir)
		return ctl_error(CTL_FAILED, "-p %d: there is no such process",
				 pid);
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		t->tids = ctl_realloc(t->tids, t->nr_tids + 1,
				      sizeof(*t->tids));
		t->tids[t->nr_tids++] = atoi(d->d_name);
	}
	closedir(dir);
	return CTL_DONE;
}

void target_free(struct target *t)
{
	free(t->cpus);
	free(t->tids);
	memset(t, 0, sizeof(*t));
}

static int open_failed(const struct evopen *ev, int error)
{
	char line[16] = "";

	switch (error) {
	case EACCES:
	case EPERM:
		read_line("/proc/sys/kernel/perf_event_paranoid", line,
			  sizeof(line));
		return ctl_error(CTL_IMPOSSIBLE,
				 "no right to record '%s' (kernel.perf_event_paranoid is %.*s): run as root",
				 ev->name, (int)strcspn(line, "\n"), line);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return ctl_error(CTL_IMPOSSIBLE,
				 "event '%s' is not counted on this machine: try cpu-clock or another software event",
				 ev->name);
	case ENOSYS:
		return ctl_error(CTL_IMPOSSIBLE,
				 "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	case EMFILE:
		return ctl_error(CTL_FAILED,
				 "too many open files for '%s' on all CPUs and threads: raise ulimit -n",
				 ev->name);
	default:
		return ctl_error(CTL_FAILED, "cannot open event '%s': %s",
				 ev->name, strerror(error));
	}
}

/* A descriptor for each CPU, thread and event: as many as are allowed. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Takes away what an older kernel does not know, until it is content. */
static int open_one(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	for (;;) {
		int fd = sys_open(attr, tid, cpu);

		if (fd >= 0 || errno != EINVAL)
			return fd;
		if (attr->build_id)
			attr->build_id = 0;
		else if (attr->read_format & PERF_FORMAT_LOST)
			attr->read_format &= ~(__u64)PERF_FORMAT_LOST;
		else
			return -1;
	}
}

static int open_fd(struct evopen *ev, pid_t tid, int cpu)
{
	int fd = open_one(&ev->attr, tid, cpu);

	if (fd < 0 && errno == EMFILE) {
		raise_file_limit();
		fd = open_one(&ev->attr, tid, cpu);
	}
	return fd;
}

/* On all CPUs or none. Return: 0 or a positive errno. */
static int open_thread(struct evopen *ev, pid_t tid, const struct target *t)
{
	size_t i;

	for (i = 0; i < t->nr_cpus; i++) {
		int fd = open_fd(ev, tid, t->cpus[i]);
		int error = errno;

		if (fd >= 0) {
			ev->fds[ev->n++] = fd;
			if (!ioctl(fd, PERF_EVENT_IOC_ID, &ev->ids[ev->n - 1]))
				continue;
			error = errno;
		}
		for (; ev->n % t->nr_cpus; ev->n--)
			close(ev->fds[ev->n - 1]);
		return error;
	}
	return 0;
}

int evopen_open(struct evopen *ev, const struct target *t)
{
	int error = 0;
	size_t i;

	ev->fds = ctl_zalloc(t->nr_tids * t->nr_cpus * sizeof(*ev->fds));
	ev->ids = ctl_zalloc(t->nr_tids * t->nr_cpus * sizeof(*ev->ids));
	for (i = 0; i < t->nr_tids; i++) {
		error = open_thread(ev, t->tids[i], t);
		/* a thread may have ended meanwhile */
		if (error && error != ESRCH)
			return open_failed(ev, error);
	}
	return ev->n ? CTL_DONE : open_failed(ev, error);
}

bool evopen_works(const struct perf_event_attr *attr)
{
	int fd = sys_open(attr, 0, -1);

	if (fd >= 0)
		close(fd);
	/* no right to it is said when it is opened in earnest */
	return fd >= 0 || errno == EACCES || errno == EPERM;
}

void evopen_close(struct evopen *ev)
{
	size_t i;

	for (i = 0; i < ev->n; i++)
		close(ev->fds[i]);
	free(ev->fds);
	free(ev->ids);
	ev->fds = NULL;
	ev->ids = NULL;
	ev->n = 0;
}

int evopen_rings(struct ringset *rings, struct evopen *owner,
		 const struct target *t)
{
	size_t i;

	rings->rings = ctl_zalloc(t->nr_cpus * sizeof(*rings->rings));
	rings->n = t->nr_cpus;
	for (i = 0; i < t->nr_cpus; i++) {
		int ret = ring_map(&rings->rings[i], owner->fds[i], t->cpus[i],
				   t->pages);

		if (ret == -EPERM)
			return ctl_error(CTL_IMPOSSIBLE,
					 "no right to %zu pages of buffer on each CPU: ask for fewer with -m, or raise kernel.perf_event_mlock_kb",
					 t->pages);
		if (ret)
			return ctl_error(CTL_FAILED,
					 "no buffer of %zu pages for CPU %d: %s; ask for fewer with -m",
					 t->pages, t->cpus[i], strerror(-ret));
	}
	for (i = t->nr_cpus; i < owner->n; i++)
		if (ioctl(owner->fds[i], PERF_EVENT_IOC_SET_OUTPUT,
			  owner->fds[i % t->nr_cpus]))
			return open_failed(owner, errno);
	return CTL_DONE;
}

int evopen_share(const struct ringset *rings, struct evopen *ev)
{
	size_t i;

	for (i = 0; i < ev->n; i++)
		if (ioctl(ev->fds[i], PERF_EVENT_IOC_SET_OUTPUT,
			  rings->rings[i % rings->n].fd))
			return open_failed(ev, errno);
	return CTL_DONE;
}

void ringset_free(struct ringset *rings)
{
	size_t i;

	for (i = 0; i < rings->n; i++)
		ring_unmap(&rings->rings[i]);
	free(rings->rings);
	memset(rings, 0, sizeof(*rings));
}

int evopen_ioctl(const struct evopen *ev, unsigned long request,
		 unsigned long arg)
{
	size_t i;

	for (i = 0; i < ev->n; i++)
		if (ioctl(ev->fds[i], request, arg))
			return -errno;
	return 0;
}

void evopen_lost(struct evopen *ev)
{
	/* value, id, lost: as read_format has it */
	uint64_t values[3];
	size_t i;

	if (!(ev->attr.read_format & PERF_FORMAT_LOST))
		return;
	for (i = 0; i < ev->n; i++)
		if (read(ev->fds[i], values, sizeof(values)) == sizeof(values))
			ev->lost += values[2];
}
