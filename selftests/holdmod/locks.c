// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks: global ones, ones inside slab objects, and the task's own.
 *
 * Each has its own lockdep class, since scripts nest them. Locks that
 * interrupts take are not the ones that tasks take with interrupts on.
 */
#include <linux/lockdep.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>

#include "holdmod.h"

DEFINE_WD_CLASS(hm_ww_class);

static DEFINE_MUTEX(holdmod_mutex);
static DECLARE_RWSEM(holdmod_rwsem);
static DEFINE_SPINLOCK(holdmod_spinlock);
static DEFINE_RWLOCK(holdmod_rwlock);
static DEFINE_RT_MUTEX(holdmod_rt_mutex);
DEFINE_STATIC_PERCPU_RWSEM(holdmod_percpu_rwsem);
static struct semaphore holdmod_semaphore =
	__SEMAPHORE_INITIALIZER(holdmod_semaphore, 1);
/* Several may hold it, and one several times. */
static struct semaphore holdmod_semaphores =
	__SEMAPHORE_INITIALIZER(holdmod_semaphores, 100);
DEFINE_STATIC_SRCU(holdmod_srcu);
DEFINE_STATIC_SRCU(holdmod_srcu2);
/* The kernel wants no other readers than these in such a domain. */
DEFINE_STATIC_SRCU(holdmod_srcu_nmi);
static DEFINE_RAW_SPINLOCK(holdmod_raw_spinlock);
static struct ww_mutex holdmod_ww_mutex;

static DEFINE_SPINLOCK(holdmod_soft_spinlock);
static DEFINE_RWLOCK(holdmod_soft_rwlock);
static DEFINE_SPINLOCK(holdmod_hard_spinlock);
static DEFINE_RWLOCK(holdmod_hard_rwlock);
static DEFINE_RAW_SPINLOCK(holdmod_hard_raw_spinlock);

struct hm_object {
	struct mutex mutex;
	struct rw_semaphore rwsem;
	spinlock_t spinlock;
	rwlock_t rwlock;
	struct rt_mutex rt_mutex;
	struct percpu_rw_semaphore percpu_rwsem;
	struct semaphore semaphore;
	struct srcu_struct srcu;
	raw_spinlock_t raw_spinlock;
	struct ww_mutex ww_mutex;
};

/* Objects of two caches: of the second there is one. */
#define ALL_OBJECTS	(HM_OBJECTS + 1)

static struct lock_class_key object_keys[ALL_OBJECTS][HM_NR_FAMILIES];
static struct kmem_cache *object_cache, *other_cache;
static struct hm_object *objects[ALL_OBJECTS];

/* As lockheld's filters call them. */
const char * const hm_family_names[] = {
	[HM_NO_FAMILY]	  = "none",
	[HM_MUTEX]	  = "mutex",
	[HM_RWSEM]	  = "rwsem",
	[HM_SPINLOCK]	  = "spinlock",
	[HM_RWLOCK]	  = "rwlock",
	[HM_RT_MUTEX]	  = "rt-mutex",
	[HM_PERCPU_RWSEM] = "percpu-rwsem",
	[HM_SEMAPHORE]	  = "semaphore",
	[HM_SRCU]	  = "srcu",
	[HM_RCU]	  = "rcu",
	[HM_RCU_TRACE]	  = "rcu-trace",
	[HM_RAW_SPINLOCK] = "raw-spinlock",
	[HM_WW_MUTEX]	  = "mutex",
};

/* As scripts call the global lock of each kind. */
const char * const hm_kind_names[] = {
	[HM_NO_FAMILY]	  = "none",
	[HM_MUTEX]	  = "mutex",
	[HM_RWSEM]	  = "rwsem",
	[HM_SPINLOCK]	  = "spinlock",
	[HM_RWLOCK]	  = "rwlock",
	[HM_RT_MUTEX]	  = "rt_mutex",
	[HM_PERCPU_RWSEM] = "percpu_rwsem",
	[HM_SEMAPHORE]	  = "semaphore",
	[HM_SRCU]	  = "srcu",
	[HM_RCU]	  = "rcu",
	[HM_RCU_TRACE]	  = "rcu_trace",
	[HM_RAW_SPINLOCK] = "raw_spinlock",
	[HM_WW_MUTEX]	  = "ww_mutex",
};

static void *find_mmap_lock(void)
{
	return current->mm ? &current->mm->mmap_lock : NULL;
}

static void *find_siglock(void)
{
	/* A task that runs keeps its sighand */
	return &rcu_dereference_raw(current->sighand)->siglock;
}

/* RCU is not a lock; all readers and those who wait for them share it. */
static void *find_rcu(void)
{
	static char rcu;

	return &rcu;
}

#define NR_FIXED 22

/* The locks of the objects follow the fixed ones. */
struct hm_lock hm_locks[NR_FIXED + HM_NR_FAMILIES * ALL_OBJECTS] = {
	{ "mutex", HM_MUTEX, &holdmod_mutex },
	{ "rwsem", HM_RWSEM, &holdmod_rwsem },
	{ "spinlock", HM_SPINLOCK, &holdmod_spinlock },
	{ "rwlock", HM_RWLOCK, &holdmod_rwlock },
	{ "rt_mutex", HM_RT_MUTEX, &holdmod_rt_mutex },
	{ "percpu_rwsem", HM_PERCPU_RWSEM, &holdmod_percpu_rwsem },
	{ "semaphore", HM_SEMAPHORE, &holdmod_semaphore },
	{ "semaphores", HM_SEMAPHORE, &holdmod_semaphores },
	{ "srcu", HM_SRCU, &holdmod_srcu },
	{ "srcu2", HM_SRCU, &holdmod_srcu2 },
	{ "srcu_nmi", HM_SRCU, &holdmod_srcu_nmi },
	{ "raw_spinlock", HM_RAW_SPINLOCK, &holdmod_raw_spinlock },
	{ "ww_mutex", HM_WW_MUTEX, &holdmod_ww_mutex },
	{ "soft_spinlock", HM_SPINLOCK, &holdmod_soft_spinlock },
	{ "soft_rwlock", HM_RWLOCK, &holdmod_soft_rwlock },
	{ "hard_spinlock", HM_SPINLOCK, &holdmod_hard_spinlock },
	{ "hard_rwlock", HM_RWLOCK, &holdmod_hard_rwlock },
	{ "hard_raw_spinlock", HM_RAW_SPINLOCK, &holdmod_hard_raw_spinlock },
	{ "mmap_lock", HM_RWSEM, NULL, find_mmap_lock },
	{ "siglock", HM_SPINLOCK, NULL, find_siglock },
	{ "rcu", HM_RCU, NULL, find_rcu },
	{ "rcu_trace", HM_RCU_TRACE, NULL, find_rcu },
};

const unsigned int hm_nr_locks = ARRAY_SIZE(hm_locks);

struct hm_lock *hm_lock_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < hm_nr_locks; i++)
		if (!strcmp(hm_locks[i].name, name))
			return &hm_locks[i];
	return NULL;
}

/* object 0 to HM_OBJECTS - 1: obj0.mutex ...; the last: other.mutex ... */
static void name_object_lock(unsigned int object, enum hm_family family,
			     void *addr)
{
	const char *name = hm_kind_names[family];
	struct hm_lock *lock =
		&hm_locks[NR_FIXED + HM_NR_FAMILIES * object + family];

	if (object < HM_OBJECTS)
		snprintf(lock->name, sizeof(lock->name), "obj%u.%s", object,
			 name);
	else
		snprintf(lock->name, sizeof(lock->name), "other.%s", name);
	lock->family = family;
	lock->addr = addr;
}

/* Locks that the kernel must be asked for; the others come afterwards. */
static int init_or_fail(struct hm_object *obj)
{
	int err = percpu_init_rwsem(&obj->percpu_rwsem);

	if (err)
		return err;
	err = init_srcu_struct(&obj->srcu);
	if (err)
		percpu_free_rwsem(&obj->percpu_rwsem);
	return err;
}

static int object_init(unsigned int i, struct kmem_cache *cache)
{
	struct hm_object *obj = kmem_cache_alloc(cache, GFP_KERNEL);
	struct lock_class_key *keys = object_keys[i];
	int err;

	if (!obj)
		return -ENOMEM;
	err = init_or_fail(obj);
	if (err) {
		kmem_cache_free(cache, obj);
		return err;
	}
	objects[i] = obj;
	mutex_init(&obj->mutex);
	lockdep_set_class(&obj->mutex, &keys[HM_MUTEX]);
	init_rwsem(&obj->rwsem);
	lockdep_set_class(&obj->rwsem, &keys[HM_RWSEM]);
	spin_lock_init(&obj->spinlock);
	lockdep_set_class(&obj->spinlock, &keys[HM_SPINLOCK]);
	rwlock_init(&obj->rwlock);
	lockdep_set_class(&obj->rwlock, &keys[HM_RWLOCK]);
	rt_mutex_init(&obj->rt_mutex);
	lockdep_set_class(&obj->rt_mutex, &keys[HM_RT_MUTEX]);
	lockdep_set_class(&obj->percpu_rwsem, &keys[HM_PERCPU_RWSEM]);
	sema_init(&obj->semaphore, 1);
	raw_spin_lock_init(&obj->raw_spinlock);
	lockdep_set_class(&obj->raw_spinlock, &keys[HM_RAW_SPINLOCK]);
	ww_mutex_init(&obj->ww_mutex, &hm_ww_class);
	name_object_lock(i, HM_MUTEX, &obj->mutex);
	name_object_lock(i, HM_RWSEM, &obj->rwsem);
	name_object_lock(i, HM_SPINLOCK, &obj->spinlock);
	name_object_lock(i, HM_RWLOCK, &obj->rwlock);
	name_object_lock(i, HM_RT_MUTEX, &obj->rt_mutex);
	name_object_lock(i, HM_PERCPU_RWSEM, &obj->percpu_rwsem);
	name_object_lock(i, HM_SEMAPHORE, &obj->semaphore);
	name_object_lock(i, HM_SRCU, &obj->srcu);
	name_object_lock(i, HM_RAW_SPINLOCK, &obj->raw_spinlock);
	name_object_lock(i, HM_WW_MUTEX, &obj->ww_mutex);
	return 0;
}

static void object_exit(unsigned int i, struct kmem_cache *cache)
{
	if (!objects[i])
		return;
	cleanup_srcu_struct(&objects[i]->srcu);
	percpu_free_rwsem(&objects[i]->percpu_rwsem);
	kmem_cache_free(cache, objects[i]);
}

/* A cache with a constructor is not merged with others, so keeps its name. */
static void object_ctor(void *obj)
{
	memset(obj, 0, sizeof(struct hm_object));
}

int hm_locks_init(void)
{
	unsigned int i;
	int err = 0;

	ww_mutex_init(&holdmod_ww_mutex, &hm_ww_class);
	object_cache = kmem_cache_create("holdmod_obj",
					 sizeof(struct hm_object), 0, 0,
					 object_ctor);
	other_cache = kmem_cache_create("holdmod_other",
					sizeof(struct hm_object), 0, 0,
					object_ctor);
	if (!object_cache || !other_cache)
		err = -ENOMEM;
	for (i = 0; i < HM_OBJECTS && !err; i++)
		err = object_init(i, object_cache);
	if (!err)
		err = object_init(HM_OBJECTS, other_cache);
	if (err)
		hm_locks_exit();
	return err;
}

void hm_locks_exit(void)
{
	unsigned int i;

	for (i = 0; i < HM_OBJECTS; i++)
		object_exit(i, object_cache);
	object_exit(HM_OBJECTS, other_cache);
	kmem_cache_destroy(object_cache);
	kmem_cache_destroy(other_cache);
}
