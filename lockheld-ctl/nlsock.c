// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request to the module and its answers over netlink; what can go wrong with
 * them, in words.
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
#include "nlsock.h"

/* Room for a dump of all filters, so that the kernel need not wait for us. */
#define RECEIVE_BUFFER (1 << 20)
/* The largest request is a whole program with a whole text. */
#define REQUEST_MAX (LOCKHELD_TEXT_MAX + 256 + \
		     LOCKHELD_INSNS_MAX * sizeof(struct lockheld_insn))
/* The module answers at once; this is for a kernel in trouble. */
#define ANSWER_SECONDS 30

struct lhnl {
	struct nl_sock *sock;
	struct nl_sock *notices;	/* NULL until lhnl_watch() */
	struct nl_cb *cb;
	int family;
	int error;		/* positive errno of the last request */
	char *text;		/* what to tell the user about it */

	/* Of the request under way: */
	unsigned int seq;
	bool done;
	bool inconsistent;	/* the dump has to be made again */
	char *extack;
	__u32 offset;		/* in the request, of what is wrong; or 0 */
	int (*parse)(struct nlattr *attrs, int len, void *arg);
	void *arg;
};

int nlsock_error(struct lhnl *nl, int status, int error, const char *fmt, ...)
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
	struct nlattr *attrs, *attr;
	int len;

	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    hdr->nlmsg_len < NLMSG_HDRLEN + skip)
		return;
	attrs = (struct nlattr *)((char *)hdr + NLMSG_HDRLEN + skip);
	len = hdr->nlmsg_len - NLMSG_HDRLEN - skip;
	attr = nla_find(attrs, len, NLMSGERR_ATTR_OFFS);
	if (attr && nla_len(attr) == sizeof(nl->offset))
		nl->offset = nla_get_u32(attr);
	attr = nla_find(attrs, len, NLMSGERR_ATTR_MSG);
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
		return nlsock_error(nl, CTL_IMPOSSIBLE, error,
				 "not allowed: %s (run it as root)",
				 why ? why : "needs CAP_PERFMON");
	if (error == EOPNOTSUPP && !why)
		return nlsock_error(nl, CTL_IMPOSSIBLE, error,
				 "the module does not know this command: load the lockheld.ko that was built with lockheld-ctl %s",
				 VERSION);
	if (error == EOPNOTSUPP)
		return nlsock_error(nl, CTL_IMPOSSIBLE, error, "%s", why);
	/* The module says a reason with every refusal. */
	if (error == ENOENT && !why)
		return nlsock_error(nl, CTL_IMPOSSIBLE, error,
				 "the module was unloaded: run insmod kmod/lockheld.ko");
	if (error == ENOBUFS || error == ENOMEM)
		return nlsock_error(nl, CTL_FAILED, error,
				 "an answer of the module was lost for lack of memory: try again");
	if (error == EAGAIN)
		return nlsock_error(nl, CTL_FAILED, error,
				 "the module did not answer in %d seconds",
				 ANSWER_SECONDS);
	if (error == EBADMSG)
		return nlsock_error(nl, CTL_FAILED, error,
				 "the module's answer makes no sense: load the lockheld.ko that was built with lockheld-ctl %s",
				 VERSION);
	return nlsock_error(nl, CTL_FAILED, error, "%s", why ? why : strerror(error));
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

int nlsock_request(struct lhnl *nl, struct nl_msg *msg,
		   int (*parse)(struct nlattr *attrs, int len, void *arg),
		   void *arg)
{
	int err;

	free(nl->extack);
	nl->extack = NULL;
	nl->offset = 0;
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

struct nl_msg *nlsock_message(struct lhnl *nl, int command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(REQUEST_MAX);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
				 flags | NLM_F_ACK, command,
				 LOCKHELD_GENL_VERSION))
		exit(ctl_error(CTL_FAILED, "out of memory"));
	return msg;
}

/* Messages are made large enough for all that a request can hold. */
void nlsock_put(struct nl_msg *msg, int attr, const void *data, size_t len)
{
	if (nla_put(msg, attr, len, data))
		exit(ctl_error(CTL_FAILED, "out of memory"));
}

void nlsock_put_u32(struct nl_msg *msg, int attr, __u32 value)
{
	nlsock_put(msg, attr, &value, sizeof(value));
}

bool nlsock_inconsistent(const struct lhnl *nl)
{
	return nl->inconsistent;
}

const char *nlsock_extack(const struct lhnl *nl)
{
	return nl->extack;
}

size_t nlsock_offset(const struct lhnl *nl)
{
	return nl->offset;
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
		return nlsock_error(nl, CTL_IMPOSSIBLE, errno ? errno : EIO,
				 "cannot open a netlink socket: %s (a sandbox may forbid it)",
				 nl_geterror(err));
	fd = nl_socket_get_fd(nl->sock);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	nl_socket_set_buffer_size(nl->sock, RECEIVE_BUFFER, 0);

	nl->family = genl_ctrl_resolve(nl->sock, LOCKHELD_GENL_NAME);
	if (nl->family == -NLE_OBJ_NOTFOUND)
		return nlsock_error(nl, CTL_IMPOSSIBLE, ENOENT,
				 "the module is not loaded: run insmod kmod/lockheld.ko (or modprobe lockheld) as root");
	if (nl->family < 0)
		return nlsock_error(nl, CTL_IMPOSSIBLE, EIO,
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

int lhnl_watch(struct lhnl *nl)
{
	int group = genl_ctrl_resolve_grp(nl->sock, LOCKHELD_GENL_NAME,
					  LOCKHELD_GENL_NOTICES);

	nl->notices = nl_socket_alloc();
	if (!nl->notices)
		exit(ctl_error(CTL_FAILED, "out of memory"));
	nl_socket_disable_seq_check(nl->notices);
	if (group < 0 || genl_connect(nl->notices) ||
	    nl_socket_add_membership(nl->notices, group) ||
	    nl_socket_set_nonblocking(nl->notices))
		return -1;
	return nl_socket_get_fd(nl->notices);
}

int nlsock_notice(struct lhnl *nl, nl_recvmsg_msg_cb_t parse, void *arg)
{
	nl_socket_modify_cb(nl->notices, NL_CB_VALID, NL_CB_CUSTOM, parse,
			    arg);
	return nl_recvmsgs_default(nl->notices);
}

void lhnl_close(struct lhnl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->notices);
	nl_socket_free(nl->sock);
	nl_cb_put(nl->cb);
	free(nl->extack);
	free(nl->text);
	free(nl);
}

