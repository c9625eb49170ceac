// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the instructions of lock operations, in a VM whose time stamp counter
 * counts instructions. In debugfs, folder benchmod:
 *
 *	run	write "OPERATION COUNT [CPUS]"; then read how many instructions
 *		that took on all CPUs together
 *	ops	the operations
 *	event	write the number of a perf event's descriptor: sample operations
 *		call its overflow handler
 *	hold	write anything: sleeps with a mutex held until a signal comes
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "benchmod.h"

/**
 * struct bm_run - a run of an operation
 * @op: the operation
 * @n: times, on each CPU
 * @cpus: CPUs, all at the same time
 * @ready: CPUs that are about to begin
 * @over: CPUs that have finished
 * @left: CPUs whose threads have not
 * @done: all have
 * @from: when each CPU began
 * @to: when each CPU finished
 */
struct bm_run {
	const struct bm_op *op;
	unsigned int n;
	unsigned int cpus;
	atomic_t ready;
	atomic_t over;
	atomic_t left;
	struct completion done;
	cycles_t from[BM_CPUS];
	cycles_t to[BM_CPUS];
};

static struct bm_run run;
static unsigned long busy;	/* no lock: samples would see it held */
static cycles_t result;
static struct dentry *dir;

static const struct bm_op *op_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < bm_nr_ops; i++) {
		if (!strcmp(bm_ops[i].name, name))
			return &bm_ops[i];
	}
	return NULL;
}

static void meet(atomic_t *here)
{
	atomic_inc(here);
	while (atomic_read(here) < run.cpus)
		cpu_relax();
}

static int run_on_cpu(void *data)
{
	unsigned int i = (unsigned long)data;
	unsigned long flags;

	/* The first few times may set up what later ones find. */
	run.op->fn(&bm_locks[i], 4);
	local_irq_save(flags);
	meet(&run.ready);
	run.from[i] = get_cycles();
	run.op->fn(&bm_locks[i], run.n);
	run.to[i] = get_cycles();
	/* Whoever goes to sleep would be counted with those that go on. */
	meet(&run.over);
	local_irq_restore(flags);
	if (atomic_dec_and_test(&run.left))
		complete(&run.done);
	return 0;
}

static int run_on_cpus(void)
{
	struct task_struct *threads[BM_CPUS];
	unsigned int i, nr;

	for (nr = 0; nr < run.cpus; nr++) {
		threads[nr] = kthread_create_on_cpu(run_on_cpu,
						    (void *)(long)nr, nr,
						    "benchmod/%u");
		if (!IS_ERR(threads[nr]))
			continue;
		for (i = 0; i < nr; i++)
			kthread_stop(threads[i]);
		return PTR_ERR(threads[nr]);
	}
	for (i = 0; i < nr; i++)
		wake_up_process(threads[i]);
	wait_for_completion(&run.done);
	return 0;
}

/* From the first one's beginning to the last one's end. */
static cycles_t duration(void)
{
	cycles_t from = run.from[0], to = run.to[0];
	unsigned int i;

	for (i = 1; i < run.cpus; i++) {
		from = min(from, run.from[i]);
		to = max(to, run.to[i]);
	}
	return to - from;
}

static int run_now(const struct bm_op *op, unsigned int n, unsigned int cpus)
{
	int err = 0;

	run.op = op;
	run.n = n;
	run.cpus = cpus;
	atomic_set(&run.ready, 0);
	atomic_set(&run.over, 0);
	atomic_set(&run.left, cpus);
	init_completion(&run.done);
	if (cpus > 1)
		err = run_on_cpus();
	else
		run_on_cpu(NULL);
	if (!err)
		result = duration();
	return err;
}

static int copy_text(char *text, size_t size, const char __user *buf,
		     size_t len)
{
	if (len >= size)
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = 0;
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len,
			 loff_t *pos)
{
	unsigned int n, cpus = 1;
	const struct bm_op *op;
	char text[64], name[32];
	int err;

	err = copy_text(text, sizeof(text), buf, len);
	if (err)
		return err;
	if (sscanf(text, "%31s %u %u", name, &n, &cpus) < 2 || !cpus ||
	    cpus > min_t(unsigned int, BM_CPUS, num_online_cpus()))
		return -EINVAL;
	op = op_find(name);
	if (!op)
		return -ENOENT;
	if (test_and_set_bit(0, &busy))
		return -EBUSY;
	if (!bm_events_known() &&
	    (strstarts(name, "sample") || strstarts(name, "raw")))
		err = -ENXIO;
	else
		err = run_now(op, n, cpus);
	clear_bit(0, &busy);
	return err ?: len;
}

static ssize_t run_read(struct file *file, char __user *buf, size_t len,
			loff_t *pos)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu\n", (u64)result);

	return simple_read_from_buffer(buf, len, pos, text, n);
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
	.read = run_read,
};

static ssize_t event_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	char text[16];
	int fd, err;

	err = copy_text(text, sizeof(text), buf, len);
	if (err)
		return err;
	err = kstrtoint(strim(text), 10, &fd);
	if (err)
		return err;
	if (test_and_set_bit(0, &busy))
		return -EBUSY;
	err = bm_event_set(fd);
	clear_bit(0, &busy);
	return err ?: len;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.write = event_write,
};

static ssize_t hold_write(struct file *file, const char __user *buf, size_t len,
			  loff_t *pos)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(never);
	struct mutex *mutex = kmalloc(sizeof(*mutex), GFP_KERNEL);
	int err;

	if (!mutex)
		return -ENOMEM;
	mutex_init(mutex);
	mutex_lock(mutex);
	err = wait_event_interruptible(never, false);
	mutex_unlock(mutex);
	kfree(mutex);
	return err;
}

static const struct file_operations hold_fops = {
	.owner = THIS_MODULE,
	.write = hold_write,
};

static int ops_show(struct seq_file *seq, void *v)
{
	unsigned int i;

	for (i = 0; i < bm_nr_ops; i++)
		seq_printf(seq, "%s\n", bm_ops[i].name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ops);

static int __init benchmod_init(void)
{
	bm_ops_init();
	dir = debugfs_create_dir("benchmod", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &run_fops);
	debugfs_create_file("event", 0200, dir, NULL, &event_fops);
	debugfs_create_file("hold", 0200, dir, NULL, &hold_fops);
	debugfs_create_file("ops", 0400, dir, NULL, &ops_fops);
	return PTR_ERR_OR_ZERO(dir);
}

static void __exit benchmod_exit(void)
{
	debugfs_remove(dir);
	bm_events_put();
}

module_init(benchmod_init);
module_exit(benchmod_exit);
MODULE_DESCRIPTION("lock operations, to be counted");
MODULE_LICENSE("GPL");
