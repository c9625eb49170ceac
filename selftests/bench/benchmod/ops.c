// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations. A name begins with the lock's family; "hit" is a lock with a
 * symbol of its own, which a filter can name, and all others are not that one.
 */
#include <linux/percpu-rwsem.h>
#include <linux/rcupdate.h>
#include <linux/srcu.h>

#include "benchmod.h"

struct bm_locks bm_locks[BM_CPUS];

static DEFINE_MUTEX(benchmod_mutex);
static DECLARE_RWSEM(benchmod_rwsem);
static DEFINE_SPINLOCK(benchmod_spinlock);
DEFINE_STATIC_PERCPU_RWSEM(percpu_rwsem);
DEFINE_STATIC_SRCU(srcu);

#define OP(name, ...)							\
static void name(struct bm_locks *l, unsigned int n)			\
{									\
	unsigned long flags __maybe_unused;				\
	int ret __maybe_unused;						\
									\
	while (n--) {							\
		barrier();						\
		__VA_ARGS__						\
	}								\
}

OP(empty)

OP(mutex_pair,
	mutex_lock(&l->mutex);
	mutex_unlock(&l->mutex);)
OP(mutex_hit,
	mutex_lock(&benchmod_mutex);
	mutex_unlock(&benchmod_mutex);)
OP(mutex_killable,
	ret = mutex_lock_killable(&l->mutex);
	mutex_unlock(&l->mutex);)
OP(mutex_try,
	ret = mutex_trylock(&l->mutex);
	mutex_unlock(&l->mutex);)

OP(rwsem_read,
	down_read(&l->rwsem);
	up_read(&l->rwsem);)
OP(rwsem_read_hit,
	down_read(&benchmod_rwsem);
	up_read(&benchmod_rwsem);)
OP(rwsem_read_try,
	ret = down_read_trylock(&l->rwsem);
	up_read(&l->rwsem);)
OP(rwsem_write,
	down_write(&l->rwsem);
	up_write(&l->rwsem);)
OP(rwsem_write_hit,
	down_write(&benchmod_rwsem);
	up_write(&benchmod_rwsem);)
OP(rwsem_write_try,
	ret = down_write_trylock(&l->rwsem);
	up_write(&l->rwsem);)
OP(rwsem_downgrade,
	down_write(&l->rwsem);
	downgrade_write(&l->rwsem);
	up_read(&l->rwsem);)

OP(spinlock_pair,
	spin_lock(&l->spinlock);
	spin_unlock(&l->spinlock);)
OP(spinlock_hit,
	spin_lock(&benchmod_spinlock);
	spin_unlock(&benchmod_spinlock);)
OP(spinlock_irqsave,
	spin_lock_irqsave(&l->spinlock, flags);
	spin_unlock_irqrestore(&l->spinlock, flags);)
OP(spinlock_try,
	ret = spin_trylock(&l->spinlock);
	spin_unlock(&l->spinlock);)

OP(rwlock_read,
	read_lock(&l->rwlock);
	read_unlock(&l->rwlock);)
OP(rwlock_read_irqsave,
	read_lock_irqsave(&l->rwlock, flags);
	read_unlock_irqrestore(&l->rwlock, flags);)
OP(rwlock_write,
	write_lock(&l->rwlock);
	write_unlock(&l->rwlock);)
OP(rwlock_write_irqsave,
	write_lock_irqsave(&l->rwlock, flags);
	write_unlock_irqrestore(&l->rwlock, flags);)

OP(rt_mutex_pair,
	rt_mutex_lock(&l->rt_mutex);
	rt_mutex_unlock(&l->rt_mutex);)
OP(percpu_rwsem_write,
	percpu_down_write(&percpu_rwsem);
	percpu_up_write(&percpu_rwsem);)
OP(semaphore_pair,
	down(&l->semaphore);
	up(&l->semaphore);)
OP(srcu_read,
	ret = srcu_read_lock(&srcu);
	srcu_read_unlock(&srcu, ret);)
OP(rcu_read,
	rcu_read_lock();
	rcu_read_unlock();)

#define NESTED(name, depth, lock, unlock, locks)			\
static void name(struct bm_locks *l, unsigned int n)			\
{									\
	int i;								\
									\
	while (n--) {							\
		for (i = 0; i < (depth); i++)				\
			lock(&l->locks[i]);				\
		for (i = (depth) - 1; i >= 0; i--)			\
			unlock(&l->locks[i]);				\
	}								\
}

NESTED(mutex_nested4, 4, mutex_lock, mutex_unlock, mutexes)
NESTED(mutex_nested16, 16, mutex_lock, mutex_unlock, mutexes)
NESTED(spinlock_nested4, 4, spin_lock, spin_unlock, spinlocks)
NESTED(spinlock_nested16, 16, spin_lock, spin_unlock, spinlocks)

#define SAMPLE(name, holds, depth, raw)					\
static void name(struct bm_locks *l, unsigned int n)			\
{									\
	bm_samples(l, n, holds, depth, raw);				\
}

SAMPLE(sample_none, BM_NONE, 0, false)
SAMPLE(sample_mutex1, BM_MUTEXES, 1, false)
SAMPLE(sample_mutex4, BM_MUTEXES, 4, false)
SAMPLE(sample_mutex16, BM_MUTEXES, 16, false)
SAMPLE(sample_spinlock1, BM_SPINLOCK, 1, false)
SAMPLE(raw_none, BM_NONE, 0, true)
SAMPLE(raw_mutex1, BM_MUTEXES, 1, true)
SAMPLE(raw_mutex4, BM_MUTEXES, 4, true)
SAMPLE(raw_mutex16, BM_MUTEXES, 16, true)
SAMPLE(raw_spinlock1, BM_SPINLOCK, 1, true)

const struct bm_op bm_ops[] = {
	{ "empty", empty },
	{ "mutex", mutex_pair },
	{ "mutex_hit", mutex_hit },
	{ "mutex_killable", mutex_killable },
	{ "mutex_try", mutex_try },
	{ "mutex_nested4", mutex_nested4 },
	{ "mutex_nested16", mutex_nested16 },
	{ "rwsem_read", rwsem_read },
	{ "rwsem_read_hit", rwsem_read_hit },
	{ "rwsem_read_try", rwsem_read_try },
	{ "rwsem_write", rwsem_write },
	{ "rwsem_write_hit", rwsem_write_hit },
	{ "rwsem_write_try", rwsem_write_try },
	{ "rwsem_downgrade", rwsem_downgrade },
	{ "spinlock", spinlock_pair },
	{ "spinlock_hit", spinlock_hit },
	{ "spinlock_irqsave", spinlock_irqsave },
	{ "spinlock_try", spinlock_try },
	{ "spinlock_nested4", spinlock_nested4 },
	{ "spinlock_nested16", spinlock_nested16 },
	{ "rwlock_read", rwlock_read },
	{ "rwlock_read_irqsave", rwlock_read_irqsave },
	{ "rwlock_write", rwlock_write },
	{ "rwlock_write_irqsave", rwlock_write_irqsave },
	{ "rt_mutex", rt_mutex_pair },
	{ "percpu_rwsem_write", percpu_rwsem_write },
	{ "semaphore", semaphore_pair },
	{ "srcu_read", srcu_read },
	{ "rcu_read", rcu_read },
	{ "sample_empty", bm_samples_empty },
	{ "sample_none", sample_none },
	{ "sample_mutex1", sample_mutex1 },
	{ "sample_mutex4", sample_mutex4 },
	{ "sample_mutex16", sample_mutex16 },
	{ "sample_spinlock1", sample_spinlock1 },
	{ "raw_none", raw_none },
	{ "raw_mutex1", raw_mutex1 },
	{ "raw_mutex4", raw_mutex4 },
	{ "raw_mutex16", raw_mutex16 },
	{ "raw_spinlock1", raw_spinlock1 },
};

const unsigned int bm_nr_ops = ARRAY_SIZE(bm_ops);

void bm_ops_init(void)
{
	unsigned int cpu, i;

	for (cpu = 0; cpu < BM_CPUS; cpu++) {
		struct bm_locks *l = &bm_locks[cpu];

		mutex_init(&l->mutex);
		init_rwsem(&l->rwsem);
		spin_lock_init(&l->spinlock);
		rwlock_init(&l->rwlock);
		rt_mutex_init(&l->rt_mutex);
		sema_init(&l->semaphore, 1);
		for (i = 0; i < BM_DEPTH; i++) {
			mutex_init(&l->mutexes[i]);
			spin_lock_init(&l->spinlocks[i]);
		}
	}
}
