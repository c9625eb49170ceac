// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl record: from the options to a finished file. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <symres.h>

#include "ctl.h"
#include "notes.h"
#include "recording.h"
#include "sample.h"
#include "synth.h"

static void make_events(struct recording *r)
{
	const struct record_opts *o = r->o;
	struct perf_event_attr common = {
		.size = sizeof(common),
		.sample_type = RECORDER_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.disabled = 1,
		.inherit = !r->target.system_wide,
		.sample_id_all = 1,
		.exclude_guest = 1,
	};
	size_t i;

	r->nr_ev = o->events.n + 1;
	r->ev = ctl_zalloc(r->nr_ev * sizeof(*r->ev));
	for (i = 0; i < o->events.n; i++) {
		const struct event *e = &o->events.all[i];
		struct perf_event_attr *attr = &r->ev[i].attr;

		*attr = common;
		attr->type = e->attr.type;
		attr->config = e->attr.config;
		attr->freq = e->attr.freq;
		attr->sample_period = e->attr.sample_period;
		attr->exclude_user = e->attr.exclude_user;
		attr->exclude_kernel = e->attr.exclude_kernel;
		attr->exclude_hv = e->attr.exclude_hv;
		attr->precise_ip = e->attr.precise_ip;
		/*
		 * Asked for with a fixed period, software events and
		 * tracepoints would take a sample each time.
		 */
		if (attr->freq)
			attr->sample_type |= PERF_SAMPLE_PERIOD;
		attr->enable_on_exec = o->command && !o->all;
		if (o->chains)
			attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		/* The module puts the held locks behind the raw data. */
		if (e->tp || o->filters[i])
			attr->sample_type |= PERF_SAMPLE_RAW;
		r->ev[i].name = e->name;
	}
	common.type = PERF_TYPE_SOFTWARE;
	common.config = PERF_COUNT_SW_DUMMY;
	common.sample_period = 1;
	common.mmap = common.mmap2 = common.comm = common.comm_exec = 1;
	common.task = common.build_id = common.watermark = 1;
	common.wakeup_watermark =
		(uint32_t)(o->pages * (size_t)sysconf(_SC_PAGESIZE) / 4);
	r->ev[i].attr = common;
	r->ev[i].name = "dummy:HG";
}

static struct evopen *tracker(const struct recording *r)
{
	return &r->ev[r->nr_ev - 1];
}

static int prepare_filters(struct recording *r)
{
	const struct record_opts *o = r->o;
	bool needs_module = false;
	int status;
	size_t i;

	r->filters = ctl_zalloc(o->events.n * sizeof(*r->filters));
	for (i = 0; i < o->events.n; i++) {
		if (!o->filters[i])
			continue;
		r->filters[i].text = o->filters[i];
		status = recfilter_compile(&r->filters[i], &o->events.all[i],
					   o->all ? getpid() : 0);
		if (status)
			return status;
		/* One filter may be that of several events. */
		if (!i || o->filters[i] != o->filters[i - 1])
			expr_print_note(&r->filters[i].res);
		needs_module |= r->filters[i].res.n != 0;
	}
	if (!needs_module)
		return CTL_DONE;
	status = lhnl_open(&r->nl);
	if (status)
		return ctl_error(status, "%s", lhnl_error(r->nl));
	for (i = 0; i < o->events.n && !status; i++)
		status = recfilter_add(&r->filters[i], r->nl);
	return status;
}

static int prepare_target(struct recording *r)
{
	const struct record_opts *o = r->o;
	struct target *t = &r->target;
	int status = target_cpus(t, o->cpus);
	int ret;

	t->pages = o->pages;
	t->system_wide = o->all;
	if (status)
		return status;
	if (o->command) {
		ret = workload_prepare(&r->work, o->command);
		if (ret)
			return ctl_error(CTL_FAILED, "cannot fork: %s",
					 strerror(-ret));
	}
	if (o->pid) {
		/* before its threads are looked at: it may end meanwhile */
		r->recorder.watched = (int)syscall(SYS_pidfd_open, o->pid, 0);
		return target_process(t, o->pid);
	}
	t->tids = ctl_zalloc(sizeof(*t->tids));
	t->nr_tids = 1;
	t->tids[0] = o->all ? -1 : r->work.pid;
	return CTL_DONE;
}

/* The user's events first: if one cannot be opened it is named in the error. */
static int open_events(struct recording *r)
{
	int status = CTL_DONE;
	size_t i;

	for (i = 0; i < r->nr_ev && !status; i++) {
		status = evopen_open(&r->ev[i], &r->target);
		if (!status && i < r->o->events.n && r->filters[i].text)
			status = recfilter_attach(&r->filters[i], r->nl,
						  &r->ev[i]);
	}
	if (!status)
		status = evopen_rings(&r->rings, tracker(r), &r->target);
	for (i = 0; i + 1 < r->nr_ev && !status; i++)
		status = evopen_share(&r->rings, &r->ev[i]);
	return status;
}

/* What is there already, while no event of the user's counts yet: reading
 * /proc/PID/maps takes the very lock that people look at. */
static int write_what_runs(struct recording *r)
{
	struct synth s = {
		.emit = recorder_put,
		.arg = &r->recorder,
		.trailer = record_trailer(&tracker(r)->attr),
	};
	int ret = synth_kernel(&s, r->symres);

	if (!ret && r->o->pid)
		ret = synth_process(&s, r->o->pid);
	else if (!ret && r->o->all)
		ret = synth_all(&s);
	return ret;
}

static int enable(struct recording *r)
{
	bool at_exec = r->o->command && !r->o->all;
	size_t i;
	int ret = 0;

	for (i = 0; i + 1 < r->nr_ev && !at_exec && !ret; i++)
		ret = evopen_ioctl(&r->ev[i], PERF_EVENT_IOC_ENABLE, 0);
	return ret ? ctl_error(CTL_FAILED, "cannot enable event '%s': %s",
			       r->ev[i - 1].name, strerror(-ret)) : CTL_DONE;
}

static int start(struct recording *r)
{
	int status, ret;

	ret = evopen_ioctl(tracker(r), PERF_EVENT_IOC_ENABLE, 0);
	if (ret)
		return ctl_error(CTL_FAILED, "cannot enable event '%s': %s",
				 tracker(r)->name, strerror(-ret));
	ret = write_what_runs(r);
	if (ret)
		return record_write_failed(r, ret, 0);
	status = enable(r);
	if (status || !r->work.pid)
		return status;
	ret = workload_run(&r->work);
	return !ret ? CTL_DONE :
	       ctl_error(CTL_FAILED, "cannot run '%s': %s",
			 r->o->command[0], strerror(-ret));
}

static void stop(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_ev; i++)
		evopen_ioctl(&r->ev[i], PERF_EVENT_IOC_DISABLE, 0);
}

/* Lost records are told of twice, by a count at each event and by records in
 * the rings; the last of the latter may be missing, the former is new in 6.0. */
static uint64_t lost(const struct recording *r)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < r->nr_ev; i++) {
		evopen_lost(&r->ev[i]);
		n += r->ev[i].lost;
	}
	return n > r->recorder.lost ? n : r->recorder.lost;
}

static void say_result(const struct recording *r, const struct notes *notes)
{
	uint64_t evaluated = 0, passed = 0, dropped = 0, uncertain = 0;
	bool deleted = false;
	size_t i;

	for (i = 0; i < notes->nr_filters; i++) {
		evaluated += notes->filters[i].evaluated;
		passed += notes->filters[i].passed;
		dropped += notes->filters[i].dropped;
		uncertain += notes->filters[i].uncertain;
		deleted |= notes->filters[i].deleted;
	}
	fprintf(stderr, "lockheld-ctl: %s: %" PRIu64 " samples, %.3f MB, %"
		PRIu64 " lost", r->o->file, notes->samples,
		(double)pd_data_size(r->recorder.file) / 1e6, notes->lost);
	if (deleted)
		fputs("; filter: deleted, so that it is not known what it dropped",
		      stderr);
	else if (r->nl)
		fprintf(stderr, "; filter: %" PRIu64 " evaluated, %" PRIu64
			" passed, %" PRIu64 " dropped%s, %" PRIu64 " uncertain",
			evaluated, passed, dropped,
			r->o->all ? " (with lockheld-ctl's own)" : "",
			uncertain);
	if (r->recorder.own)
		fprintf(stderr, "; %" PRIu64 " of lockheld-ctl itself left out",
			r->recorder.own);
	fputc('\n', stderr);
}

/* After the rings are empty. @error: of the write that failed, or 0. */
static int finish(struct recording *r, int error)
{
	struct notes notes = {
		.samples = r->recorder.samples,
		.lost = lost(r),
		.own = r->recorder.own,
	};
	struct pd_writer *file = r->recorder.file;
	int status = CTL_DONE, ret;
	size_t i;

	for (i = 0; i < r->o->events.n; i++) {
		if (!r->filters[i].res.n)
			continue;
		if (!r->filters[i].deleted)
			recfilter_counts(&r->filters[i], r->nl);
		else
			ctl_warn("'%s' was deleted at some moment: samples from then on are not filtered",
				 r->filters[i].text);
		if (r->filters[i].gone)
			ctl_warn("'%s' passed nothing from some moment on: its lock's module was unloaded",
				 r->filters[i].text);
	}
	if (r->nl)
		losses_say(&r->losses, r->nl);
	ret = record_finish_file(r, &notes, error != 0);
	if (error || ret)
		status = record_write_failed(r, error ? error : ret, notes.samples);
	else
		say_result(r, &notes);
	if (status && !notes.samples) {
		pd_abandon(file);
	} else {
		ret = pd_close(file);
		if (ret && !status)
			status = record_write_failed(r, ret, 0);
	}
	r->recorder.file = NULL;
	notes_free(&notes);
	return status;
}

/* @module: which the filter's lock was in; NULL: the filter was deleted. */
static void notice(struct recfilter *f, const char *module)
{
	if (module) {
		ctl_warn("'%s' passes nothing from now on: module '%s', which its lock was in, was unloaded",
			 f->text, module);
	} else {
		f->deleted = true;
		ctl_warn("'%s' was deleted by somebody: from now on every sample is recorded",
			 f->text);
	}
}

static void on_notice(void *arg)
{
	struct recording *r = arg;
	uint32_t id;
	char *module;
	size_t i;

	while (lhnl_notice(r->nl, &id, &module)) {
		for (i = 0; i < r->o->events.n; i++)
			if (r->filters[i].id == id)
				notice(&r->filters[i], module);
		free(module);
	}
}

static int record(struct recording *r)
{
	int status, ret, rest;

	r->recorder.path = r->o->file;
	r->recorder.rings = &r->rings;
	r->recorder.work = &r->work;
	r->recorder.system_wide = r->o->all;
	r->recorder.notices = r->nl ? lhnl_watch(r->nl) : -1;
	r->recorder.on_notice = on_notice;
	r->recorder.arg = r;
	if (r->nl)
		losses_begin(&r->losses, r->nl);
	status = record_create_file(r);
	if (!status)
		status = start(r);
	if (status)
		return status;
	ret = recorder_run(&r->recorder);
	stop(r);
	rest = recorder_finish(&r->recorder);
	workload_end(&r->work);
	status = finish(r, ret ? ret : rest);
	return status || !r->work.pid ? status :
	       workload_exit_status(&r->work);
}

static void block_signals(void)
{
	sigset_t set;

	recorder_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* a full pipe is an error to be said, not a reason to die */
	signal(SIGPIPE, SIG_IGN);
}

static void clean_up(struct recording *r)
{
	size_t i;

	/* a child that waits ends when nobody can let it go any more */
	workload_free(&r->work);
	if (r->recorder.file)
		pd_abandon(r->recorder.file);
	recorder_free(&r->recorder);
	if (r->recorder.watched >= 0)
		close(r->recorder.watched);
	ringset_free(&r->rings);
	for (i = 0; i < r->nr_ev; i++)
		evopen_close(&r->ev[i]);
	if (r->nl)
		lhnl_close(r->nl);
	for (i = 0; r->filters && i < r->o->events.n; i++)
		recfilter_free(&r->filters[i]);
	free(r->filters);
	free(r->ev);
	free(r->tracing);
	target_free(&r->target);
	symres_close(r->symres);
}

int cmd_record(int argc, char **argv)
{
	struct record_opts o;
	struct recording r = {
		.o = &o,
		.argc = argc,
		.argv = argv,
		.recorder.watched = -1,
	};
	int status = record_options(argc, argv, &o);

	if (!status && !o.help) {
		block_signals();
		if (symres_open(&r.symres, NULL))
			status = ctl_error(CTL_FAILED, "out of memory");
		if (!status)
			status = prepare_filters(&r);
		if (!status)
			status = prepare_target(&r);
		if (!status) {
			make_events(&r);
			status = open_events(&r);
		}
		if (!status)
			status = record(&r);
		clean_up(&r);
	}
	record_options_free(&o);
	return status;
}
