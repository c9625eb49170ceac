/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels, each with a name of ours. lh-config.h is
 * written by kmod/configure, which tries what the target's headers offer.
 */
#ifndef LH_COMPAT_H
#define LH_COMPAT_H

#include <linux/file.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
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

/* ---- locks ---- */

/*
 * Bits of an owner word that are not part of the task's address. They are
 * private to kernel/locking; rwsem used a third one until 5.10.
 */
#define LH_MUTEX_OWNER_MASK	7UL
#define LH_MUTEX_PICKUP		4UL	/* the task named may take it */
#define LH_RWSEM_OWNER_MASK	7UL	/* tasks are aligned, a bit too many is no harm */
#define LH_RWSEM_READER_OWNED	1UL
#define LH_RWSEM_WRITER_LOCKED	1L		/* in the count */
#define LH_RWSEM_READERS	(LONG_MAX & ~255L)	/* in the count */

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

/* The sample's raw record, or NULL; data->raw is stale stack without its flag. */
static inline struct perf_raw_record *lh_sample_raw(struct perf_sample_data *data)
{
#ifdef LH_HAVE_SAMPLE_FLAGS
	return data->sample_flags & PERF_SAMPLE_RAW ? data->raw : NULL;
#else
	return data->raw;
#endif
}

static inline void lh_sample_set_raw(struct perf_sample_data *data,
				     struct perf_raw_record *raw)
{
	data->raw = raw;
#ifdef LH_HAVE_SAMPLE_FLAGS
	if (raw)
		data->sample_flags |= PERF_SAMPLE_RAW;
	else
		data->sample_flags &= ~PERF_SAMPLE_RAW;
#endif
}

#ifdef LH_HAVE_SAMPLE_DYN_SIZE
#error "lockheld does not know this kernel's way to size a raw record yet"
#endif

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
