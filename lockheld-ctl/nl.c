// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of the module's netlink interface. With nlsock.c the only user of
 * libnl; nothing outside sees an attribute.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "ctl.h"
#include "nl.h"
#include "nlsock.h"

/* Filters that come and go during a dump make it begin again. */
#define DUMP_TRIES 8

/* Where a program's first instruction is in the request that adds it. */
#define PROGRAM_AT (NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN)

static struct nla_policy policy[LOCKHELD_A_MAX + 1] = {
	[LOCKHELD_A_VERSION] = { .type = NLA_STRING },
	[LOCKHELD_A_BACKEND] = { .type = NLA_STRING },
	[LOCKHELD_A_BACKEND_REASON] = { .type = NLA_STRING },
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
	cap->backend_reason = get_string(tb, LOCKHELD_A_BACKEND_REASON);
	cap->reason = get_string(tb, LOCKHELD_A_REASON);
	return 0;
}

void lhnl_caps_free(struct lhnl_cap *caps, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(caps[i].version);
		free(caps[i].backend);
		free(caps[i].backend_reason);
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
		status = nlsock_request(nl, nlsock_message(nl, LOCKHELD_CMD_CAPS_GET,
						 NLM_F_DUMP),
				 parse_cap, &list);
	} while (nlsock_inconsistent(nl) && --tries);
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
	struct nl_msg *msg = nlsock_message(nl, LOCKHELD_CMD_FILTER_ADD, 0);
	int status;

	*id = 0;
	/* The first attribute: see PROGRAM_AT. */
	nlsock_put(msg, LOCKHELD_A_PROGRAM, insns, n * sizeof(insns[0]));
	nlsock_put(msg, LOCKHELD_A_TEXT, text, strlen(text) + 1);
	nlsock_put_u32(msg, LOCKHELD_A_FLAGS, flags);
	status = nlsock_request(nl, msg, parse_id, id);
	if (!status || !nlsock_extack(nl) || lhnl_errno(nl) == EPERM)
		return status;
	if (lhnl_errno(nl) == EINVAL && lhnl_insn(nl, n) >= 0)
		status = CTL_USAGE;
	/* What it says is about something in the filter. */
	return nlsock_error(nl, status, lhnl_errno(nl), "%.200s: %s", text, nlsock_extack(nl));
}

int lhnl_insn(const struct lhnl *nl, unsigned int n)
{
	size_t offset = nlsock_offset(nl);
	size_t insn = (offset - PROGRAM_AT) / sizeof(struct lockheld_insn);

	return offset < PROGRAM_AT || insn >= n ? -1 : (int)insn;
}

const char *lhnl_reason(const struct lhnl *nl)
{
	return nlsock_extack(nl);
}

int lhnl_filter_attach(struct lhnl *nl, __u32 id, int fd)
{
	struct nl_msg *msg = nlsock_message(nl, LOCKHELD_CMD_FILTER_ATTACH, 0);

	nlsock_put_u32(msg, LOCKHELD_A_FILTER_ID, id);
	nlsock_put_u32(msg, LOCKHELD_A_EVENT_FD, fd);
	return nlsock_request(nl, msg, NULL, NULL);
}

int lhnl_filter_del(struct lhnl *nl, __u32 id)
{
	struct nl_msg *msg = nlsock_message(nl, LOCKHELD_CMD_FILTER_DEL, 0);

	nlsock_put_u32(msg, LOCKHELD_A_FILTER_ID, id);
	return nlsock_request(nl, msg, NULL, NULL);
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
		msg = nlsock_message(nl, LOCKHELD_CMD_FILTER_GET, NLM_F_DUMP);
		if (id)
			nlsock_put_u32(msg, LOCKHELD_A_FILTER_ID, id);
		status = nlsock_request(nl, msg, parse_filter, &list);
	} while (nlsock_inconsistent(nl) && --tries);
	if (!status && id && !list.n)
		status = nlsock_error(nl, CTL_FAILED, ENOENT,
				   "there is no filter %u", id);
	if (status) {
		lhnl_filters_free(list.items, list.n);
		list = (struct list){ 0 };
	}
	*filters = list.items;
	*n = list.n;
	return status;
}

struct notice {
	bool come;
	__u32 id;
	char *module;
};

static int parse_notice(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *genl = nlmsg_data(nlmsg_hdr(msg));
	struct nlattr *tb[LOCKHELD_A_MAX + 1];
	struct notice *notice = arg;

	if (notice->come ||
	    (genl->cmd != LOCKHELD_CMD_FILTER_GONE &&
	     genl->cmd != LOCKHELD_CMD_FILTER_DEL) ||
	    parse_attrs(tb, genlmsg_attrdata(genl, 0),
			genlmsg_attrlen(genl, 0)) ||
	    !tb[LOCKHELD_A_FILTER_ID] ||
	    (genl->cmd == LOCKHELD_CMD_FILTER_GONE && !tb[LOCKHELD_A_NAME]))
		return NL_SKIP;
	notice->come = true;
	notice->id = get_u32(tb, LOCKHELD_A_FILTER_ID);
	if (genl->cmd == LOCKHELD_CMD_FILTER_GONE)
		notice->module = get_string(tb, LOCKHELD_A_NAME);
	return NL_OK;
}

bool lhnl_notice(struct lhnl *nl, __u32 *id, char **module)
{
	struct notice notice = { 0 };

	while (!notice.come && !nlsock_notice(nl, parse_notice, &notice))
		;
	*id = notice.id;
	*module = notice.module;
	return notice.come;
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
	int status = nlsock_request(nl, nlsock_message(nl, LOCKHELD_CMD_STATS_GET, 0),
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
	struct nl_msg *msg = nlsock_message(nl, LOCKHELD_CMD_LOCK_NAME, 0);
	char *name = NULL;
	int status;

	nlsock_put(msg, LOCKHELD_A_ADDR, &addr, sizeof(addr));
	status = nlsock_request(nl, msg, parse_name, &name);
	snprintf(buf, size, "%s", !status && name ? name : "");
	free(name);
	return status;
}
