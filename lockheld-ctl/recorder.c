// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "recorder.h"

#define OUT_SIZE	(1u << 20)
#define IDLE_MS		250	/* between looks at rings that do not fill */
#define SEAL_MS		1000	/* a killed recorder loses no more than that */
#define EXEC_MS		1000	/* for the command's exec to show up */

/* Where RECORDER_SAMPLE_TYPE puts things, in words behind the header. */
enum { WORD_TID = 2, WORD_TIME = 3 };

static uint64_t word(const struct perf_event_header *record, int i)
{
	return ((const uint64_t *)(record + 1))[i];
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The records from @at on that are @len bytes or less together, in bytes. */
static size_t whole_records(const struct recorder *r, size_t at, size_t len)
{
	size_t n = 0;

	while (at + n < r->out_len) {
		const struct perf_event_header *record =
			(const void *)(r->out + at + n);

		if (n + record->size > len)
			break;
		n += record->size;
	}
	return n;
}

/* Return: 0 or -errno. */
static int write_out(struct recorder *r, size_t at, size_t len)
{
	size_t end = at + len;
	int ret = pd_write(r->file, r->out + at, len);

	if (ret)
		return ret;
	r->unsealed = true;
	while (at < end) {
		const struct perf_event_header *record =
			(const void *)(r->out + at);

		at += record->size;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		if (!r->samples++ || word(record, WORD_TIME) < r->first)
			r->first = word(record, WORD_TIME);
		if (word(record, WORD_TIME) > r->last)
			r->last = word(record, WORD_TIME);
	}
	return 0;
}

static int flush(struct recorder *r)
{
	size_t at = 0, len = r->out_len, n;

	if (len && !r->error)
		r->error = write_out(r, 0, len);
	/* A full disk: what still fits, in ever smaller pieces. */
	while (r->error && (len /= 2)) {
		n = whole_records(r, at, len);
		if (n && !write_out(r, at, n))
			at += n;
	}
	r->out_len = 0;
	return r->error;
}

int recorder_put(const struct perf_event_header *record, void *arg)
{
	struct recorder *r = arg;

	if (!r->out)
		r->out = ctl_realloc(NULL, OUT_SIZE, 1);
	if (r->out_len + record->size > OUT_SIZE)
		flush(r);
	memcpy(r->out + r->out_len, record, record->size);
	r->out_len += record->size;
	return r->error;
}

/*
 * A system-wide recording sees this program, and the command while it is still
 * this program. Neither is what anybody wants to look at.
 */
static bool is_own(const struct recorder *r,
		   const struct perf_event_header *record)
{
	pid_t pid = (pid_t)(uint32_t)word(record, WORD_TID);

	if (!r->system_wide)
		return false;
	if (pid == getpid())
		return true;
	return r->work->pid && pid == r->work->pid &&
	       word(record, WORD_TIME) < r->exec_time;
}

static void take(struct recorder *r, const struct perf_event_header *record)
{
	if (record->type == PERF_RECORD_SAMPLE) {
		if (is_own(r, record)) {
			r->own++;
			return;
		}
	} else if (record->type == PERF_RECORD_LOST) {
		r->lost += word(record, 1);	/* behind the event's id */
	}
	recorder_put(record, r);
}

/*
 * When the command has become itself; @record tells, if it is that one. It may
 * become another one, and rings are not read in the order of time.
 */
static void look_for_exec(struct recorder *r,
			  const struct perf_event_header *record)
{
	const uint64_t *end = (const uint64_t *)((const char *)record +
						 record->size);

	if (record->type != PERF_RECORD_COMM ||
	    !(record->misc & PERF_RECORD_MISC_COMM_EXEC) ||
	    (pid_t)(uint32_t)word(record, 0) != r->work->pid)
		return;
	/* the trailer: tid, time, cpu, identifier */
	if (!r->exec_time || end[-3] < r->exec_time)
		r->exec_time = end[-3];
}

/* Until its exec is seen nobody knows which of its samples are wanted. */
static void hold(struct recorder *r, const struct perf_event_header *record)
{
	r->held = ctl_realloc(r->held, r->held_len + record->size, 1);
	memcpy(r->held + r->held_len, record, record->size);
	r->held_len += record->size;
}

static void take_held(struct recorder *r)
{
	size_t at = 0;

	while (at < r->held_len) {
		const struct perf_event_header *record =
			(const void *)(r->held + at);

		take(r, record);
		at += record->size;
	}
	free(r->held);
	r->held = NULL;
	r->held_len = 0;
}

/*
 * What all rings hold is looked at before any is emptied, so that a record may
 * come at most one round after one that is younger: what FINISHED_ROUND
 * promises. @over: nothing is worth waiting for any more.
 */
static void drain(struct recorder *r, bool over)
{
	const struct perf_event_header round = {
		.type = PD_RECORD_FINISHED_ROUND,
		.size = sizeof(round),
	};
	const struct perf_event_header *record;
	bool found = r->exec_time, any = false;
	size_t i;

	for (i = 0; i < r->rings->n; i++)
		ring_begin(&r->rings->rings[i]);
	for (i = 0; i < r->rings->n && !r->error; i++) {
		while ((record = ring_next(&r->rings->rings[i]))) {
			if (!r->exec_seen)
				look_for_exec(r, record);
			if (r->exec_seen)
				take(r, record);
			else
				hold(r, record);
			any = true;
		}
		ring_done(&r->rings->rings[i]);
	}
	/* What is older may come one round later. */
	if (found)
		r->exec_seen = true;
	if (!r->exec_seen && !over)
		return;
	take_held(r);
	if (any)
		recorder_put(&round, r);
}

void recorder_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

static int make_signalfd(void)
{
	sigset_t set;

	recorder_signals(&set);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Return: whether somebody wants the recording to end. */
static bool read_signals(int fd)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			end = true;
	return end;
}

/* Ctrl-C or the command's end, the watched process's end, notices, the rings. */
enum { POLL_SIGNALS, POLL_WATCHED, POLL_NOTICES, POLL_RINGS };

static struct pollfd *make_polls(const struct recorder *r, size_t *n)
{
	struct pollfd *polls = ctl_zalloc((r->rings->n + POLL_RINGS) *
					  sizeof(*polls));
	size_t i;

	polls[POLL_SIGNALS].fd = make_signalfd();
	polls[POLL_WATCHED].fd = r->watched;
	polls[POLL_NOTICES].fd = r->notices;
	for (i = 0; i < r->rings->n; i++)
		polls[i + POLL_RINGS].fd = r->rings->rings[i].fd;
	*n = r->rings->n + POLL_RINGS;
	for (i = 0; i < *n; i++)
		polls[i].events = POLLIN;
	return polls;
}

/* Return: whether the recording is over. */
static bool wait_for_more(struct recorder *r, struct pollfd *polls, size_t n)
{
	size_t i;

	if (poll(polls, n, IDLE_MS) < 0 && errno != EINTR)
		return true;
	/* an event whose task has ended would wake us for ever */
	for (i = POLL_RINGS; i < n; i++)
		if (polls[i].revents & (POLLHUP | POLLERR))
			polls[i].fd = -1;
	if (polls[POLL_NOTICES].fd >= 0 && polls[POLL_NOTICES].revents)
		r->on_notice(r->arg);
	workload_poll(r->work);
	return read_signals(polls[POLL_SIGNALS].fd) || r->work->ended ||
	       (polls[POLL_WATCHED].fd >= 0 && polls[POLL_WATCHED].revents);
}

static void seal_sometimes(struct recorder *r, uint64_t *sealed)
{
	uint64_t now = now_ms();

	if (now - *sealed < SEAL_MS)
		return;
	flush(r);
	if (r->unsealed && !r->error) {
		r->error = pd_seal(r->file);
		r->unsealed = false;
	}
	*sealed = now;
}

int recorder_run(struct recorder *r)
{
	uint64_t start = now_ms(), sealed = start;
	bool over = false;
	size_t n;
	struct pollfd *polls = make_polls(r, &n);

	r->exec_seen = !r->system_wide || !r->work->pid;
	while (!over && !r->error) {
		over = wait_for_more(r, polls, n);
		drain(r, over || now_ms() - start > EXEC_MS);
		seal_sometimes(r, &sealed);
	}
	close(polls[POLL_SIGNALS].fd);
	free(polls);
	return r->error;
}

int recorder_finish(struct recorder *r)
{
	drain(r, true);
	return flush(r);
}

void recorder_free(struct recorder *r)
{
	free(r->out);
	free(r->held);
	r->out = NULL;
	r->held = NULL;
}
