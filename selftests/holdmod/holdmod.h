/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holdmod: takes locks as it is told, and keeps the truth about them.
 *
 * A script (script.c) is run (run.c) by the task that wrote it, an actor. It
 * takes locks (locks.c) by calling lock functions (ops.c) and fires the trace
 * event holdmod:tick (tick.c), which says what the actor held at that moment.
 */
#ifndef HOLDMOD_H
#define HOLDMOD_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/ww_mutex.h>

#include "compat.h"

#define HM_DEPTH	72	/* locks that an actor can hold */
#define HM_OBJECTS	67	/* slab objects, each with a lock of each family */

/*
 * As in enum lockheld_family, and behind it what is a family of lockheld's but
 * has a type and functions of its own.
 */
enum hm_family {
	HM_NO_FAMILY, HM_MUTEX, HM_RWSEM, HM_SPINLOCK, HM_RWLOCK, HM_RT_MUTEX,
	HM_PERCPU_RWSEM, HM_SEMAPHORE, HM_SRCU, HM_RCU, HM_RCU_TRACE,
	HM_RAW_SPINLOCK, HM_WW_MUTEX, HM_NR_FAMILIES
};

enum hm_mode { HM_NO_MODE, HM_READ, HM_WRITE };
enum hm_context { HM_TASK, HM_SOFT, HM_HARD };

struct hm_actor;
struct hm_op;

/**
 * struct hm_hold - a lock that is held
 * @lock: which
 * @op: how it was taken, and so how it is released
 * @actor: who took it
 * @addr: where it is
 * @flags: what the lock function gave to be given back: interrupt flags, or
 *	the index of an SRCU read section
 * @mode: how it is held
 * @context: who took it, more precisely
 * @left: may be released by anybody
 * @called: local_clock() before the lock function
 * @taken: and after it
 */
struct hm_hold {
	struct hm_lock *lock;
	const struct hm_op *op;
	struct hm_actor *actor;
	void *addr;
	unsigned long flags;
	enum hm_mode mode;
	enum hm_context context;
	bool left;
	u64 called;
	u64 taken;
};

/**
 * struct hm_lock - a lock that scripts can name
 * @name: the name
 * @family: its kind
 * @addr: where it is; NULL if each task has its own
 * @find: returns the running task's own one
 * @readers: actors that hold it for reading beyond doubt
 * @writers: actors that hold it for writing beyond doubt
 * @is_left: somebody may release @left
 * @left: a hold that another task may end
 */
struct hm_lock {
	char name[24];
	enum hm_family family;
	void *addr;
	void *(*find)(void);
	atomic_t readers;
	atomic_t writers;
	bool is_left;
	struct hm_hold left;
};

enum hm_op_flag {
	HM_TAKES	= 0,
	HM_WAITS	= 1,	/* waits for readers: over when it returns */
	HM_UNOWNED	= 2,	/* anybody may release what it took */
};

/**
 * struct hm_op - a way to take a lock, and to let go of it
 * @name: the lock function
 * @family: what it takes
 * @mode: how
 * @flags: HM_*
 * @take: takes the lock of @hold, returns 0 or an error
 * @drop: releases it
 */
struct hm_op {
	const char *name;
	enum hm_family family;
	enum hm_mode mode;
	unsigned int flags;
	int (*take)(struct hm_hold *hold);
	void (*drop)(struct hm_hold *hold);
};

/* How often the function of an op was called, and what came of it. */
struct hm_op_count {
	atomic64_t taken;
	atomic64_t failed;
	atomic64_t dropped;
};

enum hm_verb {
	HM_V_TAKE, HM_V_FAIL, HM_V_DROP, HM_V_DOWNGRADE, HM_V_WAIT, HM_V_LEAVE,
	HM_V_RELEASE, HM_V_TICK, HM_V_BUSY, HM_V_SLEEP, HM_V_CPU, HM_V_POST,
	HM_V_AWAIT, HM_V_BLOCKED, HM_V_WANTED, HM_V_ALLOC, HM_V_SCENARIO,
	HM_V_TIMER, HM_V_SWITCH, HM_V_REPEAT, HM_V_SOFT, HM_V_HARD, HM_V_END,
	HM_V_COUNT
};

/**
 * struct hm_step - a statement of a script
 * @verb: what to do
 * @op: the way to take the lock
 * @lock: the lock
 * @arg: first number
 * @arg2: second number
 * @end: index of the "end" of the block that the statement opens
 */
struct hm_step {
	enum hm_verb verb;
	const struct hm_op *op;
	struct hm_lock *lock;
	u64 arg;
	u64 arg2;
	unsigned int end;
};

struct hm_script {
	unsigned int nr;
	struct hm_step steps[];
};

/*
 * What an interrupt may assume about the actor it interrupted. In any phase
 * but these, holds may be changing, and no tick is fired on top of it.
 */
enum hm_phase {
	HM_UNCLEAR,
	HM_STEADY,	/* holds exactly its held[] */
	HM_TAKING,	/* in a lock function for wants, and holds its held[] */
	/*
	 * In a function that waits for readers: while it sleeps, holds exactly
	 * its held[], the last of which stands for the waiting.
	 */
	HM_PASSING,
};

enum hm_irq_state { HM_IRQ_ARMED, HM_IRQ_MISSED, HM_IRQ_DONE };

/**
 * struct hm_actor - a task that runs a script
 * @task: the task; NULL if free
 * @phase: see enum hm_phase
 * @context: where the script is being run
 * @wants: the lock it is taking
 * @wants_mode: how
 * @nheld: entries of @held
 * @held: locks it holds, in the order in which they were taken; those of an
 *	interrupt on top of it are behind its own
 * @ww_open: has @ww been initialized?
 * @ww: context in which it takes ww_mutexes
 * @scenario: number that its ticks carry
 * @script: the script being run
 * @tasklet: runs a "soft" block
 * @timer: runs a "hard" block
 * @irq_state: of the block
 * @irq_step: index of the statement that opens the block
 * @irq_error: what came of it
 */
struct hm_actor {
	struct task_struct *task;
	enum hm_phase phase;
	enum hm_context context;
	struct hm_lock *wants;
	enum hm_mode wants_mode;
	unsigned int nheld;
	struct hm_hold held[HM_DEPTH];
	bool ww_open;
	struct ww_acquire_ctx ww;
	u32 scenario;
	const struct hm_script *script;
	struct tasklet_struct tasklet;
	struct hrtimer timer;
	enum hm_irq_state irq_state;
	unsigned int irq_step;
	int irq_error;
};

/* What a tick says; also an entry of the log. */
struct hm_record {
	u64 seq;
	u64 time;		/* local_clock() */
	u64 held_ns;		/* since the innermost lock was taken */
	u64 addr;		/* innermost lock held, or the one waited for */
	u32 scenario;
	pid_t tid;
	u16 cpu;
	u8 truth;		/* enum hm_truth */
	u8 family;
	u8 mode;
	u8 context;		/* enum hm_context */
	u8 source;		/* enum hm_source */
	u8 depth;		/* entries of held[] */
	u8 wants_mode;
	u16 wants;		/* index of the lock waited for, if truth says so */
	struct {
		u16 lock;
		u8 mode;
		u8 context;
	} held[HM_DEPTH];
};

enum hm_truth { HM_NOT_HELD, HM_HELD, HM_WAITING };
enum hm_source { HM_BY_SCRIPT, HM_BY_TIMER, HM_BY_SWITCH };

/* locks.c */
extern struct hm_lock hm_locks[];
extern const unsigned int hm_nr_locks;
extern const char * const hm_family_names[];
extern const char * const hm_kind_names[];
extern struct ww_class hm_ww_class;
struct hm_lock *hm_lock_find(const char *name);
int hm_locks_init(void);
void hm_locks_exit(void);

/* ops.c */
extern const struct hm_op hm_ops[];
extern const unsigned int hm_nr_ops;
extern const char * const hm_mode_names[];
extern struct hm_op_count hm_op_counts[];
const struct hm_op *hm_op_find(const char *name);
void hm_downgrade(void *lock);
void hm_hand_over(struct hm_hold *hold, bool away);
void hm_ww_close(struct hm_actor *actor);

/* script.c */
struct hm_script *hm_parse(char *text);

/* run.c */
int hm_run(const struct hm_script *script);
struct hm_actor *hm_actor_of(struct task_struct *task);
void hm_reset_posts(void);
int hm_actors_init(void);
void hm_actors_exit(void);

/* tick.c */
int hm_tick(struct hm_actor *actor, enum hm_context context,
	    enum hm_source source, bool waits);
void hm_wait_for_ticks(void);
void hm_log_hold(const struct hm_actor *actor, const struct hm_hold *hold,
		 u64 releasing, u64 released);
int hm_timer_set(u64 period_us);
int hm_switch_set(bool on);
void hm_log_reset(void);
int hm_tick_init(void);
void hm_tick_exit(void);
extern const struct file_operations hm_ticks_fops;
extern const struct file_operations hm_holds_fops;
void hm_show_tick_counts(struct seq_file *m);

#endif /* HOLDMOD_H */
