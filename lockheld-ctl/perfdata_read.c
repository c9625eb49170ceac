// SPDX-License-Identifier: GPL-2.0-only
/* Reading perf.data: ours, perf's, damaged ones. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "perfdata.h"
#include "perfdata_format.h"

#define EVENTS_MAX	4096
#define FEATURE_MAX	(64u << 20)	/* bytes of a section that is believed */

/* A section in memory, eaten from the front. */
struct cursor {
	const unsigned char *p;
	size_t left;
};

int pd_fail(struct pd_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	free(r->error);
	r->error = ctl_vprintf(fmt, ap);
	va_end(ap);
	return -1;
}

int pd_damaged(struct pd_reader *r, const char *what)
{
	return pd_fail(r, "'%s' is damaged: %s", r->path, what);
}

ssize_t pd_read_at(struct pd_reader *r, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(r->fd, (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pd_fail(r, "cannot read '%s': %s", r->path,
				    strerror(errno));
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static bool inside(const struct pd_reader *r, const struct pd_section *s)
{
	return s->offset <= r->file_size && s->size <= r->file_size - s->offset;
}

/* NULL, with a message, if the section is not all there. */
static unsigned char *read_section(struct pd_reader *r,
				   const struct pd_section *s, const char *what)
{
	unsigned char *buf;
	ssize_t n;

	if (!inside(r, s) || s->size > FEATURE_MAX) {
		pd_damaged(r, what);
		return NULL;
	}
	buf = ctl_realloc(NULL, s->size + 1, 1);
	n = pd_read_at(r, buf, s->size, s->offset);
	if (n == (ssize_t)s->size) {
		buf[s->size] = 0;
		return buf;
	}
	if (n >= 0)
		pd_damaged(r, what);
	free(buf);
	return NULL;
}

static bool take(struct cursor *c, void *out, size_t len)
{
	if (len > c->left)
		return false;
	if (out)
		memcpy(out, c->p, len);
	c->p += len;
	c->left -= len;
	return true;
}

static char *take_string(struct cursor *c)
{
	uint32_t len;
	char *s;

	if (!take(c, &len, sizeof(len)) || len > c->left)
		return NULL;
	s = ctl_zalloc((size_t)len + 1);
	take(c, s, len);
	return s;
}

int pd_compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct pd_id *)a)->id;
	uint64_t y = ((const struct pd_id *)b)->id;

	return x < y ? -1 : x > y;
}

static void index_ids(struct pd_reader *r)
{
	size_t i, j;

	for (i = 0; i < r->nr_events; i++) {
		const struct pd_event *e = &r->events[i];

		r->ids = ctl_realloc(r->ids, r->nr_ids + e->nr_ids + 1,
				     sizeof(*r->ids));
		for (j = 0; j < e->nr_ids; j++)
			r->ids[r->nr_ids++] =
				(struct pd_id){ .id = e->ids[j], .event = i };
	}
	qsort(r->ids, r->nr_ids, sizeof(*r->ids), pd_compare_ids);
}

static int read_ids(struct pd_reader *r, struct pd_event *e,
		    const struct pd_section *s)
{
	e->nr_ids = s->size / sizeof(uint64_t);
	if (!e->nr_ids)
		return 0;
	e->ids = (uint64_t *)read_section(r, s, "the ids of an event");
	return e->ids ? 0 : -1;
}

static int read_events(struct pd_reader *r, const struct pd_file_header *h)
{
	size_t attr_size = h->attr_size - sizeof(struct pd_section);
	size_t known = attr_size;
	unsigned char *buf;
	int ret = 0;
	size_t i;

	if (h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(struct pd_section) ||
	    h->attr_size > 65536 || !h->attrs.size ||
	    h->attrs.size % h->attr_size ||
	    h->attrs.size / h->attr_size > EVENTS_MAX)
		return pd_damaged(r, "the list of its events");
	if (known > sizeof(r->events->attr))
		known = sizeof(r->events->attr);
	buf = read_section(r, &h->attrs, "the list of its events");
	if (!buf)
		return -1;
	r->nr_events = h->attrs.size / h->attr_size;
	r->events = ctl_zalloc(r->nr_events * sizeof(*r->events));
	for (i = 0; i < r->nr_events && !ret; i++) {
		const unsigned char *p = buf + i * h->attr_size;
		struct pd_section ids;

		memcpy(&r->events[i].attr, p, known);
		memcpy(&ids, p + attr_size, sizeof(ids));
		ret = read_ids(r, &r->events[i], &ids);
	}
	free(buf);
	if (!ret)
		index_ids(r);
	return ret;
}

/*
 * Names stand in the order of the events. Only they are needed: the rest of
 * the section repeats what the list of events says.
 */
static void read_event_desc(struct pd_reader *r, struct cursor *c)
{
	uint32_t n, attr_size, nr_ids, i;

	if (!take(c, &n, sizeof(n)) || !take(c, &attr_size, sizeof(attr_size)))
		return;
	for (i = 0; i < n && i < r->nr_events; i++) {
		char *name;

		if (!take(c, NULL, attr_size) ||
		    !take(c, &nr_ids, sizeof(nr_ids)))
			return;
		name = take_string(c);
		if (!name)
			return;
		free(r->events[i].name);
		r->events[i].name = name;
		if (!take(c, NULL, (size_t)nr_ids * sizeof(uint64_t)))
			return;
	}
}

static void read_cmdline(struct pd_reader *r, struct cursor *c)
{
	uint32_t n, i;

	if (!take(c, &n, sizeof(n)))
		return;
	for (i = 0; i < n; i++) {
		char *arg = take_string(c), *line;

		if (!arg)
			return;
		line = r->cmdline ? ctl_printf("%s %s", r->cmdline, arg) :
				    ctl_strdup(arg);
		free(r->cmdline);
		free(arg);
		r->cmdline = line;
	}
}

static void read_build_ids(struct pd_reader *r, struct cursor *c)
{
	struct pd_build_id_entry e;

	while (take(c, &e, sizeof(e))) {
		size_t len = e.header.size - sizeof(e);
		struct pd_build_id *b;

		if (e.header.size < sizeof(e) || len > c->left)
			return;
		r->build_ids = ctl_realloc(r->build_ids, r->nr_build_ids + 1,
					   sizeof(*r->build_ids));
		b = &r->build_ids[r->nr_build_ids++];
		memset(b, 0, sizeof(*b));
		b->misc = e.header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		b->len = PD_BUILD_ID_LEN;
		if (e.header.misc & PD_MISC_BUILD_ID_SIZE &&
		    e.len < PD_BUILD_ID_LEN)
			b->len = e.len;
		memcpy(b->id, e.id, sizeof(b->id));
		b->path = ctl_zalloc(len + 1);
		take(c, b->path, len);
	}
}

static void read_feature(struct pd_reader *r, enum pd_feature feature,
			 struct cursor *c)
{
	char **string = NULL;

	switch (feature) {
	case PD_HOSTNAME:
		string = &r->hostname;
		break;
	case PD_OSRELEASE:
		string = &r->osrelease;
		break;
	case PD_VERSION:
		string = &r->version;
		break;
	case PD_ARCH:
		string = &r->arch;
		break;
	case PD_CMDLINE:
		read_cmdline(r, c);
		break;
	case PD_EVENT_DESC:
		read_event_desc(r, c);
		break;
	case PD_BUILD_ID:
		read_build_ids(r, c);
		break;
	default:
		break;
	}
	if (string)
		*string = take_string(c);
}

/* What is missing here is missed by the report, but does not stop it. */
static void read_features(struct pd_reader *r, const struct pd_file_header *h)
{
	uint64_t at = r->data_offset + r->data_size;
	unsigned int i;

	/* every recorder writes some at its end */
	r->unfinished = !(h->features[0] | h->features[1] | h->features[2] |
			  h->features[3]);

	for (i = 0; i < PD_NR_FEATURES; i++) {
		struct pd_section s;
		struct cursor c;
		unsigned char *buf;

		if (!(h->features[i / 64] & (1ULL << (i % 64))))
			continue;
		if (pd_read_at(r, &s, sizeof(s), at) != sizeof(s))
			return;
		at += sizeof(s);
		if (i == PD_TRACING_DATA || i > PD_EVENT_DESC)
			continue;
		buf = read_section(r, &s, "a feature section");
		if (!buf)
			continue;
		c = (struct cursor){ .p = buf, .left = s.size };
		read_feature(r, i, &c);
		free(buf);
	}
}

static void read_notes(struct pd_reader *r, const struct pd_file_header *h)
{
	struct pd_section s = { .offset = r->data_offset + r->data_size };
	struct pd_notes_head head;
	size_t i;

	for (i = 0; i < PD_NR_FEATURES; i++)
		if (h->features[i / 64] & (1ULL << (i % 64)))
			s.offset += sizeof(struct pd_section);
	if (pd_read_at(r, &head, sizeof(head), s.offset) != sizeof(head) ||
	    memcmp(head.magic, PD_NOTES_MAGIC, sizeof(head.magic)))
		return;
	s.offset += sizeof(head);
	s.size = head.size;
	r->notes = (char *)read_section(r, &s, "lockheld's notes");
	if (r->notes)
		r->notes_len = s.size;
}

static int check_header(struct pd_reader *r, const struct pd_file_header *h,
			size_t len)
{
	if (len >= sizeof(h->magic) &&
	    !memcmp(h->magic, PD_MAGIC_SWAPPED, sizeof(h->magic)))
		return pd_fail(r, "'%s' was recorded on a machine of the other byte order: report it there",
			    r->path);
	if (len < sizeof(h->magic) ||
	    memcmp(h->magic, PD_MAGIC, sizeof(h->magic)))
		return pd_fail(r, "'%s' is not a perf.data file", r->path);
	if (len >= 16 && h->size == 16)
		return pd_fail(r, "'%s' was written by perf to a pipe: record to a file (perf record -o FILE)",
			    r->path);
	if (len < sizeof(*h) || h->size != sizeof(*h))
		return pd_damaged(r, "its header");
	return 0;
}

static int open_file(struct pd_reader *r)
{
	struct stat st;

	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st))
		return pd_fail(r, errno == ENOENT ?
			    "cannot open '%s': %s (record one first, or name it with -i)" :
			    "cannot open '%s': %s", r->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return pd_fail(r, "'%s' is a directory; recordings of perf record --threads are not supported",
			    r->path);
	if (!S_ISREG(st.st_mode))
		return pd_fail(r, "'%s' is not a regular file", r->path);
	r->file_size = (uint64_t)st.st_size;
	return 0;
}

int pd_reader_open(struct pd_reader *r, const char *path)
{
	struct pd_file_header h = { 0 };
	ssize_t n;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->path = ctl_strdup(path);
	if (open_file(r))
		return -1;
	n = pd_read_at(r, &h, sizeof(h), 0);
	if (n < 0 || check_header(r, &h, (size_t)n) || read_events(r, &h))
		return -1;
	if (h.data.offset > r->file_size)
		return pd_damaged(r, "it ends before its samples");
	r->data_offset = h.data.offset;
	r->data_size = h.data.size;
	if (!r->data_size || !inside(r, &h.data)) {
		/* A recorder that was killed, or a copy that was cut short:
		 * what is there is worth reporting. */
		r->unfinished = true;
		r->data_size = r->file_size - r->data_offset;
	} else {
		read_features(r, &h);
		read_notes(r, &h);
	}
	free(r->error);
	r->error = NULL;
	r->buf = ctl_realloc(NULL, PD_BUF_SIZE, 1);
	pd_rewind(r);
	return 0;
}

void pd_reader_close(struct pd_reader *r)
{
	size_t i;

	for (i = 0; i < r->nr_events; i++) {
		free(r->events[i].name);
		free(r->events[i].ids);
	}
	for (i = 0; i < r->nr_build_ids; i++)
		free(r->build_ids[i].path);
	free(r->events);
	free(r->build_ids);
	free(r->hostname);
	free(r->osrelease);
	free(r->version);
	free(r->arch);
	free(r->cmdline);
	free(r->notes);
	free(r->ids);
	free(r->buf);
	free(r->error);
	free(r->path);
	if (r->fd >= 0)
		close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}
