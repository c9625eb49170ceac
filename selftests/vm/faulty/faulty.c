// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes each kind of mistake that the debugging kernel is there to find, and
 * then cannot be loaded. If one of them goes unnoticed, the kernel or the VM
 * runner is at fault, and a quiet log means nothing.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

/* volatile, so that the compiler cannot see what it comes to */
static volatile int shift = 40;
static void *volatile leaked;

static void use_after_free(void)
{
	char *volatile p = kmalloc(40, GFP_KERNEL);

	kfree(p);
	if (p)
		pr_info("a freed byte: %d\n", p[3]);
}

static void shift_too_far(void)
{
	pr_info("shifted too far: %d\n", 1 << shift);
}

static void leak(void)
{
	leaked = kmalloc(2000, GFP_KERNEL);
	leaked = NULL;
}

static void sleep_under_spinlock(void)
{
	spin_lock(&spin);
	msleep(1);
	spin_unlock(&spin);
}

static void lock_in_both_orders(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

/* lockdep falls silent after any report, its own or another's: it comes first */
static int __init faulty_init(void)
{
	lock_in_both_orders();
	leak();
	use_after_free();
	shift_too_far();
	sleep_under_spinlock();
	return -ECANCELED;
}
module_init(faulty_init);

MODULE_DESCRIPTION("Mistakes that a debugging kernel must notice");
MODULE_LICENSE("GPL");
