// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock functions. Each is called from a function of its own, named after
 * it, so that a test can tell from a return address which one took a lock.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "holdmod.h"

/* The barrier keeps the call from becoming a jump, which leaves no return. */
#define TAKE(name, type, call)						\
static noinline int take_##name(void *lock, unsigned long *flags)	\
{									\
	type *l = lock;							\
	int err;							\
									\
	err = call;							\
	barrier();							\
	return err;							\
}

/* A lock function that always succeeds, and one that tells with 1. */
#define VOID(call)	({ call; 0; })
#define TRY(call)	((call) ? 0 : -EBUSY)

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

TAKE(mutex_lock, struct mutex, VOID(mutex_lock(l)))
TAKE(mutex_lock_nested, struct mutex,
     VOID(mutex_lock_nested(l, SINGLE_DEPTH_NESTING)))
TAKE(mutex_lock_io, struct mutex, VOID(mutex_lock_io(l)))
TAKE(mutex_lock_interruptible, struct mutex, mutex_lock_interruptible(l))
TAKE(mutex_lock_killable, struct mutex, mutex_lock_killable(l))
TAKE(mutex_trylock, struct mutex, TRY(mutex_trylock(l)))
TAKE(atomic_dec_and_mutex_lock, struct mutex, TRY(dec_and_mutex_lock(l, 1)))
TAKE(atomic_dec_not_mutex_lock, struct mutex, TRY(dec_and_mutex_lock(l, 2)))

TAKE(down_read, struct rw_semaphore, VOID(down_read(l)))
TAKE(down_read_nested, struct rw_semaphore,
     VOID(down_read_nested(l, SINGLE_DEPTH_NESTING)))
TAKE(down_read_interruptible, struct rw_semaphore, down_read_interruptible(l))
TAKE(down_read_killable, struct rw_semaphore, down_read_killable(l))
TAKE(down_read_trylock, struct rw_semaphore, TRY(down_read_trylock(l)))
TAKE(down_write, struct rw_semaphore, VOID(down_write(l)))
TAKE(down_write_nested, struct rw_semaphore,
     VOID(down_write_nested(l, SINGLE_DEPTH_NESTING)))
TAKE(down_write_killable, struct rw_semaphore, down_write_killable(l))
TAKE(down_write_trylock, struct rw_semaphore, TRY(down_write_trylock(l)))

TAKE(spin_lock, spinlock_t, VOID(spin_lock(l)))
TAKE(spin_lock_nested, spinlock_t,
     VOID(spin_lock_nested(l, SINGLE_DEPTH_NESTING)))
TAKE(spin_lock_irq, spinlock_t, VOID(spin_lock_irq(l)))
TAKE(spin_lock_irqsave, spinlock_t, VOID(spin_lock_irqsave(l, *flags)))
TAKE(spin_lock_bh, spinlock_t, VOID(spin_lock_bh(l)))
TAKE(spin_trylock, spinlock_t, TRY(spin_trylock(l)))
TAKE(spin_trylock_irq, spinlock_t, TRY(spin_trylock_irq(l)))
TAKE(spin_trylock_irqsave, spinlock_t, TRY(spin_trylock_irqsave(l, *flags)))
TAKE(spin_trylock_bh, spinlock_t, TRY(spin_trylock_bh(l)))
TAKE(atomic_dec_and_lock, spinlock_t, TRY(dec_and_lock(l, 1)))
TAKE(atomic_dec_not_lock, spinlock_t, TRY(dec_and_lock(l, 2)))
TAKE(atomic_dec_and_lock_irqsave, spinlock_t,
     TRY(dec_and_lock_irqsave(l, 1, flags)))

TAKE(read_lock, rwlock_t, VOID(read_lock(l)))
TAKE(read_lock_irq, rwlock_t, VOID(read_lock_irq(l)))
TAKE(read_lock_irqsave, rwlock_t, VOID(read_lock_irqsave(l, *flags)))
TAKE(read_lock_bh, rwlock_t, VOID(read_lock_bh(l)))
TAKE(read_trylock, rwlock_t, TRY(read_trylock(l)))
TAKE(write_lock, rwlock_t, VOID(write_lock(l)))
TAKE(write_lock_nested, rwlock_t,
     VOID(write_lock_nested(l, SINGLE_DEPTH_NESTING)))
TAKE(write_lock_irq, rwlock_t, VOID(write_lock_irq(l)))
TAKE(write_lock_irqsave, rwlock_t, VOID(write_lock_irqsave(l, *flags)))
TAKE(write_lock_bh, rwlock_t, VOID(write_lock_bh(l)))
TAKE(write_trylock, rwlock_t, TRY(write_trylock(l)))

#define DROP(name, type, call)						\
static void drop_##name(void *lock, unsigned long flags)		\
{									\
	type *l = lock;							\
									\
	call;								\
}

DROP(mutex, struct mutex, mutex_unlock(l))
DROP(rwsem_read, struct rw_semaphore, up_read(l))
DROP(rwsem_write, struct rw_semaphore, up_write(l))
DROP(spin, spinlock_t, spin_unlock(l))
DROP(spin_irq, spinlock_t, spin_unlock_irq(l))
DROP(spin_irqrestore, spinlock_t, spin_unlock_irqrestore(l, flags))
DROP(spin_bh, spinlock_t, spin_unlock_bh(l))
DROP(read, rwlock_t, read_unlock(l))
DROP(read_irq, rwlock_t, read_unlock_irq(l))
DROP(read_irqrestore, rwlock_t, read_unlock_irqrestore(l, flags))
DROP(read_bh, rwlock_t, read_unlock_bh(l))
DROP(write, rwlock_t, write_unlock(l))
DROP(write_irq, rwlock_t, write_unlock_irq(l))
DROP(write_irqrestore, rwlock_t, write_unlock_irqrestore(l, flags))
DROP(write_bh, rwlock_t, write_unlock_bh(l))

#define OP(name, family, mode, drop) { #name, family, mode, take_##name, drop_##drop }

const struct hm_op hm_ops[] = {
	OP(mutex_lock, HM_MUTEX, HM_WRITE, mutex),
	OP(mutex_lock_nested, HM_MUTEX, HM_WRITE, mutex),
	OP(mutex_lock_io, HM_MUTEX, HM_WRITE, mutex),
	OP(mutex_lock_interruptible, HM_MUTEX, HM_WRITE, mutex),
	OP(mutex_lock_killable, HM_MUTEX, HM_WRITE, mutex),
	OP(mutex_trylock, HM_MUTEX, HM_WRITE, mutex),
	OP(atomic_dec_and_mutex_lock, HM_MUTEX, HM_WRITE, mutex),
	OP(atomic_dec_not_mutex_lock, HM_MUTEX, HM_WRITE, mutex),

	OP(down_read, HM_RWSEM, HM_READ, rwsem_read),
	OP(down_read_nested, HM_RWSEM, HM_READ, rwsem_read),
	OP(down_read_interruptible, HM_RWSEM, HM_READ, rwsem_read),
	OP(down_read_killable, HM_RWSEM, HM_READ, rwsem_read),
	OP(down_read_trylock, HM_RWSEM, HM_READ, rwsem_read),
	OP(down_write, HM_RWSEM, HM_WRITE, rwsem_write),
	OP(down_write_nested, HM_RWSEM, HM_WRITE, rwsem_write),
	OP(down_write_killable, HM_RWSEM, HM_WRITE, rwsem_write),
	OP(down_write_trylock, HM_RWSEM, HM_WRITE, rwsem_write),

	OP(spin_lock, HM_SPINLOCK, HM_WRITE, spin),
	OP(spin_lock_nested, HM_SPINLOCK, HM_WRITE, spin),
	OP(spin_lock_irq, HM_SPINLOCK, HM_WRITE, spin_irq),
	OP(spin_lock_irqsave, HM_SPINLOCK, HM_WRITE, spin_irqrestore),
	OP(spin_lock_bh, HM_SPINLOCK, HM_WRITE, spin_bh),
	OP(spin_trylock, HM_SPINLOCK, HM_WRITE, spin),
	OP(spin_trylock_irq, HM_SPINLOCK, HM_WRITE, spin_irq),
	OP(spin_trylock_irqsave, HM_SPINLOCK, HM_WRITE, spin_irqrestore),
	OP(spin_trylock_bh, HM_SPINLOCK, HM_WRITE, spin_bh),
	OP(atomic_dec_and_lock, HM_SPINLOCK, HM_WRITE, spin),
	OP(atomic_dec_not_lock, HM_SPINLOCK, HM_WRITE, spin),
	OP(atomic_dec_and_lock_irqsave, HM_SPINLOCK, HM_WRITE, spin_irqrestore),

	OP(read_lock, HM_RWLOCK, HM_READ, read),
	OP(read_lock_irq, HM_RWLOCK, HM_READ, read_irq),
	OP(read_lock_irqsave, HM_RWLOCK, HM_READ, read_irqrestore),
	OP(read_lock_bh, HM_RWLOCK, HM_READ, read_bh),
	OP(read_trylock, HM_RWLOCK, HM_READ, read),
	OP(write_lock, HM_RWLOCK, HM_WRITE, write),
	OP(write_lock_nested, HM_RWLOCK, HM_WRITE, write),
	OP(write_lock_irq, HM_RWLOCK, HM_WRITE, write_irq),
	OP(write_lock_irqsave, HM_RWLOCK, HM_WRITE, write_irqrestore),
	OP(write_lock_bh, HM_RWLOCK, HM_WRITE, write_bh),
	OP(write_trylock, HM_RWLOCK, HM_WRITE, write),
};

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
