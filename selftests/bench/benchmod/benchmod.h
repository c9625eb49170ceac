/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCHMOD_H
#define BENCHMOD_H

#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define BM_DEPTH	16	/* locks of a kind, to be nested */
#define BM_CPUS		8

/* One of each kind, for a CPU; nobody else uses them, so nothing ever waits. */
struct bm_locks {
	struct mutex mutex;
	struct rw_semaphore rwsem;
	spinlock_t spinlock;
	rwlock_t rwlock;
	struct rt_mutex rt_mutex;
	struct semaphore semaphore;
	struct mutex mutexes[BM_DEPTH];
	spinlock_t spinlocks[BM_DEPTH];
} ____cacheline_aligned;

/**
 * struct bm_op - something to be counted
 * @name: as a user writes it
 * @fn: does it @n times
 */
struct bm_op {
	const char *name;
	void (*fn)(struct bm_locks *l, unsigned int n);
};

extern const struct bm_op bm_ops[];
extern const unsigned int bm_nr_ops;
extern struct bm_locks bm_locks[BM_CPUS];

void bm_ops_init(void);

/* The perf events whose handlers the sample operations call. */
int bm_event_set(int fd);
void bm_events_put(void);
bool bm_events_known(void);

enum bm_holds { BM_NONE, BM_MUTEXES, BM_SPINLOCK };

/* Calls the handler of the event without or with raw data, or an empty one. */
void bm_samples(struct bm_locks *l, unsigned int n, enum bm_holds holds,
		int depth, bool raw);
void bm_samples_empty(struct bm_locks *l, unsigned int n);

#endif /* BENCHMOD_H */
