// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <symres.h>

#include "ctl.h"
#include "synth.h"

#define NAME_MAX_BYTES	(PATH_MAX + 64)

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char name[NAME_MAX_BYTES];
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char name[NAME_MAX_BYTES];
};

/*
 * @start: of the name, the last member. The trailer is left zero: an id of 0
 * and a time of 0 are how readers know these records.
 */
static int emit(const struct synth *s, struct perf_event_header *record,
		size_t start)
{
	union {
		struct perf_event_header header;
		char bytes[sizeof(struct mmap2_record) + 128];
	} out = { 0 };
	size_t len = strlen((const char *)record + start);
	size_t size = start + ((len + 8) & ~(size_t)7);

	record->size = (uint16_t)(size + s->trailer);
	memcpy(out.bytes, record, start + len);
	return s->emit(&out.header, s->arg);
}

static int kernel_map(const struct synth *s, uint64_t addr, uint64_t len,
		      uint64_t pgoff, const char *name)
{
	struct mmap_record r = {
		.header.type = PERF_RECORD_MMAP,
		.header.misc = PERF_RECORD_MISC_KERNEL,
		.pid = (uint32_t)-1,
		.addr = addr,
		.len = len,
		.pgoff = pgoff,
	};

	snprintf(r.name, sizeof(r.name), "%s", name);
	return emit(s, &r.header, offsetof(struct mmap_record, name));
}

static int take_address(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return -1;		/* one is enough */
}

/* "snd-pcm" and "snd_pcm" are one module. */
static bool same_module(const char *file, size_t len, const char *module)
{
	size_t i;

	for (i = 0; i < len && module[i]; i++)
		if (file[i] != module[i] &&
		    !(file[i] == '-' && module[i] == '_'))
			return false;
	return i == len && !module[i];
}

/* The file a module came from, if it is an installed one; else "[module]". */
static char *module_path(FILE *dep, const char *dir, const char *module)
{
	char *line = NULL, *path = NULL;
	size_t room = 0;

	if (dep)
		rewind(dep);
	while (dep && !path && getline(&line, &room, dep) > 0) {
		char *end = strchr(line, ':'), *base;

		if (!end)
			continue;
		*end = '\0';
		base = strrchr(line, '/');
		base = base ? base + 1 : line;
		if (same_module(base, strcspn(base, "."), module))
			path = ctl_printf("%s/%s", dir, line);
	}
	free(line);
	if (path && !access(path, R_OK))
		return path;
	free(path);
	return ctl_printf("[%s]", module);
}

static int synth_modules(const struct synth *s)
{
	FILE *list = fopen("/proc/modules", "re"), *dep;
	struct utsname uts;
	char *dir, *dep_path;
	char line[1024], name[64];
	uint64_t addr;
	unsigned long size;
	int ret = 0;

	if (!list)
		return 0;		/* a kernel without modules */
	uname(&uts);
	dir = ctl_printf("/lib/modules/%s", uts.release);
	dep_path = ctl_printf("%s/modules.dep", dir);
	dep = fopen(dep_path, "re");
	while (!ret && fgets(line, sizeof(line), list)) {
		char *path;

		/* name size users used-by state address */
		if (sscanf(line, "%63s %lu %*s %*s %*s %" SCNx64,
			   name, &size, &addr) != 3 || !addr)
			continue;
		path = module_path(dep, dir, name);
		ret = kernel_map(s, addr, size, 0, path);
		free(path);
	}
	if (dep)
		fclose(dep);
	fclose(list);
	free(dep_path);
	free(dir);
	return ret;
}

int synth_kernel(const struct synth *s, struct symres *symres)
{
	uint64_t text = 0, end = 0;
	const char *name = "[kernel.kallsyms]_text";
	int ret;

	symres_find_kernel(symres, "vmlinux:_text", take_address, &text);
	if (!text) {
		name = "[kernel.kallsyms]_stext";
		symres_find_kernel(symres, "vmlinux:_stext", take_address,
				   &text);
	}
	symres_find_kernel(symres, "vmlinux:_etext", take_address, &end);
	if (!text || end <= text)
		return 0;		/* addresses are hidden from us */
	ret = kernel_map(s, text, end - text, text, name);
	return ret ? ret : synth_modules(s);
}

static int synth_comm(const struct synth *s, pid_t pid, pid_t tid)
{
	struct comm_record r = {
		.header.type = PERF_RECORD_COMM,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
	};
	char *path = ctl_printf("/proc/%d/task/%d/comm", pid, tid);
	FILE *f = fopen(path, "re");
	char *got = NULL;

	free(path);
	if (!f)
		return 0;		/* it has ended */
	got = fgets(r.comm, sizeof(r.comm), f);
	fclose(f);
	if (!got)
		return 0;
	r.comm[strcspn(r.comm, "\n")] = '\0';
	return emit(s, &r.header, offsetof(struct comm_record, comm));
}

static int synth_threads(const struct synth *s, pid_t pid)
{
	char *path = ctl_printf("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	struct dirent *d;
	int ret = 0;

	free(path);
	while (dir && !ret && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			ret = synth_comm(s, pid, atoi(d->d_name));
	if (dir)
		closedir(dir);
	return ret;
}

static int synth_map(const struct synth *s, pid_t pid, char *line)
{
	struct mmap2_record r = {
		.header.type = PERF_RECORD_MMAP2,
		.header.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.prot = PROT_EXEC,
	};
	uint64_t end;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %"
		   SCNu64 " %n", &r.addr, &end, perms, &r.pgoff, &r.major,
		   &r.minor, &r.inode, &at) < 7 || !at)
		return 0;
	if (perms[2] != 'x' || end <= r.addr)
		return 0;
	r.len = end - r.addr;
	if (perms[0] == 'r')
		r.prot |= PROT_READ;
	if (perms[1] == 'w')
		r.prot |= PROT_WRITE;
	r.flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	line[strcspn(line, "\n")] = '\0';
	snprintf(r.name, sizeof(r.name), "%s", line[at] ? line + at : "//anon");
	return emit(s, &r.header, offsetof(struct mmap2_record, name));
}

static int synth_maps(const struct synth *s, pid_t pid)
{
	char *path = ctl_printf("/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	free(path);
	while (f && !ret && getline(&line, &room, f) > 0)
		ret = synth_map(s, pid, line);
	free(line);
	if (f)
		fclose(f);
	return ret;
}

int synth_process(const struct synth *s, pid_t pid)
{
	int ret = synth_threads(s, pid);

	return ret ? ret : synth_maps(s, pid);
}

int synth_all(const struct synth *s)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int ret = 0;

	while (dir && !ret && (d = readdir(dir))) {
		pid_t pid = atoi(d->d_name);

		if (pid > 0 && pid != getpid())
			ret = synth_process(s, pid);
	}
	if (dir)
		closedir(dir);
	return ret;
}
