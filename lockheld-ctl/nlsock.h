/* SPDX-License-Identifier: GPL-2.0-only */
/* Between nl.c and nlsock.c: a request to the module and its answers. */
#ifndef LOCKHELD_CTL_NLSOCK_H
#define LOCKHELD_CTL_NLSOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct lhnl;
struct nl_msg;
struct nlattr;

struct nl_msg *nlsock_message(struct lhnl *nl, int command, int flags);
void nlsock_put(struct nl_msg *msg, int attr, const void *data, size_t len);
void nlsock_put_u32(struct nl_msg *msg, int attr, __u32 value);

/**
 * nlsock_request() - send @msg, which is freed, and wait for its end
 * @parse: called for each answer; not 0 if that makes no sense
 *
 * Return: enum ctl_status, with the error set.
 */
int nlsock_request(struct lhnl *nl, struct nl_msg *msg,
		   int (*parse)(struct nlattr *attrs, int len, void *arg),
		   void *arg);

/* Gives the next notice that has come, if any, to @parse. */
int nlsock_notice(struct lhnl *nl,
		  int (*parse)(struct nl_msg *msg, void *arg), void *arg);

/* What a dump listed changed meanwhile. */
bool nlsock_inconsistent(const struct lhnl *nl);
/* The module's own words about the last request, or NULL. */
const char *nlsock_extack(const struct lhnl *nl);
/* Where in the request it is about, or 0 if it does not say. */
size_t nlsock_offset(const struct lhnl *nl);

/* Sets what lhnl_error() and lhnl_errno() say; returns @status. */
int nlsock_error(struct lhnl *nl, int status, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
