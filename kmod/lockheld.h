/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the module offer each other, in the order in which data
 * passes through them.
 */
#ifndef LH_LOCKHELD_H
#define LH_LOCKHELD_H

#include <linux/jump_label.h>
#include <linux/lockheld.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "compat.h"
#include "filter.h"
#include "held.h"

/* ---- locks.c: the table of lock functions ---- */

enum lh_verb {
	LH_ACQUIRE,
	LH_RELEASE,
	LH_DOWNGRADE,
	LH_WAIT,	/* held from entry to return: waiting for RCU's readers */
	LH_SLOW,	/* never hooked: code in which a lock is waited for */
};

/* What the return value of an acquiring function means. */
enum lh_ret {
	LH_RET_VOID,	/* always gets the lock */
	LH_RET_ZERO,	/* got the lock if 0 */
	LH_RET_NONZERO,	/* got the lock if not 0 */
};

/**
 * struct lh_func - a lock function
 * @name: symbol
 * @family: enum lockheld_family
 * @mode: enum lockheld_mode
 * @verb: enum lh_verb
 * @ret: enum lh_ret
 * @arg: number of the argument that is the lock
 * @core: the family cannot be tracked without a function like this one
 * @by_return: ACQUIRE: seen when it returns, even if waits for locks are known
 * @nowait: ACQUIRE: never waits
 * @self: the lock has no address: that of the function stands for it
 * @inlined: the kernel's configuration puts it into its callers
 */
struct lh_func {
	const char *name;
	u8 family;
	u8 mode;
	u8 verb;
	u8 ret;
	u8 arg;
	bool core;
	bool by_return;
	bool nowait;
	bool self;
	bool inlined;
};

#define LH_NR_FUNCS	160	/* more than lh_funcs[] has; see locks.c */

extern const struct lh_func lh_funcs[];
extern const unsigned int lh_nr_funcs;

/*
 * Hooks are switched on and off by group: a family in one mode. As a bit in a
 * mask: BIT(lh_group(...)).
 */
#define LH_NR_GROUPS	(2 * (LOCKHELD_FAMILY_MAX + 1))

static inline unsigned int lh_group(u8 family, u8 mode)
{
	return 2 * family + (mode == LOCKHELD_MODE_WRITE);
}

/* Groups that the filter language knows, as a mask. */
u32 lh_groups(void);

/* Groups of @family that @mode, which may be ANY, speaks of. */
u32 lh_groups_of(u8 family, u8 mode);

bool lh_has_readers(u8 family);

/**
 * enum lh_kind - what handlers need to know of a group
 * @LH_SPINS: its locks cannot be held while a task sleeps, and only the context
 *	that took one releases it
 * @LH_SLEEPS: they can, and an interrupt or another task may release one
 * @LH_NAMED: they can, and name their owner, which alone releases them
 */
enum lh_kind {
	LH_SPINS,
	LH_SLEEPS,
	LH_NAMED,
};

enum lh_kind lh_kind(u8 family, u8 mode);

/* Does the task itself count how deep it is in such a lock? */
bool lh_counted(u8 family, u8 mode);

/* Why this kernel has no way to track a family in a mode, or NULL. */
const char *lh_untracked(u8 family, u8 mode);

/* ---- hook.c: which functions are hooked, and for whom ---- */

/**
 * struct lh_extent - where a function lies
 * @start: first byte, 0 if the kernel does not have it
 * @hook: where its entry is hooked, which may be behind the first instruction
 * @end: behind the last byte
 */
struct lh_extent {
	unsigned long start;
	unsigned long hook;
	unsigned long end;
};

extern struct lh_extent lh_extents[LH_NR_FUNCS];
extern u16 lh_group_gen[LH_NR_GROUPS];

/* Does @ip lie in code of the group that takes a lock or waits for it? */
bool lh_in_lock_function(unsigned int group, unsigned long ip);

/* Locks that a function takes, as its entries have it while hooks are placed. */
union lh_site lh_site_of(const struct lh_func *func, enum lh_state state);

int lh_hooks_init(void);
void lh_hooks_exit(void);

/* Why the groups in @mask cannot be hooked here; NULL if they can. */
const char *lh_hooks_reason(u32 mask);

/* All groups of locks that can be hooked here: what depth counts. */
u32 lh_depth_groups(void);

/* Is the group hooked now? Any context. */
bool lh_group_hooked(unsigned int group);

/* What places hooks on this kernel, and why it and not another. */
const char *lh_hooks_backend(void);
const char *lh_hooks_backend_reason(void);

/**
 * struct lh_wants - what a user wants to know of lock operations
 * @groups: of these groups
 * @lock: of this lock only; by group, 0 for all
 */
struct lh_wants {
	u32 groups;
	unsigned long lock[LH_NR_GROUPS];
};

/* Adds @groups, of which @lock is wanted; 0 for all. */
void lh_wants_add(struct lh_wants *wants, u32 groups, unsigned long lock);

/* Hooks for one more user. Sleeps. On error nothing is hooked. */
int lh_hooks_get(const struct lh_wants *wants);
void lh_hooks_put(const struct lh_wants *wants);

/*
 * The one lock that is wanted of a group, or 0 for all; kept for as long as it
 * has hooks, but that it may become 0.
 */
extern unsigned long lh_only[LH_NR_GROUPS];

/* On when hooks for one lock have to see all. */
DECLARE_STATIC_KEY_FALSE(lh_widened);

/* Does nobody want to know about @lock? */
static inline bool lh_unwanted(unsigned int group, unsigned long lock)
{
	unsigned long only = READ_ONCE(lh_only[group]);

	return only && only != lock;
}

/* Probes that the kernel could not run since the module was loaded. */
u64 lh_hooks_missed(void);

/* ---- hook_kprobe.c: a back end that can look at returns, too ---- */

struct lh_hook;

/*
 * Looks for every function of the table without changing a byte of the
 * kernel's code. An entry of @err becomes 0 (then @addr has its entry point),
 * -ENOENT if the kernel has no such function, or why it cannot be probed.
 */
int lh_kprobe_find(unsigned long addr[], int err[]);

/*
 * Hooks lh_funcs[@func]; @by_return: an acquisition counts when it returns, a
 * wait until then.
 */
struct lh_hook *lh_kprobe_install(unsigned int func, bool by_return);

/* When it is back no handler runs any more, and @hooks are freed. */
void lh_kprobe_remove(struct lh_hook *hooks[], unsigned int nr);
u64 lh_kprobe_missed(const struct lh_hook *hook);

/* ---- hook_ftrace.c: a back end for entries, which costs less ---- */

struct lh_hook_set;

/* Why it cannot be used on this kernel; NULL if it can. */
const char *lh_ftrace_reason(void);

/*
 * Hooks the entries at @ips, @nr of them, of functions that do the same as
 * @func does. @only: for the one lock in lh_only.
 */
struct lh_hook_set *lh_ftrace_install(const struct lh_func *func, bool only,
				      unsigned long ips[], unsigned int nr);

/* When it is back no handler runs any more, and @set is freed. Takes long. */
void lh_ftrace_remove(struct lh_hook_set *set);

/* ---- wait.c: tracepoints of waiting for locks ---- */

/* Does the kernel say when a lock is waited for? */
void lh_wait_init(void);
bool lh_wait_known(void);
int lh_wait_start(void);
void lh_wait_stop(void);

/* Calls @fn for the tracepoint called @name. */
struct tracepoint;
struct tracepoint *lh_find_tracepoint(const char *name);

/* ---- stats.c: counters of the module ---- */

#define LH_STATS(X)							\
	X(stack_full, "locks not seen: too many held at once")		\
	X(records_full, "tasks whose held locks were lost: no record free") \
	X(unmatched, "releases of locks that were not seen being taken") \
	X(repaired, "locks forgotten that had been released unseen")	\
	X(waits, "waits for locks")					\
	X(failed, "waits that ended without the lock")			\
	X(orphan, "samples dropped of an event that lost its filter")

enum lh_stat {
#define X(name, meaning) LH_STAT_##name,
	LH_STATS(X)
#undef X
	LH_NR_STATS
};

DECLARE_PER_CPU(u64 [LH_NR_STATS], lh_stats);
extern const char * const lh_stat_names[LH_NR_STATS];

#define lh_count(name)		this_cpu_inc(lh_stats[LH_STAT_##name])
#define lh_count_add(name, n)	this_cpu_add(lh_stats[LH_STAT_##name], n)

u64 lh_stat_sum(enum lh_stat stat);

/* ---- record.c: where the stacks live ---- */

int lh_records_init(void);
void lh_records_exit(void);

/* To be called with no hook in place. */
int lh_records_start(void);
void lh_records_stop(void);

/* Forgets the locks of groups whose hooks are gone, while others have some. */
void lh_records_forget(u32 groups);

/* The stacks of the running CPU and of its running task. */
struct lh_cpu {
	struct lh_stack *cpu;
	struct lh_stack *task;
};

DECLARE_PER_CPU(struct lh_cpu, lh_cpus);

/* Should acquisitions be timed? Counted: one for each filter that asks. */
DECLARE_STATIC_KEY_FALSE(lh_times);

/* Things that happen to a lock. Any context; preemption is off. */
void lh_acquired(union lh_site site, unsigned long lock, unsigned long ip);
void lh_released(u8 family, unsigned long lock);
void lh_downgraded(union lh_site site, unsigned long lock, unsigned long ip);
void lh_waits(unsigned long lock, bool spins);
void lh_waited(unsigned long lock, int ret);

/* Of the running CPU and task; the second may be NULL. */
struct lh_stack *lh_cpu_stack(void);
struct lh_stack *lh_task_stack(void);

/* Context of the running code. */
static inline u8 lh_context(void)
{
	return lh_context_of(lh_preempt_count());
}

/*
 * lh_acquired() for nearly all acquisitions, with nothing in it that is not
 * needed: of a lock that was not taken by a function that calls another. @kind
 * is a constant.
 */
static __always_inline void lh_push(enum lh_kind kind, union lh_site site,
				    unsigned long lock, unsigned long ip)
{
	struct lh_stack *stack = kind == LH_SPINS ? this_cpu_read(lh_cpus.cpu) :
						    this_cpu_read(lh_cpus.task);
	const struct lh_entry new = {
		.lock = lock,
		.ip = ip,
		.count = lh_preempt_count(),
		/* The function is about to read it: it is there. */
		.seen = kind == LH_NAMED ? 0 : READ_ONCE(*(u32 *)lock),
		.site = site,
	};

	if (static_branch_unlikely(&lh_times) ||
	    unlikely(!lh_stack_push_quick(stack, &new)))
		lh_acquired(site, lock, ip);
}

/* lh_released() for nearly all releases. @kind is a constant. */
static __always_inline void lh_pop(enum lh_kind kind, union lh_site site,
				   unsigned long lock)
{
	struct lh_stack *stack = kind == LH_SPINS ? this_cpu_read(lh_cpus.cpu) :
						    this_cpu_read(lh_cpus.task);

	/* An interrupt may release what the task below it has taken. */
	if (unlikely((kind == LH_SLEEPS &&
		      (lh_preempt_count() & LH_INTERRUPTS)) ||
		     !lh_stack_pop_top(stack, lock)))
		lh_released(site.family, lock);
}

/* ---- owner.c: what a lock itself says ---- */

enum lh_word {
	LH_WORD_MINE,	/* held by the running task */
	LH_WORD_NOT,	/* not held by the running task, or by nobody */
	LH_WORD_SILENT,	/* held by somebody: it does not say by whom */
};

/* Asks a lock. Any context; the address may be bad. */
enum lh_word lh_owner(u8 family, u8 mode, unsigned long lock);

/* Does a lock of the family, held in a mode, name the task that holds it? */
bool lh_owner_named(u8 family, u8 mode);

/* Did a lock that began with @seen have to be waited for? */
bool lh_lock_busy(u8 family, u8 mode, u32 seen);

/*
 * What kinds of lock may lie at @addr, judged by what is in it. @extent as in
 * struct lockheld_insn. Returns a mask of BIT(family) or -EFAULT.
 */
int lh_lock_families(unsigned long addr, u64 extent);

/* ---- lockterm.c: lock_held() of a sample ---- */

/**
 * struct lh_sample - a sample that is being judged
 * @event: what it is a sample of
 * @data: perf's data
 * @regs: registers when it was taken
 * @root: the event @event was inherited from, or itself
 * @context: of the code that was sampled, not of the sampling
 * @held_ns: longest time that a lock of the last lock term has been held
 * @uncertain: a lock might be held, or be waited for
 * @cpu_matched: entries of the CPU's stack that made a term true
 * @task_matched: likewise, of the task's stack
 * @owned: locks seen by a word, not by a hook, that made a term true
 * @nr_owned: entries in @owned
 */
struct lh_sample {
	struct perf_event *event;
	struct perf_sample_data *data;
	struct pt_regs *regs;
	struct perf_event *root;
	u64 held_ns;
	u8 context;
	bool uncertain;
	u8 nr_owned;
	DECLARE_BITMAP(cpu_matched, LH_STACK_DEPTH);
	DECLARE_BITMAP(task_matched, LH_STACK_DEPTH);
	struct {
		unsigned long lock;
		u8 family;
		u8 mode;
	} owned[4];
};

/*
 * Chooses how a lock term is answered on this kernel, and adds to @wants what
 * must be hooked for it. Keeps what it finds out in @insn, see lockterm.c.
 * Returns 0, -EFAULT or -EOPNOTSUPP with a sentence in @msg.
 */
int lh_lock_resolve(struct lockheld_insn *insn, struct lh_wants *wants,
		    const char **msg);

/* Of a resolved term. */
enum lockheld_mechanism lh_lock_mechanism(const struct lockheld_insn *insn);

/* Its family, or NONE if there is more than one. */
u8 lh_lock_term_family(const struct lockheld_insn *insn);

/* Is a family one of locks, which depth counts? */
bool lh_is_lock(u8 family);

bool lh_entry_holds(struct lh_sample *sample, struct lh_stack *stack,
		    unsigned int i);
unsigned int lh_depth(struct lh_sample *sample);

/* ---- sample.c: the held locks behind a sample's raw data ---- */

/* Calls @handler with the record of the locks held added to the sample. */
void lh_sample_output(struct lh_sample *sample, u32 filter,
		      perf_overflow_handler_t handler);

/* ---- event.c: filters and the events they are attached to ---- */

struct lh_filter;
struct net;

/**
 * struct lh_filter_info - what is known of a filter
 */
struct lh_filter_info {
	u32 id;
	u32 flags;
	u32 nr_events;
	u32 nr_insns;
	pid_t owner;
	const char *text;
	const struct lockheld_insn *insns;
	u64 evaluated;
	u64 passed;
	u64 dropped;
	u64 uncertain;
};

int lh_events_init(void);
void lh_events_exit(void);

/*
 * Takes over nothing: @insns and @text are copied. On error *@msg says why, and
 * *@at is the instruction at fault if it is one's. Returns the new filter's id
 * or an error.
 */
int lh_filter_add(const struct lockheld_insn *insns, unsigned int nr,
		  const char *text, u32 flags, struct net *net, u32 portid,
		  unsigned int *at, const char **msg);
int lh_filter_attach(u32 id, int fd, const char **msg);
int lh_filter_del(u32 id);

/* Deletes what a closed socket leaves. */
void lh_filters_release(struct net *net, u32 portid);

/* Calls @fn for the first filter whose id is at least @id, if there is one. */
int lh_filter_next(u32 id, int (*fn)(const struct lh_filter_info *, void *),
		   void *arg);

/* lh_hooks_missed() under the lock that it needs. */
u64 lh_missed(void);

/* ---- netlink.c ---- */

int lh_netlink_init(void);
void lh_netlink_exit(void);

/*
 * Tells who listens in @net that a filter was deleted, or with @module, that its
 * lock went. @cmd: of enum lockheld_cmd. Sleeps.
 */
void lh_netlink_notify(struct net *net, u8 cmd, u32 filter, const char *module);

/* ---- slab.c: names of objects ---- */

int lh_slab_init(void);

/* Name of the slab cache whose object holds @addr. -ENOENT if there is none. */
int lh_slab_name(unsigned long addr, char *buf, size_t size);

#endif /* LH_LOCKHELD_H */
