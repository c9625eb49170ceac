/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels, each with a name of ours. lh-config.h is
 * written by kmod/configure, which tries what is in probes.
 */
#ifndef HM_COMPAT_H
#define HM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/percpu-rwsem.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/ww_mutex.h>

#include "lh-config.h"

static inline void hm_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef HM_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = fn;
#endif
}

static inline bool hm_task_is_running(struct task_struct *task)
{
#ifdef HM_HAVE_TASK_IS_RUNNING
	return task_is_running(task);
#else
	return READ_ONCE(task->state) == TASK_RUNNING;
#endif
}

static inline bool hm_in_hardirq(void)
{
#ifdef HM_HAVE_IN_HARDIRQ
	return in_hardirq();
#else
	return in_irq();
#endif
}

/* Without a context; the kernel with contexts takes none for "no context". */
static inline int hm_ww_mutex_trylock(struct ww_mutex *lock)
{
#ifdef HM_HAVE_WW_TRYLOCK_CTX
	return ww_mutex_trylock(lock, NULL);
#else
	return ww_mutex_trylock(lock);
#endif
}

/* Read sections that may end in another task. */
static inline int hm_srcu_down_read(struct srcu_struct *ssp)
{
#ifdef HM_HAVE_SRCU_DOWN_READ
	return srcu_down_read(ssp);
#else
	return __srcu_read_lock(ssp);
#endif
}

static inline void hm_srcu_up_read(struct srcu_struct *ssp, int idx)
{
#ifdef HM_HAVE_SRCU_DOWN_READ
	srcu_up_read(ssp, idx);
#else
	__srcu_read_unlock(ssp, idx);
#endif
}

/* Lockdep: another task will release the lock. */
static inline void hm_percpu_rwsem_leave(struct percpu_rw_semaphore *sem)
{
#ifdef HM_HAVE_PERCPU_RELEASE_MODE
	percpu_rwsem_release(sem, false, _THIS_IP_);
#else
	percpu_rwsem_release(sem, _THIS_IP_);
#endif
}

#if defined(HM_HAVE_RCU_GP_SEQ)
#define HM_HAVE_COND_FULL
#define hm_rcu_state rcu_gp_seq
#elif defined(HM_HAVE_RCU_GP_OLDSTATE)
#define HM_HAVE_COND_FULL
#define hm_rcu_state rcu_gp_oldstate
#endif

/*
 * Meant for the lock that made another attempt fail with -EDEADLK. Kernels with
 * DEBUG_MUTEXES keep watch over that, and scripts take it without, too.
 */
static inline void hm_ww_mutex_lock_slow(struct ww_mutex *lock,
					 struct ww_acquire_ctx *ctx)
{
#ifdef DEBUG_WW_MUTEXES
	ctx->contending_lock = lock;
#endif
	ww_mutex_lock_slow(lock, ctx);
}

/* Where spinlocks sleep, hard interrupts cannot take them. */
#define HM_SPINLOCKS_SLEEP	IS_ENABLED(CONFIG_PREEMPT_RT)

#endif /* HM_COMPAT_H */
