// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "sample.h"

/* The words of a record, eaten from the front. */
struct words {
	const uint64_t *p;
	size_t left;
};

static bool take(struct words *w, uint64_t *out)
{
	if (!w->left)
		return false;
	if (out)
		*out = *w->p;
	w->p++;
	w->left--;
	return true;
}

static bool skip(struct words *w, uint64_t n)
{
	if (n > w->left)
		return false;
	w->p += n;
	w->left -= n;
	return true;
}

static bool skip_read(struct words *w, uint64_t format)
{
	uint64_t n = 1, each = 1;

	each += !!(format & PERF_FORMAT_ID);
	each += !!(format & PERF_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP && !take(w, &n))
		return false;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED && !take(w, NULL))
		return false;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING && !take(w, NULL))
		return false;
	return n <= w->left && skip(w, n * each);
}

/* Two 32-bit numbers share a word. */
static bool take_pair(struct words *w, uint32_t pair[2])
{
	uint64_t v;

	if (!take(w, &v))
		return false;
	memcpy(pair, &v, sizeof(v));
	return true;
}

static bool take_raw(struct words *w, struct sample *s)
{
	size_t bytes = w->left * 8;
	uint32_t size;

	if (!w->left)
		return false;
	memcpy(&size, w->p, sizeof(size));
	if (size > bytes - sizeof(size))
		return false;
	s->raw = (const unsigned char *)w->p + sizeof(size);
	s->raw_size = size;
	return true;
}

static bool take_chain(struct words *w, struct sample *s)
{
	if (!take(w, &s->nr_chain))
		return false;
	s->chain = w->p;
	return skip(w, s->nr_chain);
}

bool sample_parse(const struct perf_event_attr *attr,
		  const struct perf_event_header *record, struct sample *s)
{
	uint64_t type = attr->sample_type;
	struct words w = {
		.p = (const uint64_t *)(record + 1),
		.left = record->size / 8 - 1,
	};
	uint32_t pair[2];

	memset(s, 0, sizeof(*s));
	s->misc = record->misc;
	s->period = attr->freq ? 1 : attr->sample_period;
	if (type & PERF_SAMPLE_IDENTIFIER && !take(&w, NULL))
		return false;
	if (type & PERF_SAMPLE_IP && !take(&w, &s->ip))
		return false;
	if (type & PERF_SAMPLE_TID) {
		if (!take_pair(&w, pair))
			return false;
		s->pid = pair[0];
		s->tid = pair[1];
	}
	if (type & PERF_SAMPLE_TIME && !take(&w, &s->time))
		return false;
	if (type & PERF_SAMPLE_ADDR && !take(&w, NULL))
		return false;
	if (type & PERF_SAMPLE_ID && !take(&w, NULL))
		return false;
	if (type & PERF_SAMPLE_STREAM_ID && !take(&w, NULL))
		return false;
	if (type & PERF_SAMPLE_CPU) {
		if (!take_pair(&w, pair))
			return false;
		s->cpu = pair[0];
	}
	if (type & PERF_SAMPLE_PERIOD && !take(&w, &s->period))
		return false;
	if (type & PERF_SAMPLE_READ && !skip_read(&w, attr->read_format))
		return false;
	if (type & PERF_SAMPLE_CALLCHAIN && !take_chain(&w, s))
		return false;
	return !(type & PERF_SAMPLE_RAW) || take_raw(&w, s);
}

int sample_locks(const struct sample *s,
		 struct lockheld_sample_lock locks[LOCKHELD_SAMPLE_LOCKS_MAX],
		 struct lockheld_sample_tail *tail)
{
	/* The kernel may pad what stands behind the tail by up to 7 bytes. */
	size_t end, bytes;

	for (end = s->raw_size; end + 7 >= s->raw_size; end--) {
		if (end < sizeof(*tail))
			return -1;
		memcpy(tail, s->raw + end - sizeof(*tail), sizeof(*tail));
		if (tail->magic == LOCKHELD_SAMPLE_MAGIC)
			break;
	}
	if (tail->magic != LOCKHELD_SAMPLE_MAGIC || tail->version != 1 ||
	    tail->nr > LOCKHELD_SAMPLE_LOCKS_MAX)
		return -1;
	bytes = tail->nr * sizeof(*locks);
	end -= sizeof(*tail);
	if (bytes > end)
		return -1;
	memcpy(locks, s->raw + end - bytes, bytes);
	return tail->nr;
}

size_t record_trailer(const struct perf_event_attr *attr)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		PERF_SAMPLE_IDENTIFIER;

	if (!attr->sample_id_all)
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & fields);
}

bool record_time(const struct perf_event_attr *attr,
		 const struct perf_event_header *record, uint64_t *time)
{
	size_t len = record_trailer(attr);
	struct sample s;

	if (!(attr->sample_type & PERF_SAMPLE_TIME))
		return false;
	if (record->type == PERF_RECORD_SAMPLE) {
		if (!sample_parse(attr, record, &s))
			return false;
		*time = s.time;
		return true;
	}
	if (!len || record->size < sizeof(*record) + len)
		return false;
	*time = *(const uint64_t *)((const char *)record + record->size - len +
		(attr->sample_type & PERF_SAMPLE_TID ? 8 : 0));
	return true;
}

void chain_start(struct chain_walk *w, const struct sample *s)
{
	memset(w, 0, sizeof(*w));
	w->s = s;
	w->first = true;
	w->kernel = (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		    PERF_RECORD_MISC_KERNEL;
}

bool chain_next(struct chain_walk *w, uint64_t *addr, bool *kernel)
{
	const struct sample *s = w->s;

	if (!s->nr_chain) {
		if (!w->first)
			return false;
		w->first = false;
		*addr = s->ip;
		*kernel = w->kernel;
		return true;
	}
	while (w->at < s->nr_chain) {
		uint64_t ip = s->chain[w->at++];

		if (ip >= PERF_CONTEXT_MAX) {
			w->kernel = ip == PERF_CONTEXT_KERNEL;
			w->first = true;
			continue;
		}
		*addr = w->first || !ip ? ip : ip - 1;
		*kernel = w->kernel;
		w->first = false;
		return true;
	}
	return false;
}
