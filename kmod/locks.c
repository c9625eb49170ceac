// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of lock functions. One line says all that the module knows about
 * a function; everything else asks this table.
 *
 * A function that a kernel does not have is left out there. Kernels with
 * lockdep have the "nested" names in place of the plain ones, so one of a
 * family's core functions for each verb is enough.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>

#include "lockheld.h"

#define FUNC(_name, _family, _mode, _verb, ...)		\
	{						\
		.name = #_name,				\
		.family = LOCKHELD_FAMILY_##_family,	\
		.mode = LOCKHELD_MODE_##_mode,		\
		.verb = LH_##_verb,			\
		__VA_ARGS__				\
	}

#define CORE		.core = true
#define ZERO		.ret = LH_RET_ZERO
#define NONZERO		.ret = LH_RET_NONZERO
#define ARG1		.arg = 1
#define INLINED(option)	.inlined = IS_ENABLED(CONFIG_INLINE_##option)

const struct lh_func lh_funcs[] = {
	FUNC(mutex_lock,			MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(mutex_lock_nested,			MUTEX, WRITE, ACQUIRE, CORE),
	FUNC(_mutex_lock_nest_lock,		MUTEX, WRITE, ACQUIRE),
	FUNC(mutex_lock_interruptible,		MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_interruptible_nested,	MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_killable,		MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_killable_nested,	MUTEX, WRITE, ACQUIRE, ZERO),
	FUNC(mutex_lock_io,			MUTEX, WRITE, ACQUIRE),
	FUNC(mutex_lock_io_nested,		MUTEX, WRITE, ACQUIRE),
	FUNC(mutex_trylock,			MUTEX, WRITE, ACQUIRE, NONZERO),
	FUNC(atomic_dec_and_mutex_lock,		MUTEX, WRITE, ACQUIRE, NONZERO,
	     ARG1),
	FUNC(mutex_unlock,			MUTEX, WRITE, RELEASE, CORE),

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

	FUNC(_raw_spin_lock,			SPINLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(SPIN_LOCK)),
	FUNC(_raw_spin_lock_irq,		SPINLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_IRQ)),
	FUNC(_raw_spin_lock_irqsave,		SPINLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_IRQSAVE)),
	FUNC(_raw_spin_lock_bh,			SPINLOCK, WRITE, ACQUIRE, CORE,
	     INLINED(SPIN_LOCK_BH)),
	FUNC(_raw_spin_lock_nested,		SPINLOCK, WRITE, ACQUIRE),
	FUNC(_raw_spin_lock_irqsave_nested,	SPINLOCK, WRITE, ACQUIRE),
	FUNC(_raw_spin_lock_nest_lock,		SPINLOCK, WRITE, ACQUIRE),
	FUNC(_raw_spin_trylock,			SPINLOCK, WRITE, ACQUIRE, CORE,
	     NONZERO, INLINED(SPIN_TRYLOCK)),
	FUNC(_raw_spin_trylock_bh,		SPINLOCK, WRITE, ACQUIRE, CORE,
	     NONZERO, INLINED(SPIN_TRYLOCK_BH)),
	FUNC(_raw_spin_unlock,			SPINLOCK, WRITE, RELEASE, CORE,
	     .inlined = !IS_ENABLED(CONFIG_UNINLINE_SPIN_UNLOCK)),
	FUNC(_raw_spin_unlock_irq,		SPINLOCK, WRITE, RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_IRQ)),
	FUNC(_raw_spin_unlock_irqrestore,	SPINLOCK, WRITE, RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_IRQRESTORE)),
	FUNC(_raw_spin_unlock_bh,		SPINLOCK, WRITE, RELEASE, CORE,
	     INLINED(SPIN_UNLOCK_BH)),
	FUNC(queued_spin_lock_slowpath,		SPINLOCK, WRITE, SLOW),
	FUNC(native_queued_spin_lock_slowpath,	SPINLOCK, WRITE, SLOW),
	FUNC(__pv_queued_spin_lock_slowpath,	SPINLOCK, WRITE, SLOW),

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
};

const unsigned int lh_nr_funcs = ARRAY_SIZE(lh_funcs);
static_assert(ARRAY_SIZE(lh_funcs) <= LH_NR_FUNCS);

u32 lh_groups(void)
{
	unsigned int i;
	u32 mask = 0;

	for (i = 0; i < lh_nr_funcs; i++)
		mask |= BIT(lh_group(lh_funcs[i].family, lh_funcs[i].mode));
	return mask;
}

u32 lh_groups_of(u8 family, u8 mode)
{
	u32 mask = BIT(lh_group(family, LOCKHELD_MODE_READ)) |
		   BIT(lh_group(family, LOCKHELD_MODE_WRITE));

	if (mode != LOCKHELD_MODE_ANY)
		mask = BIT(lh_group(family, mode));
	return mask & lh_groups();
}
