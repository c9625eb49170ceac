// SPDX-License-Identifier: GPL-2.0-only
/* Writing perf.data, so that it can be read at any moment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "perfdata.h"
#include "perfdata_format.h"

#define RESERVE	4096		/* bytes by which the tail may still grow */
#define ALIGN8(n) (((n) + 7) & ~(uint64_t)7)

struct blob {
	void *buf;
	size_t len;
	uint64_t offset;	/* in the file, before the data; 0: in the tail */
};

/*
 * The table of features has to stand where the data ends. It is not written
 * over when more data comes: the new data go behind it, and only when they have
 * a tail of their own is the old one made a record that readers skip. So the
 * header always describes a whole file.
 */
struct pd_writer {
	char *path;
	char *old;		/* what stood at @path before, or NULL */
	int fd;
	struct pd_file_header header;	/* as in the file, once sealed */
	uint64_t end;		/* where the next data go */
	uint64_t tail_size;	/* of the last tail; 0: there is none yet */
	struct blob features[PD_NR_FEATURES];
	struct blob notes;
};

static int write_at(int fd, const void *buf, size_t len, uint64_t offset)
{
	const char *p = buf;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static void add(struct blob *b, const void *bytes, size_t len)
{
	if (!len)
		return;
	b->buf = ctl_realloc(b->buf, b->len + len, 1);
	if (bytes)
		memcpy((char *)b->buf + b->len, bytes, len);
	else
		memset((char *)b->buf + b->len, 0, len);
	b->len += len;
}

static void add_u32(struct blob *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static size_t padded(size_t len)
{
	return (len + PD_STRING_ALIGN) & ~(size_t)(PD_STRING_ALIGN - 1);
}

/* Its padded length, the bytes, and NULs up to that length. */
static void add_string(struct blob *b, const char *s)
{
	size_t len = strlen(s);

	add_u32(b, (uint32_t)padded(len));
	add(b, s, len);
	add(b, NULL, padded(len) - len);
}

void pd_set_feature(struct pd_writer *w, enum pd_feature feature, void *buf,
		    size_t len)
{
	free(w->features[feature].buf);
	w->features[feature] = (struct blob){ .buf = buf, .len = len };
}

void pd_set_string(struct pd_writer *w, enum pd_feature feature,
		   const char *text)
{
	struct blob b = { 0 };

	add_string(&b, text);
	pd_set_feature(w, feature, b.buf, b.len);
}

void pd_set_cmdline(struct pd_writer *w, const char *program, int argc,
		    char **argv)
{
	struct blob b = { 0 };
	int i;

	add_u32(&b, (uint32_t)argc + 1);
	add_string(&b, program);
	for (i = 0; i < argc; i++)
		add_string(&b, argv[i]);
	pd_set_feature(w, PD_CMDLINE, b.buf, b.len);
}

void pd_set_event_desc(struct pd_writer *w, const struct pd_event *events,
		       size_t nr_events)
{
	struct blob b = { 0 };
	size_t i;

	add_u32(&b, (uint32_t)nr_events);
	add_u32(&b, sizeof(events->attr));
	for (i = 0; i < nr_events; i++) {
		add(&b, &events[i].attr, sizeof(events->attr));
		add_u32(&b, (uint32_t)events[i].nr_ids);
		add_string(&b, events[i].name);
		add(&b, events[i].ids, events[i].nr_ids * sizeof(uint64_t));
	}
	pd_set_feature(w, PD_EVENT_DESC, b.buf, b.len);
}

void pd_set_build_ids(struct pd_writer *w, const struct pd_build_id *ids,
		      size_t n)
{
	struct blob b = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		size_t len = strlen(ids[i].path);
		struct pd_build_id_entry e = {
			.header.misc = ids[i].misc | PD_MISC_BUILD_ID_SIZE,
			.header.size = (uint16_t)(sizeof(e) + padded(len)),
			.pid = -1,
			.len = (uint8_t)ids[i].len,
		};

		memcpy(e.id, ids[i].id, sizeof(e.id));
		add(&b, &e, sizeof(e));
		add(&b, ids[i].path, len);
		add(&b, NULL, padded(len) - len);
	}
	pd_set_feature(w, PD_BUILD_ID, b.buf, b.len);
}

void pd_set_notes(struct pd_writer *w, const char *text, size_t len)
{
	struct pd_notes_head head = { .size = len };

	memcpy(head.magic, PD_NOTES_MAGIC, sizeof(head.magic));
	free(w->notes.buf);
	memset(&w->notes, 0, sizeof(w->notes));
	add(&w->notes, &head, sizeof(head));
	add(&w->notes, text, len);
	add(&w->notes, NULL, ALIGN8(len) - len);
}

static int write_events(struct pd_writer *w, const struct pd_event *events,
			size_t nr_events)
{
	struct blob ids = { 0 }, attrs = { 0 };
	uint64_t offset = sizeof(w->header);
	int ret;
	size_t i;

	for (i = 0; i < nr_events; i++) {
		struct pd_section s = {
			.offset = offset + ids.len,
			.size = events[i].nr_ids * sizeof(uint64_t),
		};

		add(&ids, events[i].ids, s.size);
		add(&attrs, &events[i].attr, sizeof(events->attr));
		add(&attrs, &s, sizeof(s));
	}
	w->header.attrs.offset = offset + ids.len;
	w->header.attrs.size = attrs.len;
	w->end = offset + ids.len + attrs.len;
	ret = write_at(w->fd, ids.buf, ids.len, offset);
	if (!ret)
		ret = write_at(w->fd, attrs.buf, attrs.len,
			       w->header.attrs.offset);
	free(ids.buf);
	free(attrs.buf);
	return ret;
}

/* As perf does: what is there is kept once more, under another name. */
static int keep_old(struct pd_writer *w)
{
	struct stat st;

	if (stat(w->path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	w->old = ctl_printf("%s.old", w->path);
	return rename(w->path, w->old) ? -errno : 0;
}

int pd_create(struct pd_writer **out, const char *path,
	      const struct pd_event *events, size_t nr_events)
{
	struct pd_writer *w = ctl_zalloc(sizeof(*w));
	int ret;

	w->path = ctl_strdup(path);
	w->fd = -1;
	memcpy(w->header.magic, PD_MAGIC, sizeof(w->header.magic));
	w->header.size = sizeof(w->header);
	w->header.attr_size = sizeof(events->attr) + sizeof(struct pd_section);
	ret = keep_old(w);
	if (!ret) {
		w->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
			     S_IRUSR | S_IWUSR);
		ret = w->fd < 0 ? -errno : 0;
	}
	if (!ret)
		ret = write_events(w, events, nr_events);
	if (ret) {
		pd_abandon(w);
		return ret;
	}
	pd_set_event_desc(w, events, nr_events);
	*out = w;
	return 0;
}

uint64_t pd_data_size(const struct pd_writer *w)
{
	return w->header.data.size;
}

/* Features that are known before there is data, and will not change. */
static int write_front(struct pd_writer *w)
{
	const struct perf_event_header unused = {
		.type = PD_RECORD_UNUSED,
		.size = sizeof(unused),
	};
	int ret = 0;
	size_t i;

	if (w->header.data.offset)
		return 0;
	for (i = 0; i < PD_NR_FEATURES && !ret; i++) {
		struct blob *f = &w->features[i];

		if (!f->buf)
			continue;
		ret = write_at(w->fd, f->buf, f->len, w->end);
		f->offset = w->end;
		w->end = ALIGN8(w->end + f->len);
	}
	/* Data of no bytes at all would mean a recorder that was killed. */
	w->header.data.offset = w->end;
	if (!ret)
		ret = write_at(w->fd, &unused, sizeof(unused), w->end);
	w->end += sizeof(unused);
	return ret;
}

int pd_write(struct pd_writer *w, const void *buf, size_t len)
{
	int ret = write_front(w);

	if (!ret)
		ret = write_at(w->fd, buf, len, w->end);
	/* The last of the disk is for pd_seal(). */
	if (!ret && fallocate(w->fd, FALLOC_FL_KEEP_SIZE,
			      (off_t)(w->end + len),
			      (off_t)(w->tail_size + RESERVE)) &&
	    errno != EOPNOTSUPP)
		ret = -errno;
	if (!ret)
		w->end += len;
	return ret;
}

/* Table, notes, and the features that came late, for data that end here. */
static struct blob make_tail(const struct pd_writer *w,
			     struct pd_file_header *header)
{
	struct blob tail = { 0 }, late = { 0 };
	uint64_t behind = w->end + w->notes.len;
	size_t i;

	for (i = 0; i < PD_NR_FEATURES; i++)
		if (w->features[i].buf)
			behind += sizeof(struct pd_section);
	memset(header->features, 0, sizeof(header->features));
	for (i = 0; i < PD_NR_FEATURES; i++) {
		const struct blob *f = &w->features[i];
		struct pd_section s = { .offset = f->offset, .size = f->len };

		if (!f->buf)
			continue;
		header->features[i / 64] |= 1ULL << (i % 64);
		if (!f->offset) {
			s.offset = behind + late.len;
			add(&late, f->buf, f->len);
		}
		add(&tail, &s, sizeof(s));
	}
	add(&tail, w->notes.buf, w->notes.len);
	add(&tail, late.buf, late.len);
	add(&tail, NULL, ALIGN8(tail.len) - tail.len);
	free(late.buf);
	return tail;
}

/* What was a tail is now among the data. */
static int make_skipped(const struct pd_writer *w)
{
	uint64_t at = w->header.data.offset + w->header.data.size;
	uint64_t left = w->tail_size;
	int ret = 0;

	while (left && !ret) {
		struct perf_event_header record = {
			.type = PD_RECORD_UNUSED,
			.size = left < PD_RECORD_MAX ? (uint16_t)left :
						       PD_RECORD_MAX,
		};

		ret = write_at(w->fd, &record, sizeof(record), at);
		at += record.size;
		left -= record.size;
	}
	return ret;
}

int pd_seal(struct pd_writer *w)
{
	int ret = write_front(w);
	struct pd_file_header header = w->header;
	struct blob tail = make_tail(w, &header);

	header.data.size = w->end - header.data.offset;
	if (!ret)
		ret = write_at(w->fd, tail.buf, tail.len, w->end);
	if (!ret && ftruncate(w->fd, (off_t)(w->end + tail.len)))
		ret = -errno;
	if (!ret)
		ret = make_skipped(w);
	if (!ret)
		ret = write_at(w->fd, &header, sizeof(header), 0);
	if (!ret) {
		w->header = header;
		w->tail_size = tail.len;
		w->end += tail.len;
	}
	free(tail.buf);
	return ret;
}

static int close_writer(struct pd_writer *w)
{
	int ret = 0;
	size_t i;

	if (w->fd >= 0 && close(w->fd))
		ret = -errno;
	for (i = 0; i < PD_NR_FEATURES; i++)
		free(w->features[i].buf);
	free(w->notes.buf);
	free(w->path);
	free(w->old);
	free(w);
	return ret;
}

int pd_close(struct pd_writer *w)
{
	uint64_t end = w->header.data.offset + w->header.data.size +
		       w->tail_size;
	int cut = ftruncate(w->fd, (off_t)end) ? -errno : 0;
	int ret = close_writer(w);

	return ret ? ret : cut;
}

void pd_abandon(struct pd_writer *w)
{
	if (w->fd >= 0)
		unlink(w->path);
	if (w->old && (w->fd >= 0 || access(w->path, F_OK)))
		rename(w->old, w->path);
	close_writer(w);
}
