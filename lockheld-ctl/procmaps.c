// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "procmaps.h"

#define KERNEL_PID	((uint32_t)-1)
#define FORK_DEPTH	64	/* ancestors a mapping is looked for in */

#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif

/* A process has the mappings of its life, one after another: a fork begins one
 * with its parent's mappings, an exec one with none. */
struct life {
	uint64_t time;
	uint64_t order;
	bool forked;
	uint32_t parent;
	size_t first, n;	/* of the process's mappings */
};

struct proc {
	uint32_t pid;
	struct life *lives;	/* by time, once ready */
	size_t nr_lives;
	struct procmap *maps;	/* by life, then by address, once ready */
	uint64_t *reach;	/* for each, the highest end so far in its life */
	size_t nr_maps;
	struct proc *next;
};

/* A chunk of strings and build-ids that are freed together. */
struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[65536 - 2 * sizeof(size_t)];
};

#define BUCKETS 4096

struct procmaps {
	struct proc *procs[BUCKETS];
	struct chunk *chunks;
	uint64_t order;
};

struct procmaps *procmaps_new(void)
{
	return ctl_zalloc(sizeof(struct procmaps));
}

void procmaps_free(struct procmaps *p)
{
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		while (p->procs[i]) {
			struct proc *proc = p->procs[i];

			p->procs[i] = proc->next;
			free(proc->lives);
			free(proc->maps);
			free(proc->reach);
			free(proc);
		}
	}
	while (p->chunks) {
		struct chunk *c = p->chunks;

		p->chunks = c->next;
		free(c);
	}
	free(p);
}

static void *keep(struct procmaps *p, const void *bytes, size_t len)
{
	struct chunk *c = p->chunks;

	if (!c || sizeof(c->bytes) - c->used < len) {
		c = ctl_realloc(NULL, 1, sizeof(*c));
		c->used = 0;
		c->next = p->chunks;
		p->chunks = c;
	}
	memcpy(c->bytes + c->used, bytes, len);
	c->used += len;
	return c->bytes + c->used - len;
}

static struct proc *find_proc(struct procmaps *p, uint32_t pid)
{
	struct proc *proc = p->procs[pid % BUCKETS];

	while (proc && proc->pid != pid)
		proc = proc->next;
	return proc;
}

static struct proc *get_proc(struct procmaps *p, uint32_t pid)
{
	struct proc *proc = find_proc(p, pid);

	if (proc)
		return proc;
	proc = ctl_zalloc(sizeof(*proc));
	proc->pid = pid;
	proc->lives = ctl_zalloc(sizeof(*proc->lives));
	proc->nr_lives = 1;
	proc->next = p->procs[pid % BUCKETS];
	p->procs[pid % BUCKETS] = proc;
	return proc;
}

static void add_life(struct procmaps *p, struct proc *proc, uint64_t time,
		     bool forked, uint32_t parent)
{
	proc->lives = ctl_realloc(proc->lives, proc->nr_lives + 1,
				  sizeof(*proc->lives));
	proc->lives[proc->nr_lives++] = (struct life){
		.time = time,
		.order = ++p->order,
		.forked = forked,
		.parent = parent,
	};
}

static void add_map(struct procmaps *p, struct proc *proc,
		    const struct procmap *map, const char *path)
{
	/* powers of two, so that not every mapping moves all before it */
	if (!(proc->nr_maps & (proc->nr_maps - 1)))
		proc->maps = ctl_realloc(proc->maps,
					 proc->nr_maps ? proc->nr_maps * 2 : 1,
					 sizeof(*proc->maps));
	proc->maps[proc->nr_maps] = *map;
	proc->maps[proc->nr_maps].order = ++p->order;
	proc->maps[proc->nr_maps++].path = keep(p, path, strlen(path) + 1);
}

/* A record's body and the bytes in it, without the trailer. */
struct body {
	const unsigned char *p;
	size_t len;
};

static uint32_t u32(const struct body *b, size_t at)
{
	uint32_t v;

	memcpy(&v, b->p + at, sizeof(v));
	return v;
}

static uint64_t u64(const struct body *b, size_t at)
{
	uint64_t v;

	memcpy(&v, b->p + at, sizeof(v));
	return v;
}

/* pid, tid, addr, len, pgoff; the second kind has 32 bytes more; the name */
static void add_mmap(struct procmaps *p, const struct perf_event_header *record,
		     const struct body *b, uint64_t time)
{
	bool second = record->type == PERF_RECORD_MMAP2;
	size_t name = second ? 64 : 32;
	struct procmap map = { .time = time };
	bool kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		      PERF_RECORD_MISC_KERNEL;

	if (b->len <= name || !memchr(b->p + name, 0, b->len - name))
		return;
	/* data, where the kernel was asked for those too */
	if (second && !(u32(b, 56) & 4) && !kernel)
		return;
	if (!second && !kernel && record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	map.start = u64(b, 8);
	map.end = map.start + u64(b, 16);
	map.pgoff = u64(b, 24);
	if (second && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (b->p[32] <= 20) {
			map.build_id_len = b->p[32];
			map.build_id = keep(p, b->p + 36, map.build_id_len);
		}
	} else if (second) {
		map.inode = u64(b, 40);
	}
	if (map.end > map.start)
		add_map(p, get_proc(p, kernel ? KERNEL_PID : u32(b, 0)), &map,
			(const char *)b->p + name);
}

/* pid, parent's pid, tid, parent's tid */
static void add_fork(struct procmaps *p, const struct perf_event_header *record,
		     const struct body *b, uint64_t time)
{
	if (b->len < 16 || u32(b, 0) == u32(b, 4))
		return;			/* a thread */
	if (record->misc & PERF_RECORD_MISC_FORK_EXEC)
		return;			/* perf's word for "ran before" */
	add_life(p, get_proc(p, u32(b, 0)), time, true, u32(b, 4));
}

void procmaps_add(struct procmaps *p, const struct perf_event_header *record,
		  uint64_t time, size_t trailer)
{
	struct body b = { .p = (const unsigned char *)(record + 1) };

	if (record->size < sizeof(*record) + trailer)
		return;
	b.len = record->size - sizeof(*record) - trailer;
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		add_mmap(p, record, &b, time);
		break;
	case PERF_RECORD_FORK:
		add_fork(p, record, &b, time);
		break;
	case PERF_RECORD_COMM:
		if (b.len >= 8 && record->misc & PERF_RECORD_MISC_COMM_EXEC)
			add_life(p, get_proc(p, u32(&b, 0)), time, false, 0);
		break;
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_lives(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	int c = compare(x->time, y->time);

	return c ? c : compare(x->order, y->order);
}

static int compare_times(const void *a, const void *b)
{
	const struct procmap *x = a, *y = b;
	int c = compare(x->time, y->time);

	return c ? c : compare(x->order, y->order);
}

static int compare_starts(const void *a, const void *b)
{
	return compare(((const struct procmap *)a)->start,
		       ((const struct procmap *)b)->start);
}

static void ready(struct proc *proc)
{
	size_t i, j = 0;

	qsort(proc->lives, proc->nr_lives, sizeof(*proc->lives), compare_lives);
	if (!proc->nr_maps)
		return;
	qsort(proc->maps, proc->nr_maps, sizeof(*proc->maps), compare_times);
	proc->reach = ctl_realloc(NULL, proc->nr_maps, sizeof(*proc->reach));
	for (i = 0; i < proc->nr_lives; i++) {
		struct life *l = &proc->lives[i];
		bool last = i + 1 == proc->nr_lives;
		uint64_t reach = 0;

		l->first = j;
		while (j < proc->nr_maps &&
		       (last || proc->maps[j].time < l[1].time))
			j++;
		l->n = j - l->first;
		qsort(proc->maps + l->first, l->n, sizeof(*proc->maps),
		      compare_starts);
		for (j = l->first; j < l->first + l->n; j++) {
			if (proc->maps[j].end > reach)
				reach = proc->maps[j].end;
			proc->reach[j] = reach;
		}
	}
}

void procmaps_ready(struct procmaps *p)
{
	struct proc *proc;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (proc = p->procs[i]; proc; proc = proc->next)
			ready(proc);
}

static struct life *life_at(struct proc *proc, uint64_t time)
{
	size_t low = 0, high = proc->nr_lives;

	/* the last that began at @time or before; the first began at 0 */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (proc->lives[mid].time <= time)
			low = mid;
		else
			high = mid;
	}
	return &proc->lives[low];
}

/* Of those that cover @addr and were there at @time, the one mapped last. */
static struct procmap *find_map(struct proc *proc, const struct life *l,
				uint64_t addr, uint64_t time)
{
	size_t low = l->first, high = l->first + l->n;
	struct procmap *best = NULL;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (proc->maps[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > l->first && proc->reach[low] > addr) {
		struct procmap *m = &proc->maps[low];

		if (addr >= m->end || m->time > time)
			continue;
		if (!best || compare_times(m, best) > 0)
			best = m;
	}
	return best;
}

struct procmap *procmaps_find(struct procmaps *p, uint32_t pid, uint64_t addr,
			      uint64_t time)
{
	int depth;

	for (depth = 0; depth < FORK_DEPTH; depth++) {
		struct proc *proc = find_proc(p, pid);
		struct procmap *m;
		struct life *l;

		if (!proc)
			return NULL;
		l = life_at(proc, time);
		m = find_map(proc, l, addr, time);
		if (m || !l->forked)
			return m;
		pid = l->parent;
		time = l->time;
	}
	return NULL;
}

struct procmap *procmaps_find_kernel(struct procmaps *p, uint64_t addr)
{
	return procmaps_find(p, KERNEL_PID, addr, UINT64_MAX);
}

void procmaps_each(struct procmaps *p,
		   void (*fn)(struct procmap *m, bool kernel, void *arg),
		   void *arg)
{
	struct proc *proc;
	size_t i, j;

	for (i = 0; i < BUCKETS; i++)
		for (proc = p->procs[i]; proc; proc = proc->next)
			for (j = 0; j < proc->nr_maps; j++)
				fn(&proc->maps[j], proc->pid == KERNEL_PID,
				   arg);
}
