/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock functions; ops.c includes this twice, with OP() meaning first the
 * function that calls it, then its entry in the table:
 *
 *	OP(name, kind, mode, flags, type of the lock, call of l, drop of ops.c)
 *
 * VOID() is a call that always succeeds, TRY() one that tells with 1.
 */

OP(mutex_lock, MUTEX, WRITE, TAKES, struct mutex, VOID(mutex_lock(l)), mutex)
OP(mutex_lock_nested, MUTEX, WRITE, TAKES, struct mutex,
   VOID(mutex_lock_nested(l, SINGLE_DEPTH_NESTING)), mutex)
OP(mutex_lock_io, MUTEX, WRITE, TAKES, struct mutex, VOID(mutex_lock_io(l)),
   mutex)
OP(mutex_lock_interruptible, MUTEX, WRITE, TAKES, struct mutex,
   mutex_lock_interruptible(l), mutex)
OP(mutex_lock_killable, MUTEX, WRITE, TAKES, struct mutex,
   mutex_lock_killable(l), mutex)
OP(mutex_trylock, MUTEX, WRITE, TAKES, struct mutex, TRY(mutex_trylock(l)),
   mutex)
OP(atomic_dec_and_mutex_lock, MUTEX, WRITE, TAKES, struct mutex,
   TRY(dec_and_mutex_lock(l, 1)), mutex)
OP(atomic_dec_not_mutex_lock, MUTEX, WRITE, TAKES, struct mutex,
   TRY(dec_and_mutex_lock(l, 2)), mutex)

/* Without a context and, where the name says so, with one. */
OP(ww_mutex_lock, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   ww_mutex_lock(l, NULL), ww_mutex)
OP(ww_mutex_lock_ctx, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   ww_mutex_lock(l, ww_context(hold)), ww_mutex)
OP(ww_mutex_lock_interruptible, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   ww_mutex_lock_interruptible(l, NULL), ww_mutex)
OP(ww_mutex_lock_interruptible_ctx, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   ww_mutex_lock_interruptible(l, ww_context(hold)), ww_mutex)
OP(ww_mutex_lock_slow_ctx, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   VOID(hm_ww_mutex_lock_slow(l, ww_context(hold))), ww_mutex)
OP(ww_mutex_trylock, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   TRY(hm_ww_mutex_trylock(l)), ww_mutex)
#ifdef HM_HAVE_WW_TRYLOCK_CTX
OP(ww_mutex_trylock_ctx, WW_MUTEX, WRITE, TAKES, struct ww_mutex,
   TRY(ww_mutex_trylock(l, ww_context(hold))), ww_mutex)
#endif

OP(rt_mutex_lock, RT_MUTEX, WRITE, TAKES, struct rt_mutex,
   VOID(rt_mutex_lock(l)), rt_mutex)
OP(rt_mutex_lock_interruptible, RT_MUTEX, WRITE, TAKES, struct rt_mutex,
   rt_mutex_lock_interruptible(l), rt_mutex)
#ifdef HM_HAVE_RT_MUTEX_KILLABLE
OP(rt_mutex_lock_killable, RT_MUTEX, WRITE, TAKES, struct rt_mutex,
   rt_mutex_lock_killable(l), rt_mutex)
#endif
#ifdef HM_HAVE_RT_MUTEX_TIMED
OP(rt_mutex_timed_lock, RT_MUTEX, WRITE, TAKES, struct rt_mutex,
   rt_mutex_timed_lock(l, NULL), rt_mutex)
#endif
OP(rt_mutex_trylock, RT_MUTEX, WRITE, TAKES, struct rt_mutex,
   TRY(rt_mutex_trylock(l)), rt_mutex)

OP(down_read, RWSEM, READ, TAKES, struct rw_semaphore, VOID(down_read(l)),
   rwsem_read)
OP(down_read_nested, RWSEM, READ, TAKES, struct rw_semaphore,
   VOID(down_read_nested(l, SINGLE_DEPTH_NESTING)), rwsem_read)
OP(down_read_non_owner, RWSEM, READ, UNOWNED, struct rw_semaphore,
   VOID(down_read_non_owner(l)), rwsem_read_non_owner)
OP(down_read_interruptible, RWSEM, READ, TAKES, struct rw_semaphore,
   down_read_interruptible(l), rwsem_read)
OP(down_read_killable, RWSEM, READ, TAKES, struct rw_semaphore,
   down_read_killable(l), rwsem_read)
OP(down_read_trylock, RWSEM, READ, TAKES, struct rw_semaphore,
   TRY(down_read_trylock(l)), rwsem_read)
OP(down_write, RWSEM, WRITE, TAKES, struct rw_semaphore, VOID(down_write(l)),
   rwsem_write)
OP(down_write_nested, RWSEM, WRITE, TAKES, struct rw_semaphore,
   VOID(down_write_nested(l, SINGLE_DEPTH_NESTING)), rwsem_write)
OP(down_write_killable, RWSEM, WRITE, TAKES, struct rw_semaphore,
   down_write_killable(l), rwsem_write)
OP(down_write_trylock, RWSEM, WRITE, TAKES, struct rw_semaphore,
   TRY(down_write_trylock(l)), rwsem_write)

OP(percpu_down_read, PERCPU_RWSEM, READ, TAKES, struct percpu_rw_semaphore,
   VOID(percpu_down_read(l)), percpu_read)
OP(percpu_down_read_trylock, PERCPU_RWSEM, READ, TAKES,
   struct percpu_rw_semaphore, TRY(percpu_down_read_trylock(l)), percpu_read)
OP(percpu_down_write, PERCPU_RWSEM, WRITE, UNOWNED, struct percpu_rw_semaphore,
   VOID(percpu_down_write(l)), percpu_write)

OP(down, SEMAPHORE, WRITE, UNOWNED, struct semaphore, VOID(down(l)), semaphore)
OP(down_interruptible, SEMAPHORE, WRITE, UNOWNED, struct semaphore,
   down_interruptible(l), semaphore)
OP(down_killable, SEMAPHORE, WRITE, UNOWNED, struct semaphore,
   down_killable(l), semaphore)
OP(down_timeout, SEMAPHORE, WRITE, UNOWNED, struct semaphore,
   down_timeout(l, 60 * HZ), semaphore)
OP(down_timeout_short, SEMAPHORE, WRITE, UNOWNED, struct semaphore,
   down_timeout(l, 1), semaphore)
OP(down_trylock, SEMAPHORE, WRITE, UNOWNED, struct semaphore,
   down_trylock(l) ? -EBUSY : 0, semaphore)

OP(srcu_read_lock, SRCU, READ, TAKES, struct srcu_struct,
   VOID(hold->flags = srcu_read_lock(l)), srcu)
OP(srcu_down_read, SRCU, READ, UNOWNED, struct srcu_struct,
   VOID(hold->flags = hm_srcu_down_read(l)), srcu_up)
#ifdef HM_HAVE_SRCU_NMISAFE
OP(srcu_read_lock_nmisafe, SRCU, READ, TAKES, struct srcu_struct,
   VOID(hold->flags = srcu_read_lock_nmisafe(l)), srcu_nmisafe)
#endif
OP(synchronize_srcu, SRCU, WRITE, WAITS, struct srcu_struct,
   VOID(synchronize_srcu(l)), nothing)
OP(synchronize_srcu_expedited, SRCU, WRITE, WAITS, struct srcu_struct,
   VOID(synchronize_srcu_expedited(l)), nothing)
OP(srcu_barrier, SRCU, WRITE, WAITS, struct srcu_struct,
   VOID(with_srcu_callback(l)), nothing)

OP(rcu_read_lock, RCU, READ, TAKES, void, VOID((void)l; rcu_read_lock()), rcu)
OP(synchronize_rcu, RCU, WRITE, WAITS, void, VOID((void)l; synchronize_rcu()),
   nothing)
OP(synchronize_rcu_expedited, RCU, WRITE, WAITS, void,
   VOID((void)l; synchronize_rcu_expedited()), nothing)
OP(rcu_barrier, RCU, WRITE, WAITS, void, VOID((void)l; with_rcu_callback()),
   nothing)
OP(cond_synchronize_rcu, RCU, WRITE, WAITS, void,
   VOID((void)l; cond_synchronize_rcu(get_state_synchronize_rcu())), nothing)
#ifdef HM_HAVE_COND_EXPEDITED
OP(cond_synchronize_rcu_expedited, RCU, WRITE, WAITS, void,
   VOID((void)l; cond_synchronize_rcu_expedited(get_state_synchronize_rcu())),
   nothing)
#endif
#ifdef HM_HAVE_COND_FULL
OP(cond_synchronize_rcu_full, RCU, WRITE, WAITS, void,
   VOID((void)l; full_state(cond_synchronize_rcu_full)), nothing)
OP(cond_synchronize_rcu_expedited_full, RCU, WRITE, WAITS, void,
   VOID((void)l; full_state(cond_synchronize_rcu_expedited_full)), nothing)
#endif

#ifdef CONFIG_TASKS_TRACE_RCU
OP(rcu_read_lock_trace, RCU_TRACE, READ, TAKES, void,
   VOID((void)l; rcu_read_lock_trace()), rcu_trace)
OP(synchronize_rcu_tasks_trace, RCU_TRACE, WRITE, WAITS, void,
   VOID((void)l; synchronize_rcu_tasks_trace()), nothing)
OP(rcu_barrier_tasks_trace, RCU_TRACE, WRITE, WAITS, void,
   VOID((void)l; with_trace_callback()), nothing)
#endif

OP(spin_lock, SPINLOCK, WRITE, TAKES, spinlock_t, VOID(spin_lock(l)), spin)
OP(spin_lock_nested, SPINLOCK, WRITE, TAKES, spinlock_t,
   VOID(spin_lock_nested(l, SINGLE_DEPTH_NESTING)), spin)
OP(spin_lock_irq, SPINLOCK, WRITE, TAKES, spinlock_t, VOID(spin_lock_irq(l)),
   spin_irq)
OP(spin_lock_irqsave, SPINLOCK, WRITE, TAKES, spinlock_t,
   VOID(spin_lock_irqsave(l, hold->flags)), spin_irqrestore)
OP(spin_lock_bh, SPINLOCK, WRITE, TAKES, spinlock_t, VOID(spin_lock_bh(l)),
   spin_bh)
OP(spin_trylock, SPINLOCK, WRITE, TAKES, spinlock_t, TRY(spin_trylock(l)),
   spin)
OP(spin_trylock_irq, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(spin_trylock_irq(l)), spin_irq)
OP(spin_trylock_irqsave, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(spin_trylock_irqsave(l, hold->flags)), spin_irqrestore)
OP(spin_trylock_bh, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(spin_trylock_bh(l)), spin_bh)
OP(atomic_dec_and_lock, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(dec_and_lock(l, 1)), spin)
OP(atomic_dec_not_lock, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(dec_and_lock(l, 2)), spin)
OP(atomic_dec_and_lock_irqsave, SPINLOCK, WRITE, TAKES, spinlock_t,
   TRY(dec_and_lock_irqsave(l, 1, &hold->flags)), spin_irqrestore)

OP(raw_spin_lock, RAW_SPINLOCK, WRITE, TAKES, raw_spinlock_t,
   VOID(raw_spin_lock(l)), raw_spin)
OP(raw_spin_lock_irq, RAW_SPINLOCK, WRITE, TAKES, raw_spinlock_t,
   VOID(raw_spin_lock_irq(l)), raw_spin_irq)
OP(raw_spin_lock_irqsave, RAW_SPINLOCK, WRITE, TAKES, raw_spinlock_t,
   VOID(raw_spin_lock_irqsave(l, hold->flags)), raw_spin_irqrestore)
OP(raw_spin_trylock, RAW_SPINLOCK, WRITE, TAKES, raw_spinlock_t,
   TRY(raw_spin_trylock(l)), raw_spin)

OP(read_lock, RWLOCK, READ, TAKES, rwlock_t, VOID(read_lock(l)), read)
OP(read_lock_irq, RWLOCK, READ, TAKES, rwlock_t, VOID(read_lock_irq(l)),
   read_irq)
OP(read_lock_irqsave, RWLOCK, READ, TAKES, rwlock_t,
   VOID(read_lock_irqsave(l, hold->flags)), read_irqrestore)
OP(read_lock_bh, RWLOCK, READ, TAKES, rwlock_t, VOID(read_lock_bh(l)), read_bh)
OP(read_trylock, RWLOCK, READ, TAKES, rwlock_t, TRY(read_trylock(l)), read)
OP(write_lock, RWLOCK, WRITE, TAKES, rwlock_t, VOID(write_lock(l)), write)
#ifdef HM_HAVE_WRITE_LOCK_NESTED
OP(write_lock_nested, RWLOCK, WRITE, TAKES, rwlock_t,
   VOID(write_lock_nested(l, SINGLE_DEPTH_NESTING)), write)
#endif
OP(write_lock_irq, RWLOCK, WRITE, TAKES, rwlock_t, VOID(write_lock_irq(l)),
   write_irq)
OP(write_lock_irqsave, RWLOCK, WRITE, TAKES, rwlock_t,
   VOID(write_lock_irqsave(l, hold->flags)), write_irqrestore)
OP(write_lock_bh, RWLOCK, WRITE, TAKES, rwlock_t, VOID(write_lock_bh(l)),
   write_bh)
OP(write_trylock, RWLOCK, WRITE, TAKES, rwlock_t, TRY(write_trylock(l)), write)
