// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record of the locks held, put behind a sample's raw data for as long as
 * perf's own handler runs. perf uses the same structures for the next event,
 * so everything is put back afterwards.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "lockheld.h"

/* The size of raw data comes out right without padding if it is 4 mod 8. */
#define RAW_REMAINDER	4

struct record {
	u8 lead[8];	/* its last bytes fill up to RAW_REMAINDER */
	u8 bytes[LOCKHELD_SAMPLE_LOCKS_MAX * sizeof(struct lockheld_sample_lock) +
		 sizeof(struct lockheld_sample_tail)];
	unsigned int nr;
	unsigned int omitted;
};

static void add_lock(struct record *record,
		     const struct lockheld_sample_lock *lock)
{
	if (record->nr == LOCKHELD_SAMPLE_LOCKS_MAX) {
		record->omitted++;
		return;
	}
	memcpy(record->bytes + record->nr * sizeof(*lock), lock, sizeof(*lock));
	record->nr++;
}

static void add_stack(struct record *record, struct lh_sample *sample,
		      struct lh_stack *stack, const unsigned long *matched)
{
	unsigned int i, n = stack ? READ_ONCE(stack->n) : 0;

	for (i = 0; i < n; i++) {
		struct lh_entry *entry = &stack->entry[i];
		struct lockheld_sample_lock lock = {
			.addr = entry->lock,
			.ip = entry->ip,
			.family = entry->family,
			.mode = entry->mode,
			.context = entry->context,
			.flags = test_bit(i, matched) ? LOCKHELD_LOCK_MATCHED : 0,
		};

		if (!lh_entry_holds(sample, stack, i))
			continue;
		if (entry->time)
			lock.held_ns = local_clock() - entry->time;
		add_lock(record, &lock);
	}
}

static bool in_stack(struct lh_stack *stack, unsigned long lock)
{
	return stack && lh_stack_find(stack, lock);
}

static unsigned int fill(struct record *record, struct lh_sample *sample,
			 u32 filter)
{
	struct lh_stack *cpu = lh_cpu_stack(), *task = lh_task_stack();
	struct lockheld_sample_tail tail;
	unsigned int i;

	record->nr = 0;
	record->omitted = 0;
	for (i = 0; i < sample->nr_owned; i++) {
		struct lockheld_sample_lock lock = {
			.addr = sample->owned[i].lock,
			.family = sample->owned[i].family,
			.mode = LOCKHELD_MODE_WRITE,
			.flags = LOCKHELD_LOCK_MATCHED | LOCKHELD_LOCK_OWNER,
		};

		if (!in_stack(task, lock.addr))
			add_lock(record, &lock);
	}
	add_stack(record, sample, task, sample->task_matched);
	add_stack(record, sample, cpu, sample->cpu_matched);

	tail = (struct lockheld_sample_tail) {
		.filter = filter,
		.nr = record->nr,
		.omitted = min(record->omitted, 255U),
		.context = sample->context,
		.version = 1,
		.magic = LOCKHELD_SAMPLE_MAGIC,
	};
	i = record->nr * sizeof(struct lockheld_sample_lock);
	memcpy(record->bytes + i, &tail, sizeof(tail));
	return i + sizeof(tail);
}

void lh_sample_output(struct lh_sample *sample, u32 filter,
		      perf_overflow_handler_t handler)
{
	struct perf_sample_data *data = sample->data;
	struct perf_raw_record own = {}, *raw = lh_sample_raw(data);
	struct perf_raw_frag frag = {}, *last;
	unsigned long saved_pad;
	unsigned int size, lead;
	struct record record;
	u32 saved_size, sum;

	if (!(sample->event->attr.sample_type & PERF_SAMPLE_RAW)) {
		handler(sample->event, data, sample->regs);
		return;
	}

	size = fill(&record, sample, filter);
	memset(record.lead, 0, sizeof(record.lead));

	if (!raw) {
		own.frag.data = record.lead + sizeof(record.lead) -
				RAW_REMAINDER;
		own.frag.size = RAW_REMAINDER + size;
		lh_sample_set_raw(data, &own);
		handler(sample->event, data, sample->regs);
		lh_sample_set_raw(data, NULL);
		return;
	}

	sum = 0;
	for (last = &raw->frag; !perf_raw_frag_last(last); last = last->next)
		sum += last->size;
	sum += last->size;
	lead = (RAW_REMAINDER - sum) % 8;

	frag.data = record.lead + sizeof(record.lead) - lead;
	frag.size = lead + size;
	saved_pad = last->pad;
	saved_size = raw->size;
	last->next = &frag;
	handler(sample->event, data, sample->regs);
	last->pad = saved_pad;
	raw->size = saved_size;
}
