// SPDX-License-Identifier: GPL-2.0-only
/* What a recording's file says besides its samples. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "ctl.h"
#include "learn.h"
#include "perfdata.h"
#include "recording.h"
#include "tracing_data.h"

static struct pd_event *file_events(const struct recording *r)
{
	struct pd_event *events = ctl_zalloc(r->nr_ev * sizeof(*events));
	size_t i;

	for (i = 0; i < r->nr_ev; i++) {
		events[i].attr = r->ev[i].attr;
		events[i].name = (char *)r->ev[i].name;
		events[i].ids = r->ev[i].ids;
		events[i].nr_ids = r->ev[i].n;
	}
	return events;
}

static void set_features(struct recording *r, struct pd_writer *w)
{
	uint32_t *cpus = ctl_zalloc(2 * sizeof(*cpus));
	struct utsname uts;

	uname(&uts);
	pd_set_string(w, PD_HOSTNAME, uts.nodename);
	pd_set_string(w, PD_OSRELEASE, uts.release);
	pd_set_string(w, PD_VERSION, "lockheld " VERSION);
	pd_set_string(w, PD_ARCH, uts.machine);
	cpus[0] = (uint32_t)get_nprocs_conf();
	cpus[1] = (uint32_t)get_nprocs();
	pd_set_feature(w, PD_NRCPUS, cpus, 2 * sizeof(*cpus));
	pd_set_cmdline(w, "lockheld-ctl", r->argc, r->argv);
	if (r->tracing)
		pd_set_feature(w, PD_TRACING_DATA, r->tracing, r->tracing_len);
	r->tracing = NULL;
}

static void add_filters(const struct recording *r, struct notes *notes)
{
	size_t i;

	for (i = 0; i < r->o->events.n; i++) {
		const struct recfilter *f = &r->filters[i];

		if (f->text)
			notes_add_filter(notes, &(struct note_filter){
				.id = f->id,
				.event = i,
				.evaluated = f->counts.evaluated,
				.passed = f->counts.passed,
				.dropped = f->counts.dropped,
				.uncertain = f->counts.uncertain,
				.deleted = f->deleted,
				.text = (char *)f->text,
			});
	}
}

static void set_notes(struct recording *r, const struct notes *notes)
{
	size_t len;
	char *text = notes_text(notes, &len);

	pd_set_notes(r->recorder.file, text, len);
	free(text);
}

int record_write_failed(const struct recording *r, int error, uint64_t kept)
{
	char *rest = kept ? ctl_printf("; the %" PRIu64 " samples before are in it",
				       kept) : ctl_strdup("");

	ctl_error(CTL_FAILED, "cannot write '%s': %s%s%s", r->o->file,
		  strerror(-error), error == -ENOSPC || error == -EDQUOT ?
		  " (free some space, or record elsewhere with -o)" : "", rest);
	free(rest);
	return CTL_FAILED;
}

int record_create_file(struct recording *r)
{
	struct pd_event *events = file_events(r);
	struct notes notes = { 0 };
	int ret;

	if (r->o->events.tep) {
		r->tracing = tracing_data(&r->o->events, &r->tracing_len);
		if (!r->tracing) {
			free(events);
			return ctl_error(CTL_FAILED,
					 "the tracepoints' formats cannot be read");
		}
	}
	ret = pd_create(&r->recorder.file, r->o->file, events, r->nr_ev);
	free(events);
	if (ret)
		return record_write_failed(r, ret, 0);
	set_features(r, r->recorder.file);
	add_filters(r, &notes);
	set_notes(r, &notes);
	notes_free(&notes);
	ret = pd_seal(r->recorder.file);
	return ret ? record_write_failed(r, ret, 0) : CTL_DONE;
}

static void set_sample_time(struct recording *r)
{
	uint64_t *times = ctl_zalloc(2 * sizeof(*times));

	times[0] = r->recorder.first;
	times[1] = r->recorder.last;
	pd_set_feature(r->recorder.file, PD_SAMPLE_TIME, times,
		       2 * sizeof(*times));
}

int record_finish_file(struct recording *r, struct notes *notes, bool cut)
{
	struct pd_writer *file = r->recorder.file;
	sigset_t none;
	int ret;

	set_sample_time(r);
	notes->complete = !cut;
	add_filters(r, notes);
	set_notes(r, notes);
	ret = pd_seal(file);
	if (ret)
		return ret;
	/* From here on a second Ctrl-C may end what only adds names. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	learn_names(file, r->o->file, r->symres, r->nl, notes);
	set_notes(r, notes);
	ret = pd_seal(file);
	return cut ? 0 : ret;
}
