// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's netlink interface. The only user of libnl; nothing outside sees
 * an attribute.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "ctl.h"
#include "nl.h"

/* Room for a dump of all filters, so that the kernel need not wait for us. */
#define RECEIVE_BUFFER (1 << 20)
/* The largest request is a whole program with a whole text. */
#define REQUEST_MAX (LOCKHELD_TEXT_MAX + 256 + \
		     LOCKHELD_INSNS_MAX * sizeof(struct lockheld_insn))
/* The module answers at once; this is for a kernel in trouble. */
#define ANSWER_SECONDS 30
/* Filters that come and go during a dump make it begin again. */
#define DUMP_TRIES 8

struct lhnl {
	struct nl_sock *sock;
	struct nl_cb *cb;
	int family;
	int error;		/* positive errno of the last request */
	char *text;		/* what to tell the user about it */

	/* Of the request under way: */
	unsigned int seq;
	bool done;
	bool inconsistent;	/* the dump has to be made again */
	char *extack;
	int (*parse)(struct nlattr *attrs, int len, void *arg);
	void *arg;
};

static int set_error(struct lhnl *nl, int status, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int set_error(struct lhnl *nl, int status, int error, const char *fmt, ...)
{
	va_list ap;

	free(nl->text);
	va_start(ap, fmt);
	nl->text = ctl_vprintf(fmt, ap);
	va_end(ap);
	nl->error = error;
	return status;
}

const char *lhnl_error(const struct lhnl *nl)
{
	return nl->text ? nl->text : "";
}

int lhnl_errno(const struct lhnl *nl)
{
	return nl->error;
}

/* The kernel's own words stand behind the struct that it answers with. */
static void take_extack(struct lhnl *nl, const struct nlmsghdr *hdr,
			size_t skip)
{
	struct nlattr *attr;

	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    hdr->nlmsg_len < NLMSG_HDRLEN + skip)
		return;
	attr = nla_find((struct nlattr *)((char *)hdr + NLMSG_HDRLEN + skip),
			hdr->nlmsg_len - NLMSG_HDRLEN - skip,
			NLMSGERR_ATTR_MSG);
	if (!attr)
		return;
	free(nl->extack);
	nl->extack = strndup(nla_data(attr), nla_len(attr));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *hdr = (void *)((char *)err - NLMSG_HDRLEN);
	struct lhnl *nl = arg;
	size_t skip = sizeof(*err);

	(void)from;
	if (hdr->nlmsg_seq != nl->seq)
		return NL_SKIP;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	nl->error = -err->error;
	nl->done = true;
	take_extack(nl, hdr, skip);
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct lhnl *nl = arg;

	(void)msg;
	nl->done = true;
	return NL_STOP;
}

/* The end of a dump carries an errno too. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct lhnl *nl = arg;
	int error = 0;

	if (hdr->nlmsg_len >= NLMSG_HDRLEN + sizeof(error))
		memcpy(&error, nlmsg_data(hdr), sizeof(error));
	if (error < 0) {
		nl->error = -error;
		take_extack(nl, hdr, NLMSG_ALIGN(sizeof(error)));
	}
	nl->done = true;
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct lhnl *nl = arg;

	(void)msg;
	nl->inconsistent = true;
	return NL_OK;
}

/* An answer that was overtaken by a lost one is for an older request. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	struct lhnl *nl = arg;

	return nlmsg_hdr(msg)->nlmsg_seq == nl->seq ? NL_OK : NL_SKIP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *genl = nlmsg_data(nlmsg_hdr(msg));
	struct lhnl *nl = arg;

	if (nlmsg_datalen(nlmsg_hdr(msg)) < (int)GENL_HDRLEN || !nl->parse)
		return NL_SKIP;
	if (nl->parse(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0),
		      nl->arg))
		nl->error = EBADMSG;
	return NL_OK;
}

static int explain(struct lhnl *nl)
{
	const char *why = nl->extack;
	int error = nl->error;

	if (!error)
		return CTL_DONE;
	if (error == EPERM || error == EACCES)
		return set_error(nl, CTL_IMPOSSIBLE, error,
				 "not allowed: %s (run it as root)",
				 why ? why : "needs CAP_PERFMON");
	if (error == EOPNOTSUPP && !why)
		return set_error(nl, CTL_IMPOSSIBLE, error,
				 "the module does not know this command: load the lockheld.ko that was built with lockheld-ctl %s",
				 VERSION);
	if (error == EOPNOTSUPP)
		return set_error(nl, CTL_IMPOSSIBLE, error, "%s", why);
	/* The module says a reason with every refusal. */
	if (error == ENOENT && !why)
		return set_error(nl, CTL_IMPOSSIBLE, error,
				 "the module was unloaded: run insmod kmod/lockheld.ko");
	if (error == ENOBUFS || error == ENOMEM)
		return set_error(nl, CTL_FAILED, error,
				 "an answer of the module was lost for lack of memory: try again");
	if (error == EAGAIN)
		return set_error(nl, CTL_FAILED, error,
				 "the module did not answer in %d seconds",
				 ANSWER_SECONDS);
	if (error == EBADMSG)
		return set_error(nl, CTL_FAILED, error,
				 "the module's answer makes no sense: load the lockheld.ko that was built with lockheld-ctl %s",
				 VERSION);
	return set_error(nl, CTL_FAILED, error, "%s", why ? why : strerror(error));
}

/* libnl keeps the errno of a system call only as a number of its own. */
static int receive_errno(int err)
{
	if (err == -NLE_NOMEM)
		return ENOBUFS;
	if (err == -NLE_AGAIN)
		return EAGAIN;
	return err == -NLE_PERM || err == -NLE_NOACCESS ? EPERM : EIO;
}

/* Sends @msg, which is freed, and hands each answer to @parse. */
static int request(struct lhnl *nl, struct nl_msg *msg,
		   int (*parse)(struct nlattr *attrs, int len, void *arg),
		   void *arg)
{
	int err;

	free(nl->extack);
	nl->extack = NULL;
	nl->error = 0;
	nl->done = false;
	nl->inconsistent = false;
	nl->parse = parse;
	nl->arg = arg;
	err = nl_send_auto(nl->sock, msg);
	nl->seq = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	while (err >= 0 && !nl->done)
		err = nl_recvmsgs(nl->sock, nl->cb);
	if (err < 0 && !nl->done)
		nl->error = receive_errno(err);
	return explain(nl);
}

static struct nl_msg *new_message(struct lhnl *nl, int command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_MAX);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
				 flags | NLM_F_ACK, command,
				 LOCKHELD_GENL_VERSION))
		exit(ctl_error(CTL_FAILED, "out of memory"));
	return msg;
}

/* Messages are made large enough for all that a request can hold. */
static void put(struct nl_msg *msg, int attr, const void *data, size_t len)
{
	if (nla_put(msg, attr, len, data))
		exit(ctl_error(CTL_FAILED, "out of memory"));
}

static void put_u32(struct nl_msg *msg, int attr, __u32 value)
{
	put(msg, attr, &value, sizeof(value));
}

int lhnl_open(struct lhnl **out)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	struct lhnl *nl = ctl_zalloc(sizeof(*nl));
	int on = 1, err, fd;

	*out = nl;
	nl->sock = nl_socket_alloc();
	nl->cb = nl_cb_alloc(NL_CB_DEFAULT);
	if (!nl->sock || !nl->cb)
		exit(ctl_error(CTL_FAILED, "out of memory"));
	errno = 0;
	err = genl_connect(nl->sock);
	if (err)
		return set_error(nl, CTL_IMPOSSIBLE, errno ? errno : EIO,
				 "cannot open a netlink socket: %s (a sandbox may forbid it)",
				 nl_geterror(err));
	fd = nl_socket_get_fd(nl->sock);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	nl_socket_set_buffer_size(nl->sock, RECEIVE_BUFFER, 0);

	nl->family = genl_ctrl_resolve(nl->sock, LOCKHELD_GENL_NAME);
	if (nl->family == -NLE_OBJ_NOTFOUND)
		return set_error(nl, CTL_IMPOSSIBLE, ENOENT,
				 "the module is not loaded: run insmod kmod/lockheld.ko (or modprobe lockheld) as root");
	if (nl->family < 0)
		return set_error(nl, CTL_IMPOSSIBLE, EIO,
				 "cannot ask for the module: %s (a sandbox may forbid it)",
				 nl_geterror(nl->family));

	nl_cb_err(nl->cb, NL_CB_CUSTOM, on_error, nl);
	nl_cb_set(nl->cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, nl);
	nl_cb_set(nl->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, nl);
	nl_cb_set(nl->cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, nl);
	nl_cb_set(nl->cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, nl);
	nl_cb_set(nl->cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, nl);
	return CTL_DONE;
}

void lhnl_close(struct lhnl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->sock);
	nl_cb_put(nl->cb);
	free(nl->extack);
	free(nl->text);
	free(nl);
}

static struct nla_policy policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_VERSION] = { .type = NLA_STRING },
	[LOCKHELD_A_BACKEND] = { .type = NLA_STRING },
	[LOCKHELD_A_FAMILY] = { .type = NLA_U32 },
	[LOCKHELD_A_MODE] = { .type = NLA_U32 },
	[LOCKHELD_A_MECHANISM] = { .type = NLA_U32 },
	[LOCKHELD_A_REASON] = { .type = NLA_STRING },
	[LOCKHELD_A_FILTER_ID] = { .type = NLA_U32 },
	[LOCKHELD_A_TEXT] = { .type = NLA_STRING },
	[LOCKHELD_A_FLAGS] = { .type = NLA_U32 },
	[LOCKHELD_A_OWNER_PID] = { .type = NLA_U32 },
	[LOCKHELD_A_NR_EVENTS] = { .type = NLA_U32 },
	[LOCKHELD_A_EVALUATED] = { .type = NLA_U64 },
	[LOCKHELD_A_PASSED] = { .type = NLA_U64 },
	[LOCKHELD_A_DROPPED] = { .type = NLA_U64 },
	[LOCKHELD_A_UNCERTAIN] = { .type = NLA_U64 },
	[LOCKHELD_A_TERM] = { .type = NLA_NESTED },
	[LOCKHELD_A_INSN] = { .type = NLA_U32 },
	[LOCKHELD_A_STAT] = { .type = NLA_NESTED },
	[LOCKHELD_A_NAME] = { .type = NLA_STRING },
	[LOCKHELD_A_VALUE] = { .type = NLA_U64 },
};

static int parse_attrs(struct nlattr **tb, struct nlattr *attrs, int len)
{
	return nla_parse(tb, LOCKHELD_A_MAX, attrs, len, policy);
}

static __u32 get_u32(struct nlattr **tb, int attr)
{
	return tb[attr] ? nla_get_u32(tb[attr]) : 0;
}

static __u64 get_u64(struct nlattr **tb, int attr)
{
	return tb[attr] ? nla_get_u64(tb[attr]) : 0;
}

/* NULL if it is not there. */
static char *get_string(struct nlattr **tb, int attr)
{
	char *s;

	if (!tb[attr])
		return NULL;
	s = ctl_zalloc(nla_len(tb[attr]) + 1);
	memcpy(s, nla_data(tb[attr]), nla_len(tb[attr]));
	return s;
}

/* Arrays that grow with each message. */
struct list {
	void *items;
	size_t n;
};

static void *grow(struct list *list, size_t size)
{
	char *item;

	list->items = ctl_realloc(list->items, list->n + 1, size);
	item = (char *)list->items + list->n++ * size;
	memset(item, 0, size);
	return item;
}

static int parse_cap(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];
	struct lhnl_cap *cap;

	if (parse_attrs(tb, attrs, len))
		return -1;
	cap = grow(arg, sizeof(*cap));
	cap->family = get_u32(tb, LOCKHELD_A_FAMILY);
	cap->mode = get_u32(tb, LOCKHELD_A_MODE);
	cap->mechanism = get_u32(tb, LOCKHELD_A_MECHANISM);
	cap->version = get_string(tb, LOCKHELD_A_VERSION);
	cap->backend = get_string(tb, LOCKHELD_A_BACKEND);
	cap->reason = get_string(tb, LOCKHELD_A_REASON);
	return 0;
}

void lhnl_caps_free(struct lhnl_cap *caps, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(caps[i].version);
		free(caps[i].backend);
		free(caps[i].reason);
	}
	free(caps);
}

int lhnl_caps(struct lhnl *nl, struct lhnl_cap **caps, size_t *n)
{
	struct list list = { 0 };
	int status, tries = DUMP_TRIES;

	do {
		lhnl_caps_free(list.items, list.n);
		list = (struct list){ 0 };
		status = request(nl, new_message(nl, LOCKHELD_CMD_CAPS_GET,
						 NLM_F_DUMP),
				 parse_cap, &list);
	} while (nl->inconsistent && --tries);
	if (status) {
		lhnl_caps_free(list.items, list.n);
		list = (struct list){ 0 };
	}
	*caps = list.items;
	*n = list.n;
	return status;
}

static int parse_id(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];

	if (parse_attrs(tb, attrs, len) || !tb[LOCKHELD_A_FILTER_ID])
		return -1;
	*(__u32 *)arg = get_u32(tb, LOCKHELD_A_FILTER_ID);
	return 0;
}

int lhnl_filter_add(struct lhnl *nl, const struct lockheld_insn *insns,
		    unsigned int n, const char *text, __u32 flags, __u32 *id)
{
	struct nl_msg *msg = new_message(nl, LOCKHELD_CMD_FILTER_ADD, 0);
	int status;

	*id = 0;
	put(msg, LOCKHELD_A_PROGRAM, insns, n * sizeof(insns[0]));
	put(msg, LOCKHELD_A_TEXT, text, strlen(text) + 1);
	put_u32(msg, LOCKHELD_A_FLAGS, flags);
	status = request(nl, msg, parse_id, id);
	if (!status || !nl->extack || nl->error == EPERM)
		return status;
	/* What it says is about something in the filter. */
	return set_error(nl, status, nl->error, "%.200s: %s", text, nl->extack);
}

int lhnl_filter_attach(struct lhnl *nl, __u32 id, int fd)
{
	struct nl_msg *msg = new_message(nl, LOCKHELD_CMD_FILTER_ATTACH, 0);

	put_u32(msg, LOCKHELD_A_FILTER_ID, id);
	put_u32(msg, LOCKHELD_A_EVENT_FD, fd);
	return request(nl, msg, NULL, NULL);
}

int lhnl_filter_del(struct lhnl *nl, __u32 id)
{
	struct nl_msg *msg = new_message(nl, LOCKHELD_CMD_FILTER_DEL, 0);

	put_u32(msg, LOCKHELD_A_FILTER_ID, id);
	return request(nl, msg, NULL, NULL);
}

static int parse_term(struct nlattr *nest, struct lhnl_filter *filter)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];
	struct list list = { filter->terms, filter->nr_terms };
	struct lhnl_term *term;

	if (parse_attrs(tb, nla_data(nest), nla_len(nest)))
		return -1;
	term = grow(&list, sizeof(*term));
	term->insn = get_u32(tb, LOCKHELD_A_INSN);
	term->mechanism = get_u32(tb, LOCKHELD_A_MECHANISM);
	term->family = get_u32(tb, LOCKHELD_A_FAMILY);
	term->mode = get_u32(tb, LOCKHELD_A_MODE);
	filter->terms = list.items;
	filter->nr_terms = list.n;
	return 0;
}

static int parse_filter(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];
	struct lhnl_filter *filter;
	struct nlattr *attr;
	int rem;

	if (parse_attrs(tb, attrs, len))
		return -1;
	filter = grow(arg, sizeof(*filter));
	filter->id = get_u32(tb, LOCKHELD_A_FILTER_ID);
	filter->flags = get_u32(tb, LOCKHELD_A_FLAGS);
	filter->owner_pid = get_u32(tb, LOCKHELD_A_OWNER_PID);
	filter->nr_events = get_u32(tb, LOCKHELD_A_NR_EVENTS);
	filter->evaluated = get_u64(tb, LOCKHELD_A_EVALUATED);
	filter->passed = get_u64(tb, LOCKHELD_A_PASSED);
	filter->dropped = get_u64(tb, LOCKHELD_A_DROPPED);
	filter->uncertain = get_u64(tb, LOCKHELD_A_UNCERTAIN);
	filter->text = get_string(tb, LOCKHELD_A_TEXT);
	if (!filter->text)
		filter->text = ctl_strdup("");
	nla_for_each_attr(attr, attrs, len, rem)
		if (nla_type(attr) == LOCKHELD_A_TERM &&
		    parse_term(attr, filter))
			return -1;
	return 0;
}

void lhnl_filters_free(struct lhnl_filter *filters, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(filters[i].text);
		free(filters[i].terms);
	}
	free(filters);
}

int lhnl_filters(struct lhnl *nl, __u32 id, struct lhnl_filter **filters,
		 size_t *n)
{
	struct list list = { 0 };
	int status, tries = DUMP_TRIES;
	struct nl_msg *msg;

	do {
		lhnl_filters_free(list.items, list.n);
		list = (struct list){ 0 };
		msg = new_message(nl, LOCKHELD_CMD_FILTER_GET, NLM_F_DUMP);
		if (id)
			put_u32(msg, LOCKHELD_A_FILTER_ID, id);
		status = request(nl, msg, parse_filter, &list);
	} while (nl->inconsistent && --tries);
	if (!status && id && !list.n)
		status = set_error(nl, CTL_FAILED, ENOENT,
				   "there is no filter %u", id);
	if (status) {
		lhnl_filters_free(list.items, list.n);
		list = (struct list){ 0 };
	}
	*filters = list.items;
	*n = list.n;
	return status;
}

static int parse_stats(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];
	struct lhnl_stat *stat;
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, attrs, len, rem) {
		if (nla_type(attr) != LOCKHELD_A_STAT)
			continue;
		if (parse_attrs(tb, nla_data(attr), nla_len(attr)) ||
		    !tb[LOCKHELD_A_NAME])
			return -1;
		stat = grow(arg, sizeof(*stat));
		stat->name = get_string(tb, LOCKHELD_A_NAME);
		stat->value = get_u64(tb, LOCKHELD_A_VALUE);
	}
	return 0;
}

void lhnl_stats_free(struct lhnl_stat *stats, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(stats[i].name);
	free(stats);
}

int lhnl_stats(struct lhnl *nl, struct lhnl_stat **stats, size_t *n)
{
	struct list list = { 0 };
	int status = request(nl, new_message(nl, LOCKHELD_CMD_STATS_GET, 0),
			     parse_stats, &list);

	if (status) {
		lhnl_stats_free(list.items, list.n);
		list = (struct list){ 0 };
	}
	*stats = list.items;
	*n = list.n;
	return status;
}

static int parse_name(struct nlattr *attrs, int len, void *arg)
{
	struct nlattr *tb[LOCKHELD_A_MAX + 1];

	if (parse_attrs(tb, attrs, len) || !tb[LOCKHELD_A_NAME])
		return -1;
	free(*(char **)arg);
	*(char **)arg = get_string(tb, LOCKHELD_A_NAME);
	return 0;
}

int lhnl_lock_name(struct lhnl *nl, __u64 addr, char *buf, size_t size)
{
	struct nl_msg *msg = new_message(nl, LOCKHELD_CMD_LOCK_NAME, 0);
	char *name = NULL;
	int status;

	put(msg, LOCKHELD_A_ADDR, &addr, sizeof(addr));
	status = request(nl, msg, parse_name, &name);
	snprintf(buf, size, "%s", !status && name ? name : "");
	free(name);
	return status;
}
