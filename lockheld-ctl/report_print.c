// SPDX-License-Identifier: GPL-2.0-only
/* The report as text: a head, a table, and for each row what ran. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"
#include "lockname.h"
#include "report.h"
#include "report_tree.h"

#define NAME_WIDTH_MAX	48	/* of a table's name column */
#define SYMBOLS_SHOWN	20	/* of a row */
#define SITES_SHOWN	10

static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	return size.ws_col;
}

/* What is beyond the terminal's edge is left out, not wrapped. */
void page_put(struct page *p, const char *fmt, ...)
{
	size_t room, len;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = ctl_vprintf(fmt, ap);
	va_end(ap);
	len = strlen(text);
	room = !p->width ? len : p->column < p->width ? p->width - p->column : 0;
	fwrite(text, 1, len < room ? len : room, stdout);
	p->column += len;
	free(text);
}

void page_end(struct page *p)
{
	putchar('\n');
	p->column = 0;
}

void page_colour(const struct page *p, const char *code)
{
	if (p->colours)
		printf("\033[%sm", code);
}

/* Red what is much, green what is some, as perf has it. */
void page_percent(struct page *p, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	page_colour(p, percent >= 5 ? "31" : percent >= 0.5 ? "32" : "0");
	page_put(p, "%6.2f%%", percent);
	page_colour(p, "0");
}

static void put_line(struct page *p, const char *text)
{
	page_put(p, "# %s", text);
	page_end(p);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *samples(uint64_t n)
{
	return ctl_printf("%" PRIu64 " sample%s", n, n == 1 ? "" : "s");
}

static char *duration(uint64_t ns)
{
	if (ns < 1000)
		return ctl_printf("%" PRIu64 "ns", ns);
	if (ns < 1000000)
		return ctl_printf("%.1fus", (double)ns / 1e3);
	if (ns < 1000000000)
		return ctl_printf("%.2fms", (double)ns / 1e6);
	return ctl_printf("%.2fs", (double)ns / 1e9);
}

/* A row's name: of a lock, its objects counted; of a symbol, its module too. */
static char *row_name(const struct report *r, const struct aggregate *a,
		      const struct row *row)
{
	if (r->sort == SORT_SYMBOL)
		return ctl_strdup(row->symbol->name);
	if (!row->family)
		return ctl_strdup(a->with_record ? "(no lock held)" :
						   "all samples");
	if (!row->lock)
		return ctl_printf("%s 0x%" PRIx64, lockname_family(row->family),
				  row->addr);
	if (row->nr_objects > 1)
		return ctl_printf("%s (%zu objects)", row->lock->name,
				  row->nr_objects);
	return ctl_strdup(row->lock->name);
}

static size_t shown_rows(const struct report *r, const struct aggregate *a)
{
	return r->limit && r->limit < a->nr_rows ? r->limit : a->nr_rows;
}

static size_t name_width(const struct report *r, const struct aggregate *a)
{
	size_t i, width = 6;

	for (i = 0; i < shown_rows(r, a); i++) {
		char *name = row_name(r, a, a->rows[i]);

		if (strlen(name) > width)
			width = strlen(name);
		free(name);
	}
	return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

static size_t family_width(const struct report *r, const struct aggregate *a)
{
	size_t i, len, width = 8;

	for (i = 0; i < shown_rows(r, a); i++) {
		len = strlen(lockname_family(a->rows[i]->family));
		width = len > width ? len : width;
	}
	return width;
}

static void put_held(struct page *p, const struct row *row)
{
	char *mean, *max;

	if (!row->timed) {
		page_put(p, "  %9s %9s", "-", "-");
		return;
	}
	mean = duration(row->held_sum / row->timed);
	max = duration(row->held_max);
	page_put(p, "  %9s %9s", mean, max);
	free(mean);
	free(max);
}

static void put_most(struct page *p, const struct node *list)
{
	const struct node *most = list->children;

	if (!most)
		return;
	page_put(p, "%s", most->label->name);
	if (most->next)
		page_put(p, " (%.0f%%, and %zu more)",
			 100.0 * (double)most->samples / (double)list->samples,
			 list->nr_children - 1);
}

static void put_row(struct page *p, const struct report *r,
		    const struct aggregate *a, const struct row *row,
		    size_t width, size_t families)
{
	char *name = row_name(r, a, row);

	if (r->sort != SORT_SYMBOL && !row->family)
		width = 0;		/* nothing stands behind it */
	page_percent(p, row->samples, a->samples);
	page_put(p, " %9" PRIu64 "  %-*s", row->samples, (int)width, name);
	free(name);
	if (r->sort == SORT_SYMBOL) {
		page_put(p, row->locks.children ? "  %-20s  " : "  %s",
			 base_name(row->symbol->module));
		put_most(p, &row->locks);
	} else if (row->family) {
		page_put(p, "  %-*s  %-4s", (int)families,
			 lockname_family(row->family),
			 lockname_mode(row->mode));
		put_held(p, row);
		if (row->sites.children)
			page_put(p, "  ");
		put_most(p, &row->sites);
	}
	page_end(p);
}

static void put_table_head(struct page *p, const struct report *r, size_t width,
			   size_t families)
{
	page_colour(p, "1");
	if (r->sort == SORT_SYMBOL)
		page_put(p, "%7s %9s  %-*s  %-20s  %s", "SHARE", "SAMPLES",
			 (int)width, "SYMBOL", "MODULE", "LOCK HELD");
	else
		page_put(p, "%7s %9s  %-*s  %-*s  %-4s  %9s %9s  %s", "SHARE",
			 "SAMPLES", (int)width, "LOCK", (int)families, "TYPE",
			 "MODE", "HELD MEAN", "MAX", "TAKEN IN");
	page_colour(p, "0");
	page_end(p);
}

static void put_table(struct page *p, const struct report *r,
		      const struct aggregate *a)
{
	size_t width = name_width(r, a), families = family_width(r, a);
	size_t n = shown_rows(r, a), i;
	uint64_t rest = 0;

	put_table_head(p, r, width, families);
	for (i = 0; i < n; i++) {
		if (i && aggregate_besides(a->rows[i]) &&
		    !aggregate_besides(a->rows[i - 1]))
			put_line(p, "held besides:");
		put_row(p, r, a, a->rows[i], width, families);
	}
	for (i = n; i < a->nr_rows; i++)
		rest += a->rows[i]->samples;
	if (n < a->nr_rows) {
		page_put(p, "# and %zu more rows with %" PRIu64 " samples (--limit 0 shows all)",
			 a->nr_rows - n, rest);
		page_end(p);
	}
}

static void put_list(struct page *p, const char *title,
		     const struct node *list, size_t limit, bool modules)
{
	const struct node *node;
	uint64_t rest = 0;
	size_t i = 0;

	if (!list->children)
		return;
	page_put(p, "  %s", title);
	page_end(p);
	for (node = list->children; node && i < limit; node = node->next) {
		page_put(p, "    ");
		page_percent(p, node->samples, list->samples);
		page_put(p, "  %s", node->label->name);
		if (modules && *node->label->module)
			page_put(p, "  %s", node->label->module);
		page_end(p);
		i++;
	}
	for (; node; node = node->next)
		rest += node->samples;
	if (!rest)
		return;
	page_put(p, "    ");
	page_percent(p, rest, list->samples);
	page_put(p, "  in %zu more", list->nr_children - i);
	page_end(p);
}

static void put_details(struct page *p, const struct report *r,
			const struct aggregate *a, const struct row *row)
{
	char *name = row_name(r, a, row), *count;

	page_end(p);
	page_colour(p, "1");
	page_put(p, "%s", name);
	if (row->family)
		page_put(p, ", %s %s", lockname_family(row->family),
			 lockname_mode(row->mode));
	if (row->site)
		page_put(p, ", taken in %s", row->site->name);
	count = samples(row->samples);
	page_put(p, ": %s", count);
	free(count);
	page_colour(p, "0");
	page_end(p);
	free(name);
	if (r->sort == SORT_SYMBOL)
		put_list(p, "locks held:", &row->locks, SITES_SHOWN, false);
	if (r->sort != SORT_SITE)
		put_list(p, "taken in:", &row->sites, SITES_SHOWN, false);
	if (r->sort != SORT_SYMBOL)
		put_list(p, row->family ? "ran meanwhile:" : "ran:",
			 &row->symbols, SYMBOLS_SHOWN, true);
	report_tree(p, &row->chains);
}

static void put_head(struct page *p, const struct report *r)
{
	const struct pd_reader *f = r->file;

	page_put(p, "# %s", f->path);
	if (f->hostname)
		page_put(p, ": recorded on %s", f->hostname);
	if (f->osrelease)
		page_put(p, ", kernel %s", f->osrelease);
	/* perf gives its number only */
	if (f->version)
		page_put(p, ", by %s%s", isdigit((unsigned char)*f->version) ?
			 "perf " : "", f->version);
	page_end(p);
	if (f->cmdline) {
		page_put(p, "# %s", f->cmdline);
		page_end(p);
	}
}

static bool is_page_faults(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_PAGE_FAULTS;
}

static void put_no_samples(struct page *p, const struct note_filter *filter,
			   const struct perf_event_attr *attr, bool complete)
{
	if (!complete) {
		put_line(p, "No samples are there; the recording was cut short.");
		return;
	}
	if (!filter || (filter->id && !filter->evaluated && !filter->deleted)) {
		put_line(p, "No samples: the event did not happen while it was recorded.");
		return;
	}
	put_line(p, "No sample passed the filter. Either the lock was not held when the event");
	put_line(p, "happened, or its holder slept: it takes no CPU samples then, but its going");
	put_line(p, "to sleep is an event (-e sched:sched_switch).");
	if (!strstr(filter->text, "mmap_lock"))
		return;
	if (is_page_faults(attr))
		put_line(p, "page-faults is counted before mmap_lock is taken: -e minor-faults,major-faults.");
	put_line(p, "Since Linux 6.4 most page faults take a lock of their own instead of mmap_lock.");
}

static void put_event(struct page *p, const struct report *r, size_t i)
{
	const struct note_filter *filter = report_filter(r, i);
	const struct aggregate *a = &r->events[i];
	char *name = report_event_name(r, i), *count;
	size_t j;

	page_put(p, "#");
	page_end(p);
	count = samples(a->samples);
	page_put(p, "# %s: %s", name, count);
	page_end(p);
	free(count);
	free(name);
	if (filter) {
		page_put(p, "# filter: %s", filter->text);
		page_end(p);
	}
	if (filter && filter->id && !r->notes.complete) {
		put_line(p, "The recording was cut short: what the filter dropped is not known.");
	} else if (filter && filter->deleted) {
		put_line(p, "It was deleted while it was recorded: samples from then on are not filtered.");
	} else if (filter && filter->id) {
		page_put(p, "# %" PRIu64 " evaluated, %" PRIu64 " passed, %"
			 PRIu64 " dropped, %" PRIu64 " uncertain",
			 filter->evaluated, filter->passed, filter->dropped,
			 filter->uncertain);
		page_end(p);
	}
	if (!a->samples) {
		put_no_samples(p, filter, &r->file->events[i].attr,
			       report_complete(r));
		return;
	}
	if (!a->with_record) {
		put_line(p, "Its samples do not say what was held: those of lockheld-ctl record with a filter do.");
	}
	page_put(p, "#");
	page_end(p);
	/* without locks it would be one row of nothing */
	if (a->with_record || r->sort == SORT_SYMBOL)
		put_table(p, r, a);
	for (j = 0; j < shown_rows(r, a); j++)
		put_details(p, r, a, a->rows[j]);
}

static void put_note(struct page *p, const char *what, uint64_t count)
{
	if (!count)
		return;
	page_put(p, "# %s: %" PRIu64, what, count);
	page_end(p);
}

/* Whatever is not in the tables above. */
static void put_foot(struct page *p, const struct report *r)
{
	uint64_t omitted = 0, damaged = 0;
	size_t i;

	for (i = 0; i < r->file->nr_events; i++) {
		omitted += r->events[i].omitted;
		damaged += r->events[i].damaged;
	}
	page_put(p, "#");
	page_end(p);
	page_put(p, "# lost: %" PRIu64, r->lost);
	page_end(p);
	put_note(p, "of the recorder itself, left out", r->notes.own);
	put_note(p, "held locks that did not fit into their samples", omitted);
	put_note(p, "damaged, in no table", damaged);
	put_note(p, "of no event in the file, in no table", r->foreign);
	if (r->file->unfinished ||
	    (r->file->notes && !r->notes.complete)) {
		put_line(p, "it was cut short (full disk, killed recorder): what came last is missing");
	}
	if (r->damage) {
		page_put(p, "# %s; what stands behind is missing", r->damage);
		page_end(p);
	}
}

/* What only tracks maps and names has no samples, and need not be shown. */
static bool is_tracker(const struct report *r, size_t i)
{
	const struct perf_event_attr *attr = &r->file->events[i].attr;

	return attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_DUMMY && !r->events[i].samples;
}

void report_print(const struct report *r)
{
	struct page p = { .width = terminal_width() };
	const char *no_color = getenv("NO_COLOR");
	size_t i;

	p.colours = isatty(STDOUT_FILENO) && (!no_color || !*no_color);
	put_head(&p, r);
	for (i = 0; i < r->file->nr_events; i++)
		if (!is_tracker(r, i))
			put_event(&p, r, i);
	put_foot(&p, r);
}
