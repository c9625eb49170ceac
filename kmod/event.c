// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters, and the perf events they are attached to.
 *
 * An event is held by its file, which keeps it and the list of events
 * inherited from it alive. All of them get our overflow handler, and an event
 * that is inherited later copies it from the first one. The handler finds the
 * filter by the first event.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "lockheld.h"

struct lh_counts {
	u64 passed;
	u64 dropped;
	u64 uncertain;
};

/**
 * struct lh_filter - a filter
 * @node: in filters
 * @events: its struct attachment
 * @id: see LOCKHELD_A_FILTER_ID
 * @flags: LOCKHELD_FILTER_*
 * @attached: had an event at some time
 * @times: needs to know since when locks are held
 * @wants: hooks it has
 * @owner: process that added it
 * @net: with @portid, the socket that added it
 * @portid: see @net
 * @counts: per CPU
 * @text: what the user wrote
 * @nr_insns: length of @insns
 * @insns: the program, as resolved for this kernel
 */
struct lh_filter {
	struct list_head node;
	struct list_head events;
	u32 id;
	u32 flags;
	bool attached;
	bool times;
	struct lh_wants wants;
	pid_t owner;
	struct net *net;
	u32 portid;
	struct lh_counts __percpu *counts;
	char *text;
	unsigned int nr_insns;
	struct lockheld_insn insns[];
};

/**
 * struct attachment - an event with a filter
 * @hash: in attachments, by @event
 * @node: in the filter's events
 * @filter: the filter
 * @event: the first event, not one that was inherited
 * @file: the event's; a reference is held
 * @handler: the overflow handler it had
 * @sampling_context: context that sampling itself puts on top of the sampled
 *	code: hard interrupt for timers, NMI for hardware counters, or task
 * @rcu: for the handler that may still look at it
 */
struct attachment {
	struct hlist_node hash;
	struct list_head node;
	struct lh_filter *filter;
	struct perf_event *event;
	struct file *file;
	perf_overflow_handler_t handler;
	u8 sampling_context;
	struct rcu_head rcu;
};

/* Protects all below; the overflow handler reads attachments under RCU. */
static DEFINE_MUTEX(filters_lock);
static LIST_HEAD(filters);
static unsigned int nr_filters;
static u32 last_id;
static DEFINE_HASHTABLE(attachments, 8);

static void sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep);

/* ---- a sample ---- */

static u8 sampled_context(const struct attachment *attachment)
{
	u8 context = lh_context();

	if (context != attachment->sampling_context)
		return context;
	switch (context) {
	case LOCKHELD_CTX_NMI:
		if (preempt_count() & HARDIRQ_MASK)
			return LOCKHELD_CTX_HARDIRQ;
		fallthrough;
	case LOCKHELD_CTX_HARDIRQ:
		if (lh_preempt_count() & SOFTIRQ_OFFSET)
			return LOCKHELD_CTX_SOFTIRQ;
		fallthrough;
	default:
		return LOCKHELD_CTX_TASK;
	}
}

static struct attachment *find_attachment(struct perf_event *event)
{
	struct attachment *attachment;

	hash_for_each_possible_rcu_notrace(attachments, attachment, hash,
					   (unsigned long)event) {
		if (attachment->event == event)
			return attachment;
	}
	return NULL;
}

/*
 * Any context, NMI included. perf calls it with preemption off, which is the
 * read side of the RCU that detach() waits for.
 */
static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct perf_event *root = event->parent ?: event;
	struct attachment *attachment = find_attachment(root);
	struct lh_filter *filter;
	struct lh_sample sample LH_UNINITIALIZED;
	bool passed;

	if (!attachment) {
		lh_count(orphan);
		return;
	}
	filter = attachment->filter;
	/* One by one: owned[] is large, and needs nothing. */
	sample.event = event;
	sample.data = data;
	sample.regs = regs;
	sample.root = root;
	sample.context = sampled_context(attachment);
	sample.held_ns = 0;
	sample.uncertain = false;
	sample.nr_owned = 0;
	bitmap_zero(sample.cpu_matched, LH_STACK_DEPTH);
	bitmap_zero(sample.task_matched, LH_STACK_DEPTH);

	passed = !(READ_ONCE(filter->flags) & LOCKHELD_FILTER_GONE) &&
		 lh_filter_run(filter->insns, filter->nr_insns, &sample);

	if (sample.uncertain)
		this_cpu_inc(filter->counts->uncertain);
	if (!passed) {
		this_cpu_inc(filter->counts->dropped);
		/* No SIGIO for a sample that is not there. */
		if (event->pending_kill == POLL_IN)
			event->pending_kill = 0;
		return;
	}
	this_cpu_inc(filter->counts->passed);
	lh_sample_output(&sample, filter->id, attachment->handler);
}

/* ---- events ---- */

/*
 * Of the event and all inherited from it, now and later. Returns false if the
 * event itself had another handler.
 */
static bool swap_handlers(struct perf_event *event,
			  perf_overflow_handler_t old,
			  perf_overflow_handler_t new)
{
	struct perf_event *child;
	bool swapped;

	/* inherit_event() copies the handler under this lock. */
	mutex_lock(&event->child_mutex);
	swapped = lh_event_swap_handler(event, old, new);
	list_for_each_entry(child, &event->child_list, child_list)
		lh_event_swap_handler(child, old, new);
	mutex_unlock(&event->child_mutex);
	return swapped;
}

static struct perf_event *event_of(struct file *file)
{
	char text[KSYM_SYMBOL_LEN];

	if (file_inode(file)->i_sb->s_magic != ANON_INODE_FS_MAGIC ||
	    strcmp(file->f_path.dentry->d_name.name, "[perf_event]"))
		return NULL;
	/* Without data symbols the kernel prints the bare address. */
	sprint_symbol(text, (unsigned long)file->f_op);
	if (!strstarts(text, "perf_fops+0x0/") && !strstarts(text, "0x"))
		return NULL;
	return file->private_data;
}

static u8 sampling_context(struct perf_event *event)
{
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
		if (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		    event->attr.config == PERF_COUNT_SW_TASK_CLOCK)
			return LOCKHELD_CTX_HARDIRQ;
		return LOCKHELD_CTX_TASK;
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return LOCKHELD_CTX_TASK;
	default:
		/* kprobe and uprobe events have a type of their own. */
		return event->tp_event ? LOCKHELD_CTX_TASK : LOCKHELD_CTX_NMI;
	}
}

static const char *refusal(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (attr->aux_output)
		return "the samples of an AUX event are made by hardware";
	if (attr->type == PERF_TYPE_BREAKPOINT && !IS_ENABLED(CONFIG_X86))
		return "breakpoint events cannot be filtered on this processor";
	/*
	 * The processor writes such samples by the buffer, without the handler,
	 * unless something is asked that it cannot give.
	 */
	if (attr->precise_ip && !attr->freq &&
	    !(attr->sample_type & PERF_SAMPLE_RAW))
		return "a precise event needs a frequency or raw samples (perf record -R)";
	if (lh_event_bpf_in_handler(event) && attr->inherit)
		return "an inherited event with a BPF program cannot be filtered on this kernel";
	return NULL;
}

/* Gives the events on @list back to perf, and frees what was attached. */
static void detach(struct list_head *list)
{
	struct attachment *attachment, *next;

	if (list_empty(list))
		return;
	list_for_each_entry(attachment, list, node)
		swap_handlers(attachment->event, overflow,
			      attachment->handler);
	/* After this no handler of ours runs for these events. */
	synchronize_rcu();
	list_for_each_entry_safe(attachment, next, list, node) {
		hash_del_rcu(&attachment->hash);
		fput(attachment->file);
		/* Another event's handler may pass it in its hash chain. */
		kfree_rcu(attachment, rcu);
	}
	INIT_LIST_HEAD(list);
}

static int attach(struct lh_filter *filter, struct file *file,
		  const char **msg)
{
	struct perf_event *event = event_of(file);
	struct attachment *attachment;

	if (!event) {
		*msg = "the descriptor is not a perf event";
		return -EINVAL;
	}
	if (!event->attr.sample_period) {
		*msg = "the event counts only: it never takes a sample";
		return -EINVAL;
	}
	*msg = refusal(event);
	if (*msg)
		return -EOPNOTSUPP;
	if (find_attachment(event)) {
		*msg = "the event has a filter already: delete that one first";
		return -EBUSY;
	}

	attachment = kzalloc(sizeof(*attachment), GFP_KERNEL);
	if (!attachment)
		return -ENOMEM;
	attachment->filter = filter;
	attachment->event = event;
	attachment->file = get_file(file);
	attachment->handler = READ_ONCE(event->overflow_handler);
	attachment->sampling_context = sampling_context(event);
	hash_add_rcu(attachments, &attachment->hash, (unsigned long)event);

	list_add_tail(&attachment->node, &filter->events);

	/*
	 * The exchange is a full barrier: whoever sees the handler finds the
	 * attachment.
	 */
	if (!swap_handlers(event, attachment->handler, overflow)) {
		LIST_HEAD(failed);

		list_move(&attachment->node, &failed);
		detach(&failed);
		*msg = "a BPF program came or went at the same time: try again";
		return -EBUSY;
	}
	filter->attached = true;
	return 0;
}

/* ---- filters ---- */

static void filter_free(struct lh_filter *filter)
{
	free_percpu(filter->counts);
	kfree(filter->text);
	kfree(filter);
}

static void filter_delete(struct lh_filter *filter)
{
	detach(&filter->events);
	lh_hooks_put(&filter->wants);
	if (filter->times)
		static_branch_dec(&lh_times);
	list_del(&filter->node);
	nr_filters--;
	filter_free(filter);
	module_put(THIS_MODULE);
}

static struct lh_filter *filter_find(u32 id)
{
	struct lh_filter *filter;

	list_for_each_entry(filter, &filters, node) {
		if (filter->id == id)
			return filter;
	}
	return NULL;
}

/* @at: on error, the instruction at fault. */
static int resolve(struct lh_filter *filter, unsigned int *at,
		   const char **msg)
{
	unsigned int i;
	int err;

	for (i = 0; i < filter->nr_insns; i++) {
		struct lockheld_insn *insn = &filter->insns[i];

		if (insn->op == LOCKHELD_OP_TERM &&
		    insn->arg == LOCKHELD_TERM_DEPTH)
			lh_wants_add(&filter->wants, lh_depth_groups(), 0);
		if (insn->op == LOCKHELD_OP_HELD_NS)
			filter->times = true;
		else if (insn->op != LOCKHELD_OP_LOCK)
			continue;
		err = lh_lock_resolve(insn, &filter->wants, msg);
		if (err) {
			*at = i;
			return err;
		}
	}
	return 0;
}

static struct lh_filter *filter_new(const struct lockheld_insn *insns,
				    unsigned int nr, const char *text)
{
	struct lh_filter *filter;

	filter = kzalloc(struct_size(filter, insns, nr), GFP_KERNEL);
	if (!filter)
		return NULL;
	INIT_LIST_HEAD(&filter->events);
	filter->nr_insns = nr;
	memcpy(filter->insns, insns, nr * sizeof(*insns));
	filter->text = kstrdup(text, GFP_KERNEL);
	filter->counts = alloc_percpu(struct lh_counts);
	if (!filter->text || !filter->counts) {
		filter_free(filter);
		return NULL;
	}
	return filter;
}

int lh_filter_add(const struct lockheld_insn *insns, unsigned int nr,
		  const char *text, u32 flags, struct net *net, u32 portid,
		  unsigned int *at, const char **msg)
{
	struct lh_filter *filter;
	int err;

	filter = filter_new(insns, nr, text);
	if (!filter)
		return -ENOMEM;
	filter->flags = flags;
	filter->times = flags & LOCKHELD_FILTER_TIMES;
	filter->owner = task_tgid_nr(current);
	filter->net = net;
	filter->portid = portid;

	mutex_lock(&filters_lock);
	err = -ENOSPC;
	if (nr_filters == LOCKHELD_FILTERS_MAX) {
		*msg = "too many filters: delete some (lockheld-ctl del-filter)";
		goto out;
	}
	err = resolve(filter, at, msg);
	if (err)
		goto out;
	err = lh_hooks_get(&filter->wants);
	if (err) {
		*msg = "the lock functions could not be hooked: see the kernel's log";
		goto out;
	}

	/* The caller is a command of ours, which has the module by itself. */
	__module_get(THIS_MODULE);
	if (filter->times)
		static_branch_inc(&lh_times);
	filter->id = ++last_id;
	list_add_tail(&filter->node, &filters);
	nr_filters++;
	err = filter->id;
	schedule_delayed_work(&sweeper, HZ);
out:
	mutex_unlock(&filters_lock);
	if (err < 0)
		filter_free(filter);
	return err;
}

int lh_filter_attach(u32 id, int fd, const char **msg)
{
	struct lh_filter *filter;
	struct file *file;
	int err;

	file = fget(fd);
	if (!file) {
		*msg = "the descriptor is not open";
		return -EBADF;
	}
	mutex_lock(&filters_lock);
	filter = filter_find(id);
	if (filter) {
		err = attach(filter, file, msg);
	} else {
		*msg = "there is no such filter";
		err = -ENOENT;
	}
	mutex_unlock(&filters_lock);
	fput(file);
	return err;
}

/* Where its owner may listen. A socket's network namespace lives as long as it. */
static struct net *notified(const struct lh_filter *filter)
{
	return filter->portid ? filter->net : &init_net;
}

int lh_filter_del(u32 id)
{
	struct lh_filter *filter;

	mutex_lock(&filters_lock);
	filter = filter_find(id);
	if (filter) {
		/* Whose recording it was will want to know. */
		lh_netlink_notify(notified(filter), LOCKHELD_CMD_FILTER_DEL, id,
				  NULL);
		filter_delete(filter);
	}
	mutex_unlock(&filters_lock);
	return filter ? 0 : -ENOENT;
}

void lh_filters_release(struct net *net, u32 portid)
{
	struct lh_filter *filter, *next;

	/* Most sockets that are closed never spoke to us. */
	if (list_empty_careful(&filters))
		return;

	mutex_lock(&filters_lock);
	list_for_each_entry_safe(filter, next, &filters, node) {
		if (filter->portid != portid || !net_eq(filter->net, net))
			continue;
		if ((filter->flags & LOCKHELD_FILTER_PERSIST) &&
		    filter->attached) {
			/* The number may be another socket's soon. */
			filter->portid = 0;
			continue;
		}
		filter_delete(filter);
	}
	mutex_unlock(&filters_lock);
}

/* Lets go of events that only our own reference keeps. */
static void drop_closed(struct lh_filter *filter)
{
	struct attachment *attachment, *next;
	LIST_HEAD(closed);

	list_for_each_entry_safe(attachment, next, &filter->events, node) {
		if (file_count(attachment->file) == 1)
			list_move(&attachment->node, &closed);
	}
	detach(&closed);
}

static void sweep(struct work_struct *work)
{
	struct lh_filter *filter, *next;

	mutex_lock(&filters_lock);
	list_for_each_entry_safe(filter, next, &filters, node) {
		drop_closed(filter);
		if (filter->attached && list_empty(&filter->events))
			filter_delete(filter);
	}
	if (nr_filters)
		schedule_delayed_work(&sweeper, HZ);
	mutex_unlock(&filters_lock);
}

static bool speaks_of_module(const struct lh_filter *filter,
			     const struct module *module)
{
	unsigned int i;

	for (i = 0; i < filter->nr_insns; i++) {
		const struct lockheld_insn *insn = &filter->insns[i];

		if ((insn->op == LOCKHELD_OP_LOCK ||
		     insn->op == LOCKHELD_OP_HELD_NS) &&
		    insn->arg == LOCKHELD_SPEC_ADDR &&
		    within_module(insn->imm, module))
			return true;
	}
	return false;
}

/* Another lock may be at the same address soon. */
static int module_changed(struct notifier_block *nb, unsigned long state,
			  void *arg)
{
	const struct module *module = arg;
	struct lh_filter *filter;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&filters_lock);
	list_for_each_entry(filter, &filters, node) {
		if ((filter->flags & LOCKHELD_FILTER_GONE) ||
		    !speaks_of_module(filter, module))
			continue;
		WRITE_ONCE(filter->flags, filter->flags | LOCKHELD_FILTER_GONE);
		lh_netlink_notify(notified(filter), LOCKHELD_CMD_FILTER_GONE,
				  filter->id, module->name);
	}
	mutex_unlock(&filters_lock);
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = module_changed,
};

int lh_events_init(void)
{
	return register_module_notifier(&modules);
}

int lh_filter_next(u32 id, int (*fn)(const struct lh_filter_info *, void *),
		   void *arg)
{
	struct lh_filter_info info = {};
	struct attachment *attachment;
	struct lh_filter *filter;
	int cpu, ret = -ENOENT;

	mutex_lock(&filters_lock);
	list_for_each_entry(filter, &filters, node) {
		if (filter->id < id)
			continue;
		info.id = filter->id;
		info.flags = filter->flags;
		info.owner = filter->owner;
		info.text = filter->text;
		info.insns = filter->insns;
		info.nr_insns = filter->nr_insns;
		list_for_each_entry(attachment, &filter->events, node)
			info.nr_events++;
		for_each_possible_cpu(cpu) {
			struct lh_counts *counts;

			counts = per_cpu_ptr(filter->counts, cpu);
			info.passed += counts->passed;
			info.dropped += counts->dropped;
			info.uncertain += counts->uncertain;
		}
		info.evaluated = info.passed + info.dropped;
		ret = fn(&info, arg);
		break;
	}
	mutex_unlock(&filters_lock);
	return ret;
}

u64 lh_missed(void)
{
	u64 missed;

	mutex_lock(&filters_lock);
	missed = lh_hooks_missed();
	mutex_unlock(&filters_lock);
	return missed;
}

/* Nobody can add a filter any more, and the module's count says there is none. */
void lh_events_exit(void)
{
	unregister_module_notifier(&modules);
	WARN_ON(!list_empty(&filters));
	cancel_delayed_work_sync(&sweeper);
	/* For the memory that kfree_rcu() still has. */
	rcu_barrier();
}
