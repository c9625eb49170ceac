// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family: policies, and translation of messages into
 * calls of event.c and back. What the messages are is in <linux/lockheld.h>.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "lockheld.h"

static struct genl_family family;

static const struct nla_policy no_policy[LOCKHELD_A_MAX + 1];

static const struct nla_policy add_policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_PROGRAM] = {
		.type = NLA_BINARY,
		.len = LOCKHELD_INSNS_MAX * sizeof(struct lockheld_insn),
	},
	[LOCKHELD_A_TEXT] = {
		.type = NLA_NUL_STRING,
		.len = LOCKHELD_TEXT_MAX - 1,
	},
	[LOCKHELD_A_FLAGS] = NLA_POLICY_MASK(NLA_U32, LOCKHELD_FILTER_ALL),
};

static const struct nla_policy attach_policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_FILTER_ID] = { .type = NLA_U32 },
	[LOCKHELD_A_EVENT_FD] = { .type = NLA_U32 },
};

static const struct nla_policy id_policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_FILTER_ID] = { .type = NLA_U32 },
};

static const struct nla_policy addr_policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_ADDR] = { .type = NLA_U64 },
};

/* ---- help for all commands ---- */

/* Rights of who opened the socket and of who sends, not in a container. */
static int check_rights(const struct sk_buff *skb,
			struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_PERFMON) ||
	    netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack,
		       "needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace");
	return -EPERM;
}

static struct nlattr *required(struct genl_info *info, int type,
			       const char *msg)
{
	if (!info->attrs[type] && info->extack)
		info->extack->_msg = msg;
	return info->attrs[type];
}

static int refuse(struct genl_info *info, int err, const char *msg, int type)
{
	if (info->extack && msg) {
		info->extack->_msg = msg;
		info->extack->bad_attr = info->attrs[type];
	}
	return err;
}

struct reply {
	struct sk_buff *skb;
	void *hdr;
};

static int reply_start(struct reply *reply, struct genl_info *info)
{
	reply->skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply->skb)
		return -ENOMEM;
	reply->hdr = genlmsg_put_reply(reply->skb, info, &family, 0,
				       info->genlhdr->cmd);
	if (reply->hdr)
		return 0;
	nlmsg_free(reply->skb);
	return -EMSGSIZE;
}

/* @err: of what was put into the reply. */
static int reply_end(struct reply *reply, struct genl_info *info, int err)
{
	if (err) {
		nlmsg_free(reply->skb);
		return err;
	}
	genlmsg_end(reply->skb, reply->hdr);
	return genlmsg_reply(reply->skb, info);
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, LOCKHELD_A_PAD);
}

/* ---- capabilities ---- */

static int put_group(struct sk_buff *skb, u8 lock_family, u8 mode)
{
	u32 group = BIT(lh_group(lock_family, mode));
	const char *reason = lh_hooks_reason(group);
	u32 mechanism = LOCKHELD_MECH_HOOK;

	if (reason)
		/* One lock can be watched where all of its kind cannot. */
		mechanism = lh_owner_named(lock_family, mode) ?
			    LOCKHELD_MECH_OWNER : LOCKHELD_MECH_NONE;
	else if (lh_counted(lock_family, mode))
		mechanism = LOCKHELD_MECH_TASK;

	if (nla_put_u32(skb, LOCKHELD_A_FAMILY, lock_family) ||
	    nla_put_u32(skb, LOCKHELD_A_MODE, mode) ||
	    nla_put_u32(skb, LOCKHELD_A_MECHANISM, mechanism) ||
	    nla_put_string(skb, LOCKHELD_A_VERSION, THIS_MODULE->version) ||
	    nla_put_string(skb, LOCKHELD_A_BACKEND, lh_hooks_backend()) ||
	    nla_put_string(skb, LOCKHELD_A_BACKEND_REASON,
			   lh_hooks_backend_reason()) ||
	    (reason && nla_put_string(skb, LOCKHELD_A_REASON, reason)))
		return -EMSGSIZE;
	return 0;
}

static int caps_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	unsigned int group;
	int err;

	err = check_rights(cb->skb, cb->extack);
	if (err)
		return err;

	for (group = cb->args[0]; group < LH_NR_GROUPS; group++) {
		void *hdr;

		if (!(lh_groups() & BIT(group)))
			continue;
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &family, NLM_F_MULTI,
				  LOCKHELD_CMD_CAPS_GET);
		if (!hdr)
			break;
		if (put_group(skb, group / 2, group % 2 ?
			      LOCKHELD_MODE_WRITE : LOCKHELD_MODE_READ)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	cb->args[0] = group;
	return skb->len;
}

/* ---- filters ---- */

/*
 * Text with a number in it must outlive the command, since the message goes
 * out later; a few at a time are enough.
 */
static const char *program_error(unsigned int at, const char *msg)
{
	static char texts[8][80];
	static atomic_t next = ATOMIC_INIT(0);
	char *text = texts[(unsigned int)atomic_inc_return(&next) %
			   ARRAY_SIZE(texts)];

	snprintf(text, sizeof(texts[0]), "bad program: instruction %u: %s", at,
		 msg);
	return text;
}

/* Points at the instruction at fault, and not at the program as a whole. */
static int refuse_insn(struct genl_info *info, int err, const char *msg,
		       unsigned int at)
{
	struct nlattr *program = info->attrs[LOCKHELD_A_PROGRAM];
	size_t offset = at * sizeof(struct lockheld_insn);

	refuse(info, err, msg, LOCKHELD_A_PROGRAM);
	if (info->extack && msg && offset < nla_len(program))
		info->extack->bad_attr = nla_data(program) + offset;
	return err;
}

static int filter_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *program, *text;
	struct lockheld_insn *insns;
	const char *msg = NULL;
	struct reply reply;
	unsigned int nr, at;
	u32 flags = 0;
	int id, err;

	err = check_rights(skb, info->extack);
	if (err)
		return err;
	program = required(info, LOCKHELD_A_PROGRAM, "no program given");
	text = required(info, LOCKHELD_A_TEXT, "no text given");
	if (!program || !text)
		return -EINVAL;
	if (info->attrs[LOCKHELD_A_FLAGS])
		flags = nla_get_u32(info->attrs[LOCKHELD_A_FLAGS]);
	if (nla_len(program) % sizeof(*insns))
		return refuse(info, -EINVAL,
			      "bad program: not a whole number of instructions",
			      LOCKHELD_A_PROGRAM);
	nr = nla_len(program) / sizeof(*insns);

	/* A copy, since attributes are aligned to 4 bytes only. */
	insns = kmemdup(nla_data(program), max(nla_len(program), 1),
			GFP_KERNEL);
	if (!insns)
		return -ENOMEM;
	msg = lh_filter_check(insns, nr, &at);
	if (msg) {
		err = refuse_insn(info, -EINVAL, program_error(at, msg), at);
		goto out;
	}
	err = reply_start(&reply, info);
	if (err)
		goto out;
	at = nr;
	id = lh_filter_add(insns, nr, nla_data(text), flags,
			   genl_info_net(info), info->snd_portid, &at, &msg);
	if (id < 0) {
		nlmsg_free(reply.skb);
		err = refuse_insn(info, id, msg, at);
		goto out;
	}
	/* An empty message has room for this. */
	err = nla_put_u32(reply.skb, LOCKHELD_A_FILTER_ID, id);
	err = reply_end(&reply, info, err);
	if (err)
		lh_filter_del(id);
out:
	kfree(insns);
	return err;
}

static int filter_attach(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id, *fd;
	const char *msg = NULL;
	int err;

	err = check_rights(skb, info->extack);
	if (err)
		return err;
	id = required(info, LOCKHELD_A_FILTER_ID, "no filter id given");
	fd = required(info, LOCKHELD_A_EVENT_FD, "no descriptor given");
	if (!id || !fd)
		return -EINVAL;
	err = lh_filter_attach(nla_get_u32(id), nla_get_u32(fd), &msg);
	return refuse(info, err, msg, LOCKHELD_A_EVENT_FD);
}

static int filter_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id;
	int err;

	err = check_rights(skb, info->extack);
	if (err)
		return err;
	id = required(info, LOCKHELD_A_FILTER_ID, "no filter id given");
	if (!id)
		return -EINVAL;
	err = lh_filter_del(nla_get_u32(id));
	return refuse(info, err, err ? "there is no such filter" : NULL,
		      LOCKHELD_A_FILTER_ID);
}

static int put_terms(struct sk_buff *skb, const struct lh_filter_info *filter)
{
	unsigned int i;

	for (i = 0; i < filter->nr_insns; i++) {
		const struct lockheld_insn *insn = &filter->insns[i];
		struct nlattr *nest;

		if (insn->op != LOCKHELD_OP_LOCK &&
		    insn->op != LOCKHELD_OP_HELD_NS)
			continue;
		nest = nla_nest_start(skb, LOCKHELD_A_TERM);
		if (!nest ||
		    nla_put_u32(skb, LOCKHELD_A_INSN, i) ||
		    nla_put_u32(skb, LOCKHELD_A_MECHANISM,
				lh_lock_mechanism(insn)) ||
		    nla_put_u32(skb, LOCKHELD_A_FAMILY,
				lh_lock_term_family(insn)) ||
		    nla_put_u32(skb, LOCKHELD_A_MODE, insn->mode))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* @only: id of the one filter that is wanted, or 0; @id: of the last one put */
struct filter_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u32 only;
	u32 id;
};

static int put_filter(const struct lh_filter_info *filter, void *arg)
{
	struct filter_dump *dump = arg;
	struct sk_buff *skb = dump->skb;
	void *hdr;

	if (dump->only && filter->id != dump->only)
		return -ENOENT;
	hdr = genlmsg_put(skb, NETLINK_CB(dump->cb->skb).portid,
			  dump->cb->nlh->nlmsg_seq, &family, NLM_F_MULTI,
			  LOCKHELD_CMD_FILTER_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, LOCKHELD_A_FILTER_ID, filter->id) ||
	    nla_put_string(skb, LOCKHELD_A_TEXT, filter->text) ||
	    nla_put_u32(skb, LOCKHELD_A_FLAGS, filter->flags) ||
	    nla_put_u32(skb, LOCKHELD_A_OWNER_PID, filter->owner) ||
	    nla_put_u32(skb, LOCKHELD_A_NR_EVENTS, filter->nr_events) ||
	    put_u64(skb, LOCKHELD_A_EVALUATED, filter->evaluated) ||
	    put_u64(skb, LOCKHELD_A_PASSED, filter->passed) ||
	    put_u64(skb, LOCKHELD_A_DROPPED, filter->dropped) ||
	    put_u64(skb, LOCKHELD_A_UNCERTAIN, filter->uncertain) ||
	    put_terms(skb, filter)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	dump->id = filter->id;
	return 0;
}

/*
 * A filter's message takes up to 14 KiB, with text and 256 terms. The buffer of
 * a dump is as large as its reader's was, and libnl reads 16 KiB.
 */
static int filter_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = lh_dump_attrs(cb)[LOCKHELD_A_FILTER_ID];
	struct filter_dump dump = {
		.skb = skb,
		.cb = cb,
		.only = attr ? nla_get_u32(attr) : 0,
	};
	int err;

	err = check_rights(cb->skb, cb->extack);
	if (err)
		return err;

	for (;;) {
		u32 next = cb->args[0];

		err = lh_filter_next(max(dump.only, next), put_filter, &dump);
		if (err == -ENOENT)
			break;
		if (err)
			return skb->len ?: err;
		cb->args[0] = dump.id + 1;
	}
	return skb->len;
}

/* ---- the rest ---- */

static int put_stat(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, LOCKHELD_A_STAT);

	if (!nest || nla_put_string(skb, LOCKHELD_A_NAME, name) ||
	    put_u64(skb, LOCKHELD_A_VALUE, value))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int stats_get(struct sk_buff *skb, struct genl_info *info)
{
	struct reply reply;
	unsigned int i;
	int err;

	err = check_rights(skb, info->extack);
	if (err)
		return err;
	err = reply_start(&reply, info);
	if (err)
		return err;
	for (i = 0; i < LH_NR_STATS && !err; i++)
		err = put_stat(reply.skb, lh_stat_names[i], lh_stat_sum(i));
	if (!err)
		err = put_stat(reply.skb, "missed", lh_missed());
	return reply_end(&reply, info, err);
}

static int lock_name(struct sk_buff *skb, struct genl_info *info)
{
	struct reply reply;
	struct nlattr *addr;
	char name[64];
	int err;

	err = check_rights(skb, info->extack);
	if (err)
		return err;
	addr = required(info, LOCKHELD_A_ADDR, "no address given");
	if (!addr)
		return -EINVAL;
	err = lh_slab_name(nla_get_u64(addr), name, sizeof(name));
	if (err)
		return refuse(info, err, "the address is not in a slab object",
			      LOCKHELD_A_ADDR);
	err = reply_start(&reply, info);
	if (err)
		return err;
	err = nla_put_string(reply.skb, LOCKHELD_A_NAME, name);
	return reply_end(&reply, info, err);
}

static const struct genl_ops ops[] = {
	{
		.cmd = LOCKHELD_CMD_CAPS_GET,
		.dumpit = caps_dump,
		.policy = no_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_FILTER_ADD,
		.doit = filter_add,
		.policy = add_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_FILTER_ATTACH,
		.doit = filter_attach,
		.policy = attach_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_FILTER_DEL,
		.doit = filter_del,
		.policy = id_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_FILTER_GET,
		.dumpit = filter_dump,
		.policy = id_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_STATS_GET,
		.doit = stats_get,
		.policy = no_policy,
		.maxattr = LOCKHELD_A_MAX,
	}, {
		.cmd = LOCKHELD_CMD_LOCK_NAME,
		.doit = lock_name,
		.policy = addr_policy,
		.maxattr = LOCKHELD_A_MAX,
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = LOCKHELD_GENL_NOTICES },
};

static struct genl_family family = {
	.name = LOCKHELD_GENL_NAME,
	.version = LOCKHELD_GENL_VERSION,
	/* Rights are checked in the initial user namespace: any net will do. */
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
	LH_GENL_STRICT_FROM(LOCKHELD_CMD_CAPS_GET)
};

void lh_netlink_notify(struct net *net, u8 cmd, u32 filter, const char *module)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr;

	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &family, 0, cmd);
	if (!hdr || nla_put_u32(skb, LOCKHELD_A_FILTER_ID, filter) ||
	    (module && nla_put_string(skb, LOCKHELD_A_NAME, module))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	/* Nobody may listen: the filter's flag tells as well. */
	genlmsg_multicast_netns(&family, net, skb, 0, 0, GFP_KERNEL);
}

/*
 * Runs in the process that closes its socket, and ends before close() does, so
 * that its filters are gone when it is.
 */
static int socket_closed(struct notifier_block *nb, unsigned long event,
			 void *arg)
{
	struct netlink_notify *notify = arg;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC)
		lh_filters_release(notify->net, notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = socket_closed,
};

int lh_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&notifier);
	if (err)
		return err;
	err = genl_register_family(&family);
	if (err)
		netlink_unregister_notifier(&notifier);
	return err;
}

void lh_netlink_exit(void)
{
	genl_unregister_family(&family);
	netlink_unregister_notifier(&notifier);
}
