// SPDX-License-Identifier: GPL-2.0-only
/* The module's netlink interface for the tests; see nl.h. */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nl.h"

typedef void (*attr_fn)(uint16_t type, const void *data, size_t len, void *arg);

void nl_start(struct nl *nl, struct nl_msg *msg, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr header = {
		.nlmsg_type = nl->family,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
		.nlmsg_seq = ++nl->seq,
	};
	struct genlmsghdr genl = {
		.cmd = cmd,
		.version = LOCKHELD_GENL_VERSION,
	};

	memset(msg, 0, sizeof(*msg));
	memcpy(msg->buf, &header, sizeof(header));
	memcpy(msg->buf + NLMSG_HDRLEN, &genl, sizeof(genl));
	msg->len = NLMSG_HDRLEN + GENL_HDRLEN;
}

void nl_put(struct nl_msg *msg, uint16_t type, const void *data, size_t len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	if (msg->len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(msg->buf)) {
		fprintf(stderr, "nl: the message is too long\n");
		exit(1);
	}
	memcpy(msg->buf + msg->len, &attr, sizeof(attr));
	if (len)
		memcpy(msg->buf + msg->len + NLA_HDRLEN, data, len);
	msg->len += NLA_HDRLEN + NLA_ALIGN(len);
}

void nl_put_u32(struct nl_msg *msg, uint16_t type, uint32_t v)
{
	nl_put(msg, type, &v, sizeof(v));
}

int nl_send(struct nl *nl, struct nl_msg *msg)
{
	uint32_t len = msg->len;

	memcpy(msg->buf + offsetof(struct nlmsghdr, nlmsg_len), &len,
	       sizeof(len));
	return send(nl->fd, msg->buf, msg->len, 0) < 0 ? -errno : 0;
}

static void each_attr(const unsigned char *pos, const unsigned char *end,
		      attr_fn fn, void *arg)
{
	struct nlattr attr;

	while (end - pos >= NLA_HDRLEN) {
		memcpy(&attr, pos, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > end - pos)
			return;
		fn(attr.nla_type & NLA_TYPE_MASK, pos + NLA_HDRLEN,
		   attr.nla_len - NLA_HDRLEN, arg);
		if (NLA_ALIGN(attr.nla_len) >= end - pos)
			return;
		pos += NLA_ALIGN(attr.nla_len);
	}
}

static void keep_text(uint16_t type, const void *data, size_t len, void *arg)
{
	struct nl *nl = arg;

	if (type == NLMSGERR_ATTR_MSG)
		snprintf(nl->text, sizeof(nl->text), "%.*s", (int)len,
			 (const char *)data);
}

/* The end of an answer: an error number, and perhaps a sentence about it. */
static int take_end(struct nl *nl, const struct nlmsghdr *header,
		    const unsigned char *msg)
{
	size_t size = header->nlmsg_type == NLMSG_ERROR ?
		      sizeof(struct nlmsgerr) : sizeof(int);
	int err;

	memcpy(&err, msg + NLMSG_HDRLEN, sizeof(err));
	if (header->nlmsg_flags & NLM_F_ACK_TLVS)
		each_attr(msg + NLMSG_HDRLEN + NLMSG_ALIGN(size),
			  msg + header->nlmsg_len, keep_text, nl);
	return err;
}

/* Returns 1 if more messages will come. */
static int take_message(struct nl *nl, const unsigned char *msg, attr_fn fn,
			void *arg)
{
	struct nlmsghdr header;

	memcpy(&header, msg, sizeof(header));
	switch (header.nlmsg_type) {
	case NLMSG_ERROR:
	case NLMSG_DONE:
		return take_end(nl, &header, msg);
	}
	if (fn) {
		fn(0, NULL, 0, arg);
		each_attr(msg + NLMSG_HDRLEN + GENL_HDRLEN,
			  msg + header.nlmsg_len, fn, arg);
	}
	return 1;
}

int nl_receive(struct nl *nl, attr_fn fn, void *arg)
{
	static unsigned char buf[65536];
	struct nlmsghdr header;
	ssize_t len;
	size_t pos;
	int ret;

	nl->text[0] = 0;
	for (;;) {
		len = recv(nl->fd, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (pos = 0; pos + sizeof(header) <= (size_t)len;
		     pos += NLMSG_ALIGN(header.nlmsg_len)) {
			memcpy(&header, buf + pos, sizeof(header));
			ret = take_message(nl, buf + pos, fn, arg);
			if (ret <= 0)
				return ret;
		}
	}
}

static void keep_family(uint16_t type, const void *data, size_t len, void *arg)
{
	if (type == CTRL_ATTR_FAMILY_ID && len == sizeof(uint16_t))
		memcpy(arg, data, len);
}

void nl_open(struct nl *nl)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct timeval patience = { .tv_sec = 60 };
	struct nl_msg msg;
	uint16_t family = 0;
	int one = 1;
	int err;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0 || bind(nl->fd, (void *)&addr, sizeof(addr))) {
		perror("nl: netlink socket");
		exit(1);
	}
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	nl->family = GENL_ID_CTRL;
	nl_start(nl, &msg, CTRL_CMD_GETFAMILY, 0);
	nl_put(&msg, CTRL_ATTR_FAMILY_NAME, LOCKHELD_GENL_NAME,
	       sizeof(LOCKHELD_GENL_NAME));
	err = nl_send(nl, &msg);
	if (!err)
		err = nl_receive(nl, keep_family, &family);
	if (err || !family) {
		fprintf(stderr, "nl: no netlink family %s: %s\n",
			LOCKHELD_GENL_NAME, strerror(-err));
		exit(1);
	}
	nl->family = family;
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
}

static int ask(struct nl *nl, struct nl_msg *msg, attr_fn fn, void *arg)
{
	int err = nl_send(nl, msg);

	return err ?: nl_receive(nl, fn, arg);
}

static void keep_id(uint16_t type, const void *data, size_t len, void *arg)
{
	if (type == LOCKHELD_A_FILTER_ID && len == sizeof(uint32_t))
		memcpy(arg, data, len);
}

int nl_filter_add(struct nl *nl, const struct lockheld_insn *insns, size_t n,
		  uint32_t flags, uint32_t *id)
{
	struct nl_msg msg;

	*id = 0;
	nl_start(nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, insns, n * sizeof(*insns));
	nl_put(&msg, LOCKHELD_A_TEXT, "test", 5);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, flags);
	/* The reply comes before the acknowledgement, which ends the wait. */
	return ask(nl, &msg, keep_id, id);
}

int nl_filter_attach(struct nl *nl, uint32_t id, int fd)
{
	struct nl_msg msg;

	nl_start(nl, &msg, LOCKHELD_CMD_FILTER_ATTACH, 0);
	nl_put_u32(&msg, LOCKHELD_A_FILTER_ID, id);
	nl_put_u32(&msg, LOCKHELD_A_EVENT_FD, fd);
	return ask(nl, &msg, NULL, NULL);
}

int nl_filter_del(struct nl *nl, uint32_t id)
{
	struct nl_msg msg;

	nl_start(nl, &msg, LOCKHELD_CMD_FILTER_DEL, 0);
	nl_put_u32(&msg, LOCKHELD_A_FILTER_ID, id);
	return ask(nl, &msg, NULL, NULL);
}

struct filters {
	struct nl_filter *filter;
	int n;
	int max;
};

static void keep_mechanism(uint16_t type, const void *data, size_t len,
			   void *arg)
{
	if (type == LOCKHELD_A_MECHANISM && len == sizeof(uint32_t))
		memcpy(arg, data, len);
}

static void keep_filter(uint16_t type, const void *data, size_t len, void *arg)
{
	struct filters *filters = arg;
	struct nl_filter *f;

	if (!type) {
		if (filters->n < filters->max)
			memset(&filters->filter[filters->n], 0, sizeof(*f));
		filters->n++;
		return;
	}
	if (filters->n > filters->max)
		return;
	f = &filters->filter[filters->n - 1];
	switch (type) {
	case LOCKHELD_A_FILTER_ID:
		memcpy(&f->id, data, sizeof(f->id));
		break;
	case LOCKHELD_A_NR_EVENTS:
		memcpy(&f->nr_events, data, sizeof(f->nr_events));
		break;
	case LOCKHELD_A_EVALUATED:
		memcpy(&f->evaluated, data, sizeof(f->evaluated));
		break;
	case LOCKHELD_A_PASSED:
		memcpy(&f->passed, data, sizeof(f->passed));
		break;
	case LOCKHELD_A_DROPPED:
		memcpy(&f->dropped, data, sizeof(f->dropped));
		break;
	case LOCKHELD_A_UNCERTAIN:
		memcpy(&f->uncertain, data, sizeof(f->uncertain));
		break;
	case LOCKHELD_A_TERM:
		if (!f->mechanism)
			each_attr(data, (const unsigned char *)data + len,
				  keep_mechanism, &f->mechanism);
		break;
	}
}

int nl_filters(struct nl *nl, uint32_t id, struct nl_filter *filter, int max)
{
	struct filters filters = { .filter = filter, .max = max };
	struct nl_msg msg;
	int err;

	nl_start(nl, &msg, LOCKHELD_CMD_FILTER_GET, NLM_F_DUMP);
	if (id)
		nl_put_u32(&msg, LOCKHELD_A_FILTER_ID, id);
	err = ask(nl, &msg, keep_filter, &filters);
	return err ?: filters.n;
}

struct stat_wanted {
	const char *name;
	char is[64];
	uint64_t value;
	int found;
};

static void keep_stat_attr(uint16_t type, const void *data, size_t len,
			   void *arg)
{
	struct stat_wanted *wanted = arg;

	if (type == LOCKHELD_A_NAME)
		snprintf(wanted->is, sizeof(wanted->is), "%.*s", (int)len,
			 (const char *)data);
	if (type == LOCKHELD_A_VALUE && !strcmp(wanted->is, wanted->name)) {
		memcpy(&wanted->value, data, sizeof(wanted->value));
		wanted->found = 1;
	}
}

static void keep_stat(uint16_t type, const void *data, size_t len, void *arg)
{
	if (type == LOCKHELD_A_STAT)
		each_attr(data, (const unsigned char *)data + len,
			  keep_stat_attr, arg);
}

int nl_stat(struct nl *nl, const char *name, uint64_t *value)
{
	struct stat_wanted wanted = { .name = name };
	struct nl_msg msg;
	int err;

	nl_start(nl, &msg, LOCKHELD_CMD_STATS_GET, 0);
	err = ask(nl, &msg, keep_stat, &wanted);
	if (err)
		return err;
	*value = wanted.value;
	return wanted.found ? 0 : -ENOENT;
}
