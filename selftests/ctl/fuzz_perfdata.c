// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a recording: the reader and all that looks into records. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "notes.h"
#include "perfdata.h"
#include "procmaps.h"
#include "sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sink;

static void look_at_sample(struct procmaps *maps, const struct sample *s)
{
	struct lockheld_sample_lock locks[LOCKHELD_SAMPLE_LOCKS_MAX];
	struct lockheld_sample_tail tail;
	struct chain_walk walk;
	struct procmap *m;
	uint64_t addr;
	bool kernel;
	int i, n;

	chain_start(&walk, s);
	while (chain_next(&walk, &addr, &kernel)) {
		m = kernel ? procmaps_find_kernel(maps, addr) :
			     procmaps_find(maps, s->pid, addr, s->time);
		if (m)
			sink += (uint64_t)*m->path + m->build_id_len;
	}
	n = sample_locks(s, locks, &tail);
	for (i = 0; i < n; i++)
		sink += locks[i].addr;
}

static void each(struct pd_reader *r, struct procmaps *maps, bool samples)
{
	const struct perf_event_header *record;
	struct sample s;
	uint64_t offset;

	pd_rewind(r);
	while (pd_next(r, &record, &offset) > 0) {
		size_t e = pd_event_of(r, record);
		const struct perf_event_attr *attr;
		uint64_t time = 0;

		if (e == SIZE_MAX)
			continue;
		attr = &r->events[e].attr;
		record_time(attr, record, &time);
		if (!samples)
			procmaps_add(maps, record, time, record_trailer(attr));
		else if (record->type == PERF_RECORD_SAMPLE &&
			 sample_parse(attr, record, &s))
			look_at_sample(maps, &s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct procmaps *maps = procmaps_new();
	struct notes notes = { 0 };
	struct pd_reader r;
	char path[64];
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!pd_reader_open(&r, path)) {
		each(&r, maps, false);
		procmaps_ready(maps);
		each(&r, maps, true);
		if (r.notes)
			notes_parse(&notes, r.notes, r.notes_len);
		notes_symbol(&notes, 1);
		notes_slab(&notes, 1);
	}
	pd_reader_close(&r);
	procmaps_free(maps);
	notes_free(&notes);
	close(fd);
	return 0;
}
