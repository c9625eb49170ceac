/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock functions that the peers hook: what acquires (nothing returned, or got
 * the lock if 0, or if not 0) and what releases, each with its family.
 */
#ifndef PEERS_FUNCS_H
#define PEERS_FUNCS_H

#define LOCK_FUNCTIONS(VOID, ZERO, NONZERO, RELEASE)			\
	VOID(mutex, mutex_lock)						\
	ZERO(mutex, mutex_lock_interruptible)				\
	ZERO(mutex, mutex_lock_killable)				\
	NONZERO(mutex, mutex_trylock)					\
	RELEASE(mutex, mutex_unlock)					\
	VOID(rwsem, down_read)						\
	ZERO(rwsem, down_read_interruptible)				\
	ZERO(rwsem, down_read_killable)					\
	NONZERO(rwsem, down_read_trylock)				\
	RELEASE(rwsem, up_read)						\
	VOID(rwsem, down_write)						\
	ZERO(rwsem, down_write_killable)				\
	NONZERO(rwsem, down_write_trylock)				\
	RELEASE(rwsem, up_write)					\
	VOID(spinlock, _raw_spin_lock)					\
	VOID(spinlock, _raw_spin_lock_irqsave)				\
	VOID(spinlock, _raw_spin_lock_irq)				\
	VOID(spinlock, _raw_spin_lock_bh)				\
	NONZERO(spinlock, _raw_spin_trylock)				\
	NONZERO(spinlock, _raw_spin_trylock_bh)				\
	RELEASE(spinlock, _raw_spin_unlock)				\
	RELEASE(spinlock, _raw_spin_unlock_irqrestore)			\
	RELEASE(spinlock, _raw_spin_unlock_irq)				\
	RELEASE(spinlock, _raw_spin_unlock_bh)				\
	VOID(rwlock, _raw_read_lock)					\
	VOID(rwlock, _raw_read_lock_irqsave)				\
	VOID(rwlock, _raw_read_lock_irq)				\
	VOID(rwlock, _raw_read_lock_bh)					\
	NONZERO(rwlock, _raw_read_trylock)				\
	RELEASE(rwlock, _raw_read_unlock)				\
	RELEASE(rwlock, _raw_read_unlock_irqrestore)			\
	RELEASE(rwlock, _raw_read_unlock_irq)				\
	RELEASE(rwlock, _raw_read_unlock_bh)				\
	VOID(rwlock, _raw_write_lock)					\
	VOID(rwlock, _raw_write_lock_irqsave)				\
	VOID(rwlock, _raw_write_lock_irq)				\
	VOID(rwlock, _raw_write_lock_bh)				\
	NONZERO(rwlock, _raw_write_trylock)				\
	RELEASE(rwlock, _raw_write_unlock)				\
	RELEASE(rwlock, _raw_write_unlock_irqrestore)			\
	RELEASE(rwlock, _raw_write_unlock_irq)				\
	RELEASE(rwlock, _raw_write_unlock_bh)

#endif /* PEERS_FUNCS_H */
