/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * lockheld: filter perf samples by the locks held when they were taken.
 *
 * Control goes over the generic netlink family LOCKHELD_GENL_NAME; samples
 * come back through perf's own ring buffers (see "The sample record" below).
 *
 * Every command needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user
 * namespace. A refusal carries extended-ack text that says what to do.
 *
 * LOCKHELD_CMD_CAPS_GET (dump)
 *	One message for each family and mode the module knows:
 *	FAMILY, MODE, MECHANISM, BACKEND, BACKEND_REASON, and REASON where MECHANISM is
 *	LOCKHELD_MECH_NONE. VERSION (of the module) is in each message.
 *
 * LOCKHELD_CMD_FILTER_ADD (do)
 *	takes PROGRAM, TEXT (what the user wrote, for listings) and FLAGS;
 *	checks the program, installs the hooks it needs, returns FILTER_ID.
 *	Errors: EINVAL (bad program, names the instruction), EOPNOTSUPP (a
 *	lock that cannot be tracked on this kernel, says why), EFAULT (a lock
 *	address that cannot be read), ENOSPC (too many filters). Where one
 *	instruction is at fault, NLMSGERR_ATTR_OFFS is where it begins in the
 *	request.
 *
 * LOCKHELD_CMD_FILTER_ATTACH (do)
 *	takes FILTER_ID and EVENT_FD, a perf event descriptor of the calling
 *	process; from then on the event and those it was or will be inherited
 *	to record only samples that pass. Errors: ENOENT (no such filter),
 *	EBADF, EINVAL (not a perf event, or one that never samples), EBUSY
 *	(has a filter), EOPNOTSUPP (an event whose samples cannot be seen).
 *
 * LOCKHELD_CMD_FILTER_DEL (do)
 *	takes FILTER_ID; detaches its events, which then record every sample.
 *	Also a notice with FILTER_ID to LOCKHELD_GENL_NOTICES, for whose filter
 *	somebody else has deleted.
 *
 * LOCKHELD_CMD_FILTER_GET (dump)
 *	One message for each filter: FILTER_ID, TEXT, FLAGS, OWNER_PID,
 *	NR_EVENTS, EVALUATED, PASSED, DROPPED, UNCERTAIN and a TERM nest for
 *	each lock_held() in it. With FILTER_ID in the request: that one only.
 *
 * LOCKHELD_CMD_STATS_GET (do)
 *	returns a STAT nest for each counter of the module.
 *
 * LOCKHELD_CMD_LOCK_NAME (do)
 *	takes ADDR; returns NAME, the slab cache of the object that holds the
 *	address. Errors: ENOENT (not in a slab object).
 *
 * LOCKHELD_CMD_FILTER_GONE (notice)
 *	goes to the multicast group LOCKHELD_GENL_NOTICES when a module is
 *	unloaded that held a lock of a filter: FILTER_ID, NAME of the module.
 *	From then on the filter passes nothing and has LOCKHELD_FILTER_GONE.
 *
 * A filter goes with the netlink socket that added it, unless it has
 * LOCKHELD_FILTER_PERSIST; either way it goes when the last event it was
 * attached to has been closed by everybody else (checked every second).
 * The module cannot be unloaded while a filter exists.
 */
#ifndef _UAPI_LINUX_LOCKHELD_H
#define _UAPI_LINUX_LOCKHELD_H

#include <linux/types.h>

#define LOCKHELD_GENL_NAME	"lockheld"
#define LOCKHELD_GENL_VERSION	1
#define LOCKHELD_GENL_NOTICES	"notices"	/* multicast group */

enum lockheld_cmd {
	LOCKHELD_CMD_UNSPEC,
	LOCKHELD_CMD_CAPS_GET,
	LOCKHELD_CMD_FILTER_ADD,
	LOCKHELD_CMD_FILTER_ATTACH,
	LOCKHELD_CMD_FILTER_DEL,
	LOCKHELD_CMD_FILTER_GET,
	LOCKHELD_CMD_STATS_GET,
	LOCKHELD_CMD_LOCK_NAME,
	LOCKHELD_CMD_FILTER_GONE,
	__LOCKHELD_CMD_LAST
};
#define LOCKHELD_CMD_MAX (__LOCKHELD_CMD_LAST - 1)

/**
 * enum lockheld_attr - netlink attributes, one set for all commands
 * @LOCKHELD_A_PAD: alignment of 64-bit attributes, carries nothing
 * @LOCKHELD_A_VERSION: string, the module's version
 * @LOCKHELD_A_BACKEND: string, how hooks are placed, "ftrace" or "kprobe"
 * @LOCKHELD_A_FAMILY: u32, enum lockheld_family
 * @LOCKHELD_A_MODE: u32, enum lockheld_mode
 * @LOCKHELD_A_MECHANISM: u32, enum lockheld_mechanism
 * @LOCKHELD_A_REASON: string, why the mechanism is LOCKHELD_MECH_NONE
 * @LOCKHELD_A_FILTER_ID: u32, never 0, not used again while the module is loaded
 * @LOCKHELD_A_TEXT: string, the expression as written, up to LOCKHELD_TEXT_MAX
 *	bytes with its NUL
 * @LOCKHELD_A_PROGRAM: binary, 1 to LOCKHELD_INSNS_MAX struct lockheld_insn
 * @LOCKHELD_A_FLAGS: u32, LOCKHELD_FILTER_*
 * @LOCKHELD_A_OWNER_PID: u32, process that added the filter, as seen in the
 *	initial pid namespace
 * @LOCKHELD_A_EVENT_FD: u32, descriptor number in the calling process
 * @LOCKHELD_A_NR_EVENTS: u32, events attached (children by inheritance not
 *	counted)
 * @LOCKHELD_A_EVALUATED: u64, samples the filter has seen
 * @LOCKHELD_A_PASSED: u64, samples recorded
 * @LOCKHELD_A_DROPPED: u64, samples not recorded
 * @LOCKHELD_A_UNCERTAIN: u64, samples for which a lock might have been either
 *	waited for or held; they were counted as not held
 * @LOCKHELD_A_TERM: nest, one for each lock_held(): INSN, MECHANISM, MODE, and
 *	FAMILY, which is NONE for an address that is no mutex and no rwsem
 * @LOCKHELD_A_INSN: u32, index of the term in the program
 * @LOCKHELD_A_STAT: nest, NAME and VALUE
 * @LOCKHELD_A_NAME: string
 * @LOCKHELD_A_VALUE: u64
 * @LOCKHELD_A_ADDR: u64, a kernel address
 * @LOCKHELD_A_BACKEND_REASON: string, why hooks are placed like that
 */
enum lockheld_attr {
	LOCKHELD_A_UNSPEC,
	LOCKHELD_A_PAD,
	LOCKHELD_A_VERSION,
	LOCKHELD_A_BACKEND,
	LOCKHELD_A_FAMILY,
	LOCKHELD_A_MODE,
	LOCKHELD_A_MECHANISM,
	LOCKHELD_A_REASON,
	LOCKHELD_A_FILTER_ID,
	LOCKHELD_A_TEXT,
	LOCKHELD_A_PROGRAM,
	LOCKHELD_A_FLAGS,
	LOCKHELD_A_OWNER_PID,
	LOCKHELD_A_EVENT_FD,
	LOCKHELD_A_NR_EVENTS,
	LOCKHELD_A_EVALUATED,
	LOCKHELD_A_PASSED,
	LOCKHELD_A_DROPPED,
	LOCKHELD_A_UNCERTAIN,
	LOCKHELD_A_TERM,
	LOCKHELD_A_INSN,
	LOCKHELD_A_STAT,
	LOCKHELD_A_NAME,
	LOCKHELD_A_VALUE,
	LOCKHELD_A_ADDR,
	LOCKHELD_A_BACKEND_REASON,
	__LOCKHELD_A_LAST
};
#define LOCKHELD_A_MAX (__LOCKHELD_A_LAST - 1)

/* LOCKHELD_A_FLAGS */
#define LOCKHELD_FILTER_PERSIST	(1u << 0)	/* outlives the socket */
#define LOCKHELD_FILTER_TIMES	(1u << 1)	/* measure held_ns of samples */
#define LOCKHELD_FILTER_GONE	(1u << 2)	/* told only: a lock's module went */
/* Those that may be asked for. */
#define LOCKHELD_FILTER_ALL	(LOCKHELD_FILTER_PERSIST | LOCKHELD_FILTER_TIMES)

#define LOCKHELD_TEXT_MAX	4096	/* bytes, NUL included */
#define LOCKHELD_INSNS_MAX	256	/* instructions in a program */
#define LOCKHELD_STACK_MAX	32	/* values on the program's stack */
#define LOCKHELD_FILTERS_MAX	64	/* filters at one time */

/* Kinds of locks. The words users write are in the comments. */
enum lockheld_family {
	LOCKHELD_FAMILY_NONE,
	LOCKHELD_FAMILY_MUTEX,		/* mutex */
	LOCKHELD_FAMILY_RWSEM,		/* rwsem */
	LOCKHELD_FAMILY_SPINLOCK,	/* spinlock */
	LOCKHELD_FAMILY_RWLOCK,		/* rwlock */
	LOCKHELD_FAMILY_RT_MUTEX,	/* rt-mutex */
	LOCKHELD_FAMILY_PERCPU_RWSEM,	/* percpu-rwsem, pcpu-sem */
	LOCKHELD_FAMILY_SEMAPHORE,	/* semaphore */
	LOCKHELD_FAMILY_SRCU,		/* srcu */
	LOCKHELD_FAMILY_RCU,		/* rcu */
	LOCKHELD_FAMILY_RCU_TRACE,	/* rcu-trace */
	/*
	 * raw-spinlock: on PREEMPT_RT, where spinlocks sleep, the ones that
	 * still spin. Elsewhere they are spinlocks like all others.
	 */
	LOCKHELD_FAMILY_RAW_SPINLOCK,
	__LOCKHELD_FAMILY_LAST
};
#define LOCKHELD_FAMILY_MAX (__LOCKHELD_FAMILY_LAST - 1)

/*
 * How a lock is held. Mutexes, spinlocks, rt-mutexes and semaphores are always
 * held for writing. Of RCU, Tasks Trace RCU and SRCU, READ is a read section
 * and WRITE is waiting for the readers (synchronize_rcu() and its like).
 * In a filter ANY means "either"; in a sample or a capability it is not used.
 */
enum lockheld_mode {
	LOCKHELD_MODE_ANY,
	LOCKHELD_MODE_READ,		/* :R */
	LOCKHELD_MODE_WRITE,		/* :W */
	__LOCKHELD_MODE_LAST
};
#define LOCKHELD_MODE_MAX (__LOCKHELD_MODE_LAST - 1)

/* How the module knows that a lock is held, and what that costs. */
enum lockheld_mechanism {
	LOCKHELD_MECH_NONE,	/* it cannot: see LOCKHELD_A_REASON */
	/* reads the lock's owner word at the sample: locking costs nothing */
	LOCKHELD_MECH_OWNER,
	/* hooks lock functions: each lock and unlock of the family costs */
	LOCKHELD_MECH_HOOK,
	/* reads a counter of the running task: read sections cost nothing */
	LOCKHELD_MECH_TASK,
};

/* Where the running code was interrupted, or what it is. */
enum lockheld_context {
	LOCKHELD_CTX_TASK,	/* none */
	LOCKHELD_CTX_SOFTIRQ,	/* soft */
	LOCKHELD_CTX_HARDIRQ,	/* hard */
	LOCKHELD_CTX_NMI,	/* nmi */
	__LOCKHELD_CTX_LAST
};

/*
 * Filter programs
 *
 * Postfix code: operands first. Every value is a u64; comparisons, LOCK and
 * COMM push 1 or 0, and the logical operators take any value as "is not 0".
 * A program must leave exactly one value: not 0 records the sample. Fields an
 * operation does not use must be 0.
 */
enum lockheld_op {
	LOCKHELD_OP_IMM,	/* push imm */
	LOCKHELD_OP_TERM,	/* push the sample's value of @arg (enum lockheld_term) */
	LOCKHELD_OP_COMM,	/* push: task name is the 16 bytes at imm, NUL-padded */
	LOCKHELD_OP_LOCK,	/* push: a lock is held; see struct lockheld_insn */
	LOCKHELD_OP_EQ,		/* the rest pop b, then a, and push a OP b */
	LOCKHELD_OP_NE,
	LOCKHELD_OP_LT,		/* comparisons are unsigned */
	LOCKHELD_OP_LE,
	LOCKHELD_OP_GT,
	LOCKHELD_OP_GE,
	LOCKHELD_OP_AND,	/* a & b, bit by bit */
	LOCKHELD_OP_LAND,
	LOCKHELD_OP_LOR,
	LOCKHELD_OP_NOT,	/* pops one value */
	/* push: ns for which the lock of LOCK's fields has been held, or 0 */
	LOCKHELD_OP_HELD_NS,
	__LOCKHELD_OP_LAST
};
#define LOCKHELD_OP_MAX (__LOCKHELD_OP_LAST - 1)

enum lockheld_term {
	LOCKHELD_TERM_IP,	/* instruction pointer */
	LOCKHELD_TERM_PID,	/* process id, in the event's pid namespace */
	LOCKHELD_TERM_TID,	/* thread id, likewise */
	LOCKHELD_TERM_CPU,
	LOCKHELD_TERM_TIME,	/* ns, of the event's clock */
	LOCKHELD_TERM_ADDR,	/* data address, or 0 */
	LOCKHELD_TERM_PERIOD,	/* events since the last sample */
	LOCKHELD_TERM_UID,	/* in the initial user namespace */
	LOCKHELD_TERM_GID,	/* likewise */
	LOCKHELD_TERM_IRQ,	/* enum lockheld_context of the sampled code */
	LOCKHELD_TERM_DEPTH,	/* locks held of the hooked families */
	LOCKHELD_TERM_ID,	/* the event's id, as PERF_EVENT_IOC_ID tells it */
	LOCKHELD_TERM_TXN,	/* 0 here and below: not known */
	LOCKHELD_TERM_WEIGHT,	/* whole, or its first part */
	LOCKHELD_TERM_WEIGHT1,	/* parts of PERF_SAMPLE_WEIGHT_STRUCT */
	LOCKHELD_TERM_WEIGHT2,
	LOCKHELD_TERM_WEIGHT3,
	LOCKHELD_TERM_PHYS_ADDR,	/* of ADDR */
	LOCKHELD_TERM_CODE_PGSZ,	/* bytes in the page of IP */
	LOCKHELD_TERM_DATA_PGSZ,	/* bytes in the page of ADDR */
	LOCKHELD_TERM_CGROUP,	/* id, of the perf_event hierarchy */
	/* fields of union perf_mem_data_src */
	LOCKHELD_TERM_MEM_OP,
	LOCKHELD_TERM_MEM_LVLNUM,
	LOCKHELD_TERM_MEM_SNOOP,	/* | mem_snoopx << 5 */
	LOCKHELD_TERM_MEM_REMOTE,
	LOCKHELD_TERM_MEM_LOCK,
	LOCKHELD_TERM_MEM_DTLB,
	LOCKHELD_TERM_MEM_BLK,
	LOCKHELD_TERM_MEM_HOPS,
	__LOCKHELD_TERM_LAST
};
#define LOCKHELD_TERM_MAX (__LOCKHELD_TERM_LAST - 1)

/* What the operand of LOCKHELD_OP_LOCK names. */
enum lockheld_spec {
	LOCKHELD_SPEC_TYPE,		/* any lock of @family */
	LOCKHELD_SPEC_ADDR,		/* the lock at @imm */
	LOCKHELD_SPEC_MMAP_LOCK,	/* of the running task's mm */
	LOCKHELD_SPEC_SIGLOCK,		/* of the running task's signal handlers */
	LOCKHELD_SPEC_RQ_LOCK,		/* any run queue's; @imm: see below */
	LOCKHELD_SPEC_ZONE_LOCK,	/* any memory zone's */
	LOCKHELD_SPEC_SLAB,		/* any in an object of the cache @name */
	__LOCKHELD_SPEC_LAST
};
#define LOCKHELD_SPEC_MAX (__LOCKHELD_SPEC_LAST - 1)

#define LOCKHELD_NAME_MAX	32	/* bytes of a slab cache's name */

/**
 * struct lockheld_insn - one instruction of a filter program, 40 bytes
 * @op: enum lockheld_op
 * @arg: TERM: enum lockheld_term. LOCK, HELD_NS: enum lockheld_spec
 * @family: LOCK, HELD_NS: enum lockheld_family with LOCKHELD_SPEC_TYPE.
 *	May be given with LOCKHELD_SPEC_ADDR (the module looks at the lock where
 *	it is not) and with LOCKHELD_SPEC_SLAB (else all kinds that objects have;
 *	none of which may be unknown to this kernel). Else 0
 * @mode: LOCK, HELD_NS: enum lockheld_mode
 * @pad: 0
 * @imm: IMM: the value. With LOCKHELD_SPEC_ADDR: the address of the lock. With
 *	LOCKHELD_SPEC_RQ_LOCK: the value of the per-CPU symbol "runqueues" plus
 *	the offset of the lock in there
 * @imm2: with LOCKHELD_SPEC_ADDR: bytes from the address to the next symbol,
 *	which bounds what the lock can be; 0 if not known
 * @comm: COMM: the name, padded with NUL bytes
 * @name: with LOCKHELD_SPEC_SLAB: the name, padded with NUL bytes
 */
struct lockheld_insn {
	__u8	op;
	__u8	arg;
	__u8	family;
	__u8	mode;
	__u32	pad;
	union {
		struct {
			__u64	imm;
			__u64	imm2;
		};
		__u8	comm[16];
		__u8	name[LOCKHELD_NAME_MAX];
	};
};

/*
 * The sample record
 *
 * A sample of an event that asks for PERF_SAMPLE_RAW ends its raw data with
 *
 *	struct lockheld_sample_lock	locks[nr];	outermost first
 *	struct lockheld_sample_tail	tail;
 *
 * in the machine's byte order, behind a tracepoint's own bytes if there are
 * any. Read it from the end: the last 16 bytes are the tail, which says how
 * many locks stand before it. The whole is not aligned in the raw data.
 */
#define LOCKHELD_SAMPLE_MAGIC		0x6c6f636b68656c64ULL
#define LOCKHELD_SAMPLE_LOCKS_MAX	16

/* lockheld_sample_lock.flags */
#define LOCKHELD_LOCK_MATCHED	(1u << 0)	/* made a lock_held() true */
#define LOCKHELD_LOCK_OWNER	(1u << 1)	/* seen by a word, not by a hook */

/**
 * struct lockheld_sample_lock - a lock held when the sample was taken, 32 bytes
 * @addr: address of the lock. RCU and Tasks Trace RCU: 0 for a read section,
 *	the function that waits otherwise
 * @ip: where it was taken: the return address of the lock call; 0 if unknown,
 *	as it is with LOCKHELD_LOCK_OWNER
 * @held_ns: ns since it was taken; 0 if no filter asked for times or unknown
 * @family: enum lockheld_family
 * @mode: LOCKHELD_MODE_READ or LOCKHELD_MODE_WRITE
 * @context: enum lockheld_context that took it
 * @flags: LOCKHELD_LOCK_*
 * @pad: 0
 */
struct lockheld_sample_lock {
	__u64	addr;
	__u64	ip;
	__u64	held_ns;
	__u8	family;
	__u8	mode;
	__u8	context;
	__u8	flags;
	__u32	pad;
};

/**
 * struct lockheld_sample_tail - end of the sample record, 16 bytes
 * @filter: id of the filter the sample passed
 * @nr: entries of struct lockheld_sample_lock before the tail
 * @omitted: locks that were held and did not fit
 * @context: enum lockheld_context of the sampled code
 * @version: 1
 * @magic: LOCKHELD_SAMPLE_MAGIC
 */
struct lockheld_sample_tail {
	__u32	filter;
	__u8	nr;
	__u8	omitted;
	__u8	context;
	__u8	version;
	__u64	magic;
};

#endif /* _UAPI_LINUX_LOCKHELD_H */
