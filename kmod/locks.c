// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of lock functions. One line says all that the module knows about
 * a function; everything else asks this table.
 *
 * A function that a kernel does not have is left out there. Kernels with
 * lockdep have the "nested" names in place of the plain ones, so one of a
 * family's core functions for each verb is enough. Kernels with PREEMPT_RT have
 * spinlocks and rwlocks that sleep, with functions of their own.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>

#include "lockheld.h"

/* Words are pasted here, since some are macros of the kernel's own. */
#define FUNC(_name, _family, _mode, _verb, ...)		\
	{						\
		.name = #_name,				\
		.family = LOCKHELD_FAMILY_##_family,	\
		.mode = LOCKHELD_MODE_##_mode,		\
		.verb = LH_##_verb,			\
		__VA_ARGS__				\
	}

/* Functions of locks that spin, whatever those are called on this kernel. */
#define SPINS(_name, _verb, ...)			\
	{						\
		.name = #_name,				\
		.family = LH_FAMILY_SPINS,		\
		.mode = LOCKHELD_MODE_WRITE,		\
		.verb = LH_##_verb,			\
		__VA_ARGS__				\
	}

#define CORE		.core = true
#define ZERO		.ret = LH_RET_ZERO
#define NONZERO		.ret = LH_RET_NONZERO
#define ARG1		.arg = 1
#define RETURN		.by_return = true
#define NOWAIT		.nowait = true
#define SELF		.self = true
#define INLINED(option)	.inlined = IS_ENABLED(CONFIG_INLINE_##option)

const struct lh_func lh_funcs[] = {
	FUNC(mutex_lock,			MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(mutex_lock_nested,			MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(_mutex_lock_nest_lock,		MUTEX, WRITE, ACQUIRE),
	FUNC(mutex_lock_interruptible,		MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_interruptible_nested,	MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_killable,		MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_killable_nested,	MUTEX, WRITE, ACQUIRE, ZERO),
	/* May or may not call mutex_lock(), as the compiler likes. */
	FUNC(mutex_lock_io,			MUTEX, WRITE, ACQUIRE, RETURN),
	FUNC(mutex_lock_io_nested,		MUTEX, WRITE, ACQUIRE, RETURN),
	FUNC(mutex_trylock,			MUTEX, WRITE, ACQUIRE, NONZERO),
	FUNC(atomic_dec_and_mutex_lock,		MUTEX, WRITE, ACQUIRE, NONZERO,
	     ARG1),
	/*
	 * These say by their return value that the context has the lock already,
	 * which is not another acquisition.
	 */
	FUNC(ww_mutex_lock,			MUTEX, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(ww_mutex_lock_interruptible,	MUTEX, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(ww_mutex_trylock,			MUTEX, WRITE, ACQUIRE, NONZERO),
	FUNC(ww_mutex_unlock,			MUTEX, WRITE, RELEASE),
	FUNC(_mutex_lock_killable,		MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(_mutex_trylock_nest_lock,		MUTEX, WRITE, ACQUIRE, NONZERO),
	FUNC(mutex_unlock,			MUTEX, WRITE, RELEASE, CORE),

	FUNC(rt_mutex_lock,			RT_MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(rt_mutex_lock_nested,		RT_MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(_rt_mutex_lock_nest_lock,		RT_MUTEX, WRITE, ACQUIRE),
	FUNC(rt_mutex_lock_interruptible,	RT_MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(rt_mutex_lock_killable,		RT_MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(rt_mutex_timed_lock,		RT_MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(rt_mutex_trylock,			RT_MUTEX, WRITE, ACQUIRE,
	     NONZERO),
	FUNC(rt_mutex_unlock,			RT_MUTEX, WRITE, RELEASE, CORE),

	FUNC(down_read,				RWSEM, READ, ACQUIRE, CORE),
	FUNC(down_read_nested,			RWSEM, READ, ACQUIRE),
	FUNC(down_read_non_owner,		RWSEM, READ, ACQUIRE),
	FUNC(down_read_interruptible,		RWSEM, READ, ACQUIRE, ZERO),
	FUNC(down_read_killable,		RWSEM, READ, ACQUIRE, ZERO),
	FUNC(down_read_killable_nested,		RWSEM, READ, ACQUIRE, ZERO),
	FUNC(down_read_trylock,			RWSEM, READ, ACQUIRE, NONZERO),
	FUNC(up_read,				RWSEM, READ, RELEASE, CORE),
	FUNC(up_read_non_owner,			RWSEM, READ, RELEASE),
	FUNC(rwsem_down_read_slowpath,		RWSEM, READ, SLOW),

	FUNC(down_write,			RWSEM, WRITE, ACQUIRE, CORE),
	FUNC(down_write_nested,			RWSEM, WRITE, ACQUIRE),
	FUNC(_down_write_nest_lock,		RWSEM, WRITE, ACQUIRE),
	FUNC(down_write_killable,		RWSEM, WRITE, ACQUIRE, ZERO),
	FUNC(down_write_killable_nested,	RWSEM, WRITE, ACQUIRE, ZERO),
	FUNC(down_write_trylock,		RWSEM, WRITE, ACQUIRE, NONZERO),
	FUNC(up_write,				RWSEM, WRITE, RELEASE, CORE),
	FUNC(downgrade_write,			RWSEM, READ, DOWNGRADE, CORE),

	SPINS(_raw_spin_lock,			ACQUIRE, CORE,
	     INLINED(SPIN_LOCK)),
	SPINS(_raw_spin_lock_irq,		ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_IRQ)),
	SPINS(_raw_spin_lock_irqsave,		ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_IRQSAVE)),
	SPINS(_raw_spin_lock_bh,			ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_BH)),
	SPINS(_raw_spin_lock_irq_disable,	ACQUIRE),
	SPINS(_raw_spin_lock_nested,		ACQUIRE),
	SPINS(_raw_spin_lock_irqsave_nested,	ACQUIRE),
	SPINS(_raw_spin_lock_nest_lock,		ACQUIRE),
	SPINS(_raw_spin_trylock,			ACQUIRE, CORE,
	     NONZERO, INLINED(SPIN_TRYLOCK)),
	SPINS(_raw_spin_trylock_bh,		ACQUIRE, CORE,
	     NONZERO, INLINED(SPIN_TRYLOCK_BH)),
	SPINS(_raw_spin_unlock,			RELEASE, CORE,
	     .inlined = !IS_ENABLED(CONFIG_UNINLINE_SPIN_UNLOCK)),
	SPINS(_raw_spin_unlock_irq,		RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_IRQ)),
	SPINS(_raw_spin_unlock_irq_enable,	RELEASE),
	SPINS(_raw_spin_unlock_irqrestore,	RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_IRQRESTORE)),
	SPINS(_raw_spin_unlock_bh,		RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_BH)),
	SPINS(queued_spin_lock_slowpath,		SLOW),
	SPINS(native_queued_spin_lock_slowpath,	SLOW),
	SPINS(__pv_queued_spin_lock_slowpath,	SLOW),

	FUNC(_raw_read_lock,			RWLOCK, READ, ACQUIRE, CORE,
	     INLINED(READ_LOCK)),
	FUNC(_raw_read_lock_irq,		RWLOCK, READ, ACQUIRE, CORE,
	     INLINED(READ_LOCK_IRQ)),
	FUNC(_raw_read_lock_irqsave,		RWLOCK, READ, ACQUIRE, CORE,
	     INLINED(READ_LOCK_IRQSAVE)),
	FUNC(_raw_read_lock_bh,			RWLOCK, READ, ACQUIRE, CORE,
	     INLINED(READ_LOCK_BH)),
	FUNC(_raw_read_trylock,			RWLOCK, READ, ACQUIRE, CORE,
	     NONZERO, INLINED(READ_TRYLOCK)),
	FUNC(_raw_read_unlock,			RWLOCK, READ, RELEASE, CORE,
	     INLINED(READ_UNLOCK)),
	FUNC(_raw_read_unlock_irq,		RWLOCK, READ, RELEASE, CORE,
	     INLINED(READ_UNLOCK_IRQ)),
	FUNC(_raw_read_unlock_irqrestore,	RWLOCK, READ, RELEASE, CORE,
	     INLINED(READ_UNLOCK_IRQRESTORE)),
	FUNC(_raw_read_unlock_bh,		RWLOCK, READ, RELEASE, CORE,
	     INLINED(READ_UNLOCK_BH)),
	FUNC(queued_read_lock_slowpath,		RWLOCK, READ, SLOW),

	FUNC(_raw_write_lock,			RWLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(WRITE_LOCK)),
	FUNC(_raw_write_lock_irq,		RWLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(WRITE_LOCK_IRQ)),
	FUNC(_raw_write_lock_irqsave,		RWLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(WRITE_LOCK_IRQSAVE)),
	FUNC(_raw_write_lock_bh,		RWLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(WRITE_LOCK_BH)),
	FUNC(_raw_write_lock_nested,		RWLOCK, WRITE, ACQUIRE),
	FUNC(_raw_write_trylock,		RWLOCK, WRITE, ACQUIRE, CORE,
	     NONZERO, INLINED(WRITE_TRYLOCK)),
	FUNC(_raw_write_unlock,			RWLOCK, WRITE, RELEASE, CORE,
	     INLINED(WRITE_UNLOCK)),
	FUNC(_raw_write_unlock_irq,		RWLOCK, WRITE, RELEASE, CORE,
	     INLINED(WRITE_UNLOCK_IRQ)),
	FUNC(_raw_write_unlock_irqrestore,	RWLOCK, WRITE, RELEASE, CORE,
	     INLINED(WRITE_UNLOCK_IRQRESTORE)),
	FUNC(_raw_write_unlock_bh,		RWLOCK, WRITE, RELEASE, CORE,
	     INLINED(WRITE_UNLOCK_BH)),
	FUNC(queued_write_lock_slowpath,	RWLOCK, WRITE, SLOW),

	/* PREEMPT_RT */
	FUNC(rt_spin_lock,			SPINLOCK, WRITE, ACQUIRE, CORE),
	FUNC(rt_spin_lock_nested,		SPINLOCK, WRITE, ACQUIRE, CORE),
	FUNC(rt_spin_lock_nest_lock,		SPINLOCK, WRITE, ACQUIRE),
	FUNC(rt_spin_trylock,			SPINLOCK, WRITE, ACQUIRE,
	     NONZERO),
	FUNC(rt_spin_trylock_bh,		SPINLOCK, WRITE, ACQUIRE,
	     NONZERO),
	FUNC(rt_spin_unlock,			SPINLOCK, WRITE, RELEASE, CORE),
	FUNC(rt_read_lock,			RWLOCK, READ, ACQUIRE, CORE),
	FUNC(rt_read_trylock,			RWLOCK, READ, ACQUIRE, NONZERO),
	FUNC(rt_read_unlock,			RWLOCK, READ, RELEASE, CORE),
	FUNC(rt_write_lock,			RWLOCK, WRITE, ACQUIRE, CORE),
	FUNC(rt_write_lock_nested,		RWLOCK, WRITE, ACQUIRE),
	FUNC(rt_write_trylock,			RWLOCK, WRITE, ACQUIRE,
	     NONZERO),
	FUNC(rt_write_unlock,			RWLOCK, WRITE, RELEASE, CORE),

	/* Whoever waits for these has no entry, and no word of theirs tells. */
	FUNC(percpu_down_write,			PERCPU_RWSEM, WRITE, ACQUIRE,
	     CORE, RETURN),
	FUNC(percpu_up_write,			PERCPU_RWSEM, WRITE, RELEASE,
	     CORE),
	FUNC(down,				SEMAPHORE, WRITE, ACQUIRE, CORE,
	     RETURN),
	FUNC(down_interruptible,		SEMAPHORE, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(down_killable,			SEMAPHORE, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(down_timeout,			SEMAPHORE, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(down_trylock,			SEMAPHORE, WRITE, ACQUIRE, ZERO,
	     RETURN),
	FUNC(up,				SEMAPHORE, WRITE, RELEASE, CORE),

	FUNC(__srcu_read_lock,			SRCU, READ, ACQUIRE, CORE,
	     NOWAIT),
	FUNC(__srcu_read_lock_nmisafe,		SRCU, READ, ACQUIRE, NOWAIT),
	FUNC(__srcu_read_unlock,		SRCU, READ, RELEASE, CORE),
	FUNC(__srcu_read_unlock_nmisafe,	SRCU, READ, RELEASE),
	FUNC(synchronize_srcu,			SRCU, WRITE, WAIT, CORE),
	FUNC(synchronize_srcu_expedited,	SRCU, WRITE, WAIT),
	FUNC(srcu_barrier,			SRCU, WRITE, WAIT),

	FUNC(synchronize_rcu,			RCU, WRITE, WAIT, CORE, SELF),
	FUNC(synchronize_rcu_expedited,		RCU, WRITE, WAIT, SELF),
	FUNC(cond_synchronize_rcu,		RCU, WRITE, WAIT, SELF),
	FUNC(cond_synchronize_rcu_full,		RCU, WRITE, WAIT, SELF),
	FUNC(cond_synchronize_rcu_expedited,	RCU, WRITE, WAIT, SELF),
	FUNC(cond_synchronize_rcu_expedited_full, RCU, WRITE, WAIT, SELF),
	FUNC(rcu_barrier,			RCU, WRITE, WAIT, SELF),
	FUNC(synchronize_rcu_tasks_trace,	RCU_TRACE, WRITE, WAIT, CORE,
	     SELF),
	FUNC(rcu_barrier_tasks_trace,		RCU_TRACE, WRITE, WAIT, SELF),
};

const unsigned int lh_nr_funcs = ARRAY_SIZE(lh_funcs);
static_assert(ARRAY_SIZE(lh_funcs) <= LH_NR_FUNCS);

u32 lh_groups(void)
{
	u32 mask = 0;
	u8 family;

	for (family = 1; family <= LOCKHELD_FAMILY_MAX; family++)
		mask |= lh_groups_of(family, LOCKHELD_MODE_ANY);
	return mask;
}

bool lh_has_readers(u8 family)
{
	switch (family) {
	case LOCKHELD_FAMILY_RWSEM:
	case LOCKHELD_FAMILY_RWLOCK:
	case LOCKHELD_FAMILY_PERCPU_RWSEM:
	case LOCKHELD_FAMILY_SRCU:
	case LOCKHELD_FAMILY_RCU:
	case LOCKHELD_FAMILY_RCU_TRACE:
		return true;
	default:
		return false;
	}
}

u32 lh_groups_of(u8 family, u8 mode)
{
	u32 mask = 0;

	if (mode != LOCKHELD_MODE_READ)
		mask |= BIT(lh_group(family, LOCKHELD_MODE_WRITE));
	if (mode != LOCKHELD_MODE_WRITE && lh_has_readers(family))
		mask |= BIT(lh_group(family, LOCKHELD_MODE_READ));
	return mask;
}

enum lh_kind lh_kind(u8 family, u8 mode)
{
	if (family == LH_FAMILY_SPINS ||
	    (family == LOCKHELD_FAMILY_RWLOCK && !IS_ENABLED(CONFIG_PREEMPT_RT)))
		return LH_SPINS;
	return lh_owner_named(family, mode) ? LH_NAMED : LH_SLEEPS;
}

bool lh_counted(u8 family, u8 mode)
{
	return mode == LOCKHELD_MODE_READ &&
	       (family == LOCKHELD_FAMILY_RCU ||
		family == LOCKHELD_FAMILY_RCU_TRACE);
}

const char *lh_untracked(u8 family, u8 mode)
{
	if (family == LOCKHELD_FAMILY_PERCPU_RWSEM &&
	    mode == LOCKHELD_MODE_READ)
		return "percpu_down_read is inlined on this kernel: only :W can be tracked";
	if (family == LOCKHELD_FAMILY_RAW_SPINLOCK &&
	    LH_FAMILY_SPINS != LOCKHELD_FAMILY_RAW_SPINLOCK)
		return "raw spinlocks are spinlocks on this kernel: use spinlock";
	if (family == LOCKHELD_FAMILY_RCU && mode == LOCKHELD_MODE_READ &&
	    !LH_COUNTS_RCU)
		return "rcu_read_lock leaves no trace without CONFIG_PREEMPT_RCU";
	if (family == LOCKHELD_FAMILY_RCU_TRACE &&
	    mode == LOCKHELD_MODE_READ && !LH_COUNTS_RCU_TRACE)
		return LH_NO_RCU_TRACE;
	return NULL;
}
