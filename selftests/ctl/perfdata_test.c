// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf.data file without a kernel: what is written can be read, at any
 * moment and however damaged. "perfdata_test make FILE" writes a recording with
 * held locks, of which record.sh knows the report.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "notes.h"
#include "perfdata.h"
#include "procmaps.h"
#include "sample.h"
#include "tap.h"

#define TRAILER_WORDS	4	/* tid, time, cpu, identifier */
#define FAULTS_ID	11
#define TRACKER_ID	12

static char dir[] = "/tmp/perfdata_test.XXXXXX";
static char path[256];

/* A record under construction. */
union record {
	struct perf_event_header header;
	uint64_t words[512];
	char bytes[4096];
};

static struct perf_event_attr faults_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(faults_attr),
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	.sample_id_all = 1,
};

static struct perf_event_attr tracker_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(tracker_attr),
	.config = PERF_COUNT_SW_DUMMY,
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = 1,
	.mmap = 1,
};

static uint64_t faults_ids[] = { FAULTS_ID, FAULTS_ID + 100 };
static uint64_t tracker_ids[] = { TRACKER_ID };

static struct pd_event events[] = {
	{ .attr.size = 0, .name = (char *)"page-faults", .ids = faults_ids, .nr_ids = 2 },
	{ .attr.size = 0, .name = (char *)"dummy:HG", .ids = tracker_ids, .nr_ids = 1 },
};

static struct pd_writer *create(void)
{
	struct pd_writer *w;

	events[0].attr = faults_attr;
	events[1].attr = tracker_attr;
	if (pd_create(&w, path, events, 2)) {
		perror(path);
		exit(1);
	}
	pd_set_string(w, PD_HOSTNAME, "host");
	pd_set_string(w, PD_OSRELEASE, "0.0-none");
	pd_set_string(w, PD_VERSION, "lockheld test");
	pd_set_string(w, PD_ARCH, "arch");
	return w;
}

/* ---- records ---- */

static size_t put_string(union record *r, size_t at, const char *s)
{
	size_t len = (strlen(s) + 8) & ~(size_t)7;

	memset(r->bytes + at, 0, len);
	strcpy(r->bytes + at, s);
	return at + len;
}

static void end_record(union record *r, size_t at, uint64_t time)
{
	uint64_t trailer[TRAILER_WORDS] = { 0, time, 0, TRACKER_ID };

	memcpy(r->bytes + at, trailer, sizeof(trailer));
	r->header.size = (uint16_t)(at + sizeof(trailer));
}

static void make_mmap(union record *r, uint32_t pid, uint64_t start,
		      uint64_t len, uint64_t pgoff, const char *name,
		      uint64_t time)
{
	uint32_t ids[2] = { pid, pid };

	memset(r, 0, sizeof(*r));
	r->header.type = PERF_RECORD_MMAP;
	r->header.misc = pid == (uint32_t)-1 ? PERF_RECORD_MISC_KERNEL :
					       PERF_RECORD_MISC_USER;
	memcpy(&r->words[1], ids, sizeof(ids));
	r->words[2] = start;
	r->words[3] = len;
	r->words[4] = pgoff;
	end_record(r, put_string(r, 40, name), time);
}

static void make_task(union record *r, uint32_t type, uint16_t misc,
		      uint32_t a, uint32_t b, uint64_t time)
{
	uint32_t ids[4] = { a, b, a, b };

	memset(r, 0, sizeof(*r));
	r->header.type = type;
	r->header.misc = misc;
	if (type == PERF_RECORD_COMM) {
		memcpy(&r->words[1], (uint32_t[]){ a, a }, 8);
		end_record(r, put_string(r, 16, "name"), time);
		return;
	}
	memcpy(&r->words[1], ids, sizeof(ids));
	r->words[3] = time;
	end_record(r, 32, time);
}

struct made {
	uint64_t ip, time;
	uint32_t pid;
	uint16_t misc;
	const uint64_t *chain;
	size_t nr_chain;
	const struct lockheld_sample_lock *locks;
	uint8_t nr_locks, omitted;
	bool no_tail;
	size_t pad;		/* bytes behind the tail */
};

static void make_sample(union record *r, const struct made *m)
{
	struct lockheld_sample_tail tail = {
		.filter = 7,
		.nr = m->nr_locks,
		.omitted = m->omitted,
		.version = 1,
		.magic = LOCKHELD_SAMPLE_MAGIC,
	};
	size_t locks = m->nr_locks * sizeof(*m->locks), at;
	uint32_t raw = 4 + locks + sizeof(tail) + m->pad;
	size_t n = 1;

	if (m->no_tail)
		raw = 4;
	memset(r, 0, sizeof(*r));
	r->header.type = PERF_RECORD_SAMPLE;
	r->header.misc = m->misc;
	r->words[n++] = FAULTS_ID;
	r->words[n++] = m->ip;
	r->words[n++] = m->pid | (uint64_t)m->pid << 32;
	r->words[n++] = m->time;
	r->words[n++] = 0;
	r->words[n++] = 1;
	r->words[n++] = m->nr_chain;
	memcpy(&r->words[n], m->chain, m->nr_chain * 8);
	at = (n + m->nr_chain) * 8;
	memcpy(r->bytes + at, &raw, 4);
	if (!m->no_tail) {
		memcpy(r->bytes + at + 8, m->locks, locks);
		memcpy(r->bytes + at + 8 + locks, &tail, sizeof(tail));
	}
	at += 4 + raw;
	r->header.size = (uint16_t)((at + 7) & ~(size_t)7);
}

static int put(struct pd_writer *w, const union record *r)
{
	return pd_write(w, r, r->header.size);
}

/* ---- the recording whose report is known ---- */

#define KTEXT		0xffffffff81000000ULL
#define HELD_LOCK	0xffffffff82000040ULL	/* in a symbol */
#define SLAB_LOCK	0xffff888001000010ULL
#define SLAB_LOCK2	0xffff888001000110ULL
#define BARE_LOCK	0xffff888009999990ULL
#define WAITS		(KTEXT + 0x7000)
#define SITE		(KTEXT + 0x1001)	/* return address */
#define SITE2		(KTEXT + 0x2001)
#define RUNS		(KTEXT + 0x3000)
#define RUNS2		(KTEXT + 0x4000)
#define USER		0x400100ULL

static void known_maps(struct pd_writer *w)
{
	union record r;

	make_mmap(&r, (uint32_t)-1, KTEXT, 0x800000, KTEXT,
		  "[kernel.kallsyms]_text", 0);
	put(w, &r);
	make_mmap(&r, (uint32_t)-1, 0xffffffffc0000000, 0x4000, 0, "[testmod]", 0);
	put(w, &r);
	make_mmap(&r, 100, 0x400000, 0x1000, 0x2000, "/nonexistent/program", 5);
	put(w, &r);
}

static void known_samples(struct pd_writer *w)
{
	static const struct lockheld_sample_lock
		mutex = { .addr = HELD_LOCK, .ip = SITE, .held_ns = 1500,
			  .family = LOCKHELD_FAMILY_MUTEX,
			  .mode = LOCKHELD_MODE_WRITE,
			  .flags = LOCKHELD_LOCK_MATCHED },
		mutex_long = { .addr = HELD_LOCK, .ip = SITE2,
			       .held_ns = 2500000,
			       .family = LOCKHELD_FAMILY_MUTEX,
			       .mode = LOCKHELD_MODE_WRITE,
			       .flags = LOCKHELD_LOCK_MATCHED },
		slab = { .addr = SLAB_LOCK, .ip = SITE, .held_ns = 800,
			 .family = LOCKHELD_FAMILY_RWSEM,
			 .mode = LOCKHELD_MODE_READ,
			 .flags = LOCKHELD_LOCK_MATCHED },
		slab2 = { .addr = SLAB_LOCK2, .ip = SITE,
			  .family = LOCKHELD_FAMILY_RWSEM,
			  .mode = LOCKHELD_MODE_READ,
			  .flags = LOCKHELD_LOCK_MATCHED |
				   LOCKHELD_LOCK_OWNER },
		bare = { .addr = BARE_LOCK, .ip = SITE2, .held_ns = 3000000000,
			 .family = LOCKHELD_FAMILY_SPINLOCK,
			 .mode = LOCKHELD_MODE_WRITE },
		reads = { .family = LOCKHELD_FAMILY_RCU,
			  .mode = LOCKHELD_MODE_READ,
			  .flags = LOCKHELD_LOCK_MATCHED |
				   LOCKHELD_LOCK_OWNER },
		waits = { .addr = WAITS, .ip = SITE, .held_ns = 4000000,
			  .family = LOCKHELD_FAMILY_RCU_TRACE,
			  .mode = LOCKHELD_MODE_WRITE,
			  .flags = LOCKHELD_LOCK_MATCHED };
	static const uint64_t chain[] = {
		PERF_CONTEXT_KERNEL, RUNS, KTEXT + 0x5001,
		PERF_CONTEXT_USER, USER, 0x400201, 0,
	};
	static const uint64_t chain2[] = {
		PERF_CONTEXT_KERNEL, RUNS2, KTEXT + 0x5001,
		PERF_CONTEXT_USER, USER, 0x400201,
	};
	static const uint64_t module[] = { PERF_CONTEXT_KERNEL,
					   0xffffffffc0001234 };
	static const uint64_t nowhere[] = { PERF_CONTEXT_USER, 0x10, 0x20, 0x30 };
	struct lockheld_sample_lock two[2] = { mutex, bare };
	struct lockheld_sample_lock both[2] = { slab, slab2 };
	struct lockheld_sample_lock rcu[3] = { bare, waits, reads };
	struct made base = { .pid = 100, .misc = PERF_RECORD_MISC_KERNEL,
			     .ip = RUNS, .chain = chain, .nr_chain = 7,
			     .nr_locks = 1 };
	struct made m;
	union record r;
	int i;

	for (i = 0; i < 4; i++) {
		m = base;
		m.time = 10 + i;
		m.locks = i == 3 ? &mutex_long : &mutex;
		make_sample(&r, &m);
		put(w, &r);
	}
	m = base;
	m.time = 20;
	m.ip = RUNS2;
	m.chain = chain2;
	m.nr_chain = 6;
	m.locks = two;
	m.nr_locks = 2;
	m.omitted = 3;
	make_sample(&r, &m);
	put(w, &r);
	/* two locks of one row: still one sample */
	m.locks = both;
	m.omitted = 0;
	make_sample(&r, &m);
	put(w, &r);
	m = base;
	m.time = 30;
	m.ip = module[1];
	m.chain = module;
	m.nr_chain = 2;
	/* RCU has no address, who waits for it has a function */
	m.locks = rcu;
	m.nr_locks = 3;
	make_sample(&r, &m);
	put(w, &r);
	m.ip = nowhere[1];
	m.misc = PERF_RECORD_MISC_USER;
	m.chain = nowhere;
	m.nr_chain = 4;
	m.nr_locks = 0;
	make_sample(&r, &m);
	put(w, &r);
}

static void known_notes(struct pd_writer *w)
{
	struct notes notes = { .complete = true, .samples = 8, .lost = 2,
			       .own = 1 };
	struct note_filter f = {
		.id = 7, .event = 0, .evaluated = 20, .passed = 9,
		.dropped = 11, .uncertain = 1,
		.text = (char *)"lock_held(mutex) ||\nlock_held(rwsem)",
	};
	size_t len;
	char *text;

	notes_add_filter(&notes, &f);
	notes_add_symbol(&notes, HELD_LOCK, 0, "the_mutex", "[kernel]");
	notes_add_symbol(&notes, WAITS, 0, "waits_for_readers", "[kernel]");
	notes_add_symbol(&notes, SITE - 1, 0x10, "takes_it", "[kernel]");
	notes_add_symbol(&notes, SITE2 - 1, 0x10, "takes_it_too", "[kernel]");
	notes_add_symbol(&notes, RUNS, 0, "runs", "[kernel]");
	notes_add_symbol(&notes, RUNS2, 0, "runs_too", "[kernel]");
	notes_add_symbol(&notes, KTEXT + 0x5000, 0, "calls", "[kernel]");
	notes_add_slab(&notes, SLAB_LOCK, "some_cache");
	notes_add_slab(&notes, SLAB_LOCK2, "some_cache");
	text = notes_text(&notes, &len);
	pd_set_notes(w, text, len);
	free(text);
	notes_free(&notes);
}

static int make_known(void)
{
	struct pd_writer *w = create();

	known_maps(w);
	known_samples(w);
	known_notes(w);
	return pd_seal(w) || pd_close(w);
}

/* ---- cases ---- */

static size_t count_records(struct pd_reader *r)
{
	const struct perf_event_header *record;
	uint64_t offset;
	size_t n = 0;

	pd_rewind(r);
	while (pd_next(r, &record, &offset) > 0)
		n += record->type != PD_RECORD_UNUSED;
	return n;
}

static void round_trip(void)
{
	static const char *const argv[] = { "record", "-a", "true" };
	struct pd_build_id id = { .misc = PERF_RECORD_MISC_USER, .len = 20,
				  .path = (char *)"/bin/true" };
	const struct perf_event_header *record;
	struct pd_writer *w = create();
	struct pd_reader r;
	uint64_t offset;

	memset(id.id, 0xab, sizeof(id.id));
	known_maps(w);
	known_samples(w);
	pd_set_cmdline(w, "lockheld-ctl", 3, (char **)argv);
	pd_set_build_ids(w, &id, 1);
	pd_set_notes(w, "state complete\n", 15);
	EXPECT(!pd_seal(w));
	EXPECT(!pd_close(w));

	EXPECT(!pd_reader_open(&r, path));
	EXPECT(r.nr_events == 2);
	EXPECT(r.events[0].name && !strcmp(r.events[0].name, "page-faults"));
	EXPECT(r.events[1].name && !strcmp(r.events[1].name, "dummy:HG"));
	EXPECT(!memcmp(&r.events[0].attr, &faults_attr, sizeof(faults_attr)));
	EXPECT(r.events[0].nr_ids == 2 && r.events[0].ids[1] == 111);
	EXPECT(r.hostname && !strcmp(r.hostname, "host"));
	EXPECT(r.osrelease && !strcmp(r.osrelease, "0.0-none"));
	EXPECT(r.version && !strcmp(r.version, "lockheld test"));
	EXPECT(r.arch && !strcmp(r.arch, "arch"));
	EXPECT(r.cmdline && !strcmp(r.cmdline, "lockheld-ctl record -a true"));
	EXPECT(r.nr_build_ids == 1 && r.build_ids[0].len == 20 &&
	       r.build_ids[0].id[19] == 0xab &&
	       !strcmp(r.build_ids[0].path, "/bin/true"));
	EXPECT(r.notes && r.notes_len == 15 &&
	       !strcmp(r.notes, "state complete\n"));
	EXPECT(!r.unfinished);
	EXPECT(count_records(&r) == 11);
	pd_rewind(&r);
	pd_next(&r, &record, &offset);
	EXPECT(pd_next(&r, &record, &offset) == 1 &&
	       record->type == PERF_RECORD_MMAP && offset == r.data_offset + 8);
	EXPECT(pd_event_of(&r, record) == 1);
	while (pd_next(&r, &record, &offset) > 0)
		if (record->type == PERF_RECORD_SAMPLE)
			break;
	EXPECT(pd_event_of(&r, record) == 0);
	pd_reader_close(&r);
}

static void expect_sealed(size_t records, const char *notes)
{
	struct pd_reader r;

	EXPECT(!pd_reader_open(&r, path));
	EXPECT(r.nr_events == 2 && r.hostname && !r.unfinished);
	EXPECT(r.notes && !strcmp(r.notes, notes));
	EXPECT(count_records(&r) == records);
	pd_reader_close(&r);
}

/* A recorder that is killed: the file as the last writes left it. */
static void killed(void)
{
	struct pd_writer *w = create();
	char *longer = ctl_zalloc(200001);
	union record record;
	struct stat st;
	off_t size;

	pd_set_notes(w, "first", 5);
	EXPECT(!pd_seal(w));
	expect_sealed(0, "first");
	known_maps(w);
	expect_sealed(0, "first");
	EXPECT(!pd_seal(w));
	expect_sealed(3, "first");
	/* a tail of more than one record */
	memset(longer, 'x', 200000);
	pd_set_notes(w, longer, 200000);
	make_task(&record, PERF_RECORD_COMM, 0, 1, 0, 1);
	EXPECT(!put(w, &record));
	EXPECT(!pd_seal(w));
	expect_sealed(4, longer);
	EXPECT(!put(w, &record));
	expect_sealed(4, longer);
	pd_set_notes(w, "last", 4);
	pd_set_string(w, PD_HOSTNAME, "changed");
	EXPECT(!pd_seal(w));
	expect_sealed(5, "last");
	EXPECT(!stat(path, &st));
	size = st.st_size;
	/* what is not sealed is not in the file that is closed */
	EXPECT(!put(w, &record));
	EXPECT(!pd_close(w));
	expect_sealed(5, "last");
	EXPECT(!stat(path, &st) && st.st_size == size);
	free(longer);
}

static bool write_file(const void *bytes, size_t len)
{
	FILE *f = fopen(path, "w");
	bool ok = f && fwrite(bytes, 1, len, f) == len;

	return f && !fclose(f) && ok;
}

static void old_file(void)
{
	char old[280];
	struct stat st;
	struct pd_writer *w;

	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	EXPECT(write_file("precious", 8));
	w = create();
	EXPECT(!stat(old, &st) && st.st_size == 8);
	pd_abandon(w);
	EXPECT(stat(old, &st) && !stat(path, &st) && st.st_size == 8);
	EXPECT(write_file("precious", 8));
	w = create();
	EXPECT(!pd_seal(w) && !pd_close(w));
	EXPECT(!stat(old, &st) && st.st_size == 8);
	unlink(old);
}

static char *read_known(size_t *len)
{
	FILE *f;
	char *bytes;
	struct stat st;

	EXPECT(!make_known());
	f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st))
		exit(1);
	bytes = malloc((size_t)st.st_size);
	*len = fread(bytes, 1, (size_t)st.st_size, f);
	fclose(f);
	return bytes;
}

static void cut_anywhere(void)
{
	size_t len, i, before = 0, n;
	char *bytes = read_known(&len);
	struct pd_reader r;
	bool opened = false;

	for (i = 0; i < len; i += i < 1200 ? 1 : 37) {
		EXPECT(write_file(bytes, i));
		if (pd_reader_open(&r, path)) {
			EXPECT(r.error && strstr(r.error, path));
			/* once it is long enough it stays so */
			EXPECT(!opened);
		} else {
			opened = true;
			n = count_records(&r);
			EXPECT(n >= before && n <= 11);
			before = n;
		}
		pd_reader_close(&r);
	}
	EXPECT(before == 11);
	free(bytes);
}

static void expect_error(const void *bytes, size_t len, const char *what)
{
	struct pd_reader r;

	EXPECT(write_file(bytes, len));
	EXPECT(pd_reader_open(&r, path) == -1);
	EXPECT(r.error && strstr(r.error, what));
	if (r.error && !strstr(r.error, what))
		printf("# got: %s\n", r.error);
	pd_reader_close(&r);
}

static void foreign_files(void)
{
	size_t len;
	char *bytes = read_known(&len);
	uint64_t small = 16, big = UINT64_MAX;
	struct pd_reader r;

	expect_error("", 0, "not a perf.data file");
	expect_error("\177ELF and so on", 14, "not a perf.data file");
	expect_error("2ELIFREP", 8, "other byte order");
	memcpy(bytes + 8, &small, 8);
	expect_error(bytes, len, "to a pipe");
	memcpy(bytes + 8, &big, 8);
	expect_error(bytes, len, "damaged");
	free(bytes);
	/* the list of events: its entries' size, its size */
	bytes = read_known(&len);
	memcpy(bytes + 16, &small, 8);
	expect_error(bytes, len, "list of its events");
	free(bytes);
	bytes = read_known(&len);
	memcpy(bytes + 32, &big, 8);
	expect_error(bytes, len, "list of its events");
	free(bytes);
	EXPECT(pd_reader_open(&r, dir) == -1 && strstr(r.error, "directory"));
	pd_reader_close(&r);
	EXPECT(pd_reader_open(&r, "/dev/null") == -1 &&
	       strstr(r.error, "regular"));
	pd_reader_close(&r);
	EXPECT(pd_reader_open(&r, "/nonexistent") == -1 &&
	       strstr(r.error, "record one first"));
	pd_reader_close(&r);
}

static void bad_records(void)
{
	const struct perf_event_header *record;
	struct perf_event_header bad[] = {
		{ .type = PERF_RECORD_COMM, .size = 4 },
		{ .type = PERF_RECORD_COMM, .size = 12 },
		{ .type = PD_RECORD_COMPRESSED, .size = 16 },
	};
	struct pd_reader r;
	uint64_t offset;
	size_t i;

	for (i = 0; i < 3; i++) {
		struct pd_writer *w = create();

		known_maps(w);
		pd_write(w, &bad[i], sizeof(bad[i]));
		pd_write(w, &bad[i], sizeof(bad[i]));
		EXPECT(!pd_seal(w) && !pd_close(w));
		EXPECT(!pd_reader_open(&r, path));
		EXPECT(count_records(&r) == 3);
		EXPECT(pd_next(&r, &record, &offset) == -1);
		EXPECT(r.error && strstr(r.error, i == 2 ? "compressed" :
					 "impossible size"));
		pd_reader_close(&r);
	}
}

static void samples(void)
{
	struct lockheld_sample_lock got[LOCKHELD_SAMPLE_LOCKS_MAX];
	struct lockheld_sample_lock locks[2] = {
		{ .addr = 1, .ip = 2, .held_ns = 3, .family = 1, .mode = 2 },
		{ .addr = 4, .ip = 5, .held_ns = 6, .family = 2, .mode = 1 },
	};
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0x50, 0x61,
				   PERF_CONTEXT_USER, 0x70, 0x81 };
	const uint64_t wanted[] = { 0x50, 0x60, 0x70, 0x80 };
	struct made m = {
		.ip = 0x50, .time = 99, .pid = 5, .misc = 1,
		.chain = chain, .nr_chain = 6, .locks = locks, .nr_locks = 2,
		.omitted = 9,
	};
	struct lockheld_sample_tail tail;
	struct chain_walk walk;
	struct sample s;
	union record r;
	uint64_t addr, time;
	bool kernel;
	size_t i;

	for (m.pad = 0; m.pad < 8; m.pad += 4) {
		make_sample(&r, &m);
		EXPECT(sample_parse(&faults_attr, &r.header, &s));
		EXPECT(s.ip == 0x50 && s.time == 99 && s.pid == 5 &&
		       s.tid == 5 && s.period == 1);
		EXPECT(sample_locks(&s, got, &tail) == 2);
		EXPECT(!memcmp(got, locks, sizeof(locks)));
		EXPECT(tail.filter == 7 && tail.omitted == 9);
	}
	EXPECT(record_time(&faults_attr, &r.header, &time) && time == 99);
	chain_start(&walk, &s);
	for (i = 0; chain_next(&walk, &addr, &kernel); i++)
		EXPECT(i < 4 && addr == wanted[i] && kernel == (i < 2));
	EXPECT(i == 4);

	/* cut short at each word: refused, or without locks, never beyond */
	m.pad = 0;
	make_sample(&r, &m);
	for (i = 8; i < r.header.size; i += 8) {
		union record cut = r;

		cut.header.size = (uint16_t)i;
		EXPECT(!sample_parse(&faults_attr, &cut.header, &s));
	}
	/* a tail that claims more than there is */
	make_sample(&r, &m);
	r.bytes[r.header.size - 12] = 3;
	EXPECT(sample_parse(&faults_attr, &r.header, &s));
	EXPECT(sample_locks(&s, got, &tail) == -1);
	make_sample(&r, &m);
	r.bytes[r.header.size - 12] = (char)200;
	EXPECT(sample_parse(&faults_attr, &r.header, &s) &&
	       sample_locks(&s, got, &tail) == -1);
	m.no_tail = true;
	make_sample(&r, &m);
	EXPECT(sample_parse(&faults_attr, &r.header, &s) &&
	       sample_locks(&s, got, &tail) == -1);
	/* a chain longer than the record */
	r.words[7] = UINT64_MAX;
	EXPECT(!sample_parse(&faults_attr, &r.header, &s));
}

static void add(struct procmaps *p, const union record *r, uint64_t time)
{
	procmaps_add(p, &r->header, time, TRAILER_WORDS * 8);
}

static const char *found(struct procmaps *p, uint32_t pid, uint64_t addr,
			 uint64_t time)
{
	struct procmap *m = procmaps_find(p, pid, addr, time);

	return m ? m->path : "";
}

static void processes(void)
{
	struct procmaps *p = procmaps_new();
	union record r;

	/* 1 maps a file, forks 2, maps another file over the middle */
	make_mmap(&r, 1, 0x1000, 0x3000, 0, "first", 10);
	add(p, &r, 10);
	make_task(&r, PERF_RECORD_FORK, 0, 2, 1, 20);
	add(p, &r, 20);
	make_mmap(&r, 1, 0x2000, 0x1000, 0, "second", 30);
	add(p, &r, 30);
	/* 2 becomes another program */
	make_task(&r, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 2, 0, 40);
	add(p, &r, 40);
	make_mmap(&r, 2, 0x1000, 0x1000, 0, "third", 41);
	add(p, &r, 41);
	/* its number is used again, for a child of 1 */
	make_task(&r, PERF_RECORD_FORK, 0, 2, 1, 50);
	add(p, &r, 50);
	/* a thread is no process */
	make_task(&r, PERF_RECORD_FORK, 0, 1, 1, 60);
	add(p, &r, 60);
	make_mmap(&r, (uint32_t)-1, 0xf000, 0x1000, 0, "[mod]", 0);
	add(p, &r, 0);
	procmaps_ready(p);

	EXPECT(!strcmp(found(p, 1, 0x1000, 5), ""));
	EXPECT(!strcmp(found(p, 1, 0x1000, 10), "first"));
	EXPECT(!strcmp(found(p, 1, 0x0fff, 10), ""));
	EXPECT(!strcmp(found(p, 1, 0x3fff, 10), "first"));
	EXPECT(!strcmp(found(p, 1, 0x4000, 10), ""));
	EXPECT(!strcmp(found(p, 1, 0x2000, 29), "first"));
	EXPECT(!strcmp(found(p, 1, 0x2000, 30), "second"));
	EXPECT(!strcmp(found(p, 1, 0x3000, 30), "first"));
	EXPECT(!strcmp(found(p, 2, 0x2000, 39), "first"));
	EXPECT(!strcmp(found(p, 2, 0x2000, 40), ""));
	EXPECT(!strcmp(found(p, 2, 0x1000, 40), ""));
	EXPECT(!strcmp(found(p, 2, 0x1000, 41), "third"));
	EXPECT(!strcmp(found(p, 2, 0x2000, 50), "second"));
	EXPECT(!strcmp(found(p, 2, 0x1000, 50), "first"));
	EXPECT(!strcmp(found(p, 1, 0x1000, 70), "first"));
	EXPECT(!strcmp(found(p, 3, 0x1000, 70), ""));
	EXPECT(procmaps_find_kernel(p, 0xf800));
	EXPECT(!procmaps_find_kernel(p, 0x1000));
	procmaps_free(p);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make")) {
		snprintf(path, sizeof(path), "%s", argv[2]);
		return make_known();
	}
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/perf.data", dir);
	puts("TAP version 13");
	tap_case("what is written can be read", round_trip);
	tap_case("a killed recorder leaves what it sealed", killed);
	tap_case("an old file is kept, and put back", old_file);
	tap_case("a file cut anywhere", cut_anywhere);
	tap_case("foreign files", foreign_files);
	tap_case("impossible records", bad_records);
	tap_case("samples, their locks and chains", samples);
	tap_case("mappings through forks and execs", processes);
	unlink(path);
	rmdir(dir);
	return tap_end();
}
