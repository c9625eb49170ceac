// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a lock itself says about who holds it. Locks may be freed at any time
 * by the time a sample looks at them, so they are read with nofault.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "lockheld.h"

static bool read_word(unsigned long addr, unsigned long *word)
{
	return !copy_from_kernel_nofault(word, (void *)addr, sizeof(*word));
}

static enum lh_word mutex_owner(unsigned long lock)
{
	unsigned long owner;

	if (!read_word(lock + offsetof(struct mutex, owner), &owner))
		return LH_WORD_NOT;
	if (owner & LH_MUTEX_PICKUP)
		return LH_WORD_NOT;
	owner &= ~LH_MUTEX_OWNER_MASK;
	return owner == (unsigned long)current ? LH_WORD_MINE : LH_WORD_NOT;
}

static enum lh_word rwsem_writer(unsigned long lock)
{
	unsigned long owner;

	if (!read_word(lock + offsetof(struct rw_semaphore, owner), &owner))
		return LH_WORD_NOT;
	if (owner & LH_RWSEM_READER_OWNED)
		return LH_WORD_NOT;
	owner &= ~LH_RWSEM_OWNER_MASK;
	return owner == (unsigned long)current ? LH_WORD_MINE : LH_WORD_NOT;
}

static enum lh_word rwsem_reader(unsigned long lock)
{
	long count;

	if (!read_word(lock + offsetof(struct rw_semaphore, count),
		       (unsigned long *)&count))
		return LH_WORD_NOT;
	if ((count & LH_RWSEM_WRITER_LOCKED) || !(count & LH_RWSEM_READERS))
		return LH_WORD_NOT;
	return LH_WORD_SILENT;
}

static enum lh_word spinlock_word(unsigned long lock)
{
	arch_spinlock_t word;

	if (copy_from_kernel_nofault(&word, (void *)lock, sizeof(word)))
		return LH_WORD_NOT;
	return arch_spin_value_unlocked(word) ? LH_WORD_NOT : LH_WORD_SILENT;
}

static enum lh_word rwlock_word(u8 mode, unsigned long lock)
{
	arch_rwlock_t word;
	u32 count;

	if (copy_from_kernel_nofault(&word, (void *)lock, sizeof(word)))
		return LH_WORD_NOT;
	count = atomic_read(&word.cnts);
	if ((count & _QW_LOCKED) == _QW_LOCKED)
		return mode == LOCKHELD_MODE_WRITE ? LH_WORD_SILENT :
						     LH_WORD_NOT;
	return mode == LOCKHELD_MODE_READ && count >> _QR_SHIFT ?
	       LH_WORD_SILENT : LH_WORD_NOT;
}

enum lh_word lh_owner(u8 family, u8 mode, unsigned long lock)
{
	switch (family) {
	case LOCKHELD_FAMILY_MUTEX:
		return mutex_owner(lock);
	case LOCKHELD_FAMILY_RWSEM:
		return mode == LOCKHELD_MODE_WRITE ? rwsem_writer(lock) :
						     rwsem_reader(lock);
	case LOCKHELD_FAMILY_SPINLOCK:
		return spinlock_word(lock);
	case LOCKHELD_FAMILY_RWLOCK:
		return rwlock_word(mode, lock);
	default:
		return LH_WORD_NOT;
	}
}

/* Whoever owns a mutex or writes under an rwsem is in the lock: no need. */
bool lh_lock_busy(u8 family, u8 mode, unsigned long lock)
{
	if (family == LOCKHELD_FAMILY_SPINLOCK)
		return arch_spin_is_locked((arch_spinlock_t *)lock);
	if (family == LOCKHELD_FAMILY_RWLOCK)
		return atomic_read(&((arch_rwlock_t *)lock)->cnts) &
		       (mode == LOCKHELD_MODE_WRITE ? ~0 : _QW_WMASK);
	if (family == LOCKHELD_FAMILY_RWSEM && mode == LOCKHELD_MODE_READ)
		return atomic_long_read(&((struct rw_semaphore *)lock)->count) &
		       ~LH_RWSEM_READERS;
	return false;
}

/* Is there a list head at @addr that belongs to a list? */
static bool list_at(unsigned long addr)
{
	struct list_head head, next, prev;

	return !copy_from_kernel_nofault(&head, (void *)addr, sizeof(head)) &&
	       !copy_from_kernel_nofault(&next, head.next, sizeof(next)) &&
	       !copy_from_kernel_nofault(&prev, head.prev, sizeof(prev)) &&
	       next.prev == (struct list_head *)addr &&
	       prev.next == (struct list_head *)addr;
}

/* A list that changes while it is read looks broken for a moment. */
static bool list_at_patiently(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		if (list_at(addr))
			return true;
		cpu_relax();
	}
	return false;
}

static bool owner_plausible(unsigned long owner, unsigned long mask)
{
	return !(owner & ~mask) || (long)owner < 0;
}

int lh_lock_family(unsigned long addr, u64 extent)
{
	unsigned long owner;
	u32 word;

	/* The smallest lock there is must be readable, and be aligned. */
	if (!IS_ALIGNED(addr, sizeof(word)) ||
	    copy_from_kernel_nofault(&word, (void *)addr, sizeof(word)))
		return -EFAULT;

	if ((!extent || extent >= sizeof(struct mutex)) &&
	    read_word(addr + offsetof(struct mutex, owner), &owner) &&
	    owner_plausible(owner, LH_MUTEX_OWNER_MASK) &&
	    list_at_patiently(addr + offsetof(struct mutex, wait_list)))
		return LOCKHELD_FAMILY_MUTEX;

	if ((!extent || extent >= sizeof(struct rw_semaphore)) &&
	    read_word(addr + offsetof(struct rw_semaphore, owner), &owner) &&
	    owner_plausible(owner, LH_RWSEM_OWNER_MASK) &&
	    list_at_patiently(addr + offsetof(struct rw_semaphore, wait_list)))
		return LOCKHELD_FAMILY_RWSEM;

	return LOCKHELD_FAMILY_NONE;
}
