// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a script in the task that wrote it, and blocks of it in interrupts on
 * top of that task.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "holdmod.h"

#define NR_ACTORS	640
#define NR_POSTS	32
#define PATIENCE_NS	(30 * NSEC_PER_SEC)
#define IRQ_DELAY_NS	(20 * NSEC_PER_USEC)

static struct hm_actor *actors;
static int nr_actors;	/* behind the last that was ever needed */
static atomic_t posts[NR_POSTS];

static int run_steps(struct hm_actor *actor, unsigned int from,
		     unsigned int to);

struct hm_actor *hm_actor_of(struct task_struct *task)
{
	int i, n = READ_ONCE(nr_actors);

	for (i = 0; i < n; i++)
		if (READ_ONCE(actors[i].task) == task)
			return &actors[i];
	return NULL;
}

void hm_reset_posts(void)
{
	unsigned int i;

	for (i = 0; i < NR_POSTS; i++)
		atomic_set(&posts[i], 0);
}

/* Only an interrupt on top of this actor reads it, on the same CPU. */
static void set_phase(struct hm_actor *actor, enum hm_phase phase)
{
	barrier();
	WRITE_ONCE(actor->phase, phase);
	barrier();
}

static bool is_atomic(const struct hm_actor *actor)
{
	unsigned int i;

	if (actor->context != HM_TASK)
		return true;
	for (i = 0; i < actor->nheld; i++) {
		switch (actor->held[i].lock->family) {
		case HM_SPINLOCK:
		case HM_RWLOCK:
		case HM_RAW_SPINLOCK:
		case HM_RCU:
			return true;
		default:
			break;
		}
	}
	return false;
}

static bool sleeps_where_it_may_not(const struct hm_actor *actor,
				    const struct hm_lock *lock)
{
	return HM_SPINLOCKS_SLEEP && actor->context == HM_HARD &&
	       lock->family != HM_RAW_SPINLOCK;
}

static atomic_t *holders(struct hm_lock *lock, enum hm_mode mode)
{
	return mode == HM_READ ? &lock->readers : &lock->writers;
}

static struct hm_op_count *count_of(const struct hm_op *op)
{
	return &hm_op_counts[op - hm_ops];
}

/* Prepares the actor's next hold. */
static struct hm_hold *new_hold(struct hm_actor *actor, struct hm_lock *lock,
				const struct hm_op *op)
{
	struct hm_hold *hold = &actor->held[actor->nheld];

	if (actor->nheld == HM_DEPTH)
		return ERR_PTR(-E2BIG);
	if (sleeps_where_it_may_not(actor, lock))
		return ERR_PTR(-EINVAL);
	hold->lock = lock;
	hold->op = op;
	hold->actor = actor;
	hold->mode = op->mode;
	hold->context = actor->context;
	hold->left = false;
	hold->addr = lock->find ? lock->find() : lock->addr;
	if (!hold->addr)
		return ERR_PTR(-ENOENT);
	hold->called = local_clock();
	return hold;
}

static int take(struct hm_actor *actor, struct hm_lock *lock,
		const struct hm_op *op)
{
	struct hm_hold *hold = new_hold(actor, lock, op);
	int err;

	if (IS_ERR(hold))
		return PTR_ERR(hold);
	actor->wants = lock;
	actor->wants_mode = op->mode;
	set_phase(actor, HM_TAKING);
	err = op->take(hold);
	set_phase(actor, HM_UNCLEAR);
	hold->taken = local_clock();
	WRITE_ONCE(actor->wants, NULL);
	if (err) {
		atomic64_inc(&count_of(op)->failed);
		return err;
	}
	atomic64_inc(&count_of(op)->taken);
	actor->nheld++;
	if (lock->addr)
		atomic_inc(holders(lock, op->mode));
	return 0;
}

/* Waiting is a hold, for as long as the function does not return. */
static int step_waits(struct hm_actor *actor, const struct hm_step *step)
{
	struct hm_hold *hold = new_hold(actor, step->lock, step->op);
	u64 returned;

	if (IS_ERR(hold))
		return PTR_ERR(hold);
	hold->taken = hold->called;
	actor->nheld++;
	set_phase(actor, HM_PASSING);
	step->op->take(hold);
	set_phase(actor, HM_UNCLEAR);
	returned = local_clock();
	actor->nheld--;
	atomic64_inc(&count_of(step->op)->taken);
	atomic64_inc(&count_of(step->op)->dropped);
	hm_log_hold(actor, hold, returned, returned);
	return 0;
}

static struct hm_hold *find_hold(struct hm_actor *actor,
				 const struct hm_lock *lock)
{
	unsigned int i;

	for (i = actor->nheld; i-- > 0;)
		if (actor->held[i].lock == lock &&
		    actor->held[i].context == actor->context)
			return &actor->held[i];
	return NULL;
}

static void remove_hold(struct hm_actor *actor, struct hm_hold *hold)
{
	actor->nheld--;
	memmove(hold, hold + 1,
		(&actor->held[actor->nheld] - hold) * sizeof(*hold));
}

static void drop(struct hm_actor *actor, struct hm_hold *hold)
{
	struct hm_hold dropped = *hold;
	u64 releasing = local_clock();

	if (dropped.lock->addr) {
		atomic_dec(holders(dropped.lock, dropped.mode));
		hm_wait_for_ticks();
	}
	remove_hold(actor, hold);
	dropped.op->drop(&dropped);
	atomic64_inc(&count_of(dropped.op)->dropped);
	hm_log_hold(actor, &dropped, releasing, local_clock());
}

static int step_drop(struct hm_actor *actor, const struct hm_step *step)
{
	struct hm_hold *hold = find_hold(actor, step->lock);

	if (!hold)
		return -ENOLCK;
	drop(actor, hold);
	return 0;
}

static int step_downgrade(struct hm_actor *actor, const struct hm_step *step)
{
	struct hm_hold *hold = find_hold(actor, step->lock);
	u64 now = local_clock();

	if (!hold || hold->lock->family != HM_RWSEM || hold->mode != HM_WRITE)
		return -ENOLCK;
	if (hold->lock->addr) {
		atomic_dec(&hold->lock->writers);
		hm_wait_for_ticks();
	}
	hm_downgrade(hold->addr);
	hm_log_hold(actor, hold, now, local_clock());
	hold->called = now;
	hold->mode = HM_READ;
	hold->op = hm_op_find("down_read");
	if (hold->lock->addr)
		atomic_inc(&hold->lock->readers);
	return 0;
}

/* One hold of a lock can be left at a time. */
static int step_leave(struct hm_actor *actor, const struct hm_step *step)
{
	struct hm_hold *hold = find_hold(actor, step->lock);

	if (!hold || !(hold->op->flags & HM_UNOWNED) || step->lock->is_left)
		return -ENOLCK;
	hold->left = true;
	step->lock->left = *hold;
	hm_hand_over(hold, true);
	/* Pairs with step_release(). */
	smp_store_release(&step->lock->is_left, true);
	return 0;
}

/*
 * Ends a hold of somebody else, who has left it and is not ticked now, since it
 * waits for a post or has ended its script.
 */
static int step_release(const struct hm_step *step)
{
	struct hm_lock *lock = step->lock;
	struct hm_hold left;
	u64 releasing = local_clock();
	unsigned int i;

	/* Pairs with step_leave(). */
	if (!smp_load_acquire(&lock->is_left))
		return -ENOLCK;
	left = lock->left;
	lock->is_left = false;
	atomic_dec(holders(lock, left.mode));
	hm_wait_for_ticks();
	for (i = 0; i < left.actor->nheld; i++) {
		struct hm_hold *hold = &left.actor->held[i];

		if (hold->left && hold->lock == lock) {
			remove_hold(left.actor, hold);
			break;
		}
	}
	hm_hand_over(&left, false);
	left.op->drop(&left);
	atomic64_inc(&count_of(left.op)->dropped);
	hm_log_hold(left.actor, &left, releasing, local_clock());
	return 0;
}

/* The attempt must fail. */
static int step_fail(struct hm_actor *actor, const struct hm_step *step)
{
	int err = take(actor, step->lock, step->op);

	if (!err) {
		drop(actor, &actor->held[actor->nheld - 1]);
		return -EPROTO;
	}
	switch (err) {
	case -EINTR:
	case -EBUSY:
	case -ETIME:
	case -EALREADY:
	case -EDEADLK:
		return 0;
	default:
		return err;
	}
}

static int step_tick(struct hm_actor *actor, const struct hm_step *step)
{
	u64 i;
	int err = 0;

	for (i = 0; i < step->arg && !err; i++)
		err = hm_tick(actor, actor->context, HM_BY_SCRIPT, false);
	return err;
}

static int step_busy(struct hm_actor *actor, const struct hm_step *step)
{
	u64 end = ktime_get_ns() + step->arg * NSEC_PER_USEC;

	set_phase(actor, HM_STEADY);
	while (ktime_get_ns() < end)
		cpu_relax();
	set_phase(actor, HM_UNCLEAR);
	return 0;
}

static int step_sleep(struct hm_actor *actor, const struct hm_step *step)
{
	set_phase(actor, HM_STEADY);
	usleep_range(step->arg, step->arg + 100);
	set_phase(actor, HM_UNCLEAR);
	return 0;
}

static int step_cpu(const struct hm_step *step)
{
	if (step->arg >= nr_cpu_ids || !cpu_online(step->arg))
		return -ENODEV;
	return set_cpus_allowed_ptr(current, cpumask_of(step->arg));
}

/* Actors that are taking the lock; if asleep is set, only those that sleep. */
static unsigned int nr_taking(const struct hm_lock *lock, bool asleep)
{
	int i, n = READ_ONCE(nr_actors);
	unsigned int nr = 0;

	for (i = 0; i < n; i++) {
		struct task_struct *task;

		rcu_read_lock();
		task = READ_ONCE(actors[i].task);
		if (task && READ_ONCE(actors[i].wants) == lock &&
		    READ_ONCE(actors[i].phase) == HM_TAKING &&
		    (!asleep || !hm_task_is_running(task)))
			nr++;
		rcu_read_unlock();
	}
	return nr;
}

static bool condition(const struct hm_step *step)
{
	switch (step->verb) {
	case HM_V_AWAIT:
		return atomic_dec_if_positive(&posts[step->arg]) >= 0;
	case HM_V_BLOCKED:
		return nr_taking(step->lock, true) >= step->arg;
	default:
		return nr_taking(step->lock, false) >= step->arg;
	}
}

static int step_wait(struct hm_actor *actor, const struct hm_step *step)
{
	u64 end = ktime_get_ns() + PATIENCE_NS;

	while (!condition(step)) {
		if (ktime_get_ns() > end)
			return -ETIMEDOUT;
		if (is_atomic(actor))
			cpu_relax();
		else
			usleep_range(100, 200);
	}
	return 0;
}

/* arg2 pages, each with the GFP flags in arg. */
static int step_alloc(const struct hm_step *step)
{
	u64 i;

	for (i = 0; i < step->arg2; i++) {
		struct page *page = alloc_page((__force gfp_t)step->arg);

		if (!page)
			return -ENOMEM;
		__free_page(page);
	}
	return 0;
}

static int step_repeat(struct hm_actor *actor, const struct hm_step *step,
		       unsigned int self)
{
	u64 i;
	int err = 0;

	for (i = 0; i < step->arg && !err; i++) {
		if (!is_atomic(actor)) {
			if (signal_pending(current))
				return -EINTR;
			cond_resched();
		}
		err = run_steps(actor, self + 1, step->end);
	}
	return err;
}

static void run_in_irq(struct hm_actor *actor, enum hm_context context)
{
	unsigned int self = actor->irq_step;
	enum hm_context outer = actor->context;

	/* Another task may be what was interrupted: then try again. */
	if (current != actor->task ||
	    !in_serving_softirq() != (outer == HM_TASK && context != HM_SOFT)) {
		WRITE_ONCE(actor->irq_state, HM_IRQ_MISSED);
		return;
	}
	set_phase(actor, HM_UNCLEAR);
	actor->context = context;
	actor->irq_error = run_steps(actor, self + 1,
				     actor->script->steps[self].end);
	while (actor->nheld &&
	       actor->held[actor->nheld - 1].context == context)
		drop(actor, &actor->held[actor->nheld - 1]);
	actor->context = outer;
	WRITE_ONCE(actor->irq_state, HM_IRQ_DONE);
}

static void soft_fires(struct tasklet_struct *tasklet)
{
	run_in_irq(container_of(tasklet, struct hm_actor, tasklet), HM_SOFT);
}

static enum hrtimer_restart hard_fires(struct hrtimer *timer)
{
	run_in_irq(container_of(timer, struct hm_actor, timer), HM_HARD);
	return HRTIMER_NORESTART;
}

static void arm(struct hm_actor *actor, enum hm_verb verb)
{
	actor->irq_state = HM_IRQ_ARMED;
	if (verb == HM_V_HARD) {
		hrtimer_start(&actor->timer, ns_to_ktime(IRQ_DELAY_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
	} else {
		/* Softirqs run when bottom halves are enabled again. */
		local_bh_disable();
		tasklet_schedule(&actor->tasklet);
		local_bh_enable();
	}
}

static int step_irq(struct hm_actor *actor, const struct hm_step *step,
		    unsigned int self)
{
	unsigned int outer_step = actor->irq_step;
	bool pin = actor->context == HM_TASK;
	enum hm_irq_state state;

	if (irqs_disabled() || hm_in_hardirq() ||
	    (step->verb == HM_V_SOFT && softirq_count()))
		return -EINVAL;
	actor->irq_step = self;
	if (pin)
		migrate_disable();
	do {
		arm(actor, step->verb);
		set_phase(actor, HM_STEADY);
		do {
			cpu_relax();
			state = READ_ONCE(actor->irq_state);
		} while (state == HM_IRQ_ARMED);
		set_phase(actor, HM_UNCLEAR);
	} while (state == HM_IRQ_MISSED);
	if (pin)
		migrate_enable();
	actor->irq_step = outer_step;
	return actor->irq_error;
}

static int run_step(struct hm_actor *actor, const struct hm_step *step,
		    unsigned int self)
{
	switch (step->verb) {
	case HM_V_TAKE:
		return take(actor, step->lock, step->op);
	case HM_V_FAIL:
		return step_fail(actor, step);
	case HM_V_DROP:
		return step_drop(actor, step);
	case HM_V_DOWNGRADE:
		return step_downgrade(actor, step);
	case HM_V_WAIT:
		return step_waits(actor, step);
	case HM_V_LEAVE:
		return step_leave(actor, step);
	case HM_V_RELEASE:
		return step_release(step);
	case HM_V_TICK:
		return step_tick(actor, step);
	case HM_V_BUSY:
		return step_busy(actor, step);
	case HM_V_SLEEP:
		return step_sleep(actor, step);
	case HM_V_CPU:
		return step_cpu(step);
	case HM_V_POST:
		/* Whoever awaits it sees what was done before. */
		atomic_inc_return_release(&posts[step->arg]);
		return 0;
	case HM_V_AWAIT:
	case HM_V_BLOCKED:
	case HM_V_WANTED:
		return step_wait(actor, step);
	case HM_V_ALLOC:
		return step_alloc(step);
	case HM_V_SCENARIO:
		actor->scenario = step->arg;
		return 0;
	case HM_V_TIMER:
		return hm_timer_set(step->arg);
	case HM_V_SWITCH:
		return hm_switch_set(step->arg);
	case HM_V_REPEAT:
		return step_repeat(actor, step, self);
	case HM_V_SOFT:
	case HM_V_HARD:
		return step_irq(actor, step, self);
	default:
		return -EINVAL;
	}
}

static bool may_sleep(enum hm_verb verb)
{
	return verb == HM_V_SLEEP || verb == HM_V_CPU || verb == HM_V_ALLOC ||
	       verb == HM_V_TIMER || verb == HM_V_SWITCH || verb == HM_V_WAIT;
}

static int run_steps(struct hm_actor *actor, unsigned int from,
		     unsigned int to)
{
	const struct hm_step *step;
	unsigned int i;
	int err;

	for (i = from; i < to; i++) {
		step = &actor->script->steps[i];
		if (may_sleep(step->verb) && is_atomic(actor))
			return -EINVAL;
		err = run_step(actor, step, i);
		if (err)
			return err;
		if (step->end)
			i = step->end;
	}
	return 0;
}

static void raise_nr_actors(int n)
{
	int old = READ_ONCE(nr_actors);

	while (old < n && !try_cmpxchg(&nr_actors, &old, n))
		;
}

static struct hm_actor *claim_actor(const struct hm_script *script)
{
	int i;

	for (i = 0; i < NR_ACTORS; i++) {
		struct hm_actor *actor = &actors[i];

		if (cmpxchg(&actor->task, NULL, current))
			continue;
		raise_nr_actors(i + 1);
		actor->scenario = 0;
		actor->script = script;
		tasklet_setup(&actor->tasklet, soft_fires);
		hm_hrtimer_setup(&actor->timer, hard_fires);
		return actor;
	}
	return NULL;
}

/* Takes out what others may release, and releases all else. */
static bool forgets_locks(struct hm_actor *actor)
{
	bool any = false;

	while (actor->nheld) {
		struct hm_hold *hold = &actor->held[actor->nheld - 1];

		if (hold->left) {
			remove_hold(actor, hold);
		} else {
			drop(actor, hold);
			any = true;
		}
	}
	return any;
}

int hm_run(const struct hm_script *script)
{
	struct hm_actor *actor = claim_actor(script);
	int err;

	if (!actor)
		return -EUSERS;
	err = run_steps(actor, 0, script->nr);
	if (forgets_locks(actor) && !err)
		err = -EBUSY;
	hm_ww_close(actor);
	hrtimer_cancel(&actor->timer);
	tasklet_kill(&actor->tasklet);
	WRITE_ONCE(actor->task, NULL);
	return err;
}

int hm_actors_init(void)
{
	actors = vzalloc(array_size(NR_ACTORS, sizeof(*actors)));
	return actors ? 0 : -ENOMEM;
}

void hm_actors_exit(void)
{
	vfree(actors);
}
