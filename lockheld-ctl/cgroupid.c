// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control groups by their path. Their number is what the file system gives as
 * the handle of the folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroupid.h"
#include "ctl.h"

/* What the kernel calls a handle that is such a number. */
#define FILEID_KERNFS 0xfe

/*
 * Where the hierarchy of perf's events is mounted: one of its own (version 1),
 * else the common one. NULL if nowhere.
 */
static char *find_mount(const char *root)
{
	char *path = ctl_printf("%s/proc/mounts", root ? root : "");
	FILE *f = setmntent(path, "re");
	struct mntent *m;
	char *found = NULL;
	bool own = false;

	free(path);
	while (f && !own && (m = getmntent(f))) {
		own = !strcmp(m->mnt_type, "cgroup") &&
		      hasmntopt(m, "perf_event");
		if (!own && (found || strcmp(m->mnt_type, "cgroup2")))
			continue;
		free(found);
		found = ctl_strdup(m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

static int read_id(const char *path, __u64 *id)
{
	struct {
		struct file_handle head;
		__u64 id;
	} handle = { .head.handle_bytes = sizeof(handle.id) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0))
		return errno == ENOTDIR || errno == EOPNOTSUPP ? -ENOENT :
								 -errno;
	/* "../.." leads elsewhere. */
	if (handle.head.handle_type != FILEID_KERNFS ||
	    handle.head.handle_bytes != sizeof(*id))
		return -ENOENT;
	memcpy(id, handle.head.f_handle, sizeof(*id));
	return 0;
}

int cgroupid_find(const char *root, const char *path, __u64 *id, char **error)
{
	char *mount = find_mount(root);
	char *full;
	int ret;

	*error = NULL;
	if (!mount) {
		*error = ctl_strdup("no hierarchy of control groups is mounted, give the group's number");
		return CTL_IMPOSSIBLE;
	}
	/* The dot is in folders only. */
	full = is_below(path, mount) ? ctl_printf("%s/.", path) :
	       ctl_printf("%s/%s/.", mount, path);
	ret = read_id(full, id);
	if (ret == -ENOENT)
		*error = ctl_printf("there is none below %s", mount);
	else if (ret)
		*error = ctl_printf("its number cannot be read: %s",
				    strerror(-ret));
	free(full);
	free(mount);
	return !ret ? CTL_DONE : ret == -ENOENT ? CTL_USAGE : CTL_FAILED;
}
