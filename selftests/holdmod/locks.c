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
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "holdmod.h"

static DEFINE_MUTEX(holdmod_mutex);
static DECLARE_RWSEM(holdmod_rwsem);
static DEFINE_SPINLOCK(holdmod_spinlock);
static DEFINE_RWLOCK(holdmod_rwlock);

static DEFINE_SPINLOCK(holdmod_soft_spinlock);
static DEFINE_RWLOCK(holdmod_soft_rwlock);
static DEFINE_SPINLOCK(holdmod_hard_spinlock);
static DEFINE_RWLOCK(holdmod_hard_rwlock);

struct hm_object {
	struct mutex mutex;
	struct rw_semaphore rwsem;
	spinlock_t spinlock;
	rwlock_t rwlock;
};

static struct lock_class_key object_keys[HM_OBJECTS][4];
static struct kmem_cache *object_cache;
static struct hm_object *objects[HM_OBJECTS];

const char * const hm_family_names[] = {
	[HM_NO_FAMILY]	= "none",
	[HM_MUTEX]	= "mutex",
	[HM_RWSEM]	= "rwsem",
	[HM_SPINLOCK]	= "spinlock",
	[HM_RWLOCK]	= "rwlock",
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

#define NR_FIXED 10

/* The locks of the objects follow the fixed ones. */
struct hm_lock hm_locks[NR_FIXED + 4 * HM_OBJECTS] = {
	{ "mutex", HM_MUTEX, &holdmod_mutex },
	{ "rwsem", HM_RWSEM, &holdmod_rwsem },
	{ "spinlock", HM_SPINLOCK, &holdmod_spinlock },
	{ "rwlock", HM_RWLOCK, &holdmod_rwlock },
	{ "soft_spinlock", HM_SPINLOCK, &holdmod_soft_spinlock },
	{ "soft_rwlock", HM_RWLOCK, &holdmod_soft_rwlock },
	{ "hard_spinlock", HM_SPINLOCK, &holdmod_hard_spinlock },
	{ "hard_rwlock", HM_RWLOCK, &holdmod_hard_rwlock },
	{ "mmap_lock", HM_RWSEM, NULL, find_mmap_lock },
	{ "siglock", HM_SPINLOCK, NULL, find_siglock },
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

static void name_object_lock(unsigned int object, enum hm_family family,
			     void *addr)
{
	struct hm_lock *lock = &hm_locks[NR_FIXED + 4 * object + family - 1];

	snprintf(lock->name, sizeof(lock->name), "obj%u.%s", object,
		 hm_family_names[family]);
	lock->family = family;
	lock->addr = addr;
}

static int object_init(unsigned int i)
{
	struct hm_object *obj = kmem_cache_alloc(object_cache, GFP_KERNEL);

	if (!obj)
		return -ENOMEM;
	objects[i] = obj;
	mutex_init(&obj->mutex);
	lockdep_set_class(&obj->mutex, &object_keys[i][0]);
	init_rwsem(&obj->rwsem);
	lockdep_set_class(&obj->rwsem, &object_keys[i][1]);
	spin_lock_init(&obj->spinlock);
	lockdep_set_class(&obj->spinlock, &object_keys[i][2]);
	rwlock_init(&obj->rwlock);
	lockdep_set_class(&obj->rwlock, &object_keys[i][3]);
	name_object_lock(i, HM_MUTEX, &obj->mutex);
	name_object_lock(i, HM_RWSEM, &obj->rwsem);
	name_object_lock(i, HM_SPINLOCK, &obj->spinlock);
	name_object_lock(i, HM_RWLOCK, &obj->rwlock);
	return 0;
}

/* A cache with a constructor is not merged with others, so keeps its name. */
static void object_ctor(void *obj)
{
	memset(obj, 0, sizeof(struct hm_object));
}

int hm_locks_init(void)
{
	unsigned int i;
	int err;

	object_cache = kmem_cache_create("holdmod_obj",
					 sizeof(struct hm_object), 0, 0,
					 object_ctor);
	if (!object_cache)
		return -ENOMEM;
	for (i = 0; i < HM_OBJECTS; i++) {
		err = object_init(i);
		if (err) {
			hm_locks_exit();
			return err;
		}
	}
	return 0;
}

void hm_locks_exit(void)
{
	unsigned int i;

	for (i = 0; i < HM_OBJECTS; i++)
		if (objects[i])
			kmem_cache_free(object_cache, objects[i]);
	kmem_cache_destroy(object_cache);
}
