// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl report: what was held, by whom taken, and what ran meanwhile. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "procmaps.h"
#include "record.h"
#include "report.h"

enum { OPT_SORT = 256, OPT_JSON, OPT_LIMIT, OPT_STDIO };

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "stdio", no_argument, NULL, OPT_STDIO },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char usage[] =
"usage: lockheld-ctl report [OPTION...]\n"
"\n"
"Shows which locks were held in a recording's samples, how long they had been\n"
"held and where they were taken, then what ran meanwhile. Reads recordings of\n"
"perf too; they know of no locks.\n"
"\n"
"  -i FILE       default perf.data\n"
"  --sort KEY    a row for each lock (default), site (a lock and where it was\n"
"                taken) or symbol (what ran)\n"
"  --limit N     rows shown (default 30; 0: all)\n"
"  --json        for programs, all rows\n"
"  -h, --help    this text\n";

struct report_opts {
	const char *file;
	enum report_sort sort;
	size_t limit;
	bool json;
	bool help;
};

bool report_complete(const struct report *r)
{
	return !r->file->unfinished && !r->damage &&
	       (!r->file->notes || r->notes.complete);
}

const struct note_filter *report_filter(const struct report *r, size_t i)
{
	size_t j;

	for (j = 0; j < r->notes.nr_filters; j++)
		if (r->notes.filters[j].event == i)
			return &r->notes.filters[j];
	return NULL;
}

char *report_event_name(const struct report *r, size_t i)
{
	const struct pd_event *e = &r->file->events[i];

	if (e->name)
		return ctl_strdup(e->name);
	return ctl_printf("event of type %u, config 0x%llx", e->attr.type,
			  (unsigned long long)e->attr.config);
}

int report_extra_word(char **argv)
{
	return ctl_error(CTL_USAGE,
			 "%s: '%s' is one word too many (a file is named with -i)",
			 argv[0], argv[optind]);
}

static void add_record(struct report *r, bool samples,
		       const struct perf_event_header *record)
{
	size_t e = pd_event_of(r->file, record);
	const struct perf_event_attr *attr;
	uint64_t time = 0, lost;

	if (samples) {
		if (record->type != PERF_RECORD_SAMPLE)
			return;
		if (e == SIZE_MAX)
			r->foreign++;
		else
			aggregate_add(&r->events[e], &r->file->events[e].attr,
				      record);
		return;
	}
	if (e == SIZE_MAX || record->type == PERF_RECORD_SAMPLE)
		return;
	attr = &r->file->events[e].attr;
	record_time(attr, record, &time);
	procmaps_add(r->maps, record, time, record_trailer(attr));
	/* event's id, count */
	if (record->type == PERF_RECORD_LOST &&
	    record->size >= sizeof(*record) + 16) {
		memcpy(&lost, (const char *)(record + 1) + 8, sizeof(lost));
		r->lost += lost;
	}
}

/* Maps first, so that samples may stand in the file before what they need. */
static void read_all(struct report *r, struct pd_reader *file, bool samples)
{
	const struct perf_event_header *record;
	uint64_t offset;
	int ret;

	pd_rewind(file);
	while ((ret = pd_next(file, &record, &offset)) > 0)
		add_record(r, samples, record);
	if (ret < 0 && !r->damage)
		r->damage = ctl_strdup(file->error);
}

static int number(const char *text, size_t *value)
{
	unsigned long long v;

	if (!ctl_number(text, SIZE_MAX, &v))
		return ctl_error(CTL_USAGE, "--limit %s: not a number", text);
	*value = v;
	return CTL_DONE;
}

static int sort_key(const char *word, enum report_sort *sort)
{
	static const char *const words[] = {
		[SORT_LOCK] = "lock",
		[SORT_SITE] = "site",
		[SORT_SYMBOL] = "symbol",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]))
			continue;
		*sort = i;
		return CTL_DONE;
	}
	return ctl_error(CTL_USAGE, "--sort %s: it is one of lock, site, symbol",
			 word);
}

static int parse(int argc, char **argv, struct report_opts *o)
{
	int c, status = CTL_DONE;

	opterr = 0;
	while (!status && !o->help &&
	       (c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			o->file = optarg;
			break;
		case OPT_SORT:
			status = sort_key(optarg, &o->sort);
			break;
		case OPT_LIMIT:
			status = number(optarg, &o->limit);
			break;
		case OPT_JSON:
			o->json = true;
			break;
		case OPT_STDIO:		/* as perf has it; there is no other */
			break;
		case 'h':
			fputs(usage, stdout);
			o->help = true;
			break;
		default:
			status = ctl_bad_option(c, argv);
		}
	}
	if (!status && !o->help && optind < argc)
		return report_extra_word(argv);
	return status;
}

void report_load(struct report *r, struct pd_reader *file)
{
	size_t i;

	r->file = file;
	r->maps = procmaps_new();
	if (file->notes)
		notes_parse(&r->notes, file->notes, file->notes_len);
	r->events = ctl_zalloc(file->nr_events * sizeof(*r->events));
	read_all(r, file, false);
	procmaps_ready(r->maps);
	r->symbols = symbols_new(file, &r->notes, r->maps);
	for (i = 0; i < file->nr_events; i++) {
		r->events[i].sort = r->sort;
		r->events[i].locks_call = r->locks_call;
		r->events[i].symbols = r->symbols;
	}
	read_all(r, file, true);
	for (i = 0; i < file->nr_events; i++)
		aggregate_sort(&r->events[i]);
	if (r->notes.lost > r->lost)
		r->lost = r->notes.lost;
}

void report_unload(struct report *r)
{
	size_t i;

	for (i = 0; i < r->file->nr_events; i++)
		aggregate_free(&r->events[i]);
	free(r->events);
	free(r->damage);
	symbols_free(r->symbols);
	procmaps_free(r->maps);
	notes_free(&r->notes);
}

static void report(struct pd_reader *file, const struct report_opts *o)
{
	struct report r = { .sort = o->sort, .limit = o->limit };

	report_load(&r, file);
	if (o->json)
		report_print_json(&r);
	else
		report_print(&r);
	report_unload(&r);
}

int cmd_report(int argc, char **argv)
{
	struct report_opts o = { .file = RECORD_FILE, .limit = 30 };
	struct pd_reader file;
	int status = parse(argc, argv, &o);

	if (status || o.help)
		return status;
	if (pd_reader_open(&file, o.file))
		status = ctl_error(CTL_FAILED, "%s", file.error);
	else
		report(&file, &o);
	pd_reader_close(&file);
	return status;
}
