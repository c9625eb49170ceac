// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files in debugfs, folder holdmod:
 *
 *	run	write a script; the write returns when it has run
 *	reset	write anything to forget ticks, holds, counts and posts
 *	ticks	the log of ticks
 *	holds	the log of holds
 *	counts	what was done, as "WHAT WHICH COUNT"
 *	locks	the locks, as "NAME FAMILY ADDRESS"
 *	ops	the lock functions, as "NAME LOCK MODE WHAT", LOCK being one that
 *		it can take, and WHAT one of
 *			takes	it takes
 *			unowned	it takes, and any task may release
 *			waits	it waits for readers
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "holdmod.h"

#define SCRIPT_MAX	8192

static struct dentry *folder;

/*
 * A stream has no file position, so that writes by threads that share the
 * descriptor do not run under a mutex of the file.
 */
static int run_open(struct inode *inode, struct file *file)
{
	return stream_open(inode, file);
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len,
			 loff_t *pos)
{
	struct hm_script *script;
	char *text;
	int err;

	if (len >= SCRIPT_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	script = hm_parse(text);
	kfree(text);
	if (IS_ERR(script))
		return PTR_ERR(script);
	err = hm_run(script);
	kfree(script);
	return err ?: len;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= run_open,
	.write	= run_write,
};

static ssize_t reset_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	unsigned int i;

	hm_log_reset();
	hm_reset_posts();
	for (i = 0; i < hm_nr_ops; i++) {
		atomic64_set(&hm_op_counts[i].taken, 0);
		atomic64_set(&hm_op_counts[i].failed, 0);
		atomic64_set(&hm_op_counts[i].dropped, 0);
	}
	return len;
}

static const struct file_operations reset_fops = {
	.owner	= THIS_MODULE,
	.open	= run_open,
	.write	= reset_write,
};

static int counts_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	hm_show_tick_counts(m);
	for (i = 0; i < hm_nr_ops; i++) {
		seq_printf(m, "taken %s %lld\n", hm_ops[i].name,
			   atomic64_read(&hm_op_counts[i].taken));
		seq_printf(m, "failed %s %lld\n", hm_ops[i].name,
			   atomic64_read(&hm_op_counts[i].failed));
		seq_printf(m, "dropped %s %lld\n", hm_ops[i].name,
			   atomic64_read(&hm_op_counts[i].dropped));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int locks_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < hm_nr_locks; i++) {
		if (!hm_locks[i].name[0])
			continue;
		seq_printf(m, "%s %s 0x%lx\n", hm_locks[i].name,
			   hm_family_names[hm_locks[i].family],
			   (unsigned long)hm_locks[i].addr);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(locks);

static int ops_show(struct seq_file *m, void *unused)
{
	static const char * const flags[] = {
		[HM_TAKES] = "takes", [HM_WAITS] = "waits",
		[HM_UNOWNED] = "unowned",
	};
	unsigned int i;

	for (i = 0; i < hm_nr_ops; i++)
		seq_printf(m, "%s %s %s %s\n", hm_ops[i].name,
			   hm_kind_names[hm_ops[i].family],
			   hm_mode_names[hm_ops[i].mode],
			   flags[hm_ops[i].flags]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ops);

static int __init holdmod_init(void)
{
	int err;

	err = hm_locks_init();
	if (err)
		return err;
	err = hm_actors_init();
	if (err)
		goto err_actors;
	err = hm_tick_init();
	if (err)
		goto err_tick;
	folder = debugfs_create_dir("holdmod", NULL);
	debugfs_create_file("run", 0200, folder, NULL, &run_fops);
	debugfs_create_file("reset", 0200, folder, NULL, &reset_fops);
	debugfs_create_file("ticks", 0400, folder, NULL, &hm_ticks_fops);
	debugfs_create_file("holds", 0400, folder, NULL, &hm_holds_fops);
	debugfs_create_file("counts", 0400, folder, NULL, &counts_fops);
	debugfs_create_file("locks", 0400, folder, NULL, &locks_fops);
	debugfs_create_file("ops", 0400, folder, NULL, &ops_fops);
	return 0;

err_tick:
	hm_actors_exit();
err_actors:
	hm_locks_exit();
	return err;
}

static void __exit holdmod_exit(void)
{
	debugfs_remove(folder);
	hm_tick_exit();
	hm_actors_exit();
	hm_locks_exit();
}

module_init(holdmod_init);
module_exit(holdmod_exit);

MODULE_DESCRIPTION("Takes locks as told and keeps the truth about them");
MODULE_LICENSE("GPL");
MODULE_INFO(test, "Y");
