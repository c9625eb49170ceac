// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A folder that no path below it leads out of: absolute links and ".." mean
 * there what they mean to a process whose root it is. The kernel sees to that
 * from 5.6 on. Where it does not, or a sandbox forbids the call, links are
 * followed here, one at a time; whoever exchanges a folder for a link meanwhile
 * can lead out then.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum { MAX_LINKS = 40, TRIES = 8 };

/* One that cannot be opened gives its error to whoever asks for a file. */
int root_open(struct root **out, int at, const char *dir, const char *name)
{
	struct root *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->name = strdup(name);
	if (!r->name) {
		free(r);
		return -ENOMEM;
	}
	r->refs = 1;
	r->fd = openat(at, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		r->fd = -errno;
	*out = r;
	return 0;
}

struct root *root_get(struct root *r)
{
	if (r)
		r->refs++;
	return r;
}

void root_put(struct root *r)
{
	if (!r || --r->refs)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->name);
	free(r);
}

/* Where @path leads without any link, "" for the root itself. */
static int resolve(int root, const char *path, char out[PATH_MAX])
{
	char rest[PATH_MAX], link[PATH_MAX];
	size_t len = 0, n, left = strlen(path);
	const char *at = rest;
	ssize_t got;
	int links = 0;

	if (left >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(rest, path, left + 1);
	for (out[0] = 0; *(at += strspn(at, "/")); at += n) {
		n = strcspn(at, "/");
		if (n == 1 && *at == '.')
			continue;
		if (n == 2 && !memcmp(at, "..", 2)) {
			while (len && out[--len] != '/')
				;
			out[len] = 0;
			continue;
		}
		if (n >= PATH_MAX - len - 1)
			return -ENAMETOOLONG;
		out[len] = '/';
		memcpy(out + len + 1, at, n);
		out[len + 1 + n] = 0;
		got = readlinkat(root, out + 1, link, sizeof(link));
		if (got < 0 && errno == EINVAL) {
			len += 1 + n;
			continue;
		}
		if (got < 0)
			return -errno;
		left = strlen(at + n);
		if (++links > MAX_LINKS)
			return -ELOOP;
		if ((size_t)got + left >= sizeof(rest))
			return -ENAMETOOLONG;
		/* What it leads to stands in its place. */
		memmove(rest + got, at + n, left + 1);
		memcpy(rest, link, (size_t)got);
		if (*link == '/')
			len = 0;
		out[len] = 0;
		at = rest;
		n = 0;
	}
	return 0;
}

static int open_by_hand(int root, const char *path, int flags)
{
	char real[PATH_MAX];
	int ret = *path ? resolve(root, path, real) : -ENOENT;

	if (ret)
		return ret;
	ret = openat(root, *real ? real + 1 : ".", flags | O_NOFOLLOW);
	return ret < 0 ? -errno : ret;
}

/* A descriptor, or an error. @r: NULL: there is no root, as anywhere else. */
int root_file(const struct root *r, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT,
	};
	long fd = -1;

	if (!r) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : (int)fd;
	}
	if (r->fd < 0)
		return r->fd;
	if (!(flags & O_PATH))
		how.flags |= O_LARGEFILE;
	/* EAGAIN: something was moved meanwhile. */
	for (int i = 0; i < TRIES && fd < 0; i++) {
		fd = syscall(SYS_openat2, r->fd, path, &how, sizeof(how));
		if (fd < 0 && errno != EAGAIN)
			break;
	}
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_hand(r->fd, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* 0, or an error; nothing is opened that opening could have an effect on. */
int root_stat(const struct root *r, const char *path, struct stat *st)
{
	int fd, ret;

	if (!r)
		return stat(path, st) ? -errno : 0;
	fd = root_file(r, path, O_PATH);
	if (fd < 0)
		return fd;
	ret = fstat(fd, st) ? -errno : 0;
	close(fd);
	return ret;
}

bool root_has(const struct root *r, const char *path)
{
	struct stat st;

	return !root_stat(r, path, &st);
}

/* A folder's path without links, as it is below the root; NULL: none. */
char *root_real(const struct root *r, const char *dir)
{
	char real[PATH_MAX];

	if (!r)
		return realpath(dir, NULL);
	return r->fd < 0 || resolve(r->fd, dir, real) ? NULL : strdup(real);
}
