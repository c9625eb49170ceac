// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock functions of oplist.h. Each is called from a function of its own,
 * named after it, so that a test can tell from a return address which one took
 * a lock.
 */
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_trace.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/ww_mutex.h>

#include "holdmod.h"

/* ---- what takes more than a call ---- */

static bool dec_and_mutex_lock(struct mutex *lock, int count)
{
	atomic_t users = ATOMIC_INIT(count);

	return atomic_dec_and_mutex_lock(&users, lock);
}

static bool dec_and_lock(spinlock_t *lock, int count)
{
	atomic_t users = ATOMIC_INIT(count);

	return atomic_dec_and_lock(&users, lock);
}

static bool dec_and_lock_irqsave(spinlock_t *lock, int count,
				 unsigned long *flags)
{
	atomic_t users = ATOMIC_INIT(count);

	return atomic_dec_and_lock_irqsave(&users, lock, *flags);
}

/* The actor keeps its context to the end: after -EDEADLK it tries again. */
static struct ww_acquire_ctx *ww_context(struct hm_hold *hold)
{
	struct hm_actor *actor = hold->actor;

	if (!actor->ww_open)
		ww_acquire_init(&actor->ww, &hm_ww_class);
	actor->ww_open = true;
	return &actor->ww;
}

void hm_ww_close(struct hm_actor *actor)
{
	if (actor->ww_open)
		ww_acquire_fini(&actor->ww);
	actor->ww_open = false;
}

/* A barrier waits only if there is a callback, which is done when it is over. */
static void called_back(struct rcu_head *head)
{
}

static void with_rcu_callback(void)
{
	struct rcu_head head;

	init_rcu_head_on_stack(&head);
	call_rcu(&head, called_back);
	rcu_barrier();
	destroy_rcu_head_on_stack(&head);
}

static void with_srcu_callback(struct srcu_struct *ssp)
{
	struct rcu_head head;

	init_rcu_head_on_stack(&head);
	call_srcu(ssp, &head, called_back);
	srcu_barrier(ssp);
	destroy_rcu_head_on_stack(&head);
}

#ifdef CONFIG_TASKS_TRACE_RCU
static void with_trace_callback(void)
{
	struct rcu_head head;

	init_rcu_head_on_stack(&head);
	call_rcu_tasks_trace(&head, called_back);
	rcu_barrier_tasks_trace();
	destroy_rcu_head_on_stack(&head);
}
#endif

#ifdef HM_HAVE_COND_FULL
static void full_state(void (*synchronize)(struct hm_rcu_state *))
{
	struct hm_rcu_state state;

	get_state_synchronize_rcu_full(&state);
	synchronize(&state);
}
#endif

/* ---- taking ---- */

#define VOID(call)	({ call; 0; })
#define TRY(call)	((call) ? 0 : -EBUSY)

/* The barrier keeps the call from becoming a jump, which leaves no return. */
#define OP(name, kind, mode, flags, type, call, drop)			\
static noinline int take_##name(struct hm_hold *hold)			\
{									\
	type *l = hold->addr;						\
	int err;							\
									\
	err = call;							\
	barrier();							\
	return err;							\
}

#include "oplist.h"

#undef OP

/* ---- releasing ---- */

#define DROP(name, type, call)						\
static void drop_##name(struct hm_hold *hold)				\
{									\
	type *l = hold->addr;						\
									\
	call;								\
}

DROP(mutex, struct mutex, mutex_unlock(l))
DROP(ww_mutex, struct ww_mutex, ww_mutex_unlock(l))
DROP(rt_mutex, struct rt_mutex, rt_mutex_unlock(l))
DROP(rwsem_read, struct rw_semaphore, up_read(l))
DROP(rwsem_read_non_owner, struct rw_semaphore, up_read_non_owner(l))
DROP(rwsem_write, struct rw_semaphore, up_write(l))
DROP(percpu_read, struct percpu_rw_semaphore, percpu_up_read(l))
DROP(percpu_write, struct percpu_rw_semaphore, percpu_up_write(l))
DROP(semaphore, struct semaphore, up(l))
DROP(srcu, struct srcu_struct, srcu_read_unlock(l, hold->flags))
DROP(srcu_up, struct srcu_struct, hm_srcu_up_read(l, hold->flags))
#ifdef HM_HAVE_SRCU_NMISAFE
DROP(srcu_nmisafe, struct srcu_struct,
     srcu_read_unlock_nmisafe(l, hold->flags))
#endif
DROP(rcu, void, (void)l; rcu_read_unlock())
#ifdef CONFIG_TASKS_TRACE_RCU
DROP(rcu_trace, void, (void)l; rcu_read_unlock_trace())
#endif
DROP(nothing, void, (void)l)
DROP(spin, spinlock_t, spin_unlock(l))
DROP(spin_irq, spinlock_t, spin_unlock_irq(l))
DROP(spin_irqrestore, spinlock_t, spin_unlock_irqrestore(l, hold->flags))
DROP(spin_bh, spinlock_t, spin_unlock_bh(l))
DROP(raw_spin, raw_spinlock_t, raw_spin_unlock(l))
DROP(raw_spin_irq, raw_spinlock_t, raw_spin_unlock_irq(l))
DROP(raw_spin_irqrestore, raw_spinlock_t,
     raw_spin_unlock_irqrestore(l, hold->flags))
DROP(read, rwlock_t, read_unlock(l))
DROP(read_irq, rwlock_t, read_unlock_irq(l))
DROP(read_irqrestore, rwlock_t, read_unlock_irqrestore(l, hold->flags))
DROP(read_bh, rwlock_t, read_unlock_bh(l))
DROP(write, rwlock_t, write_unlock(l))
DROP(write_irq, rwlock_t, write_unlock_irq(l))
DROP(write_irqrestore, rwlock_t, write_unlock_irqrestore(l, hold->flags))
DROP(write_bh, rwlock_t, write_unlock_bh(l))

/* ---- the table ---- */

#define OP(name, kind, mode, flags, type, call, drop)			\
	{ #name, HM_##kind, HM_##mode, HM_##flags, take_##name, drop_##drop },

const struct hm_op hm_ops[] = {
#include "oplist.h"
};

const char * const hm_mode_names[] = { "-", "R", "W" };
const unsigned int hm_nr_ops = ARRAY_SIZE(hm_ops);
struct hm_op_count hm_op_counts[ARRAY_SIZE(hm_ops)];

const struct hm_op *hm_op_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < hm_nr_ops; i++)
		if (!strcmp(hm_ops[i].name, name))
			return &hm_ops[i];
	return NULL;
}

void hm_downgrade(void *lock)
{
	downgrade_write(lock);
}

/* Lockdep must know that a lock goes from task to task. */
void hm_hand_over(struct hm_hold *hold, bool away)
{
	if (hold->lock->family != HM_PERCPU_RWSEM)
		return;
	if (away)
		hm_percpu_rwsem_leave(hold->addr);
	else
		percpu_rwsem_acquire(hold->addr, false, _THIS_IP_);
}
