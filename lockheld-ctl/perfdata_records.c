// SPDX-License-Identifier: GPL-2.0-only
/* The records of a perf.data file, one after another. */
#include <stdlib.h>
#include <string.h>

#include "perfdata.h"
#include "perfdata_format.h"

void pd_rewind(struct pd_reader *r)
{
	r->pos = r->data_offset;
	r->buf_at = 0;
	r->buf_len = 0;
}

/* Makes @want bytes of data available. Return: 1, 0 at the end, -1. */
static int fill(struct pd_reader *r, size_t want)
{
	uint64_t end = r->data_offset + r->data_size;
	size_t room;
	ssize_t n;

	if (r->buf_len - r->buf_at >= want)
		return 1;
	memmove(r->buf, r->buf + r->buf_at, r->buf_len - r->buf_at);
	r->buf_len -= r->buf_at;
	r->buf_at = 0;
	room = PD_BUF_SIZE - r->buf_len;
	if (room > end - r->pos)
		room = end - r->pos;
	n = pd_read_at(r, r->buf + r->buf_len, room, r->pos);
	if (n < 0)
		return -1;
	r->pos += (uint64_t)n;
	r->buf_len += (size_t)n;
	return r->buf_len >= want;
}

/* The bytes of hardware traces follow their record, and nobody here wants
 * them. Return as fill(). */
static int skip_trace(struct pd_reader *r,
		      const struct perf_event_header *record)
{
	uint64_t size, end = r->data_offset + r->data_size;
	size_t here;

	if (record->size < sizeof(*record) + sizeof(size))
		return pd_damaged(r, "a record of hardware trace data");
	memcpy(&size, record + 1, sizeof(size));
	if (size % 8)
		return pd_damaged(r, "a record of hardware trace data");
	here = r->buf_len - r->buf_at;
	if (size <= here) {
		r->buf_at += size;
		return 1;
	}
	if (size - here > end - r->pos)
		return 0;
	r->pos += size - here;
	r->buf_at = r->buf_len = 0;
	return 1;
}

int pd_next(struct pd_reader *r, const struct perf_event_header **record,
	    uint64_t *offset)
{
	const struct perf_event_header *h;
	int ret;

	for (;;) {
		ret = fill(r, sizeof(*h));
		if (ret <= 0)
			return ret;
		h = (const void *)(r->buf + r->buf_at);
		if (!h->type && !h->size && r->unfinished)
			return 0;
		if (h->type == PD_RECORD_COMPRESSED)
			return pd_fail(r, "'%s' is compressed: record it without -z",
				    r->path);
		/* All others are whole words, and their readers rely on it. */
		if (h->size < sizeof(*h) || h->size % 8)
			return pd_damaged(r, "a record of impossible size");
		ret = fill(r, h->size);
		if (ret < 0)
			return ret;
		if (!ret) {
			/* cut off in the middle of a record */
			r->unfinished = true;
			return 0;
		}
		h = (const void *)(r->buf + r->buf_at);
		*offset = r->pos - (r->buf_len - r->buf_at);
		r->buf_at += h->size;
		if (h->type != PD_RECORD_AUXTRACE)
			break;
		ret = skip_trace(r, h);
		if (ret <= 0)
			return ret;
	}
	*record = h;
	return 1;
}

/* Where the id of the event is in a sample, in words; -1: nowhere. */
static int id_word(uint64_t type)
{
	int word = 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	word += !!(type & PERF_SAMPLE_IP);
	word += !!(type & PERF_SAMPLE_TID);
	word += !!(type & PERF_SAMPLE_TIME);
	word += !!(type & PERF_SAMPLE_ADDR);
	return word;
}

/* The same in the trailer of other records, in words from their end. */
static int id_word_from_end(uint64_t type)
{
	int word = 1;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return word;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	word += !!(type & PERF_SAMPLE_CPU);
	word += !!(type & PERF_SAMPLE_STREAM_ID);
	return word;
}

size_t pd_event_of(const struct pd_reader *r,
		   const struct perf_event_header *record)
{
	uint64_t type = r->events[0].attr.sample_type;
	const uint64_t *words = (const uint64_t *)(record + 1);
	size_t nr = record->size / 8 - 1;
	struct pd_id key, *found;
	int at;

	if (r->nr_events == 1)
		return 0;
	if (record->type == PERF_RECORD_SAMPLE) {
		at = id_word(type);
	} else {
		at = id_word_from_end(type);
		if (!r->events[0].attr.sample_id_all)
			return 0;
		if (at > 0)
			at = (int)nr - at;
	}
	if (at < 0 || (size_t)at >= nr)
		return SIZE_MAX;
	key.id = words[at];
	/* what the recorder made up itself has no id */
	if (!key.id && record->type != PERF_RECORD_SAMPLE)
		return 0;
	found = bsearch(&key, r->ids, r->nr_ids, sizeof(key), pd_compare_ids);
	return found ? found->event : SIZE_MAX;
}
