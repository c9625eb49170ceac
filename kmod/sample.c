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
	unsigned int i, n = stack ? lh_stack_nr(stack) : 0;

	for (i = 0; i < n; i++) {
		struct lh_entry *entry = lh_stack_entry(stack, i);
		struct lockheld_sample_lock lock = {
			.addr = entry->lock,
			.ip = entry->ip,
			.family = entry->site.family,
			.mode = entry->site.mode,
			.context = lh_context_of(entry->count),
			.flags = test_bit(i, matched) ? LOCKHELD_LOCK_MATCHED : 0,
		};

		if (!lh_entry_holds(sample, stack, i))
			continue;
		if (entry->site.timed)
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
			.mode = sample->owned[i].mode,
			.flags = LOCKHELD_LOCK_MATCHED | LOCKHELD_LOCK_OWNER,
		};

		if (!lock.addr || !in_stack(task, lock.addr))
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

/* Bytes of a raw record and its size in the sample. */
static int raw_bytes(bool has, const struct perf_raw_record *raw)
{
	if (!has)
		return 0;
	/* An empty one is padded. */
	return raw ? raw->size + sizeof(u32) : sizeof(u64);
}

/* Puts the record in place of none. */
static void output_alone(struct lh_sample *sample, struct record *record,
			 unsigned int size, perf_overflow_handler_t handler)
{
	struct perf_sample_data *data = sample->data;
	bool had = lh_sample_has_raw(data);
	struct perf_raw_record own = {
		.frag.data = record->lead + sizeof(record->lead) -
			     RAW_REMAINDER,
		.frag.size = RAW_REMAINDER + size,
		.size = RAW_REMAINDER + size,
	};
	int more = raw_bytes(true, &own) - raw_bytes(had, NULL);

	if (!lh_sample_grow(data, more)) {
		handler(sample->event, data, sample->regs);
		return;
	}
	lh_sample_set_raw(data, &own, true);
	handler(sample->event, data, sample->regs);
	lh_sample_set_raw(data, NULL, had);
	lh_sample_grow(data, -more);
}

/* Puts the record behind the fragments that are there. */
static void output_behind(struct lh_sample *sample, struct record *record,
			  unsigned int size, perf_overflow_handler_t handler)
{
	struct perf_sample_data *data = sample->data;
	struct perf_raw_record *raw = data->raw;
	struct perf_raw_frag frag = {}, *last;
	u32 saved_size = raw->size, sum = 0;
	unsigned long saved_pad;
	unsigned int lead;
	int more;

	for (last = &raw->frag; !perf_raw_frag_last(last); last = last->next)
		sum += last->size;
	sum += last->size;
	lead = (RAW_REMAINDER - sum) % 8;
	more = sum + lead + size - saved_size;
	if (!lh_sample_grow(data, more)) {
		handler(sample->event, data, sample->regs);
		return;
	}

	frag.data = record->lead + sizeof(record->lead) - lead;
	frag.size = lead + size;
	saved_pad = last->pad;
	raw->size = saved_size + more;
	last->next = &frag;
	handler(sample->event, data, sample->regs);
	last->pad = saved_pad;
	raw->size = saved_size;
	lh_sample_grow(data, -more);
}

void lh_sample_output(struct lh_sample *sample, u32 filter,
		      perf_overflow_handler_t handler)
{
	struct perf_sample_data *data = sample->data;
	struct record record LH_UNINITIALIZED;
	unsigned int size;

	if (!(sample->event->attr.sample_type & PERF_SAMPLE_RAW)) {
		handler(sample->event, data, sample->regs);
		return;
	}
	size = fill(&record, sample, filter);
	memset(record.lead, 0, sizeof(record.lead));
	if (lh_sample_has_raw(data) && data->raw)
		output_behind(sample, &record, size, handler);
	else
		output_alone(sample, &record, size, handler);
}
