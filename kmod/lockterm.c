// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock_held() and depth of a sample: which entries of the stacks are really
 * held by the code that was sampled, and which locks say so themselves.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm_types.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <asm/irq_regs.h>

#include "lockheld.h"

/*
 * Where the code that took the lock is now: at the sample, or where an
 * interrupt has stopped it. 0 if it cannot be known.
 */
static unsigned long ip_of(struct lh_sample *sample,
			   const struct lh_entry *entry)
{
	struct pt_regs *regs = NULL;

	if (lh_context_of(entry->count) == sample->context)
		regs = sample->regs;
	else if (sample->context == LOCKHELD_CTX_HARDIRQ &&
		 !(lh_preempt_count() & SOFTIRQ_OFFSET))
		regs = get_irq_regs();
	return regs ? instruction_pointer(regs) : 0;
}

/* Does the sampled code hold the lock of entry @i, or is it about to? */
bool lh_entry_holds(struct lh_sample *sample, struct lh_stack *stack,
		    unsigned int i)
{
	struct lh_entry *entry = lh_stack_entry(stack, i);
	union lh_site site = { .word = READ_ONCE(entry->site.word) };
	unsigned int group = lh_group(site.family, site.mode);
	unsigned long ip;

	if (!lh_entry_used(entry) || site.state == LH_WAITING ||
	    lh_context_of(entry->count) > sample->context ||
	    site.gen != READ_ONCE(lh_group_gen[group]))
		return false;

	switch (lh_owner(site.family, site.mode, entry->lock)) {
	case LH_WORD_MINE:
		return true;
	case LH_WORD_NOT:
		return false;
	case LH_WORD_SILENT:
		break;
	}

	/* Only the lock taken last can still be on its way. */
	if (site.state == LH_OWNED || i + 1 != lh_stack_nr(stack))
		return true;
	ip = ip_of(sample, entry);
	if (ip)
		return !lh_in_lock_function(group, ip);
	if (lh_lock_busy(site.family, site.mode, entry->seen)) {
		sample->uncertain = true;
		return false;
	}
	return true;
}

bool lh_is_lock(u8 family)
{
	return family != LOCKHELD_FAMILY_SRCU &&
	       family != LOCKHELD_FAMILY_RCU &&
	       family != LOCKHELD_FAMILY_RCU_TRACE;
}

static unsigned int count(struct lh_sample *sample, struct lh_stack *stack)
{
	unsigned int i, n = stack ? lh_stack_nr(stack) : 0, held = 0;

	for (i = 0; i < n; i++)
		held += lh_is_lock(lh_stack_entry(stack, i)->site.family) &&
			lh_entry_holds(sample, stack, i);
	return held;
}

unsigned int lh_depth(struct lh_sample *sample)
{
	return count(sample, lh_cpu_stack()) + count(sample, lh_task_stack());
}

/*
 * A term in the module's copy of a program has in its pad which families it
 * may speak of, as a mask of BIT(family), and in the upper half the one family
 * whose owner word is to be asked.
 */
#define OWNER_SHIFT	16
static_assert(LOCKHELD_FAMILY_MAX < OWNER_SHIFT);

static u32 families_of(const struct lockheld_insn *insn)
{
	return insn->pad & (BIT(OWNER_SHIFT) - 1);
}

/*
 * Can the term be answered by an owner word? Not if the lock may be of several
 * families: where one has its owner another may have anything.
 */
static bool is_by_owner(const struct lockheld_insn *insn, u32 families)
{
	if (insn->op == LOCKHELD_OP_HELD_NS || !is_power_of_2(families))
		return false;	/* nor does a word say since when */
	switch (insn->arg) {
	case LOCKHELD_SPEC_ADDR:
	case LOCKHELD_SPEC_MMAP_LOCK:
	case LOCKHELD_SPEC_SIGLOCK:
		return lh_owner_named(ilog2(families), LOCKHELD_MODE_WRITE);
	default:
		return false;
	}
}

/* ---- which locks a term speaks of ---- */

/* @percpu: of the lock as a per-CPU variable. */
static bool is_rq_lock(unsigned long lock, unsigned long percpu)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (lock == percpu + per_cpu_offset(cpu))
			return true;
	}
	return false;
}

static bool is_zone_lock(unsigned long lock)
{
	int node;

	for_each_online_node(node) {
		unsigned long first =
			(unsigned long)&NODE_DATA(node)->node_zones[0].lock;
		unsigned long offset = lock - first;

		if (offset < MAX_NR_ZONES * sizeof(struct zone) &&
		    offset % sizeof(struct zone) == 0)
			return true;
	}
	return false;
}

static bool is_in_slab(unsigned long lock, const u8 *name)
{
	char cache[LOCKHELD_NAME_MAX + 1];

	return !lh_slab_name(lock, cache, sizeof(cache)) &&
	       !strncmp(cache, (const char *)name, LOCKHELD_NAME_MAX);
}

/* The lock, for a term that speaks of one; 0 if there is none now. */
static unsigned long lock_of(const struct lockheld_insn *insn)
{
	struct sighand_struct *sighand;
	struct mm_struct *mm;

	switch (insn->arg) {
	case LOCKHELD_SPEC_ADDR:
		return insn->imm;
	case LOCKHELD_SPEC_MMAP_LOCK:
		mm = READ_ONCE(current->mm);
		return mm ? (unsigned long)&mm->mmap_lock : 0;
	case LOCKHELD_SPEC_SIGLOCK:
		/* Only the address is used. */
		sighand = READ_ONCE(*(struct sighand_struct **)
				    &current->sighand);
		return sighand ? (unsigned long)&sighand->siglock : 0;
	default:
		return 0;
	}
}

static bool is_spoken_of(const struct lockheld_insn *insn,
			 const struct lh_entry *entry)
{
	unsigned long lock = READ_ONCE(entry->lock);

	if (!(families_of(insn) & BIT(entry->site.family)) ||
	    (insn->mode && entry->site.mode != insn->mode))
		return false;
	switch (insn->arg) {
	case LOCKHELD_SPEC_TYPE:
		return true;
	case LOCKHELD_SPEC_RQ_LOCK:
		return is_rq_lock(lock, insn->imm);
	case LOCKHELD_SPEC_ZONE_LOCK:
		return is_zone_lock(lock);
	case LOCKHELD_SPEC_SLAB:
		return lock > LH_GONE && is_in_slab(lock, insn->name);
	default:
		return lock == lock_of(insn);
	}
}

/* ---- is one of them held? ---- */

/* Marks the entries that a term speaks of. */
static bool match(struct lh_sample *sample, struct lh_stack *stack,
		  unsigned long *matched, const struct lockheld_insn *insn)
{
	unsigned int i, n = stack ? lh_stack_nr(stack) : 0;
	bool found = false;

	for (i = 0; i < n; i++) {
		struct lh_entry *entry = lh_stack_entry(stack, i);

		if (!is_spoken_of(insn, entry) ||
		    !lh_entry_holds(sample, stack, i))
			continue;
		__set_bit(i, matched);
		if (entry->site.timed)
			sample->held_ns = max(sample->held_ns,
					      local_clock() - entry->time);
		found = true;
	}
	return found;
}

/* A lock that was not seen by a hook. */
static void add_owned(struct lh_sample *sample, u8 family, u8 mode,
		      unsigned long lock)
{
	unsigned int i;

	for (i = 0; i < sample->nr_owned; i++) {
		if (sample->owned[i].lock == lock &&
		    sample->owned[i].family == family)
			return;
	}
	if (i == ARRAY_SIZE(sample->owned))
		return;
	sample->owned[i].lock = lock;
	sample->owned[i].family = family;
	sample->owned[i].mode = mode;
	sample->nr_owned++;
}

static bool match_owner(struct lh_sample *sample,
			const struct lockheld_insn *insn)
{
	u8 family = insn->pad >> OWNER_SHIFT;
	unsigned long lock;

	if (!family)
		return false;
	lock = lock_of(insn);
	if (!lock || lh_owner(family, LOCKHELD_MODE_WRITE, lock) !=
		     LH_WORD_MINE)
		return false;
	add_owned(sample, family, LOCKHELD_MODE_WRITE, lock);
	return true;
}

/* A read section of RCU that the task counts, but for those of perf itself. */
static bool match_counted(struct lh_sample *sample,
			  const struct lockheld_insn *insn)
{
	bool found = false;

	if (insn->arg != LOCKHELD_SPEC_TYPE ||
	    insn->mode == LOCKHELD_MODE_WRITE)
		return false;
	if (insn->family == LOCKHELD_FAMILY_RCU)
		found = lh_rcu_depth() > lh_perf_rcu_depth(sample->event);
	else if (insn->family == LOCKHELD_FAMILY_RCU_TRACE)
		found = lh_rcu_trace_depth() > 0;
	if (found)
		add_owned(sample, insn->family, LOCKHELD_MODE_READ, 0);
	return found;
}

bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	bool counted = match_counted(sample, insn);
	bool owned = match_owner(sample, insn);
	bool cpu = match(sample, lh_cpu_stack(), sample->cpu_matched, insn);
	bool task = match(sample, lh_task_stack(), sample->task_matched, insn);

	return counted || owned || cpu || task;
}

u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	sample->held_ns = 0;
	lh_lock_held(sample, insn);
	return sample->held_ns;
}

/* ---- how a term is answered ---- */

u8 lh_lock_term_family(const struct lockheld_insn *insn)
{
	u32 families = families_of(insn);

	return is_power_of_2(families) ? ilog2(families) :
					 LOCKHELD_FAMILY_NONE;
}

/* Families that a term may speak of, or an error. */
static int find_families(const struct lockheld_insn *insn)
{
	int families;

	switch (insn->arg) {
	case LOCKHELD_SPEC_ADDR:
		families = lh_lock_families(insn->imm, insn->imm2);
		return families < 0 || !insn->family ? families :
						       BIT(insn->family);
	case LOCKHELD_SPEC_MMAP_LOCK:
		return BIT(LOCKHELD_FAMILY_RWSEM);
	case LOCKHELD_SPEC_SIGLOCK:
	case LOCKHELD_SPEC_ZONE_LOCK:
		return BIT(LOCKHELD_FAMILY_SPINLOCK);
	case LOCKHELD_SPEC_RQ_LOCK:
		return BIT(LH_FAMILY_SPINS);
	case LOCKHELD_SPEC_SLAB:
		return insn->family ? BIT(insn->family) :
		       BIT(LOCKHELD_FAMILY_MUTEX) |
		       BIT(LOCKHELD_FAMILY_RWSEM) |
		       BIT(LOCKHELD_FAMILY_SPINLOCK) |
		       BIT(LOCKHELD_FAMILY_RWLOCK) |
		       BIT(LOCKHELD_FAMILY_RT_MUTEX) |
		       BIT(LOCKHELD_FAMILY_PERCPU_RWSEM) |
		       BIT(LOCKHELD_FAMILY_SEMAPHORE) |
		       BIT(LOCKHELD_FAMILY_SRCU);
	default:
		return BIT(insn->family);
	}
}

/* Groups that must be hooked for a term that may be of @families. */
static u32 groups_of(const struct lockheld_insn *insn, u32 families)
{
	u32 groups = 0;
	u8 family;

	for (family = 1; family <= LOCKHELD_FAMILY_MAX; family++) {
		if (families & BIT(family))
			groups |= lh_groups_of(family, insn->mode);
	}
	if (is_by_owner(insn, families))
		groups &= ~lh_groups_of(ilog2(families), LOCKHELD_MODE_WRITE);
	for (family = 1; family <= LOCKHELD_FAMILY_MAX; family++) {
		if (lh_counted(family, LOCKHELD_MODE_READ) &&
		    !lh_untracked(family, LOCKHELD_MODE_READ))
			groups &= ~lh_groups_of(family, LOCKHELD_MODE_READ);
	}
	/* Which no kernel has: not a reason to do without all other locks. */
	if (insn->arg == LOCKHELD_SPEC_SLAB && !insn->family)
		groups &= ~lh_groups_of(LOCKHELD_FAMILY_PERCPU_RWSEM,
					LOCKHELD_MODE_READ);
	return groups;
}

enum lockheld_mechanism lh_lock_mechanism(const struct lockheld_insn *insn)
{
	if (groups_of(insn, families_of(insn)))
		return LOCKHELD_MECH_HOOK;
	return insn->arg == LOCKHELD_SPEC_TYPE ? LOCKHELD_MECH_TASK :
						 LOCKHELD_MECH_OWNER;
}

int lh_lock_resolve(struct lockheld_insn *insn, struct lh_wants *wants,
		    const char **msg)
{
	int families = find_families(insn), i;

	if (families < 0) {
		*msg = "there is no lock at this address";
		return families;
	}
	for (i = 1; i <= LOCKHELD_FAMILY_MAX; i++) {
		if (insn->mode == LOCKHELD_MODE_READ && !lh_has_readers(i))
			families &= ~BIT(i);
	}
	if (!families) {
		*msg = insn->mode == LOCKHELD_MODE_READ ?
		       "this lock has no readers" :
		       "this does not look like a lock of any kind";
		return -EINVAL;
	}
	if (insn->op == LOCKHELD_OP_HELD_NS &&
	    (families & (BIT(LOCKHELD_FAMILY_RCU) |
			 BIT(LOCKHELD_FAMILY_RCU_TRACE))) &&
	    insn->mode != LOCKHELD_MODE_WRITE) {
		*msg = "a task's count does not say since when it is in a read section";
		return -EOPNOTSUPP;
	}

	/* What may be of several families must be tracked whichever it is. */
	*msg = lh_hooks_reason(groups_of(insn, families));
	if (*msg)
		return -EOPNOTSUPP;
	insn->pad = families;
	if (insn->mode != LOCKHELD_MODE_READ && is_by_owner(insn, families))
		insn->pad |= ilog2(families) << OWNER_SHIFT;
	/* The other locks that are one are not the same for all tasks. */
	lh_wants_add(wants, groups_of(insn, families),
		     insn->arg == LOCKHELD_SPEC_ADDR ? insn->imm : 0);
	return 0;
}
