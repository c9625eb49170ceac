// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock_held() and depth of a sample: which entries of the stacks are really
 * held by the code that was sampled, and which locks say so themselves.
 */
#include <linux/cred.h>
#include <linux/kernel.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <asm/irq_regs.h>

#include "lockheld.h"

static bool in_extent(unsigned long ip, const struct lh_extent *extent)
{
	return ip >= extent->start && ip < extent->end;
}

/* Is @ip in the code that takes the lock of @entry? */
static bool in_lock_function(const struct lh_entry *entry, unsigned long ip)
{
	unsigned int i;

	if (in_extent(ip, &lh_extents[entry->func]))
		return true;
	for (i = 0; i < lh_nr_funcs; i++) {
		if (lh_funcs[i].verb == LH_SLOW &&
		    lh_funcs[i].family == entry->family &&
		    in_extent(ip, &lh_extents[i]))
			return true;
	}
	return false;
}

/*
 * Where the code that took the lock is now: at the sample, or where an
 * interrupt has stopped it. 0 if it cannot be known.
 */
static unsigned long ip_of(struct lh_sample *sample,
			   const struct lh_entry *entry)
{
	struct pt_regs *regs = NULL;

	if (entry->context == sample->context)
		regs = sample->regs;
	else if (sample->context == LOCKHELD_CTX_HARDIRQ &&
		 !(preempt_count() & SOFTIRQ_OFFSET))
		regs = get_irq_regs();
	return regs ? instruction_pointer(regs) : 0;
}

/* Does the sampled code hold the lock of entry @i, or is it about to? */
bool lh_entry_holds(struct lh_sample *sample, struct lh_stack *stack,
		    unsigned int i)
{
	struct lh_entry *entry = &stack->entry[i];
	unsigned long ip;

	if (!lh_entry_used(entry) || entry->state == LH_WAITING ||
	    entry->context > sample->context ||
	    entry->gen != READ_ONCE(lh_group_gen[lh_group(entry->family,
							  entry->mode)]))
		return false;

	switch (lh_owner(entry->family, entry->mode, entry->lock)) {
	case LH_WORD_MINE:
		return true;
	case LH_WORD_NOT:
		return false;
	case LH_WORD_SILENT:
		break;
	}

	/* Only the lock taken last can still be on its way. */
	if (entry->state == LH_OWNED || i + 1 != READ_ONCE(stack->n))
		return true;
	ip = ip_of(sample, entry);
	if (ip)
		return !in_lock_function(entry, ip);
	if (entry->state == LH_BUSY) {
		sample->uncertain = true;
		return false;
	}
	return true;
}

static unsigned int count(struct lh_sample *sample, struct lh_stack *stack)
{
	unsigned int i, n = stack ? READ_ONCE(stack->n) : 0, held = 0;

	for (i = 0; i < n; i++)
		held += lh_entry_holds(sample, stack, i);
	return held;
}

unsigned int lh_depth(struct lh_sample *sample)
{
	return count(sample, lh_cpu_stack()) + count(sample, lh_task_stack());
}

/* Marks the entries that a term speaks of; @lock 0 is any. */
static bool match(struct lh_sample *sample, struct lh_stack *stack,
		  unsigned long *matched, u8 family, u8 mode,
		  unsigned long lock)
{
	unsigned int i, n = stack ? READ_ONCE(stack->n) : 0;
	bool found = false;

	for (i = 0; i < n; i++) {
		struct lh_entry *entry = &stack->entry[i];

		if (lock && READ_ONCE(entry->lock) != lock)
			continue;
		if (family && entry->family != family)
			continue;
		if (mode && entry->mode != mode)
			continue;
		if (!lh_entry_holds(sample, stack, i))
			continue;
		__set_bit(i, matched);
		if (entry->time)
			sample->held_ns = max(sample->held_ns,
					      local_clock() - entry->time);
		found = true;
	}
	return found;
}

static bool match_stacks(struct lh_sample *sample, u8 family, u8 mode,
			 unsigned long lock)
{
	bool cpu = match(sample, lh_cpu_stack(), sample->cpu_matched, family,
			 mode, lock);
	bool task = match(sample, lh_task_stack(), sample->task_matched,
			  family, mode, lock);

	return cpu || task;
}

static bool match_owner(struct lh_sample *sample, u8 family,
			unsigned long lock)
{
	unsigned int i;

	if (lh_owner(family, LOCKHELD_MODE_WRITE, lock) != LH_WORD_MINE)
		return false;

	for (i = 0; i < sample->nr_owned; i++) {
		if (sample->owned[i].lock == lock)
			return true;
	}
	if (i < ARRAY_SIZE(sample->owned)) {
		sample->owned[i].lock = lock;
		sample->owned[i].family = family;
		sample->nr_owned++;
	}
	return true;
}

/* A lock that is known: its owner word and, for readers, its hooks. */
static bool match_lock(struct lh_sample *sample, u8 family, u8 mode,
		       unsigned long lock)
{
	switch (family) {
	case LOCKHELD_FAMILY_MUTEX:
		return match_owner(sample, family, lock);
	case LOCKHELD_FAMILY_RWSEM:
		if (mode != LOCKHELD_MODE_READ &&
		    match_owner(sample, family, lock))
			return true;
		if (mode == LOCKHELD_MODE_WRITE)
			return false;
		mode = LOCKHELD_MODE_READ;
		break;
	default:
		break;
	}
	return match_stacks(sample, family, mode, lock);
}

bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	struct sighand_struct *sighand;
	struct mm_struct *mm;

	switch (insn->arg) {
	case LOCKHELD_SPEC_TYPE:
		return match_stacks(sample, insn->family, insn->mode, 0);
	case LOCKHELD_SPEC_ADDR:
		return match_lock(sample, insn->family, insn->mode, insn->imm);
	case LOCKHELD_SPEC_MMAP_LOCK:
		mm = READ_ONCE(current->mm);
		return mm && match_lock(sample, LOCKHELD_FAMILY_RWSEM,
					insn->mode,
					(unsigned long)&mm->mmap_lock);
	case LOCKHELD_SPEC_SIGLOCK:
		/* Only the address is used. */
		sighand = READ_ONCE(*(struct sighand_struct **)
				    &current->sighand);
		return sighand && match_lock(sample, LOCKHELD_FAMILY_SPINLOCK,
					     insn->mode,
					     (unsigned long)&sighand->siglock);
	}
	return false;
}

u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	sample->held_ns = 0;
	lh_lock_held(sample, insn);
	return sample->held_ns;
}

/* Family of the lock that a term speaks of; NONE is "spinlock or rwlock". */
u8 lh_lock_term_family(const struct lockheld_insn *insn)
{
	switch (insn->arg) {
	case LOCKHELD_SPEC_MMAP_LOCK:
		return LOCKHELD_FAMILY_RWSEM;
	case LOCKHELD_SPEC_SIGLOCK:
		return LOCKHELD_FAMILY_SPINLOCK;
	default:
		return insn->family;
	}
}

enum lockheld_mechanism lh_lock_mechanism(const struct lockheld_insn *insn)
{
	u8 family = lh_lock_term_family(insn);

	if (insn->arg == LOCKHELD_SPEC_TYPE)
		return LOCKHELD_MECH_HOOK;
	if (family == LOCKHELD_FAMILY_MUTEX)
		return LOCKHELD_MECH_OWNER;
	if (family == LOCKHELD_FAMILY_RWSEM &&
	    insn->mode == LOCKHELD_MODE_WRITE)
		return LOCKHELD_MECH_OWNER;
	return LOCKHELD_MECH_HOOK;
}

int lh_lock_resolve(struct lockheld_insn *insn, u32 *groups, const char **msg)
{
	u8 family, mode = insn->mode;
	u32 mask;
	int ret;

	if (insn->arg == LOCKHELD_SPEC_ADDR) {
		ret = lh_lock_family(insn->imm, insn->imm2);
		if (ret < 0) {
			*msg = "there is no lock at this address";
			return ret;
		}
		insn->family = ret;
	}

	family = lh_lock_term_family(insn);
	if (insn->arg > LOCKHELD_SPEC_SIGLOCK ||
	    family > LOCKHELD_FAMILY_RWLOCK) {
		*msg = "this lock is not known";
		return -EOPNOTSUPP;
	}
	if (mode == LOCKHELD_MODE_READ && (family == LOCKHELD_FAMILY_MUTEX ||
					   family == LOCKHELD_FAMILY_SPINLOCK)) {
		*msg = "this lock has no readers";
		return -EOPNOTSUPP;
	}
	if (lh_lock_mechanism(insn) == LOCKHELD_MECH_OWNER)
		return 0;

	if (family == LOCKHELD_FAMILY_NONE) {
		mask = lh_groups_of(LOCKHELD_FAMILY_RWLOCK, mode);
		if (mode != LOCKHELD_MODE_READ)
			mask |= lh_groups_of(LOCKHELD_FAMILY_SPINLOCK, mode);
	} else if (family == LOCKHELD_FAMILY_RWSEM &&
		   insn->arg != LOCKHELD_SPEC_TYPE) {
		/* Writers are known by the owner word. */
		mask = lh_groups_of(family, LOCKHELD_MODE_READ);
	} else {
		mask = lh_groups_of(family, mode);
	}

	*msg = lh_hooks_reason(mask);
	if (*msg)
		return -EOPNOTSUPP;
	*groups |= mask;
	return 0;
}
