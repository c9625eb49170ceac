// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the stacks of held locks live.
 *
 * Locks that cannot be held while a task sleeps are in a stack of the CPU.
 * That is also the only right place for a run queue's lock, which one task
 * takes and the next one releases.
 *
 * All other locks are in a record that belongs to the running task. While the
 * task runs, its CPU points at the record, so that taking a lock touches
 * nothing that another CPU writes. When a task stops with locks held, its
 * record goes into a table by task, from which the CPU that runs it next takes
 * it. A task that stops without locks leaves its record to the next one. So
 * there are no more records in use than tasks that sleep with locks, and none
 * of a task that is dead.
 */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "lockheld.h"

static unsigned int max_sleepers = 1024;
module_param(max_sleepers, uint, 0444);
MODULE_PARM_DESC(max_sleepers,
		 "tasks that can sleep with locks held and be followed (default 1024)");

/**
 * struct lh_record - locks of a task
 * @stack: the locks
 * @task: whose they are; NULL as long as the CPU has not switched tasks since
 *	the hooks were placed, when they are the running task's
 */
struct lh_record {
	struct lh_stack stack;
	struct task_struct *task;
};

DEFINE_PER_CPU(struct lh_cpu, lh_cpus);

static struct lh_record *record_of(const struct lh_cpu *cpu)
{
	return container_of(READ_ONCE(cpu->task), struct lh_record, stack);
}

static struct lh_stack *stacks;		/* one for each CPU */
static struct lh_record *records;
static unsigned long *records_used;
static unsigned int nr_records;

/*
 * The records of tasks that are switched out. A place is claimed by setting
 * its record, and filled or emptied by setting its task. Only the CPU that
 * switches a task out fills a place with it, and only the one that switches it
 * in empties that; the scheduler puts the first before the second.
 */
#define BUCKET_PLACES	8

struct lh_bucket {
	struct task_struct *task[BUCKET_PLACES];
	struct lh_record *record[BUCKET_PLACES];
};

static struct lh_bucket *buckets;
static unsigned int bucket_bits;

static struct tracepoint *sched_switch;
DEFINE_STATIC_KEY_FALSE(lh_times);

static struct lh_bucket *bucket_of(struct task_struct *task)
{
	return &buckets[hash_ptr(task, bucket_bits)];
}

static struct lh_record *record_alloc(void)
{
	unsigned int i;

	do {
		i = find_first_zero_bit(records_used, nr_records);
		if (i >= nr_records)
			return NULL;
	} while (test_and_set_bit(i, records_used));
	return &records[i];
}

/* The record is empty, and nobody but the caller knows it. */
static void record_free(struct lh_record *record)
{
	/* Orders the emptying before another CPU's test_and_set_bit(). */
	smp_mb__before_atomic();
	clear_bit(record - records, records_used);
}

static bool table_put(struct task_struct *task, struct lh_record *record)
{
	struct lh_bucket *bucket = bucket_of(task);
	unsigned int i;

	for (i = 0; i < BUCKET_PLACES; i++) {
		if (READ_ONCE(bucket->record[i]) ||
		    cmpxchg(&bucket->record[i], NULL, record))
			continue;
		/*
		 * The CPU that looks for the task got to run it after this one
		 * let go of its run queue, so it needs no barrier of ours.
		 */
		WRITE_ONCE(bucket->task[i], task);
		return true;
	}
	return false;
}

static struct lh_record *table_find(struct task_struct *task, bool take)
{
	struct lh_bucket *bucket = bucket_of(task);
	struct lh_record *record;
	unsigned int i;

	for (i = 0; i < BUCKET_PLACES; i++) {
		if (READ_ONCE(bucket->task[i]) != task)
			continue;
		record = bucket->record[i];
		if (take) {
			WRITE_ONCE(bucket->task[i], NULL);
			/* Whoever claims the place must find it without task. */
			smp_store_release(&bucket->record[i], NULL);
		}
		return record;
	}
	return NULL;
}

static void switch_out(struct lh_cpu *cpu, struct task_struct *prev,
		       struct task_struct *next)
{
	struct lh_record *record = record_of(cpu), *spare;

	if (lh_task_dead(prev)) {
		lh_count_add(repaired, lh_stack_keep_top(&record->stack, 0));
		return;
	}
	spare = record_alloc();
	if (!spare || !table_put(prev, record)) {
		if (spare)
			record_free(spare);
		lh_stack_clear(&record->stack);
		lh_count(records_full);
		return;
	}
	record->task = prev;
	spare->task = next;
	WRITE_ONCE(cpu->task, &spare->stack);
}

/*
 * Could the code that took the lock be preempted? The hook itself switches
 * preemption off once more. Where preemption is not counted there is none.
 */
static bool was_preemptible(const struct lh_entry *entry)
{
	return (entry->count & (PREEMPT_MASK | HARDIRQ_MASK | NMI_MASK)) ==
	       PREEMPT_OFFSET;
}

/*
 * A task that was preempted behind the hook of a lock that spins, before the
 * lock's function switched preemption off, takes the lock when it runs again,
 * maybe on another CPU. Until then the lock is in the task's stack, as one that
 * is waited for. A lock whose release was missed looks alike, so there is an
 * end to this.
 */
#define PREEMPTED_MAX	8

static void park(struct lh_cpu *cpu, unsigned int i)
{
	struct lh_entry entry = *lh_stack_entry(cpu->cpu, i);

	if (entry.lock <= LH_GONE || !was_preemptible(&entry) ||
	    entry.site.state != LH_ENTERED ||
	    entry.site.preempted == PREEMPTED_MAX)
		return;
	entry.site.state = LH_WAITING;
	entry.site.preempted++;
	if (lh_stack_push(cpu->task, &entry))
		WRITE_ONCE(lh_stack_entry(cpu->cpu, i)->lock, LH_GONE);
}

static void unpark(struct lh_cpu *cpu)
{
	struct lh_entry entry = *READ_ONCE(cpu->task->top);

	if (!lh_stack_nr(cpu->task) ||
	    lh_kind(entry.site.family, entry.site.mode) != LH_SPINS)
		return;
	/* Nobody but forget() touches it: it is on top, or gone. */
	if (!lh_stack_pop_top(cpu->task, entry.lock) || entry.lock == LH_GONE)
		return;
	entry.site.state = LH_ENTERED;
	if (entry.site.timed)
		entry.time = local_clock();
	lh_stack_push_bottom(cpu->cpu, &entry);
}

/*
 * Of the CPU's locks only the run queue's is held across a switch. It is taken
 * with preemption off, and on top if it is hooked.
 */
static void switch_cpu_stack(struct lh_cpu *cpu, bool preempt)
{
	unsigned int nr = lh_stack_nr(cpu->cpu);
	unsigned int keep = nr && !was_preemptible(READ_ONCE(cpu->cpu->top));

	if (nr == keep)
		return;
	if (preempt)
		park(cpu, nr - keep - 1);
	lh_count_add(repaired, lh_stack_keep_top(cpu->cpu, keep));
}

/* Runs with interrupts off, on the CPU that switches. */
static void switched(bool preempt, struct task_struct *prev,
		     struct task_struct *next)
{
	struct lh_cpu *cpu = this_cpu_ptr(&lh_cpus);
	struct lh_record *record;

	switch_cpu_stack(cpu, preempt);

	lh_stack_trim(cpu->task, lh_preempt_count());
	if (lh_stack_nr(cpu->task))
		switch_out(cpu, prev, next);

	record = table_find(next, true);
	if (record) {
		struct lh_record *spare = record_of(cpu);

		WRITE_ONCE(cpu->task, &record->stack);
		record_free(spare);
		unpark(cpu);
	}
	WRITE_ONCE(record_of(cpu)->task, next);
}

#ifdef LH_HAVE_SCHED_SWITCH_STATE
static void probe_sched_switch(void *data, bool preempt,
			       struct task_struct *prev,
			       struct task_struct *next, unsigned int state)
#else
static void probe_sched_switch(void *data, bool preempt,
			       struct task_struct *prev,
			       struct task_struct *next)
#endif
{
	switched(preempt, prev, next);
}

static struct lh_stack *stack_of(u8 family)
{
	return lh_kind(family, LOCKHELD_MODE_WRITE) == LH_SPINS ?
	       this_cpu_read(lh_cpus.cpu) : this_cpu_read(lh_cpus.task);
}

/* Releases may have been missed: what a lock itself denies is not held. */
static void repair(struct lh_stack *stack)
{
	unsigned int i;

	for (i = 0; i < lh_stack_nr(stack); i++) {
		struct lh_entry *entry = lh_stack_entry(stack, i);
		unsigned long lock = READ_ONCE(entry->lock);

		/* The one on top may be on its way to being held. */
		if (lock > LH_GONE && i + 1 != lh_stack_nr(stack) &&
		    lh_owner(entry->site.family, entry->site.mode, lock) ==
		    LH_WORD_NOT) {
			WRITE_ONCE(entry->lock, LH_GONE);
			lh_count(repaired);
		}
	}
}

void lh_acquired(union lh_site site, unsigned long lock, unsigned long ip)
{
	struct lh_stack *stack = stack_of(site.family);
	struct lh_entry entry = {
		.lock = lock,
		.ip = ip,
		.count = lh_preempt_count(),
		.site = site,
	};

	if (site.state == LH_ENTERED)
		entry.seen = READ_ONCE(*(u32 *)lock);
	if (static_branch_unlikely(&lh_times)) {
		entry.time = local_clock();
		entry.site.timed = true;
	}
	if (lh_stack_push_once(stack, &entry))
		return;
	repair(stack);
	if (!lh_stack_push_once(stack, &entry))
		lh_count(stack_full);
}

/* Families whose locks a task may take and another one release. */
static bool is_handed_over(u8 family)
{
	return family == LOCKHELD_FAMILY_SEMAPHORE ||
	       family == LOCKHELD_FAMILY_PERCPU_RWSEM ||
	       family == LOCKHELD_FAMILY_SRCU;
}

static bool release_in(struct lh_stack *stack, u8 family, unsigned long lock)
{
	unsigned int i;

	for (i = 0; i < LH_STACK_DEPTH; i++) {
		struct lh_entry *entry = lh_stack_entry(stack, i);

		if (READ_ONCE(entry->lock) == lock &&
		    READ_ONCE(entry->site.family) == family &&
		    cmpxchg(&entry->lock, lock, LH_GONE) == lock)
			return true;
	}
	return false;
}

/*
 * The taker's entry is in some record. It drops what is marked as gone when it
 * next takes or releases something, as in lh_records_forget().
 */
static bool release_elsewhere(u8 family, unsigned long lock)
{
	unsigned int i;

	for_each_set_bit(i, records_used, nr_records) {
		if (release_in(&records[i].stack, family, lock))
			return true;
	}
	return false;
}

void lh_released(u8 family, unsigned long lock)
{
	if (lh_stack_pop(stack_of(family), family, lock, lh_preempt_count()) ||
	    (is_handed_over(family) && release_elsewhere(family, lock)))
		return;
	lh_count(unmatched);
}

void lh_downgraded(union lh_site site, unsigned long lock, unsigned long ip)
{
	unsigned int group = lh_group(site.family, LOCKHELD_MODE_READ);
	struct lh_entry *entry = lh_stack_find(stack_of(site.family), lock);

	if (!lh_group_hooked(group) || lh_unwanted(group, lock)) {
		/* Nobody asks about readers, or would see them leave. */
		lh_released(site.family, lock);
	} else if (entry) {
		entry->site.gen = lh_group_gen[group];
		WRITE_ONCE(entry->site.mode, LOCKHELD_MODE_READ);
	} else {
		/* Writers are not hooked. */
		lh_acquired(site, lock, ip);
	}
}

/*
 * Locks that sleep may begin with one that spins, so an address may be in both
 * stacks. Who waits for the second has not got the first.
 */
void lh_waits(unsigned long lock, bool spins)
{
	struct lh_cpu *cpu = this_cpu_ptr(&lh_cpus);
	struct lh_entry *entry = lh_stack_find(spins ? cpu->cpu : cpu->task,
					       lock);

	lh_count(waits);
	if (entry && entry->site.state != LH_OWNED)
		WRITE_ONCE(entry->site.state, LH_WAITING);
}

static struct lh_entry *find_waiting(struct lh_stack *stack, unsigned long lock)
{
	struct lh_entry *entry = lh_stack_find(stack, lock);

	return entry && entry->site.state == LH_WAITING ? entry : NULL;
}

void lh_waited(unsigned long lock, int ret)
{
	struct lh_cpu *cpu = this_cpu_ptr(&lh_cpus);
	/* Waiting on top of waiting is what spins does. */
	struct lh_entry *entry = find_waiting(cpu->cpu, lock) ?:
				 find_waiting(cpu->task, lock);

	if (!entry)
		return;
	if (ret) {
		lh_count(failed);
		lh_released(entry->site.family, lock);
		return;
	}
	if (entry->site.timed)
		entry->time = local_clock();
	WRITE_ONCE(entry->site.state, LH_OWNED);
}

struct lh_stack *lh_cpu_stack(void)
{
	return this_cpu_read(lh_cpus.cpu);
}

struct lh_stack *lh_task_stack(void)
{
	struct lh_record *record = record_of(this_cpu_ptr(&lh_cpus));

	/* A sample of the switch itself: the task's record is already away. */
	if (record->task && record->task != current)
		record = table_find(current, false);
	return record ? &record->stack : NULL;
}

/* No hook and no tracepoint is in place; a sample may look, and finds nothing. */
static void reset(void)
{
	unsigned int cpu, i;

	for (i = 0; i < nr_cpu_ids; i++)
		lh_stack_clear(&stacks[i]);
	for (i = 0; i < nr_records; i++) {
		lh_stack_clear(&records[i].stack);
		records[i].task = NULL;
	}
	memset(buckets, 0, (sizeof(*buckets) << bucket_bits));
	bitmap_zero(records_used, nr_records);
	bitmap_set(records_used, 0, nr_cpu_ids);
	for_each_possible_cpu(cpu) {
		per_cpu(lh_cpus, cpu).cpu = &stacks[cpu];
		per_cpu(lh_cpus, cpu).task = &records[cpu].stack;
	}
}

static void forget(struct lh_stack *stack, u32 groups)
{
	unsigned int i;

	for (i = 0; i < LH_STACK_DEPTH; i++) {
		struct lh_entry *entry = lh_stack_entry(stack, i);
		unsigned long lock = READ_ONCE(entry->lock);

		/*
		 * If the place is used for another lock meanwhile, that one is
		 * of a group that has hooks, so its address is another one.
		 */
		if (lock > LH_GONE &&
		    groups & BIT(lh_group(READ_ONCE(entry->site.family),
					  READ_ONCE(entry->site.mode))))
			cmpxchg(&entry->lock, lock, LH_GONE);
	}
}

void lh_records_forget(u32 groups)
{
	unsigned int i;

	for (i = 0; i < nr_cpu_ids; i++)
		forget(&stacks[i], groups);
	for (i = 0; i < nr_records; i++) {
		if (test_bit(i, records_used))
			forget(&records[i].stack, groups);
	}
}

int lh_records_init(void)
{
	unsigned int cpus = nr_cpu_ids;

	if (max_sleepers > 1 << 20) {
		pr_err("max_sleepers=%u is more than %u\n", max_sleepers,
		       1 << 20);
		return -EINVAL;
	}
	nr_records = cpus + max_sleepers;
	bucket_bits = max(1, ilog2(roundup_pow_of_two(nr_records)) - 1);

	stacks = kvcalloc(cpus, sizeof(*stacks), GFP_KERNEL);
	records = kvcalloc(nr_records, sizeof(*records), GFP_KERNEL);
	records_used = bitmap_zalloc(nr_records, GFP_KERNEL);
	buckets = kvcalloc(1U << bucket_bits, sizeof(*buckets), GFP_KERNEL);
	sched_switch = lh_find_tracepoint("sched_switch");
	check_trace_callback_type_sched_switch(probe_sched_switch);
	if (stacks && records && records_used && buckets && sched_switch) {
		reset();
		return 0;
	}

	lh_records_exit();
	return sched_switch ? -ENOMEM : -EOPNOTSUPP;
}

void lh_records_exit(void)
{
	kvfree(stacks);
	kvfree(records);
	bitmap_free(records_used);
	kvfree(buckets);
}

int lh_records_start(void)
{
	int err;

	reset();
	err = tracepoint_probe_register(sched_switch, probe_sched_switch, NULL);
	if (err)
		return err;
	err = lh_wait_start();
	if (err)
		lh_records_stop();
	return err;
}

void lh_records_stop(void)
{
	lh_wait_stop();
	tracepoint_probe_unregister(sched_switch, probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
}
