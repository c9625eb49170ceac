// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ctl.h"
#include "filteradd.h"
#include "recfilter.h"

/* program && pid != @pid */
static int add_not_pid(struct expr_result *res, pid_t pid)
{
	const struct lockheld_insn more[] = {
		{ .op = LOCKHELD_OP_TERM, .arg = LOCKHELD_TERM_PID },
		{ .op = LOCKHELD_OP_IMM, .imm = (__u64)pid },
		{ .op = LOCKHELD_OP_NE },
		{ .op = LOCKHELD_OP_LAND },
	};
	const unsigned int nr = sizeof(more) / sizeof(more[0]);

	if (res->n + nr > LOCKHELD_INSNS_MAX)
		return ctl_error(CTL_USAGE,
				 "--filter is too long: %u instructions, and %u more to leave out lockheld-ctl itself; %u fit",
				 res->n, nr, LOCKHELD_INSNS_MAX);
	res->insns = ctl_realloc(res->insns, res->n + nr, sizeof(*res->insns));
	memcpy(res->insns + res->n, more, sizeof(more));
	res->places = ctl_realloc(res->places, res->n + nr,
				  sizeof(*res->places));
	memset(res->places + res->n, 0, nr * sizeof(*res->places));
	res->n += nr;
	return CTL_DONE;
}

/* Terms that only a processor's own events have. */
static bool needs_hardware(unsigned int term)
{
	return (term >= LOCKHELD_TERM_TXN && term <= LOCKHELD_TERM_WEIGHT3) ||
	       term >= LOCKHELD_TERM_MEM_OP;
}

static void warn_of_zeros(const struct recfilter *f, const struct event *event)
{
	uint64_t said = 0;
	unsigned int i;

	if (event->attr.type != PERF_TYPE_SOFTWARE &&
	    event->attr.type != PERF_TYPE_TRACEPOINT &&
	    event->attr.type != PERF_TYPE_BREAKPOINT)
		return;
	for (i = 0; i < f->res.n; i++) {
		const struct lockheld_insn *insn = &f->res.insns[i];
		const struct expr_span *at = &f->res.places[i];

		if (insn->op != LOCKHELD_OP_TERM || !needs_hardware(insn->arg) ||
		    (said & 1ULL << insn->arg))
			continue;
		said |= 1ULL << insn->arg;
		ctl_warn("event '%s' does not know %.*s: it is 0 in every sample (events of the processor may know it)",
			 event->name, (int)(at->last - at->first),
			 f->text + at->first);
	}
}

int recfilter_compile(struct recfilter *f, const struct event *event,
		      pid_t not_pid)
{
	struct expr_opts opts = { .event = event->tp };
	int status = expr_compile(f->text, &opts, &f->res);

	if (status)
		return expr_print_error(status, &f->res);
	/* The report tells how long a lock had been held. */
	f->flags = f->res.has_locks ? LOCKHELD_FILTER_TIMES : 0;
	warn_of_zeros(f, event);
	return f->res.n && not_pid ? add_not_pid(&f->res, not_pid) : CTL_DONE;
}

int recfilter_add(struct recfilter *f, struct lhnl *nl)
{
	return f->res.n ? filter_add(nl, f->text, &f->res, f->flags, &f->id) :
			  CTL_DONE;
}

int recfilter_attach(const struct recfilter *f, struct lhnl *nl,
		     const struct evopen *ev)
{
	size_t i;
	int status, ret;

	for (i = 0; f->res.n && i < ev->n; i++) {
		status = lhnl_filter_attach(nl, f->id, ev->fds[i]);
		if (status)
			return ctl_error(status, "event '%s': %s", ev->name,
					 lhnl_error(nl));
	}
	if (!f->res.tp_filter)
		return CTL_DONE;
	ret = evopen_ioctl(ev, PERF_EVENT_IOC_SET_FILTER,
			   (unsigned long)f->res.tp_filter);
	return !ret ? CTL_DONE :
	       ctl_error(CTL_FAILED,
			 "event '%s': the kernel's tracepoint filter does not take '%s': %s",
			 ev->name, f->res.tp_filter, strerror(-ret));
}

int recfilter_counts(struct recfilter *f, struct lhnl *nl)
{
	struct lhnl_filter *got;
	size_t n;
	int status;

	if (!f->res.n)
		return CTL_DONE;
	status = lhnl_filters(nl, f->id, &got, &n);
	if (status)
		return ctl_error(status, "the filter's counters are not known: %s",
				 lhnl_error(nl));
	if (n) {
		f->gone = got->flags & LOCKHELD_FILTER_GONE;
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
	expr_result_free(&f->res);
}
