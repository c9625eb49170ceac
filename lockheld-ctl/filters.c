// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl add-filter and del-filter. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>

#include "ctl.h"
#include "expr.h"
#include "filteradd.h"
#include "nl.h"
#include "pevents.h"

static const char add_usage[] =
	"usage: lockheld-ctl add-filter EXPRESSION --pid PID\n"
	"       lockheld-ctl add-filter EXPRESSION --fd N\n\n"
	"Lets perf events that are already open record only samples that pass, and\n"
	"prints the filter's number. The filter stays until del-filter, or until the\n"
	"events are closed.\n\n"
	"  -p, --pid PID  every perf event that process PID has open now\n"
	"      --fd N     the perf event that is descriptor N of this process\n"
	"  -h, --help     this text\n\n"
	"The expression may use locks and sample terms; fields of a tracepoint only\n"
	"with lockheld-ctl record. See lockheld-ctl(8).\n";

static const char del_usage[] =
	"usage: lockheld-ctl del-filter ID...\n"
	"       lockheld-ctl del-filter --all\n\n"
	"Takes filters away; their events then record every sample.\n\n"
	"  -a, --all   all filters, those of a running recorder too\n"
	"  -h, --help  this text\n";

/* Beyond every letter: it has no short form. */
#define OPT_FD 256

struct target {
	unsigned int pid;	/* 0: fd is given */
	int fd;
};

/*
 * All or nothing: events left without the filter would record what nobody asked
 * for. Those that never sample record nothing anyway, perf opens one such.
 */
static int attach_all(struct lhnl *nl, __u32 id, const struct pevent *events,
		      size_t n, size_t *attached)
{
	size_t i;

	*attached = 0;
	for (i = 0; i < n; i++) {
		int status = lhnl_filter_attach(nl, id, events[i].fd);

		if (!status)
			++*attached;
		else if (lhnl_errno(nl) != EINVAL)
			return status;
	}
	/* Then the module's last word stands. */
	return *attached ? CTL_DONE : CTL_FAILED;
}

static int add_filter(struct lhnl *nl, const char *text,
		      struct expr_result *res, const struct target *to,
		      const struct pevent *events, size_t n)
{
	size_t attached;
	int status;
	__u32 id;

	status = filter_add(nl, text, res, LOCKHELD_FILTER_PERSIST, &id);
	if (status)
		return status;
	status = attach_all(nl, id, events, n, &attached);
	if (status) {
		ctl_error(status, "no filter added: %s", lhnl_error(nl));
		if (lhnl_filter_del(nl, id) && lhnl_errno(nl) != ENOENT)
			ctl_warn("filter %u is left behind: %s", id,
				 lhnl_error(nl));
		return status;
	}
	printf("%u\n", id);
	if (to->pid)
		fprintf(stderr, "filter %u is on %zu event%s of process %u",
			id, attached, attached == 1 ? "" : "s", to->pid);
	else
		fprintf(stderr, "filter %u is on the event of descriptor %d",
			id, to->fd);
	if (n > attached)
		fprintf(stderr, " (%zu more never sample)", n - attached);
	fputc('\n', stderr);
	return CTL_DONE;
}

static int find_events(const struct target *to, struct pevent **events,
		       size_t *n)
{
	if (to->pid)
		return pevents_of(to->pid, events, n);
	*events = ctl_zalloc(sizeof(**events));
	*n = 1;
	/* One to close, as the others. */
	(*events)->fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0);
	if ((*events)->fd >= 0)
		return CTL_DONE;
	free(*events);
	return ctl_error(CTL_FAILED, "descriptor %d is not open", to->fd);
}

static int parse_add(int argc, char **argv, struct target *to)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "fd", required_argument, NULL, OPT_FD },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	unsigned long long value;
	int opt, given = 0;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":p:h", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			if (!ctl_number(optarg, INT_MAX, &value) || !value)
				return ctl_error(CTL_USAGE,
						 "'%s' is not a process id",
						 optarg);
			to->pid = value;
			given++;
			break;
		case OPT_FD:
			if (!ctl_number(optarg, INT_MAX, &value))
				return ctl_error(CTL_USAGE,
						 "'%s' is not a descriptor's number",
						 optarg);
			to->fd = value;
			given++;
			break;
		case 'h':
			fputs(add_usage, stdout);
			return CTL_DONE;
		default:
			return ctl_bad_option(opt, argv);
		}
	}
	if (optind == argc)
		return ctl_error(CTL_USAGE,
				 "add-filter: an expression is missing: lockheld-ctl add-filter 'lock_held(mutex)' --pid PID");
	if (optind + 1 < argc)
		return ctl_error(CTL_USAGE,
				 "add-filter: unexpected '%s': put the expression into quotation marks",
				 argv[optind + 1]);
	if (given != 1)
		return ctl_error(CTL_USAGE,
				 "add-filter: give one --pid PID or one --fd N");
	return -1;
}

int cmd_add_filter(int argc, char **argv)
{
	struct target to = { .fd = -1 };
	const struct expr_opts opts = { 0 };
	struct expr_result res;
	struct pevent *events;
	struct lhnl *nl;
	const char *text;
	int status;
	size_t n;

	status = parse_add(argc, argv, &to);
	if (status >= 0)
		return status;
	text = argv[optind];
	status = expr_compile(text, &opts, &res);
	if (status) {
		expr_print_error(status, &res);
		expr_result_free(&res);
		return status;
	}
	expr_print_note(&res);
	status = lhnl_open(&nl);
	if (status) {
		ctl_error(status, "%s", lhnl_error(nl));
	} else {
		status = find_events(&to, &events, &n);
		if (!status) {
			status = add_filter(nl, text, &res, &to, events, n);
			pevents_close(events, n);
		}
	}
	lhnl_close(nl);
	expr_result_free(&res);
	return status;
}

static int del_all(struct lhnl *nl)
{
	struct lhnl_filter *filters;
	int status;
	size_t i, n;

	status = lhnl_filters(nl, 0, &filters, &n);
	if (status)
		return ctl_error(status, "%s", lhnl_error(nl));
	for (i = 0; i < n; i++) {
		int err = lhnl_filter_del(nl, filters[i].id);

		/* It may have gone by itself meanwhile. */
		if (err && lhnl_errno(nl) != ENOENT)
			status = ctl_error(err, "%s", lhnl_error(nl));
	}
	lhnl_filters_free(filters, n);
	return status;
}

static int del_some(struct lhnl *nl, int n, char **ids)
{
	unsigned long long id;
	int i, status = CTL_DONE;

	for (i = 0; i < n; i++) {
		int err;

		/* All of them were checked before. */
		ctl_number(ids[i], ~0U, &id);
		err = lhnl_filter_del(nl, id);
		if (err && lhnl_errno(nl) == ENOENT)
			status = ctl_error(CTL_FAILED,
					   "there is no filter %llu (lockheld-ctl list shows them)",
					   id);
		else if (err)
			status = ctl_error(err, "%s", lhnl_error(nl));
	}
	return status;
}

int cmd_del_filter(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	unsigned long long id;
	bool all = false;
	struct lhnl *nl;
	int i, opt, status;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ah", options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			all = true;
			break;
		case 'h':
			fputs(del_usage, stdout);
			return CTL_DONE;
		default:
			return ctl_bad_option(opt, argv);
		}
	}
	if (all == (optind < argc))
		return ctl_error(CTL_USAGE,
				 "del-filter: give the numbers of filters (lockheld-ctl list shows them) or --all");
	for (i = optind; i < argc; i++)
		if (!ctl_number(argv[i], ~0U, &id) || !id)
			return ctl_error(CTL_USAGE,
					 "'%s' is not the number of a filter",
					 argv[i]);
	status = lhnl_open(&nl);
	if (status)
		ctl_error(status, "%s", lhnl_error(nl));
	else if (all)
		status = del_all(nl);
	else
		status = del_some(nl, argc - optind, argv + optind);
	lhnl_close(nl);
	return status;
}
