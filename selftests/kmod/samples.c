// SPDX-License-Identifier: GPL-2.0-only
/*
 * samples [-s] FILE: prints each sample of a perf.data file on a line, as words
 *
 *	event=N ip= pid= tid= time= addr= cpu= period= [seq= truth= ...]
 *	[filter= omitted= context= locks=ADDR/FAMILY/MODE/CONTEXT/FLAGS/IP/NS,...]
 *
 * seq and the words after it are the fields of holdmod:tick, if it is one;
 * filter and so on are what the module has appended. The last line counts:
 * "samples= lost=". With -s a line is "N SEQ", the event and the tick. It reads the file on its own, so that a test does not
 * rely on the code that it tests.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/lockheld.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_FORMAT	"/sys/kernel/tracing/events/holdmod/tick/format"
#define FIELDS_MAX	24
#define EVENTS_MAX	64

struct section {
	uint64_t offset;
	uint64_t size;
};

struct file_header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	struct section attrs;
	struct section data;
};

struct field {
	char name[32];
	unsigned int offset;
	unsigned int size;
};

struct event {
	struct perf_event_attr attr;
	uint64_t *ids;
	size_t nr_ids;
};

struct cursor {
	const unsigned char *pos;
	const unsigned char *end;
};

struct sample {
	const struct event *event;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t addr;
	uint32_t cpu;
	uint64_t period;
	const unsigned char *chain;
	uint64_t nr_chain;
	const unsigned char *raw;
	uint32_t raw_size;
};

static struct field fields[FIELDS_MAX];
static unsigned int nr_fields;
static unsigned long tick_id;
static struct event events[EVENTS_MAX];
static unsigned int nr_events;
static unsigned long nr_samples, nr_lost;
static bool seq_only;

static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("samples: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void read_tick_format(void)
{
	FILE *f = fopen(TICK_FORMAT, "r");
	char line[256];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		struct field *field = &fields[nr_fields];
		char *name, *semicolon;

		sscanf(line, "ID: %lu", &tick_id);
		semicolon = strchr(line, ';');
		if (!strstr(line, "field:") || strstr(line, "common_") ||
		    !semicolon || nr_fields == FIELDS_MAX)
			continue;
		if (sscanf(semicolon, ";\toffset:%u;\tsize:%u", &field->offset,
			   &field->size) != 2)
			die("cannot understand %s", TICK_FORMAT);
		*semicolon = 0;
		name = strrchr(line, ' ') + 1;
		snprintf(field->name, sizeof(field->name), "%.31s", name);
		nr_fields++;
	}
	fclose(f);
}

static void take(struct cursor *c, void *to, size_t size)
{
	if ((size_t)(c->end - c->pos) < size)
		die("a sample ends in the middle");
	memcpy(to, c->pos, size);
	c->pos += size;
}

static uint64_t take64(struct cursor *c)
{
	uint64_t v;

	take(c, &v, sizeof(v));
	return v;
}

static const unsigned char *skip(struct cursor *c, uint64_t size)
{
	const unsigned char *start = c->pos;

	if ((uint64_t)(c->end - c->pos) < size)
		die("a sample ends in the middle");
	c->pos += size;
	return start;
}

static void print_tick(const unsigned char *raw, size_t size)
{
	unsigned int i;

	for (i = 0; i < nr_fields; i++) {
		uint64_t v = 0;

		if (fields[i].offset + fields[i].size > size)
			die("a tick is too short");
		memcpy(&v, raw + fields[i].offset, fields[i].size);
		printf(" %s=%" PRIu64, fields[i].name, v);
	}
}

static void print_locks(const unsigned char *raw, size_t size)
{
	struct lockheld_sample_lock lock;
	struct lockheld_sample_tail tail;
	const unsigned char *first;
	unsigned int i;

	if (size < sizeof(tail))
		return;
	memcpy(&tail, raw + size - sizeof(tail), sizeof(tail));
	if (tail.magic != LOCKHELD_SAMPLE_MAGIC)
		return;
	if (tail.version != 1 || tail.nr > LOCKHELD_SAMPLE_LOCKS_MAX ||
	    size < sizeof(tail) + tail.nr * sizeof(lock))
		die("a record of locks is malformed");
	first = raw + size - sizeof(tail) - tail.nr * sizeof(lock);
	printf(" filter=%u omitted=%u lockctx=%u locks=", tail.filter,
	       tail.omitted, tail.context);
	for (i = 0; i < tail.nr; i++) {
		memcpy(&lock, first + i * sizeof(lock), sizeof(lock));
		if (lock.pad)
			die("a lock's padding is not 0");
		printf("%s0x%llx/%u/%u/%u/%u/0x%llx/%llu", i ? "," : "",
		       lock.addr, lock.family, lock.mode, lock.context,
		       lock.flags, lock.ip, lock.held_ns);
	}
}

static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = take64(c);
	else
		take64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		take64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		take64(c);
	while (format & PERF_FORMAT_GROUP && nr--) {
		take64(c);
		if (format & PERF_FORMAT_ID)
			take64(c);
	}
	if (!(format & PERF_FORMAT_GROUP) && format & PERF_FORMAT_ID)
		take64(c);
}

static const struct event *event_of(struct cursor c)
{
	unsigned int i;
	size_t j;
	uint64_t id;

	if (!(events[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER)) {
		if (nr_events > 1)
			die("samples of several events carry no identifier");
		return &events[0];
	}
	id = take64(&c);
	for (i = 0; i < nr_events; i++)
		for (j = 0; j < events[i].nr_ids; j++)
			if (events[i].ids[j] == id)
				return &events[i];
	die("a sample of an unknown event");
	return NULL;
}

static void parse_sample(struct cursor c, struct sample *s)
{
	uint64_t type;
	uint32_t ids[2];

	memset(s, 0, sizeof(*s));
	s->event = event_of(c);
	type = s->event->attr.sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take64(&c);
	if (type & PERF_SAMPLE_IP)
		s->ip = take64(&c);
	if (type & PERF_SAMPLE_TID) {
		take(&c, ids, sizeof(ids));
		s->pid = ids[0];
		s->tid = ids[1];
	}
	if (type & PERF_SAMPLE_TIME)
		s->time = take64(&c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = take64(&c);
	if (type & PERF_SAMPLE_ID)
		take64(&c);
	if (type & PERF_SAMPLE_STREAM_ID)
		take64(&c);
	if (type & PERF_SAMPLE_CPU) {
		take(&c, ids, sizeof(ids));
		s->cpu = ids[0];
	}
	s->period = s->event->attr.freq ? 1 : s->event->attr.sample_period;
	if (type & PERF_SAMPLE_PERIOD)
		s->period = take64(&c);
	if (type & PERF_SAMPLE_READ)
		skip_read(&c, s->event->attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->nr_chain = take64(&c);
		s->chain = skip(&c, s->nr_chain * sizeof(uint64_t));
	}
	if (type & PERF_SAMPLE_RAW) {
		take(&c, &s->raw_size, sizeof(s->raw_size));
		s->raw = skip(&c, s->raw_size);
	}
}

static bool is_tick(const struct sample *s)
{
	return s->raw && s->event->attr.type == PERF_TYPE_TRACEPOINT &&
	       s->event->attr.config == tick_id;
}

static void print_seq(const struct sample *s)
{
	uint64_t seq;

	if (!is_tick(s) || !nr_fields || strcmp(fields[0].name, "seq") ||
	    s->raw_size < fields[0].offset + sizeof(seq))
		die("a sample is not a tick");
	memcpy(&seq, s->raw + fields[0].offset, sizeof(seq));
	printf("%u %" PRIu64 "\n", (unsigned int)(s->event - events), seq);
}

static void print_sample(const struct sample *s)
{
	uint64_t ip, i;

	printf("event=%u ip=0x%" PRIx64 " pid=%u tid=%u time=%" PRIu64
	       " addr=0x%" PRIx64 " cpu=%u period=%" PRIu64,
	       (unsigned int)(s->event - events), s->ip, s->pid, s->tid,
	       s->time, s->addr, s->cpu, s->period);
	if (s->nr_chain)
		printf(" chain=");
	for (i = 0; i < s->nr_chain; i++) {
		memcpy(&ip, s->chain + i * sizeof(ip), sizeof(ip));
		printf("%s0x%" PRIx64, i ? "," : "", ip);
	}
	if (is_tick(s))
		print_tick(s->raw, s->raw_size);
	if (s->raw)
		print_locks(s->raw, s->raw_size);
	putchar('\n');
}

static void read_at(FILE *f, uint64_t offset, void *to, size_t size)
{
	if (fseeko(f, offset, SEEK_SET) || fread(to, 1, size, f) != size)
		die("the file ends too early");
}

static void read_events(FILE *f, const struct file_header *header)
{
	size_t size = header->attr_size;
	struct section ids;
	uint64_t i;

	if (size < sizeof(ids) + PERF_ATTR_SIZE_VER0)
		die("the size of attributes is %zu", size);
	nr_events = header->attrs.size / size;
	if (!nr_events || nr_events > EVENTS_MAX)
		die("the file has %u events", nr_events);
	for (i = 0; i < nr_events; i++) {
		size_t attr_size = size - sizeof(ids);

		if (attr_size > sizeof(events[i].attr))
			attr_size = sizeof(events[i].attr);
		read_at(f, header->attrs.offset + i * size, &events[i].attr,
			attr_size);
		read_at(f, header->attrs.offset + (i + 1) * size - sizeof(ids),
			&ids, sizeof(ids));
		events[i].nr_ids = ids.size / sizeof(uint64_t);
		events[i].ids = malloc(ids.size ? ids.size : 1);
		if (!events[i].ids)
			die("no memory");
		read_at(f, ids.offset, events[i].ids, ids.size);
	}
}

static void read_data(FILE *f, const struct section *data)
{
	static unsigned char record[UINT16_MAX];
	struct perf_event_header header;
	uint64_t left = data->size;
	struct sample sample;
	struct cursor c;

	if (fseeko(f, data->offset, SEEK_SET))
		die("the file ends too early");
	while (left >= sizeof(header)) {
		if (fread(record, 1, sizeof(header), f) != sizeof(header))
			die("the file ends too early");
		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header) || header.size > left)
			die("a record of %u bytes where %" PRIu64 " are left",
			    header.size, left);
		c.pos = record + sizeof(header);
		c.end = record + header.size;
		if (fread(record + sizeof(header), 1,
			  header.size - sizeof(header), f) !=
		    header.size - sizeof(header))
			die("the file ends too early");
		left -= header.size;
		if (header.type == PERF_RECORD_SAMPLE) {
			parse_sample(c, &sample);
			nr_samples++;
			if (seq_only)
				print_seq(&sample);
			else
				print_sample(&sample);
		} else if (header.type == PERF_RECORD_LOST) {
			take64(&c);
			nr_lost += take64(&c);
		}
	}
	if (left)
		die("%" PRIu64 " bytes are too much", left);
}

int main(int argc, char **argv)
{
	struct file_header header;
	FILE *f;

	if (argc > 1 && !strcmp(argv[1], "-s")) {
		seq_only = true;
		argv++;
		argc--;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: samples [-s] FILE\n");
		return 64;
	}
	f = fopen(argv[1], "r");
	if (!f)
		die("cannot open '%s': %s", argv[1], strerror(errno));
	read_tick_format();
	read_at(f, 0, &header, sizeof(header));
	if (memcmp(header.magic, "PERFILE2", 8))
		die("'%s' is not a perf.data file", argv[1]);
	read_events(f, &header);
	read_data(f, &header.data);
	printf("samples=%lu lost=%lu\n", nr_samples, nr_lost);
	return 0;
}
