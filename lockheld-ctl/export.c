// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl export: call chains, for programs that draw them. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "export.h"
#include "record.h"

enum { OPT_FORMAT = 256, OPT_LOCKS };
enum format { FOLDED, PPROF, SPEEDSCOPE, NR_FORMATS };

static const char *const formats[NR_FORMATS] = {
	[FOLDED] = "folded",
	[PPROF] = "pprof",
	[SPEEDSCOPE] = "speedscope",
};

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "locks", no_argument, NULL, OPT_LOCKS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char usage[] =
"usage: lockheld-ctl export [OPTION...]\n"
"\n"
"Writes a recording's call chains and how often each was seen, for programs\n"
"that draw them. Every sample counts once.\n"
"\n"
"  -i FILE       default perf.data\n"
"  -o FILE       default: standard output\n"
"  --format F    folded (default; a line for each chain, as flame graphs are made\n"
"                of), pprof, or speedscope\n"
"  --locks       chains begin with the locks that were held, the first taken first\n"
"  -h, --help    this text\n";

struct export_opts {
	const char *input, *output;
	enum format format;
	bool locks;
	bool help;
};

/* ---- frames ---- */

struct frame {
	const struct label *label;
	size_t number;
};

static int compare_frames(const void *va, const void *vb)
{
	uintptr_t a = (uintptr_t)((const struct frame *)va)->label;
	uintptr_t b = (uintptr_t)((const struct frame *)vb)->label;

	return a < b ? -1 : a > b;
}

size_t frames_number(struct frames *f, const struct label *label)
{
	struct frame *frame = ctl_zalloc(sizeof(*frame)), **found;

	frame->label = label;
	frame->number = f->n;
	found = tsearch(frame, &f->tree, compare_frames);
	if (!found)
		exit(ctl_error(CTL_FAILED, "out of memory"));
	if (*found != frame) {
		free(frame);
		return (*found)->number;
	}
	f->v = ctl_realloc(f->v, f->n + 1, sizeof(*f->v));
	f->v[f->n] = label;
	return f->n++;
}

void frames_free(struct frames *f)
{
	tdestroy(f->tree, free);
	free(f->v);
}

/* ---- chains ---- */

struct walk {
	int (*fn)(const struct label *const *chain, size_t n,
		  uint64_t samples, void *arg);
	void *arg;
	const struct label **chain;
	size_t room;
};

static int walk_down(struct walk *w, const struct node *node, size_t depth)
{
	int ret = 0;

	if (node->self && depth)
		ret = w->fn(w->chain, depth, node->self, w->arg);
	for (node = node->children; node && !ret; node = node->next) {
		if (depth == w->room) {
			w->room = w->room ? w->room * 2 : 64;
			w->chain = ctl_realloc(w->chain, w->room,
					       sizeof(*w->chain));
		}
		w->chain[depth] = node->label;
		ret = walk_down(w, node, depth + 1);
	}
	return ret;
}

bool export_has(const struct report *r, size_t i)
{
	return r->events[i].samples;
}

size_t export_nr_events(const struct report *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->file->nr_events; i++)
		n += export_has(r, i);
	return n;
}

int export_each(const struct report *r, size_t i,
		int (*fn)(const struct label *const *chain, size_t n,
			  uint64_t samples, void *arg),
		void *arg)
{
	const struct aggregate *a = &r->events[i];
	struct walk w = { .fn = fn, .arg = arg };
	size_t k;
	int ret = 0;

	for (k = 0; k < a->nr_rows && !ret; k++)
		ret = walk_down(&w, &a->rows[k]->chains, 0);
	free(w.chain);
	return ret;
}

/* ---- folded ---- */

/* What the format uses itself cannot be in a name. */
static void put_folded(const char *name)
{
	for (; *name; name++)
		putchar(*name == ';' ? ',' :
			(unsigned char)*name < ' ' ? ' ' : *name);
}

static int put_line(const struct label *const *chain, size_t n,
		    uint64_t samples, void *arg)
{
	const char *event = arg;
	size_t i;

	if (event)
		put_folded(event);
	for (i = 0; i < n; i++) {
		if (event || i)
			putchar(';');
		put_folded(chain[i]->name);
	}
	printf(" %" PRIu64 "\n", samples);
	return 0;
}

/* Of several events each has its own root. */
static void export_folded(const struct report *r)
{
	bool several = export_nr_events(r) > 1;
	size_t i;

	for (i = 0; i < r->file->nr_events; i++) {
		char *event = several ? report_event_name(r, i) : NULL;

		export_each(r, i, put_line, event);
		free(event);
	}
}

/* ---- the verb ---- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static int find_format(const char *word, enum format *format)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++) {
		if (strcmp(word, formats[i]))
			continue;
		*format = i;
		return CTL_DONE;
	}
	return ctl_error(CTL_USAGE,
			 "--format %s: it is one of folded, pprof, speedscope (report --json has the rest)",
			 word);
}

static int parse(int argc, char **argv, struct export_opts *o)
{
	int c, status = CTL_DONE;

	opterr = 0;
	while (!status && !o->help &&
	       (c = getopt_long(argc, argv, ":i:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			o->input = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case OPT_FORMAT:
			status = find_format(optarg, &o->format);
			break;
		case OPT_LOCKS:
			o->locks = true;
			break;
		case 'h':
			fputs(usage, stdout);
			o->help = true;
			break;
		default:
			status = ctl_bad_option(c, argv);
		}
	}
	if (status || o->help)
		return status;
	if (optind < argc)
		return report_extra_word(argv);
	if (o->output && is_same_file(o->input, o->output))
		return ctl_error(CTL_USAGE,
				 "export: -o %s is the recording itself",
				 o->output);
	if (o->format == PPROF && !o->output && isatty(STDOUT_FILENO))
		return ctl_error(CTL_USAGE,
				 "export: pprof's format is not for a terminal (-o FILE writes it to a file)");
	return CTL_DONE;
}

/* What the numbers are not the whole of. */
static void warn_of_gaps(const struct report *r)
{
	uint64_t samples = 0, without = 0, damaged = 0;
	size_t i;

	for (i = 0; i < r->file->nr_events; i++) {
		samples += r->events[i].samples;
		without += r->events[i].samples - r->events[i].with_record;
		damaged += r->events[i].damaged;
	}
	if (!r->damage && !report_complete(r))
		ctl_warn("%s: cut short while it was recorded or since",
			 r->file->path);
	if (r->damage)
		ctl_warn("%s; what stands behind is missing", r->damage);
	if (r->lost || damaged)
		ctl_warn("%s: %" PRIu64 " samples were lost, %" PRIu64
			 " are damaged", r->file->path, r->lost, damaged);
	if (!samples)
		ctl_warn("%s: no samples", r->file->path);
	else if (r->locks_call && without == samples)
		ctl_warn("%s: its samples do not say what was held (lockheld-ctl record makes such)",
			 r->file->path);
}

static int export(struct pd_reader *file, const struct export_opts *o)
{
	struct report r = { .sort = SORT_NOTHING, .locks_call = o->locks };
	int ret = 0;

	report_load(&r, file);
	warn_of_gaps(&r);
	if (o->output && !freopen(o->output, "w", stdout)) {
		ret = -errno;
	} else {
		switch (o->format) {
		case PPROF:
			ret = export_pprof(&r, stdout);
			break;
		case SPEEDSCOPE:
			export_speedscope(&r);
			break;
		default:
			export_folded(&r);
		}
		if (!ret && (fflush(stdout) || ferror(stdout)))
			ret = -errno;
	}
	report_unload(&r);
	if (ret)
		return ctl_error(CTL_FAILED, "%s: %s",
				 o->output ? o->output : "cannot write the output",
				 strerror(-ret));
	return CTL_DONE;
}

int cmd_export(int argc, char **argv)
{
	struct export_opts o = { .input = RECORD_FILE };
	struct pd_reader file;
	int status = parse(argc, argv, &o);

	if (status || o.help)
		return status;
	if (pd_reader_open(&file, o.input))
		status = ctl_error(CTL_FAILED, "%s", file.error);
	else
		status = export(&file, &o);
	pd_reader_close(&file);
	return status;
}
