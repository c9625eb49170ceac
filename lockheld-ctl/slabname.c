// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slab caches by their names. The kernel merges caches whose objects are alike:
 * each name is then a link in /sys to one folder (":0000192"), and the cache
 * itself keeps the name that was there first, which is the one of them that
 * /proc/slabinfo lists.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/lockheld.h>

#include "ctl.h"
#include "slabname.h"
#include "suggest.h"

/* Names that are told before "and N more". */
#define LISTED_MAX 6

struct names {
	char **all;
	size_t n;
};

static void add_name(struct names *names, const char *name)
{
	names->all = ctl_realloc(names->all, names->n + 1,
				 sizeof(*names->all));
	names->all[names->n++] = ctl_strdup(name);
}

static bool has_name(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->all[i], name))
			return true;
	return false;
}

static void free_names(struct names *names)
{
	while (names->n)
		free(names->all[--names->n]);
	free(names->all);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names that caches have themselves. Return: 0 or -errno. */
static int read_slabinfo(const char *root, struct names *names)
{
	char *path = ctl_printf("%s/proc/slabinfo", root), *line = NULL;
	FILE *f = fopen(path, "re");
	int ret = f ? 0 : -errno;
	size_t size = 0;
	char *end;

	free(path);
	while (f && getline(&line, &size, f) > 0) {
		/* Two lines of headings; a name may have blanks in it. */
		if (*line == '#' || !strncmp(line, "slabinfo", 8))
			continue;
		end = strpbrk(line, " \n");
		while (end && *end == ' ' &&
		       !strchr("0123456789", end[strspn(end, " ")]))
			end = strpbrk(end + strspn(end, " "), " \n");
		if (end)
			*end = 0;
		add_name(names, line);
	}
	free(line);
	if (f)
		fclose(f);
	return ret;
}

/* What a name in /sys is a link to; "" if it is no link, or not there. */
static void read_target(const char *root, const char *name, char target[],
			size_t size)
{
	char *path = ctl_printf("%s/sys/kernel/slab/%s", root, name);
	ssize_t len = readlink(path, target, size - 1);

	target[len > 0 ? len : 0] = 0;
	free(path);
}

/* All names in /sys that link to @target, or with NULL every name. */
static void read_links(const char *root, const char *target,
		       struct names *names)
{
	char *path = ctl_printf("%s/sys/kernel/slab", root);
	DIR *dir = opendir(path);
	char other[PATH_MAX];
	struct dirent *entry;

	free(path);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || *entry->d_name == ':')
			continue;
		read_target(root, entry->d_name, other, sizeof(other));
		if (!target || !strcmp(target, other))
			add_name(names, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (names->n)
		qsort(names->all, names->n, sizeof(*names->all), compare);
}

static char *list_others(const struct names *names, const char *but)
{
	char *list = NULL, *longer;
	size_t i, listed = 0, n = names->n - has_name(names, but);

	for (i = 0; i < names->n && listed < LISTED_MAX; i++) {
		if (!strcmp(names->all[i], but))
			continue;
		listed++;
		longer = ctl_printf("%s%s%s", list ? list : "",
				    !list ? "" : listed == n ? " and " : ", ",
				    names->all[i]);
		free(list);
		list = longer;
	}
	if (listed < n) {
		longer = ctl_printf("%s and %zu more", list, n - listed);
		free(list);
		list = longer;
	}
	return list;
}

static void offer(struct suggest *near, const struct names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		suggest_offer(near, names->all[i]);
}

/* Which of the cache's @names is its own: the one that slabinfo has. */
static const char *find_own(const struct names *names,
			    const struct names *slabinfo)
{
	size_t i;

	if (names->n == 1)
		return names->all[0];
	for (i = 0; i < names->n; i++)
		if (has_name(slabinfo, names->all[i]))
			return names->all[i];
	return NULL;
}

static int find(const char *root, const char *name, struct suggest *near,
		char **own, char **others, char **error)
{
	struct names slabinfo = { 0 }, same = { 0 }, all = { 0 };
	char target[PATH_MAX];
	int status = CTL_DONE;
	const char *found;
	int ret;

	ret = read_slabinfo(root, &slabinfo);
	read_links(root, NULL, &all);
	read_target(root, name, target, sizeof(target));
	if (*target)
		read_links(root, target, &same);
	else if (has_name(&all, name) || has_name(&slabinfo, name))
		add_name(&same, name);
	found = find_own(&same, &slabinfo);
	if (found && strlen(found) > LOCKHELD_NAME_MAX) {
		*error = ctl_printf("the kernel calls it '%s', and more than %d bytes of a name cannot be compared",
				    found, LOCKHELD_NAME_MAX);
		status = CTL_IMPOSSIBLE;
	} else if (found) {
		*own = ctl_strdup(found);
		*others = list_others(&same, name);
	} else if (same.n) {
		*error = ctl_printf("it is merged with others, and which name the kernel keeps is in /proc/slabinfo: %s",
				    ret ? strerror(-ret) : "none of them");
		status = CTL_IMPOSSIBLE;
	} else if (!all.n && ret) {
		*error = ctl_printf("the names of slab caches cannot be read: /proc/slabinfo: %s",
				    strerror(-ret));
		status = CTL_IMPOSSIBLE;
	} else {
		offer(near, &all);
		offer(near, &slabinfo);
		*error = ctl_strdup("the kernel has no such slab cache");
		status = CTL_USAGE;
	}
	free_names(&slabinfo);
	free_names(&same);
	free_names(&all);
	return status;
}

int slabname_find(const char *root, const char *name, struct suggest *near,
		  char **own, char **others, char **error)
{
	*own = NULL;
	*others = NULL;
	*error = NULL;
	/* It becomes part of a path. */
	if (strchr(name, '/') || *name == '.' || *name == ':' || !*name) {
		*error = ctl_strdup("this cannot be the name of a slab cache");
		return CTL_USAGE;
	}
	return find(root ? root : "", name, near, own, others, error);
}
