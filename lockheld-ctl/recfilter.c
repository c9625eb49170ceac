// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ctl.h"
#include "expr.h"
#include "recfilter.h"

/* program && pid != @pid */
static int add_not_pid(struct recfilter *f, pid_t pid)
{
	const struct lockheld_insn more[] = {
		{ .op = LOCKHELD_OP_TERM, .arg = LOCKHELD_TERM_PID },
		{ .op = LOCKHELD_OP_IMM, .imm = (__u64)pid },
		{ .op = LOCKHELD_OP_NE },
		{ .op = LOCKHELD_OP_LAND },
	};
	const unsigned int nr = sizeof(more) / sizeof(more[0]);

	if (f->n + nr > LOCKHELD_INSNS_MAX)
		return ctl_error(CTL_USAGE,
				 "--filter is too long: %u instructions, and %u more to leave out lockheld-ctl itself; %u fit",
				 f->n, nr, LOCKHELD_INSNS_MAX);
	f->insns = ctl_realloc(f->insns, f->n + nr, sizeof(*f->insns));
	memcpy(f->insns + f->n, more, sizeof(more));
	f->n += nr;
	return CTL_DONE;
}

int recfilter_compile(struct recfilter *f, const struct event *event,
		      pid_t not_pid)
{
	struct expr_opts opts = { .event = event->tp };
	struct expr_result res = { 0 };
	int status = expr_compile(f->text, &opts, &res);

	if (status) {
		expr_print_error(status, &res);
		expr_result_free(&res);
		return status;
	}
	f->insns = res.insns;
	f->n = res.n;
	f->tp_filter = res.tp_filter;
	/* The report tells how long a lock had been held. */
	f->flags = res.has_locks ? LOCKHELD_FILTER_TIMES : 0;
	res.insns = NULL;
	res.tp_filter = NULL;
	expr_result_free(&res);
	return f->n && not_pid ? add_not_pid(f, not_pid) : CTL_DONE;
}

int recfilter_add(struct recfilter *f, struct lhnl *nl)
{
	int status;

	if (!f->n)
		return CTL_DONE;
	status = lhnl_filter_add(nl, f->insns, f->n, f->text, f->flags, &f->id);
	return status ? ctl_error(status, "%s", lhnl_error(nl)) : CTL_DONE;
}

int recfilter_attach(const struct recfilter *f, struct lhnl *nl,
		     const struct evopen *ev)
{
	size_t i;
	int status, ret;

	for (i = 0; f->n && i < ev->n; i++) {
		status = lhnl_filter_attach(nl, f->id, ev->fds[i]);
		if (status)
			return ctl_error(status, "event '%s': %s", ev->name,
					 lhnl_error(nl));
	}
	if (!f->tp_filter)
		return CTL_DONE;
	ret = evopen_ioctl(ev, PERF_EVENT_IOC_SET_FILTER,
			   (unsigned long)f->tp_filter);
	return !ret ? CTL_DONE :
	       ctl_error(CTL_FAILED,
			 "event '%s': the kernel's tracepoint filter does not take '%s': %s",
			 ev->name, f->tp_filter, strerror(-ret));
}

int recfilter_counts(struct recfilter *f, struct lhnl *nl)
{
	struct lhnl_filter *got;
	size_t n;
	int status;

	if (!f->n)
		return CTL_DONE;
	status = lhnl_filters(nl, f->id, &got, &n);
	if (status)
		return ctl_error(status, "the filter's counters are not known: %s",
				 lhnl_error(nl));
	if (n) {
		f->counts.evaluated = got->evaluated;
		f->counts.passed = got->passed;
		f->counts.dropped = got->dropped;
		f->counts.uncertain = got->uncertain;
	}
	lhnl_filters_free(got, n);
	return CTL_DONE;
}

void recfilter_free(struct recfilter *f)
{
	free(f->insns);
	free(f->tp_filter);
	f->insns = NULL;
	f->tp_filter = NULL;
}
