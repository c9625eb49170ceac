// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "evopen.h"
#include "record.h"

#define DEFAULT_PAGES	256
#define DEFAULT_HZ	4000
#define MAX_PAGES	(1u << 18)

enum { OPT_FILTER = 256 };

static const struct option options[] = {
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "call-graph", no_argument, NULL, 'g' },
	{ "event", required_argument, NULL, 'e' },
	{ "freq", required_argument, NULL, 'F' },
	{ "count", required_argument, NULL, 'c' },
	{ "pid", required_argument, NULL, 'p' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "output", required_argument, NULL, 'o' },
	{ "mmap-pages", required_argument, NULL, 'm' },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char usage[] =
"usage: lockheld-ctl record [OPTION...] [--] COMMAND [ARGUMENT...]\n"
"       lockheld-ctl record -a | -p PID [OPTION...]\n"
"\n"
"Records samples of perf events into a file for lockheld-ctl report, perf report\n"
"and perf script.\n"
"\n"
"  -e EVENT      page-faults, cpu-clock, cycles, cache-misses:u, kmem:mm_page_alloc...;\n"
"                several with commas or -e again (default: cycles, else cpu-clock)\n"
"  --filter EXPR only samples for which it is true: 'lock_held(mmap_lock:R)'; applies\n"
"                to the events named before it that have no filter yet; given before\n"
"                all events, to those that have none in the end\n"
"  -a            all processes on all CPUs; while COMMAND runs, else until Ctrl-C\n"
"  -C CPUS       the same on these CPUs: 0-3,7\n"
"  -p PID        a process that runs already, with its threads\n"
"  -g            call chains, kernel and user (by frame pointers)\n"
"  -F HZ         samples each second (default 4000; tracepoints: every one)\n"
"  -c N          a sample every N events\n"
"  -o FILE       default perf.data; an old one becomes FILE.old\n"
"  -m PAGES      buffer for each CPU, a power of two (default 256)\n"
"\n"
"Exit status: that of COMMAND (128 + N if signal N ended it), or 1 failed,\n"
"2 not possible here, 64 wrong usage. Ctrl-C ends a recording as well as\n"
"COMMAND's end does.\n";

/* While options are read: which events wait for a filter. */
struct parse {
	struct record_opts *o;
	const char *for_rest;	/* a filter that came before all events */
	size_t nr_filters;	/* entries of o->filters */
	bool filter_used;
};

static int number(const char *option, const char *text, uint64_t max,
		  uint64_t *value)
{
	unsigned long long v;

	if (!ctl_number(text, max, &v) || !v)
		return ctl_error(CTL_USAGE, "%s %s: not a number from 1 to %llu",
				 option, text, (unsigned long long)max);
	*value = v;
	return CTL_DONE;
}

static int add_events(struct parse *p, const char *list)
{
	struct record_opts *o = p->o;
	int status = events_add(&o->events, list);

	o->filters = ctl_realloc(o->filters, o->events.n + 1,
				 sizeof(*o->filters));
	while (p->nr_filters < o->events.n)
		o->filters[p->nr_filters++] = NULL;
	return status;
}

static int add_filter(struct parse *p, const char *text)
{
	bool used = false;
	size_t i;

	for (i = 0; i < p->nr_filters; i++) {
		if (p->o->filters[i])
			continue;
		p->o->filters[i] = text;
		used = true;
	}
	if (used)
		return CTL_DONE;
	if (p->nr_filters || p->for_rest)
		return ctl_error(CTL_USAGE,
				 "--filter '%s': the events before it have one already (join the two with &&)",
				 text);
	p->for_rest = text;
	return CTL_DONE;
}

static int pages(const char *text, size_t *value)
{
	uint64_t v = 0;
	int status = number("-m", text, MAX_PAGES, &v);

	if (!status && v & (v - 1))
		return ctl_error(CTL_USAGE, "-m %s: not a power of two", text);
	*value = v;
	return status;
}

static int option(struct parse *p, int c, char **argv)
{
	struct record_opts *o = p->o;
	uint64_t v = 0;
	int status;

	switch (c) {
	case 'a':
		o->all = true;
		return CTL_DONE;
	case 'g':
		o->chains = true;
		return CTL_DONE;
	case 'e':
		return add_events(p, optarg);
	case 'F':
		return number("-F", optarg, 1000000, &o->freq);
	case 'c':
		return number("-c", optarg, UINT64_MAX >> 1, &o->period);
	case 'p':
		status = number("-p", optarg, 1u << 30, &v);
		o->pid = (pid_t)v;
		return status;
	case 'C':
		o->cpus = optarg;
		o->all = true;
		return CTL_DONE;
	case 'o':
		o->file = optarg;
		return CTL_DONE;
	case 'm':
		return pages(optarg, &o->pages);
	case OPT_FILTER:
		return add_filter(p, optarg);
	case 'h':
		fputs(usage, stdout);
		o->help = true;
		return CTL_DONE;
	default:
		return ctl_bad_option(c, argv);
	}
}

static int default_event(struct parse *p)
{
	struct perf_event_attr cycles = {
		.size = sizeof(cycles),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1000000,
		.disabled = 1,
	};

	return add_events(p, evopen_works(&cycles) ? "cycles" : "cpu-clock");
}

static uint64_t default_freq(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long max = DEFAULT_HZ;

	if (f) {
		if (fscanf(f, "%lu", &max) != 1 || max > DEFAULT_HZ || !max)
			max = DEFAULT_HZ;
		fclose(f);
	}
	return max;
}

static void set_period(const struct record_opts *o, struct event *e)
{
	if (o->period || (e->tp && !o->freq)) {
		e->attr.sample_period = o->period ? o->period : 1;
		return;
	}
	e->attr.freq = 1;
	e->attr.sample_freq = o->freq ? o->freq : default_freq();
}

static int check_output(const char *file)
{
	struct stat st;

	if (!strcmp(file, "-"))
		return ctl_error(CTL_USAGE,
				 "-o -: a recording goes to a file, whose head is written last (./- is one of that name)");
	if (stat(file, &st) || S_ISREG(st.st_mode))
		return CTL_DONE;
	return ctl_error(CTL_USAGE, "-o %s: not a regular file", file);
}

static int check(struct parse *p)
{
	struct record_opts *o = p->o;
	int status = CTL_DONE;
	size_t i;

	if (o->freq && o->period)
		return ctl_error(CTL_USAGE, "-F and -c: one of them");
	if (o->pid && o->all)
		return ctl_error(CTL_USAGE, "-p, or all processes (-a, -C): one of them");
	if (o->pid && o->command)
		return ctl_error(CTL_USAGE, "-p %d, or a command ('%s'): one of them",
				 o->pid, o->command[0]);
	if (!o->pid && !o->all && !o->command)
		return ctl_error(CTL_USAGE,
				 "record: nothing to record: give a command, -p PID or -a");
	if (!o->events.n)
		status = default_event(p);
	for (i = 0; i < o->events.n && !status; i++) {
		set_period(o, &o->events.all[i]);
		if (o->filters[i] || !p->for_rest)
			continue;
		o->filters[i] = p->for_rest;
		p->filter_used = true;
	}
	if (!status && p->for_rest && !p->filter_used)
		return ctl_error(CTL_USAGE,
				 "--filter '%s': all events have another one",
				 p->for_rest);
	return status ? status : check_output(o->file);
}

int record_options(int argc, char **argv, struct record_opts *o)
{
	struct parse p = { .o = o };
	int c, status = CTL_DONE;

	memset(o, 0, sizeof(*o));
	o->file = RECORD_FILE;
	o->pages = DEFAULT_PAGES;
	opterr = 0;
	while (!status && !o->help &&
	       (c = getopt_long(argc, argv, "+:age:F:c:p:C:o:m:h", options,
				NULL)) != -1)
		status = option(&p, c, argv);
	if (status || o->help)
		return status;
	if (optind < argc)
		o->command = argv + optind;
	return check(&p);
}

void record_options_free(struct record_opts *o)
{
	events_free(&o->events);
	free(o->filters);
	o->filters = NULL;
}
