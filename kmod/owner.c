// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a lock itself says about who holds it. Locks may be freed at any time
 * by the time a sample looks at them, so they are read with nofault.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "lockheld.h"

/**
 * struct owner_word - where a lock names the task that holds it for writing
 * @offset: in the lock
 * @mask: bits that are not part of the task's address; 0 if there is no word
 * @not: bits of those that say that the task does not have the lock
 */
struct owner_word {
	u16 offset;
	u16 mask;
	u16 not;
};

static const struct owner_word owner_words[LOCKHELD_FAMILY_MAX + 1] = {
	[LOCKHELD_FAMILY_MUTEX] = LH_MUTEX_OWNER,
	[LOCKHELD_FAMILY_RWSEM] = LH_RWSEM_OWNER,
	[LOCKHELD_FAMILY_SPINLOCK] = LH_SPINLOCK_OWNER,
	[LOCKHELD_FAMILY_RWLOCK] = LH_RWLOCK_OWNER,
	[LOCKHELD_FAMILY_RT_MUTEX] = LH_RT_MUTEX_OWNER,
};

static bool read_word(unsigned long addr, unsigned long *word)
{
	return !copy_from_kernel_nofault(word, (void *)addr, sizeof(*word));
}

bool lh_owner_named(u8 family, u8 mode)
{
	return mode == LOCKHELD_MODE_WRITE && owner_words[family].mask;
}

static enum lh_word named_owner(u8 family, unsigned long lock)
{
	const struct owner_word *word = &owner_words[family];
	unsigned long owner;

	if (!read_word(lock + word->offset, &owner) || (owner & word->not))
		return LH_WORD_NOT;
	owner &= ~(unsigned long)word->mask;
	return owner == (unsigned long)current ? LH_WORD_MINE : LH_WORD_NOT;
}

/* Of the two families that have readers and a word for both. */
static enum lh_rw rw_state(u8 family, unsigned long lock)
{
	return family == LOCKHELD_FAMILY_RWSEM ? lh_rwsem_state(lock) :
						 lh_rwlock_state(lock);
}

static enum lh_word rw_word(u8 family, u8 mode, unsigned long lock)
{
	enum lh_rw state = rw_state(family, lock);

	if (mode == LOCKHELD_MODE_READ)
		return state == LH_RW_READERS ? LH_WORD_SILENT : LH_WORD_NOT;
	/* On its way in, a writer may own the lock while readers leave. */
	if (state != LH_RW_WRITER)
		return LH_WORD_NOT;
	return lh_owner_named(family, mode) ? named_owner(family, lock) :
					      LH_WORD_SILENT;
}

static enum lh_word spinning_word(unsigned long lock)
{
	arch_spinlock_t word;

	if (copy_from_kernel_nofault(&word, (void *)lock, sizeof(word)))
		return LH_WORD_NOT;
	return arch_spin_value_unlocked(word) ? LH_WORD_NOT : LH_WORD_SILENT;
}

static enum lh_word percpu_rwsem_word(unsigned long lock)
{
	atomic_t block;

	if (copy_from_kernel_nofault(&block, (void *)lock +
				     offsetof(struct percpu_rw_semaphore, block),
				     sizeof(block)))
		return LH_WORD_NOT;
	return atomic_read(&block) ? LH_WORD_SILENT : LH_WORD_NOT;
}

enum lh_word lh_owner(u8 family, u8 mode, unsigned long lock)
{
	switch (family) {
	case LOCKHELD_FAMILY_RWSEM:
	case LOCKHELD_FAMILY_RWLOCK:
		return rw_word(family, mode, lock);
	case LH_FAMILY_SPINS:
		return spinning_word(lock);
	case LOCKHELD_FAMILY_PERCPU_RWSEM:
		return percpu_rwsem_word(lock);
	default:
		return lh_owner_named(family, mode) ?
		       named_owner(family, lock) : LH_WORD_SILENT;
	}
}

/* Whoever is named by the lock is in it: no need to know more. */
bool lh_lock_busy(u8 family, u8 mode, u32 seen)
{
	if (family == LH_FAMILY_SPINS)
		return seen;
	if (lh_owner_named(family, mode))
		return false;
	if (family == LOCKHELD_FAMILY_RWLOCK)
		return lh_rwlock_busy(seen, mode);
	if (family == LOCKHELD_FAMILY_RWSEM)
		return lh_rwsem_busy(seen);
	return false;
}

/* ---- which kind of lock ---- */

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

static bool owner_plausible(u8 family, unsigned long addr)
{
	const struct owner_word *word = &owner_words[family];
	unsigned long owner;

	if (!word->mask)
		return true;
	return read_word(addr + word->offset, &owner) &&
	       (!(owner & ~(unsigned long)word->mask) || (long)owner < 0);
}

/**
 * struct shape - what a kind of lock looks like
 * @family: the kind
 * @size: bytes
 * @lists: offsets of list heads, 0 where there is none
 */
struct shape {
	u8 family;
	u16 size;
	u16 lists[2];
};

/* One whose lists contain another's stands first. */
static const struct shape shapes[] = {
	{ LOCKHELD_FAMILY_PERCPU_RWSEM, sizeof(struct percpu_rw_semaphore),
	  { offsetof(struct percpu_rw_semaphore, rss.gp_wait.head),
	    offsetof(struct percpu_rw_semaphore, waiters.head) } },
	{ LOCKHELD_FAMILY_MUTEX, sizeof(struct mutex), { LH_MUTEX_LIST } },
	{ LOCKHELD_FAMILY_RWSEM, sizeof(struct rw_semaphore),
	  { LH_RWSEM_LIST } },
	{ LOCKHELD_FAMILY_SEMAPHORE, sizeof(struct semaphore),
	  { LH_SEMAPHORE_LIST } },
	{ LOCKHELD_FAMILY_RT_MUTEX, sizeof(struct rt_mutex) },
	{ LOCKHELD_FAMILY_SPINLOCK, sizeof(spinlock_t) },
	{ LOCKHELD_FAMILY_RWLOCK, sizeof(rwlock_t) },
	{ LH_FAMILY_SPINS, sizeof(raw_spinlock_t) },
};

static bool fits(const struct shape *shape, unsigned long addr, u64 extent,
		 u32 word)
{
	unsigned int i;

	bool is_rw = shape->family == LOCKHELD_FAMILY_RWSEM ||
		     shape->family == LOCKHELD_FAMILY_RWLOCK;

	/* Inside an object, what looks like the largest may be two. */
	if (!extent && shape->family == LOCKHELD_FAMILY_PERCPU_RWSEM)
		return false;
	if ((extent && extent < shape->size) ||
	    !owner_plausible(shape->family, addr) ||
	    !(is_rw ? lh_may_be_rwbase(word) : lh_may_be_other(word)))
		return false;
	for (i = 0; i < ARRAY_SIZE(shape->lists); i++) {
		if (shape->lists[i] &&
		    !list_at_patiently(addr + shape->lists[i]))
			return false;
	}
	return true;
}

int lh_lock_families(unsigned long addr, u64 extent)
{
	unsigned int i;
	int mask = 0;
	u32 word;

	/* The smallest lock there is must be readable, and be aligned. */
	if (!IS_ALIGNED(addr, sizeof(word)) ||
	    copy_from_kernel_nofault(&word, (void *)addr, sizeof(word)))
		return -EFAULT;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (!fits(&shapes[i], addr, extent, word))
			continue;
		/* A list in the right place is no accident. */
		if (shapes[i].lists[0])
			return BIT(shapes[i].family);
		mask |= BIT(shapes[i].family);
	}
	return mask;
}
