// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples: calls of a perf event's overflow handler, as perf makes them for a
 * software event, with nothing of perf's own around them.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "benchmod.h"

static struct file *events[2];	/* without and with raw data */

int bm_event_set(int fd)
{
	struct file *file = fget(fd);
	struct perf_event *event;
	bool raw;

	if (!file)
		return -EBADF;
	if (strcmp(file->f_path.dentry->d_name.name, "[perf_event]")) {
		fput(file);
		return -EINVAL;
	}
	event = file->private_data;
	raw = event->attr.sample_type & PERF_SAMPLE_RAW;
	if (events[raw])
		fput(events[raw]);
	events[raw] = file;
	return 0;
}

void bm_events_put(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (events[i])
			fput(events[i]);
		events[i] = NULL;
	}
}

bool bm_events_known(void)
{
	return events[0] && events[1];
}

static noinline void empty_handler(struct perf_event *event,
				   struct perf_sample_data *data,
				   struct pt_regs *regs)
{
	barrier();
}

/* perf calls the handler of a software event under rcu_read_lock(). */
static noinline void samples(struct perf_event *event,
			     perf_overflow_handler_t handler, unsigned int n)
{
	struct perf_sample_data data;
	struct pt_regs regs = {};

	perf_fetch_caller_regs(&regs);
	preempt_disable();
	rcu_read_lock();
	while (n--) {
		perf_sample_data_init(&data, 0, 1);
		handler(event, &data, &regs);
	}
	rcu_read_unlock();
	preempt_enable();
}

void bm_samples_empty(struct bm_locks *l, unsigned int n)
{
	samples(events[0]->private_data, empty_handler, n);
}

void bm_samples(struct bm_locks *l, unsigned int n, enum bm_holds holds,
		int depth, bool raw)
{
	struct perf_event *event = events[raw]->private_data;
	int i;

	for (i = 0; i < depth; i++) {
		if (holds == BM_MUTEXES)
			mutex_lock(&l->mutexes[i]);
		else
			spin_lock(&l->spinlocks[i]);
	}
	samples(event, READ_ONCE(event->overflow_handler), n);
	while (i--) {
		if (holds == BM_MUTEXES)
			mutex_unlock(&l->mutexes[i]);
		else
			spin_unlock(&l->spinlocks[i]);
	}
}
