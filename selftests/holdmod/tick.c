// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace event holdmod:tick, and the log of every tick and every hold.
 *
 * Scripts fire ticks themselves. A timer in hard interrupt context and a probe
 * on sched_switch fire them on top of actors, which catches those that wait:
 * a tick says "waiting" only if another actor holds the lock beyond doubt, and
 * a holder does not let go while such a tick is being fired; or if the actor
 * goes to sleep in the lock function.
 */
#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include "holdmod.h"

#define CREATE_TRACE_POINTS
#include "holdmod_trace.h"

#define LOG_TICKS	(1U << 17)
#define LOG_HOLDS	(1U << 15)

struct hold_record {
	u64 called;
	u64 taken;
	u64 releasing;
	u64 released;
	pid_t tid;
	u16 lock;
	u8 mode;
};

static struct hm_record *ticks;
static atomic64_t nr_ticks;
static atomic64_t tick_counts[3];
static struct hold_record *holds;
static atomic_t nr_holds;

static DEFINE_PER_CPU(int, in_tick);
static DEFINE_PER_CPU(struct hrtimer, tick_timer);
static u64 timer_ns;
static struct tracepoint *switch_tp;
static bool switch_on;

static const char * const context_names[] = { "task", "soft", "hard" };
static const char * const source_names[] = { "script", "timer", "switch" };

static u16 lock_index(const struct hm_lock *lock)
{
	return lock - hm_locks;
}

/* What lockheld calls it */
static u8 family_of(const struct hm_lock *lock)
{
	return lock->family == HM_WW_MUTEX ? HM_MUTEX : lock->family;
}

static void describe(struct hm_record *rec, const struct hm_actor *actor)
{
	const struct hm_hold *hold;
	unsigned int i;

	rec->depth = actor->nheld;
	for (i = 0; i < actor->nheld; i++) {
		rec->held[i].lock = lock_index(actor->held[i].lock);
		rec->held[i].mode = actor->held[i].mode;
		rec->held[i].context = actor->held[i].context;
	}
	if (rec->truth == HM_WAITING) {
		rec->wants = lock_index(actor->wants);
		rec->wants_mode = actor->wants_mode;
		rec->addr = (unsigned long)actor->wants->addr;
		rec->family = family_of(actor->wants);
		rec->mode = actor->wants_mode;
	} else if (rec->truth == HM_HELD) {
		hold = &actor->held[actor->nheld - 1];
		rec->addr = (unsigned long)hold->addr;
		rec->family = family_of(hold->lock);
		rec->mode = hold->mode;
		rec->held_ns = rec->time - hold->taken;
	}
}

/* Fires a tick. Fails if the log, which must hold the truth, is full. */
int hm_tick(struct hm_actor *actor, enum hm_context context,
	    enum hm_source source, bool waits)
{
	u64 seq = atomic64_inc_return(&nr_ticks);
	struct hm_record *rec;

	if (seq > LOG_TICKS)
		return -ENOSPC;
	rec = &ticks[seq - 1];
	memset(rec, 0, sizeof(*rec));
	rec->seq = seq;
	rec->time = local_clock();
	rec->scenario = actor->scenario;
	rec->tid = actor->task->pid;
	rec->cpu = raw_smp_processor_id();
	rec->context = context;
	rec->source = source;
	if (waits)
		rec->truth = HM_WAITING;
	else if (actor->nheld)
		rec->truth = HM_HELD;
	describe(rec, actor);
	atomic64_inc(&tick_counts[rec->truth]);
	trace_tick(rec);
	return 0;
}

static bool other_holds(const struct hm_actor *actor)
{
	const struct hm_lock *lock = actor->wants;

	return atomic_read(&lock->writers) ||
	       (actor->wants_mode == HM_WRITE && atomic_read(&lock->readers));
}

/*
 * Called with interrupts off: ticks of this kind do not nest. @sleeps: the
 * actor is about to.
 */
static void tick_on_top(struct hm_actor *actor, enum hm_context context,
			enum hm_source source, bool sleeps)
{
	enum hm_phase phase = READ_ONCE(actor->phase);

	if (phase == HM_STEADY) {
		hm_tick(actor, context, source, false);
	} else if (phase == HM_TAKING) {
		this_cpu_write(in_tick, 1);
		/* Pairs with hm_wait_for_ticks(). */
		smp_mb();
		if (sleeps || other_holds(actor))
			hm_tick(actor, context, source, true);
		smp_store_release(this_cpu_ptr(&in_tick), 0);
	} else if (phase == HM_PASSING && sleeps) {
		hm_tick(actor, context, source, false);
	}
}

/* A holder that no longer counts as one waits for ticks that relied on it. */
void hm_wait_for_ticks(void)
{
	int cpu;

	/* Pairs with tick_on_top(). */
	smp_mb();
	for_each_online_cpu(cpu)
		while (smp_load_acquire(per_cpu_ptr(&in_tick, cpu)))
			cpu_relax();
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct hm_actor *actor = hm_actor_of(current);

	/* A softirq on top of the actor that is not its own may hold locks. */
	if (actor && !in_serving_softirq() == (actor->context == HM_TASK))
		tick_on_top(actor, HM_HARD, HM_BY_TIMER, false);
	hrtimer_forward_now(timer, ns_to_ktime(timer_ns));
	return HRTIMER_RESTART;
}

static void timer_start(void *unused)
{
	hrtimer_start(this_cpu_ptr(&tick_timer), ns_to_ktime(timer_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

int hm_timer_set(u64 period_us)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&tick_timer, cpu));
	timer_ns = period_us * NSEC_PER_USEC;
	if (timer_ns)
		on_each_cpu(timer_start, NULL, 1);
	return 0;
}

static void task_switches(void *data, bool preempt, struct task_struct *prev,
			  struct task_struct *next)
{
	struct hm_actor *actor = hm_actor_of(prev);

	if (actor && actor->context == HM_TASK)
		tick_on_top(actor, HM_TASK, HM_BY_SWITCH,
			    !preempt && !hm_task_is_running(prev));
}

int hm_switch_set(bool on)
{
	int err;

	if (on == switch_on)
		return 0;
	if (!switch_tp)
		return -ENOENT;
	if (on) {
		err = tracepoint_probe_register(switch_tp, task_switches, NULL);
	} else {
		err = tracepoint_probe_unregister(switch_tp, task_switches,
						  NULL);
		tracepoint_synchronize_unregister();
	}
	if (!err)
		switch_on = on;
	return err;
}

static void find_switch(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		switch_tp = tp;
}

void hm_log_hold(const struct hm_actor *actor, const struct hm_hold *hold,
		 u64 releasing, u64 released)
{
	unsigned int i = atomic_fetch_inc(&nr_holds);

	if (i >= LOG_HOLDS)
		return;
	holds[i].called = hold->called;
	holds[i].taken = hold->taken;
	holds[i].releasing = releasing;
	holds[i].released = released;
	holds[i].tid = actor->task->pid;
	holds[i].mode = hold->mode;
	holds[i].lock = lock_index(hold->lock);
}

void hm_log_reset(void)
{
	unsigned int i;

	atomic64_set(&nr_ticks, 0);
	atomic_set(&nr_holds, 0);
	for (i = 0; i < ARRAY_SIZE(tick_counts); i++)
		atomic64_set(&tick_counts[i], 0);
}

void hm_show_tick_counts(struct seq_file *m)
{
	seq_printf(m, "ticks not_held %lld\n",
		   atomic64_read(&tick_counts[HM_NOT_HELD]));
	seq_printf(m, "ticks held %lld\n",
		   atomic64_read(&tick_counts[HM_HELD]));
	seq_printf(m, "ticks waiting %lld\n",
		   atomic64_read(&tick_counts[HM_WAITING]));
	seq_printf(m, "ticks lost %lld\n",
		   max_t(s64, atomic64_read(&nr_ticks) - LOG_TICKS, 0));
	seq_printf(m, "holds lost %d\n",
		   max_t(int, atomic_read(&nr_holds) - LOG_HOLDS, 0));
}

static void *ticks_start(struct seq_file *m, loff_t *pos)
{
	u64 nr = min_t(u64, atomic64_read(&nr_ticks), LOG_TICKS);

	return *pos < nr ? &ticks[*pos] : NULL;
}

static void *ticks_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ticks_start(m, pos);
}

static void log_stop(struct seq_file *m, void *v)
{
}

/*
 * SEQ SCENARIO CPU TID CONTEXT SOURCE DEPTH WANTS HELD TIME: WANTS is LOCK:MODE,
 * HELD a list of LOCK:MODE@CONTEXT, outermost first, and "-" is none; TIME is
 * local_clock().
 */
static int ticks_show(struct seq_file *m, void *v)
{
	const struct hm_record *rec = v;
	unsigned int i;

	seq_printf(m, "%llu %u %u %d %s %s %u ", rec->seq, rec->scenario,
		   rec->cpu, rec->tid, context_names[rec->context],
		   source_names[rec->source], rec->depth);
	if (rec->truth == HM_WAITING)
		seq_printf(m, "%s:%s ", hm_locks[rec->wants].name,
			   hm_mode_names[rec->wants_mode]);
	else
		seq_puts(m, "- ");
	if (!rec->depth)
		seq_puts(m, "-");
	for (i = 0; i < rec->depth; i++)
		seq_printf(m, "%s%s:%s@%s", i ? "," : "",
			   hm_locks[rec->held[i].lock].name,
			   hm_mode_names[rec->held[i].mode],
			   context_names[rec->held[i].context]);
	seq_printf(m, " %llu\n", rec->time);
	return 0;
}

static const struct seq_operations ticks_ops = {
	.start	= ticks_start,
	.next	= ticks_next,
	.stop	= log_stop,
	.show	= ticks_show,
};

static int ticks_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &ticks_ops);
}

const struct file_operations hm_ticks_fops = {
	.owner		= THIS_MODULE,
	.open		= ticks_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static void *holds_start(struct seq_file *m, loff_t *pos)
{
	u64 nr = min_t(u64, atomic_read(&nr_holds), LOG_HOLDS);

	return *pos < nr ? &holds[*pos] : NULL;
}

static void *holds_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return holds_start(m, pos);
}

/* TID LOCK:MODE CALLED TAKEN RELEASING RELEASED, in ns of local_clock() */
static int holds_show(struct seq_file *m, void *v)
{
	const struct hold_record *rec = v;

	seq_printf(m, "%d %s:%s %llu %llu %llu %llu\n", rec->tid,
		   hm_locks[rec->lock].name, hm_mode_names[rec->mode],
		   rec->called, rec->taken, rec->releasing, rec->released);
	return 0;
}

static const struct seq_operations holds_ops = {
	.start	= holds_start,
	.next	= holds_next,
	.stop	= log_stop,
	.show	= holds_show,
};

static int holds_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &holds_ops);
}

const struct file_operations hm_holds_fops = {
	.owner		= THIS_MODULE,
	.open		= holds_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

int hm_tick_init(void)
{
	int cpu;

	ticks = vmalloc(array_size(LOG_TICKS, sizeof(*ticks)));
	holds = vmalloc(array_size(LOG_HOLDS, sizeof(*holds)));
	if (!ticks || !holds) {
		vfree(ticks);
		vfree(holds);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		hm_hrtimer_setup(per_cpu_ptr(&tick_timer, cpu), timer_fires);
	for_each_kernel_tracepoint(find_switch, NULL);
	return 0;
}

void hm_tick_exit(void)
{
	hm_timer_set(0);
	hm_switch_set(false);
	tracepoint_synchronize_unregister();
	vfree(ticks);
	vfree(holds);
}
