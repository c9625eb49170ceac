/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's netlink interface for the tests, down to the single byte: no
 * library, since a test must be able to say what a library would not.
 */
#ifndef NL_H
#define NL_H

#include <linux/lockheld.h>
#include <stddef.h>
#include <stdint.h>

#define NL_MSG_MAX	16384

struct nl {
	int fd;
	uint16_t family;
	uint32_t seq;
	char text[256];		/* the kernel's sentence about the last error */
};

struct nl_msg {
	size_t len;
	unsigned char buf[NL_MSG_MAX];
};

struct nl_filter {
	uint32_t id;
	uint32_t nr_events;
	uint32_t mechanism;	/* of the first term */
	uint64_t evaluated;
	uint64_t passed;
	uint64_t dropped;
	uint64_t uncertain;
};

/* All return 0 or more, or -errno; nl_open() ends the program on an error. */
void nl_open(struct nl *nl);
void nl_close(struct nl *nl);

void nl_start(struct nl *nl, struct nl_msg *msg, uint8_t cmd, uint16_t flags);
void nl_put(struct nl_msg *msg, uint16_t type, const void *data, size_t len);
void nl_put_u32(struct nl_msg *msg, uint16_t type, uint32_t v);

/* Sends the bytes as they are, with the length in the header put right. */
int nl_send(struct nl *nl, struct nl_msg *msg);

/*
 * Reads answers up to the last one. What they carry goes to fn(), attribute by
 * attribute, with type 0 before the first one of each message.
 */
int nl_receive(struct nl *nl,
	       void (*fn)(uint16_t type, const void *data, size_t len,
			  void *arg), void *arg);

int nl_filter_add(struct nl *nl, const struct lockheld_insn *insns, size_t n,
		  uint32_t flags, uint32_t *id);
int nl_filter_attach(struct nl *nl, uint32_t id, int fd);
int nl_filter_del(struct nl *nl, uint32_t id);

/* Filters, up to @max; with @id not 0 only that one. Returns how many. */
int nl_filters(struct nl *nl, uint32_t id, struct nl_filter *filters, int max);

/* Value of a counter of the module. */
int nl_stat(struct nl *nl, const char *name, uint64_t *value);

/* Instructions: any lock of a family, a constant, and so on. */
#define NL_TYPE(fam, how)	{ .op = LOCKHELD_OP_LOCK,		\
				  .arg = LOCKHELD_SPEC_TYPE,		\
				  .family = (fam), .mode = (how) }
#define NL_LOCK(address)	{ .op = LOCKHELD_OP_LOCK,		\
				  .arg = LOCKHELD_SPEC_ADDR,		\
				  .imm = (address) }
#define NL_IMM(value)		{ .op = LOCKHELD_OP_IMM, .imm = (value) }
#define NL_TERM(term)		{ .op = LOCKHELD_OP_TERM, .arg = (term) }
#define NL_OP(operation)	{ .op = (operation) }

#endif /* NL_H */
