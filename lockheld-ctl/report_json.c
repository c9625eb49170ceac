// SPDX-License-Identifier: GPL-2.0-only
/* The report for programs. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl.h"
#include "json.h"
#include "lockname.h"
#include "report.h"

static void put_list(struct json *j, const char *key, const struct node *list)
{
	const struct node *node;

	json_open(j, key, '[');
	for (node = list->children; node; node = node->next) {
		json_open(j, NULL, '{');
		json_string(j, "name", node->label->name);
		json_string(j, "module", node->label->module);
		json_number(j, "samples", node->samples);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_tree(struct json *j, const struct node *node)
{
	json_open(j, "callees", '[');
	for (node = node->children; node; node = node->next) {
		json_open(j, NULL, '{');
		json_string(j, "name", node->label->name);
		json_string(j, "module", node->label->module);
		json_number(j, "samples", node->samples);
		json_number(j, "self", node->self);
		put_tree(j, node);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_lock(struct json *j, const struct row *row)
{
	char *addr;
	size_t i;

	json_string(j, "type", lockname_family(row->family));
	json_string(j, "mode", lockname_mode(row->mode));
	if (row->lock)
		json_string(j, "lock", row->lock->name);
	json_open(j, "addresses", '[');
	for (i = 0; i < row->nr_objects; i++) {
		addr = ctl_printf("0x%" PRIx64, row->objects[i]);
		json_string(j, NULL, addr);
		free(addr);
	}
	json_close(j, ']');
	json_number(j, "matched", row->matched);
	json_number(j, "held_known", row->timed);
	json_number(j, "held_sum_ns", row->held_sum);
	json_number(j, "held_max_ns", row->held_max);
}

static void put_row(struct json *j, const struct row *row)
{
	json_open(j, NULL, '{');
	json_number(j, "samples", row->samples);
	if (row->symbol)
		json_string(j, "symbol", row->symbol->name);
	if (row->site)
		json_string(j, "site", row->site->name);
	if (row->family)
		put_lock(j, row);
	put_list(j, "locks", &row->locks);
	put_list(j, "taken_in", &row->sites);
	put_list(j, "symbols", &row->symbols);
	put_tree(j, &row->chains);
	json_close(j, '}');
}

static void put_event(struct json *j, const struct report *r, size_t i)
{
	const struct note_filter *filter = report_filter(r, i);
	const struct aggregate *a = &r->events[i];
	char *name = report_event_name(r, i);
	size_t k;

	json_open(j, NULL, '{');
	json_string(j, "event", name);
	free(name);
	json_number(j, "samples", a->samples);
	json_number(j, "with_locks", a->with_locks);
	json_number(j, "omitted_locks", a->omitted);
	json_number(j, "damaged", a->damaged);
	if (filter) {
		json_open(j, "filter", '{');
		json_string(j, "text", filter->text);
		json_bool(j, "deleted", filter->deleted);
		if (r->notes.complete && !filter->deleted) {
			json_number(j, "evaluated", filter->evaluated);
			json_number(j, "passed", filter->passed);
			json_number(j, "dropped", filter->dropped);
			json_number(j, "uncertain", filter->uncertain);
		}
		json_close(j, '}');
	}
	json_open(j, "rows", '[');
	for (k = 0; k < a->nr_rows; k++)
		put_row(j, a->rows[k]);
	json_close(j, ']');
	json_close(j, '}');
}

void report_print_json(const struct report *r)
{
	struct json j = { 0 };
	size_t i;

	json_open(&j, NULL, '{');
	json_string(&j, "file", r->file->path);
	if (r->file->hostname)
		json_string(&j, "hostname", r->file->hostname);
	if (r->file->osrelease)
		json_string(&j, "kernel", r->file->osrelease);
	if (r->file->cmdline)
		json_string(&j, "command", r->file->cmdline);
	json_number(&j, "lost", r->lost);
	json_number(&j, "own_left_out", r->notes.own);
	json_number(&j, "foreign", r->foreign);
	json_bool(&j, "complete", report_complete(r));
	json_open(&j, "events", '[');
	for (i = 0; i < r->file->nr_events; i++)
		put_event(&j, r, i);
	json_close(&j, ']');
	json_close(&j, '}');
}
