// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <symres.h>

#include "ctl.h"
#include "learn.h"
#include "nl.h"
#include "procmaps.h"
#include "sample.h"

/* A set of addresses; what comes twice goes when it is sorted. */
struct addrs {
	uint64_t *all;
	size_t n, room;
};

struct learn {
	struct pd_reader reader;
	struct procmaps *maps;
	struct addrs kernel;	/* of code, and of locks */
	struct addrs locks;
	struct pd_build_id *ids;
	size_t nr_ids;
	struct symres *symres;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct addrs *s)
{
	size_t i, n = 0;

	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare);
	for (i = 0; i < s->n; i++)
		if (!n || s->all[n - 1] != s->all[i])
			s->all[n++] = s->all[i];
	s->n = n;
}

static void add(struct addrs *s, uint64_t addr)
{
	if (s->n == s->room) {
		sort(s);
		if (s->n >= s->room / 2) {
			s->room = s->room ? s->room * 2 : 4096;
			s->all = ctl_realloc(s->all, s->room, sizeof(*s->all));
		}
	}
	s->all[s->n++] = addr;
}

static void look_at_sample(struct learn *l, const struct perf_event_attr *attr,
			   const struct perf_event_header *record)
{
	struct lockheld_sample_lock locks[LOCKHELD_SAMPLE_LOCKS_MAX];
	struct lockheld_sample_tail tail;
	struct chain_walk walk;
	struct procmap *map;
	struct sample s;
	uint64_t addr;
	bool kernel;
	int i, n;

	if (!sample_parse(attr, record, &s))
		return;
	chain_start(&walk, &s);
	while (chain_next(&walk, &addr, &kernel)) {
		if (kernel)
			add(&l->kernel, addr);
		map = kernel ? procmaps_find_kernel(l->maps, addr) :
			       procmaps_find(l->maps, s.pid, addr, s.time);
		if (map)
			map->hit = true;
	}
	n = sample_locks(&s, locks, &tail);
	for (i = 0; i < n; i++) {
		if (locks[i].addr)
			add(&l->locks, locks[i].addr);
		if (locks[i].ip)
			add(&l->kernel, locks[i].ip - 1);
	}
}

static void look_at_maps(struct learn *l, const struct perf_event_attr *attr,
			 const struct perf_event_header *record)
{
	uint64_t time = 0;

	record_time(attr, record, &time);
	procmaps_add(l->maps, record, time, record_trailer(attr));
}

/* Return: 0, -1 if the file could not be read to its end. */
static int each_record(struct learn *l, bool samples)
{
	const struct perf_event_header *record;
	uint64_t offset;
	int ret;

	pd_rewind(&l->reader);
	while ((ret = pd_next(&l->reader, &record, &offset)) > 0) {
		size_t e = pd_event_of(&l->reader, record);

		if (e == SIZE_MAX ||
		    (record->type == PERF_RECORD_SAMPLE) != samples)
			continue;
		if (samples)
			look_at_sample(l, &l->reader.events[e].attr, record);
		else
			look_at_maps(l, &l->reader.events[e].attr, record);
	}
	return ret;
}

/* The same file is mapped by many. */
static bool known(const struct learn *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->nr_ids; i++)
		if (!strcmp(l->ids[i].path, path))
			return true;
	return false;
}

/* Of a file: only if it is still the one that was mapped. Of a module: as the
 * kernel has it. Return: bytes, or less than 1. */
static int read_build_id(struct learn *l, const struct procmap *m, bool kernel,
			 unsigned char *id)
{
	struct stat st;

	if (!kernel) {
		if (m->path[0] != '/' || stat(m->path, &st) ||
		    (m->inode && st.st_ino != m->inode))
			return 0;
		return symres_build_id(l->symres, m->path, id);
	}
	if (!strncmp(m->path, "[kernel", 7))
		return symres_build_id(l->symres, "[kernel]", id);
	return m->path[0] == '/' ? symres_build_id(l->symres, m->path, id) : 0;
}

static void learn_build_id(struct procmap *m, bool kernel, void *arg)
{
	struct learn *l = arg;
	const char *path = m->path;
	unsigned char id[SYMRES_BUILD_ID_MAX];
	int len = (int)m->build_id_len;
	struct pd_build_id *b;

	if (kernel && !strncmp(path, "[kernel.kallsyms]", 17))
		path = "[kernel.kallsyms]";
	if (!m->hit || known(l, path))
		return;
	if (m->build_id)
		memcpy(id, m->build_id, m->build_id_len);
	else
		len = read_build_id(l, m, kernel, id);
	if (len < 1 || len > PD_BUILD_ID_LEN)
		return;
	l->ids = ctl_realloc(l->ids, l->nr_ids + 1, sizeof(*l->ids));
	b = &l->ids[l->nr_ids++];
	memset(b, 0, sizeof(*b));
	b->misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	memcpy(b->id, id, (size_t)len);
	b->len = (size_t)len;
	b->path = ctl_strdup(path);
}

static bool learn_symbol(struct learn *l, struct notes *notes, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	if (symres_lookup_kernel(l->symres, addr, &sym) != 1)
		return false;
	notes_add_symbol(notes, addr, sym.offset, sym.name,
			 sym.module ? sym.module : "[kernel]");
	return true;
}

static void learn_kernel(struct learn *l, struct lhnl *nl, struct notes *notes)
{
	char name[128];
	size_t i;

	sort(&l->kernel);
	sort(&l->locks);
	for (i = 0; i < l->kernel.n; i++)
		learn_symbol(l, notes, l->kernel.all[i]);
	for (i = 0; i < l->locks.n; i++) {
		uint64_t addr = l->locks.all[i];

		if (learn_symbol(l, notes, addr) || !nl)
			continue;
		if (!lhnl_lock_name(nl, addr, name, sizeof(name)))
			notes_add_slab(notes, addr, name);
	}
}

void learn_names(struct pd_writer *file, const char *path,
		 struct symres *symres, struct lhnl *nl, struct notes *notes)
{
	struct learn l = { .symres = symres, .maps = procmaps_new() };
	size_t i;

	if (!pd_reader_open(&l.reader, path) && !each_record(&l, false)) {
		procmaps_ready(l.maps);
		each_record(&l, true);
		learn_kernel(&l, nl, notes);
		procmaps_each(l.maps, learn_build_id, &l);
		pd_set_build_ids(file, l.ids, l.nr_ids);
	}
	for (i = 0; i < l.nr_ids; i++)
		free(l.ids[i].path);
	free(l.ids);
	free(l.kernel.all);
	free(l.locks.all);
	pd_reader_close(&l.reader);
	procmaps_free(l.maps);
}
