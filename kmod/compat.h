/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels, each with a name of ours. lh-config.h is
 * written by kmod/configure, which tries what the target's headers offer.
 */
#ifndef LH_COMPAT_H
#define LH_COMPAT_H

#include <linux/atomic.h>
#include <linux/file.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <net/genetlink.h>

#include "lh-config.h"

/* ---- processor ---- */

/* Return address of a function whose first instruction is about to run. */
static inline unsigned long lh_regs_caller(struct pt_regs *regs)
{
#if defined(CONFIG_X86)
	return *(unsigned long *)kernel_stack_pointer(regs);
#elif defined(CONFIG_ARM64)
	return procedure_link_pointer(regs);
#else
#error "lockheld knows x86 and arm64 only"
#endif
}

/* ---- kretprobes ---- */

static inline struct kretprobe *lh_kretprobe(struct kretprobe_instance *ri)
{
#ifdef LH_HAVE_GET_KRETPROBE
	return get_kretprobe(ri);
#else
	return ri->rp;
#endif
}

static inline unsigned long lh_kretprobe_caller(struct kretprobe_instance *ri)
{
#ifdef LH_HAVE_GET_KRETPROBE
	return get_kretprobe_retaddr(ri);
#else
	return (unsigned long)ri->ret_addr;
#endif
}

/* ---- waiting for locks ---- */

#ifdef LH_HAVE_CONTENTION_EVENTS
#include <trace/events/lock.h>
#else
#define LCB_F_SPIN	0
#define LCB_F_MUTEX	0
#endif

/* Is it for a lock that spins? A mutex spins before it sleeps. */
static inline bool lh_spins_for(unsigned int flags)
{
	return (flags & LCB_F_SPIN) && !(flags & LCB_F_MUTEX);
}

/* ---- tasks ---- */

/* Has run for the last time? True in its last sched_switch. */
static inline bool lh_task_dead(struct task_struct *task)
{
#ifdef LH_HAVE_TASK___STATE
	return READ_ONCE(task->__state) == TASK_DEAD;
#else
	return READ_ONCE(task->state) == TASK_DEAD;
#endif
}

/* ---- contexts ---- */

/* With the soft interrupt being served, which PREEMPT_RT counts in the task. */
static inline u32 lh_preempt_count(void)
{
#ifdef CONFIG_PREEMPT_RT
	return preempt_count() | (softirq_count() & SOFTIRQ_OFFSET);
#else
	return preempt_count();
#endif
}

/* ---- ftrace ---- */

#ifdef LH_HAVE_FTRACE_ARGS
#include <linux/ftrace.h>

/* The @nth argument of a function whose entry was hooked, from 0. */
static __always_inline unsigned long lh_ftrace_arg(struct ftrace_regs *fregs,
						   unsigned int n)
{
#ifdef LH_HAVE_FTRACE_REGS_GET_ARGUMENT
	return ftrace_regs_get_argument(fregs, n);
#else
	return regs_get_kernel_argument(&fregs->regs, n);
#endif
}
#endif

/* ---- locks ---- */

/*
 * What the functions of raw_spinlock_t take. Without PREEMPT_RT a spinlock_t is
 * one, and goes by the same functions.
 */
#ifdef CONFIG_PREEMPT_RT
#define LH_FAMILY_SPINS	LOCKHELD_FAMILY_RAW_SPINLOCK
#else
#define LH_FAMILY_SPINS	LOCKHELD_FAMILY_SPINLOCK
#endif

/*
 * Owner words, as struct owner_word in owner.c has them. The bits that are not
 * part of the task's address are private to kernel/locking.
 */
#define LH_NO_OWNER		{ }
#ifdef LH_HAVE_RT_MUTEX_BASE
#define LH_RT_MUTEX_OWNER	{ offsetof(struct rt_mutex, rtmutex.owner), 1 }
#else
#define LH_RT_MUTEX_OWNER	{ offsetof(struct rt_mutex, owner), 1 }
#endif
#ifdef CONFIG_PREEMPT_RT
#define LH_MUTEX_OWNER		{ offsetof(struct mutex, rtmutex.owner), 1 }
#define LH_RWSEM_OWNER		\
	{ offsetof(struct rw_semaphore, rwbase.rtmutex.owner), 1 }
#define LH_SPINLOCK_OWNER	{ offsetof(spinlock_t, lock.owner), 1 }
#define LH_RWLOCK_OWNER		{ offsetof(rwlock_t, rwbase.rtmutex.owner), 1 }
#else
/* 4: the task named may take the mutex, but has not. */
#define LH_MUTEX_OWNER		{ offsetof(struct mutex, owner), 7, 4 }
/* 1: a reader was the last to write the word. 5.10 has a third bit. */
#define LH_RWSEM_OWNER		{ offsetof(struct rw_semaphore, owner), 7, 1 }
#define LH_SPINLOCK_OWNER	LH_NO_OWNER
#define LH_RWLOCK_OWNER		LH_NO_OWNER
#endif

/* Where list heads are in a lock that has some; 0 if there is none. */
#if defined(LH_HAVE_MUTEX_WAIT_LIST) && !defined(CONFIG_PREEMPT_RT)
#define LH_MUTEX_LIST		offsetof(struct mutex, wait_list)
#else
#define LH_MUTEX_LIST		0
#endif
#if defined(LH_HAVE_RWSEM_WAIT_LIST) && !defined(CONFIG_PREEMPT_RT)
#define LH_RWSEM_LIST		offsetof(struct rw_semaphore, wait_list)
#else
#define LH_RWSEM_LIST		0
#endif
#ifdef LH_HAVE_SEMAPHORE_WAIT_LIST
#define LH_SEMAPHORE_LIST	offsetof(struct semaphore, wait_list)
#else
#define LH_SEMAPHORE_LIST	0
#endif

/* Who is in a lock that has readers, as far as it says so. */
enum lh_rw {
	LH_RW_FREE,
	LH_RW_READERS,
	LH_RW_WRITER,
};

#ifdef CONFIG_PREEMPT_RT

#define LH_RWBASE_READER_BIAS	(1U << 31)
#define LH_RWBASE_WRITER_BIAS	(1U << 30)

/* Both are a struct rwbase_rt, which begins with the number of readers. */
static inline enum lh_rw lh_rwbase_state(unsigned long lock)
{
	u32 readers;

	if (copy_from_kernel_nofault(&readers, (void *)lock, sizeof(readers)))
		return LH_RW_FREE;
	if (readers == LH_RWBASE_WRITER_BIAS)
		return LH_RW_WRITER;
	return readers & ~LH_RWBASE_READER_BIAS ? LH_RW_READERS : LH_RW_FREE;
}

#define lh_rwsem_state	lh_rwbase_state
#define lh_rwlock_state	lh_rwbase_state

/* Readers are let in at once as long as their bias is there. */
static inline bool lh_rwsem_busy(u32 seen)
{
	return !(seen & LH_RWBASE_READER_BIAS);
}

static inline bool lh_rwlock_busy(u32 seen, u8 mode)
{
	return lh_rwsem_busy(seen);
}

/* Can what begins with @word be a lock with readers? Or another one? */
static inline bool lh_may_be_rwbase(u32 word)
{
	return word;
}

static inline bool lh_may_be_other(u32 word)
{
	return !(word & (LH_RWBASE_READER_BIAS | LH_RWBASE_WRITER_BIAS));
}

#else /* !CONFIG_PREEMPT_RT */

#define LH_RWSEM_WRITER		1L		/* in the count */
#define LH_RWSEM_READERS	(LONG_MAX & ~255L)

static inline enum lh_rw lh_rwsem_state(unsigned long lock)
{
	long count;

	if (copy_from_kernel_nofault(&count, (void *)lock +
				     offsetof(struct rw_semaphore, count),
				     sizeof(count)))
		return LH_RW_FREE;
	if (count & LH_RWSEM_WRITER)
		return LH_RW_WRITER;
	return count & LH_RWSEM_READERS ? LH_RW_READERS : LH_RW_FREE;
}

static inline enum lh_rw lh_rwlock_state(unsigned long lock)
{
	arch_rwlock_t word;
	u32 count;

	if (copy_from_kernel_nofault(&word, (void *)lock, sizeof(word)))
		return LH_RW_FREE;
	count = atomic_read(&word.cnts);
	if ((count & _QW_LOCKED) == _QW_LOCKED)
		return LH_RW_WRITER;
	return count >> _QR_SHIFT ? LH_RW_READERS : LH_RW_FREE;
}

/* Of an rwsem's count the lower half is enough: readers start at bit 8. */
static inline bool lh_rwsem_busy(u32 seen)
{
	return seen & 255;
}

static inline bool lh_rwlock_busy(u32 seen, u8 mode)
{
	return seen & (mode == LOCKHELD_MODE_WRITE ? ~0U : _QW_WMASK);
}

/* Nothing can be said by the first word alone. */
static inline bool lh_may_be_rwbase(u32 word)
{
	return true;
}

static inline bool lh_may_be_other(u32 word)
{
	return true;
}

#endif /* CONFIG_PREEMPT_RT */

/* ---- RCU ---- */

/* How deep the running task is in RCU; see LH_COUNTS_RCU. */
#ifdef CONFIG_PREEMPT_RCU
#define LH_COUNTS_RCU	true
static inline int lh_rcu_depth(void)
{
	return READ_ONCE(current->rcu_read_lock_nesting);
}
#else
#define LH_COUNTS_RCU	false
static inline int lh_rcu_depth(void)
{
	return 0;
}
#endif

/* Likewise, of Tasks Trace RCU. While it leaves, the number is below 0. */
#if defined(LH_HAVE_TRC_NESTING) && !defined(LH_HAVE_TRC_SCP)
#define LH_COUNTS_RCU_TRACE	true
#define LH_NO_RCU_TRACE		NULL
static inline int lh_rcu_trace_depth(void)
{
	return READ_ONCE(current->trc_reader_nesting);
}
#else
#define LH_COUNTS_RCU_TRACE	false
#ifdef LH_HAVE_TRC_SCP
#define LH_NO_RCU_TRACE		"rcu_read_lock_tasks_trace is inlined"
#else
#define LH_NO_RCU_TRACE		"the kernel has no Tasks Trace RCU"
#endif
static inline int lh_rcu_trace_depth(void)
{
	return 0;
}
#endif

/* ---- perf ---- */

/* Replaces @old by @new unless somebody was faster. Returns true if done. */
static inline bool lh_event_swap_handler(struct perf_event *event,
					 perf_overflow_handler_t old,
					 perf_overflow_handler_t new)
{
	if (cmpxchg(&event->overflow_handler, old, new) == old)
		return true;
#if defined(LH_HAVE_ORIG_OVERFLOW_HANDLER) && defined(CONFIG_BPF_SYSCALL)
	/* A BPF program came after us: it calls what it found. */
	return cmpxchg(&event->orig_overflow_handler, old, new) == old;
#else
	return false;
#endif
}

/*
 * Does a BPF program sit in the handler itself, so that an event inherited
 * from this one would get the handler without the program?
 */
static inline bool lh_event_bpf_in_handler(struct perf_event *event)
{
#if defined(LH_HAVE_ORIG_OVERFLOW_HANDLER) && defined(CONFIG_BPF_SYSCALL)
	return event->prog && !event->tp_event;
#else
	return false;
#endif
}

/*
 * RCU read sections that perf is in when it calls the handler: around all
 * software events but those of timers, and where it gives a tracepoint's sample
 * to the event of another task.
 */
static inline int lh_perf_rcu_depth(struct perf_event *event)
{
	const struct perf_event_context *ctx;

	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
		return event->attr.config != PERF_COUNT_SW_CPU_CLOCK &&
		       event->attr.config != PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_TRACEPOINT:
		ctx = READ_ONCE(event->ctx);
		return ctx && ctx->task && ctx->task != current;
	default:
		return 0;
	}
}

static inline u64 lh_sample_addr(struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	return data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
#else
	return data->addr;
#endif
}

static inline u64 lh_sample_time(struct perf_event *event,
				 struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	if (data->sample_flags & PERF_SAMPLE_TIME)
		return data->time;
#endif
	return event->clock();
}

static inline u64 lh_sample_txn(struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	return data->sample_flags & PERF_SAMPLE_TRANSACTION ? data->txn : 0;
#else
	return data->txn;
#endif
}

static inline u64 lh_sample_data_src(struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	return data->sample_flags & PERF_SAMPLE_DATA_SRC ? data->data_src.val : 0;
#else
	return data->data_src.val == PERF_MEM_NA ? 0 : data->data_src.val;
#endif
}

/* @part: 0 for the whole, or the first, second or third part of it. */
static inline u64 lh_sample_weight(struct perf_event *event,
				   struct perf_sample_data *data,
				   unsigned int part)
{
#ifdef LH_HAVE_SAMPLE_WEIGHT_PARTS
#ifdef LH_HAVE_SAMPLE_FLAGS
	if (!(data->sample_flags & PERF_SAMPLE_WEIGHT_TYPE))
		return 0;
#endif
	/* The flags do not say which of the two it is. */
	if (!(event->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
		return part ? 0 : data->weight.full;
	switch (part) {
	case 2:
		return data->weight.var2_w;
	case 3:
		return data->weight.var3_w;
	default:
		return data->weight.var1_dw;
	}
#else
	return part ? 0 : data->weight;
#endif
}

/* Has a raw record, which may yet be NULL; without this it is stale stack. */
static inline bool lh_sample_has_raw(struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	return data->sample_flags & PERF_SAMPLE_RAW;
#else
	return data->raw;
#endif
}

/* @has: what lh_sample_has_raw() is to say from now on. */
static inline void lh_sample_set_raw(struct perf_sample_data *data,
				     struct perf_raw_record *raw, bool has)
{
	data->raw = raw;
#ifdef LH_HAVE_SAMPLE_FLAGS
	if (has)
		data->sample_flags |= PERF_SAMPLE_RAW;
	else
		data->sample_flags &= ~PERF_SAMPLE_RAW;
#endif
}

/*
 * Where perf sums up a sample's size while it gathers its parts, and not at the
 * end, a part that is changed changes the sum. Returns false if that would be
 * too much: a BPF program may have had all parts gathered, a stack as large as
 * the record allows among them.
 */
static inline bool lh_sample_grow(struct perf_sample_data *data, int bytes)
{
#ifdef LH_HAVE_SAMPLE_DYN_SIZE
	/* The record's fixed part takes less than the rest of 64 KiB. */
	if (bytes > 0 && data->dyn_size + bytes > 60000)
		return false;
	data->dyn_size += bytes;
#endif
	return true;
}

/* ---- generic netlink ---- */

static inline struct nlattr **lh_dump_attrs(struct netlink_callback *cb)
{
#ifdef LH_HAVE_GENL_DUMP_INFO
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#ifdef LH_HAVE_GENL_RESV_START_OP
#define LH_GENL_STRICT_FROM(cmd)	.resv_start_op = (cmd),
#else
#define LH_GENL_STRICT_FROM(cmd)
#endif

#endif /* LH_COMPAT_H */
