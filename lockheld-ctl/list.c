// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl list: the filters in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "json.h"
#include "lockname.h"
#include "nl.h"
#include "query.h"

static const char usage[] =
	"usage: lockheld-ctl list [--json]\n\n"
	"Lists the filters in place: events they are attached to, the process that\n"
	"made them, samples seen, passed and dropped, samples for which a lock was\n"
	"either waited for or held (they were counted as not held), and how the module\n"
	"knows of each lock.\n\n"
	"  --json      for programs\n"
	"  -h, --help  this text\n";

/* "" if the process has ended. */
static void read_comm(unsigned int pid, char *comm, size_t size)
{
	char path[64];
	FILE *f;

	*comm = 0;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(comm, size, f))
		comm[strcspn(comm, "\n")] = 0;
	fclose(f);
}

static void print_table(struct lhnl_filter *filters, size_t n)
{
	char comm[32];
	size_t i, k;

	printf("%4s %6s  %-24s %12s %12s %12s %10s\n", "ID", "EVENTS", "OWNER",
	       "EVALUATED", "PASSED", "DROPPED", "UNCERTAIN");
	for (i = 0; i < n; i++) {
		struct lhnl_filter *f = &filters[i];
		char *owner;

		read_comm(f->owner_pid, comm, sizeof(comm));
		owner = ctl_printf("%u %s", f->owner_pid,
				   *comm ? ctl_one_line(comm) : "(ended)");
		printf("%4u %6u  %-24s %12llu %12llu %12llu %10llu\n", f->id,
		       f->nr_events, owner, (unsigned long long)f->evaluated,
		       (unsigned long long)f->passed,
		       (unsigned long long)f->dropped,
		       (unsigned long long)f->uncertain);
		printf("     %s%s\n", ctl_one_line(f->text),
		       f->flags & LOCKHELD_FILTER_PERSIST ?
		       "  (stays without its owner)" : "");
		if (f->flags & LOCKHELD_FILTER_GONE)
			puts("     passes nothing: its lock's module was unloaded");
		for (k = 0; k < f->nr_terms; k++)
			printf("     instruction %u: %s, mode %s, by %s: %s\n",
			       f->terms[k].insn,
			       lockname_family(f->terms[k].family),
			       lockname_mode(f->terms[k].mode),
			       lockname_mechanism(f->terms[k].mechanism),
			       lockname_cost(f->terms[k].mechanism));
		free(owner);
	}
}

static void print_json_terms(struct json *j, const struct lhnl_filter *f)
{
	size_t k;

	json_open(j, "locks", '[');
	for (k = 0; k < f->nr_terms; k++) {
		const struct lhnl_term *t = &f->terms[k];

		json_open(j, NULL, '{');
		json_number(j, "instruction", t->insn);
		json_string(j, "family", lockname_family(t->family));
		json_string(j, "mode", lockname_mode(t->mode));
		json_string(j, "mechanism", lockname_mechanism(t->mechanism));
		json_string(j, "cost", lockname_cost_class(t->mechanism));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void print_json(const struct lhnl_filter *filters, size_t n)
{
	struct json j = { 0 };
	char comm[32];
	size_t i;

	json_open(&j, NULL, '[');
	for (i = 0; i < n; i++) {
		const struct lhnl_filter *f = &filters[i];

		read_comm(f->owner_pid, comm, sizeof(comm));
		json_open(&j, NULL, '{');
		json_number(&j, "id", f->id);
		json_string(&j, "filter", f->text);
		json_bool(&j, "persistent",
			  f->flags & LOCKHELD_FILTER_PERSIST);
		json_bool(&j, "gone", f->flags & LOCKHELD_FILTER_GONE);
		json_number(&j, "owner_pid", f->owner_pid);
		json_string(&j, "owner_comm", comm);
		json_number(&j, "events", f->nr_events);
		json_number(&j, "evaluated", f->evaluated);
		json_number(&j, "passed", f->passed);
		json_number(&j, "dropped", f->dropped);
		json_number(&j, "uncertain", f->uncertain);
		print_json_terms(&j, f);
		json_close(&j, '}');
	}
	json_close(&j, ']');
}

int cmd_list(int argc, char **argv)
{
	struct lhnl_filter *filters;
	bool json = false;
	struct lhnl *nl;
	int status;
	size_t n;

	status = query_begin(argc, argv, usage, &json, &nl);
	if (status >= 0)
		return status;
	status = lhnl_filters(nl, 0, &filters, &n);
	if (status)
		return query_end(nl, status);
	if (json)
		print_json(filters, n);
	else if (n)
		print_table(filters, n);
	else
		puts("no filters");
	lhnl_filters_free(filters, n);
	return query_end(nl, CTL_DONE);
}
