// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz [N]: malformed messages on the netlink socket. First ones that are wrong
 * in one known way, then N random ones (default 20000), the same ones each
 * time. All must be answered, and the module must work as before afterwards.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nl.h"
#include "tap.h"

static struct nl nl;

static int ask(struct nl_msg *msg)
{
	int err = nl_send(&nl, msg);

	return err ?: nl_receive(&nl, NULL, NULL);
}

static void program(const struct lockheld_insn *insns, size_t n,
		    const char *word, const char *name)
{
	uint32_t id;
	int err = nl_filter_add(&nl, insns, n, 0, &id);

	if (tap_errno(err, -EINVAL, nl.text, name) && word &&
	    !strstr(nl.text, word))
		tap(false, name, "no '%s' in '%s'", word, nl.text);
	if (!err)
		nl_filter_del(&nl, id);
}

static void wrong_programs(void)
{
	struct lockheld_insn many[LOCKHELD_INSNS_MAX + 1];
	struct lockheld_insn two[2] = { NL_IMM(1), NL_IMM(2) };
	struct lockheld_insn one;
	size_t i;

	one = (struct lockheld_insn)NL_OP(LOCKHELD_OP_MAX + 1);
	program(&one, 1, "0", "an operation that does not exist");
	one = (struct lockheld_insn)NL_OP(255);
	program(&one, 1, "0", "operation 255");
	one = (struct lockheld_insn)NL_OP(LOCKHELD_OP_NOT);
	program(&one, 1, "0", "not of nothing");
	one = (struct lockheld_insn)NL_OP(LOCKHELD_OP_LAND);
	program(&one, 1, "0", "and of nothing");
	two[1] = (struct lockheld_insn)NL_OP(LOCKHELD_OP_EQ);
	program(two, 2, "1", "a comparison with nothing");
	two[1] = (struct lockheld_insn)NL_IMM(2);
	program(two, 2, NULL, "two values left");
	one = (struct lockheld_insn)NL_TERM(LOCKHELD_TERM_MAX + 1);
	program(&one, 1, "0", "a term that does not exist");
	one = (struct lockheld_insn)NL_TYPE(LOCKHELD_FAMILY_MAX + 1, 0);
	program(&one, 1, "0", "a family that does not exist");
	one = (struct lockheld_insn)NL_TYPE(LOCKHELD_FAMILY_NONE, 0);
	program(&one, 1, "0", "no family");
	one = (struct lockheld_insn)NL_TYPE(LOCKHELD_FAMILY_RWSEM,
					    LOCKHELD_MODE_MAX + 1);
	program(&one, 1, "0", "a mode that does not exist");
	one = (struct lockheld_insn)NL_IMM(1);
	one.arg = LOCKHELD_SPEC_MAX + 1;
	one.op = LOCKHELD_OP_LOCK;
	program(&one, 1, "0", "a kind of lock that does not exist");
	one = (struct lockheld_insn)NL_IMM(1);
	one.pad = 1;
	program(&one, 1, "0", "padding that is not 0");
	one = (struct lockheld_insn)NL_IMM(1);
	one.mode = LOCKHELD_MODE_READ;
	program(&one, 1, "0", "a mode without a lock");
	one = (struct lockheld_insn)NL_IMM(1);
	one.imm2 = 1;
	program(&one, 1, "0", "a value where none is used");
	for (i = 0; i < LOCKHELD_INSNS_MAX + 1; i++)
		many[i] = (struct lockheld_insn)NL_IMM(i);
	program(many, LOCKHELD_STACK_MAX + 1, "32", "a stack that is too deep");
	for (i = LOCKHELD_STACK_MAX; i < LOCKHELD_INSNS_MAX + 1; i++)
		many[i] = (struct lockheld_insn)NL_OP(LOCKHELD_OP_LOR);
	program(many, 2 * LOCKHELD_STACK_MAX + 2, NULL,
		"a stack that underflows late");
	for (i = 0; i < LOCKHELD_INSNS_MAX + 1; i++)
		many[i] = (struct lockheld_insn)NL_OP(LOCKHELD_OP_NOT);
	many[0] = (struct lockheld_insn)NL_IMM(1);
	{
		uint32_t id;
		int err = nl_filter_add(&nl, many, LOCKHELD_INSNS_MAX, 0, &id);

		tap_errno(err, 0, nl.text, "a program of the greatest length");
		nl_filter_del(&nl, id);
		err = nl_filter_add(&nl, many, LOCKHELD_INSNS_MAX + 1, 0, &id);
		tap(err < 0, "one that is longer", "the answer is %d", err);
	}
}

static void wrong_addresses(void)
{
	static const uint64_t addresses[] = {
		0x1000, 0x7fffffffe000, 0x8000000000000000,
		0xffffffffffffffff, 0xfffffffffffffff8, 0xdead000000000100,
	};
	struct lockheld_insn insn;
	uint32_t id;
	size_t i;
	int err;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		char name[64];

		insn = (struct lockheld_insn)NL_LOCK(addresses[i]);
		err = nl_filter_add(&nl, &insn, 1, 0, &id);
		snprintf(name, sizeof(name), "no lock at 0x%llx",
			 (unsigned long long)addresses[i]);
		tap_errno(err, -EFAULT, nl.text, name);
	}
}

static void wrong_messages(void)
{
	static const struct lockheld_insn insn = NL_IMM(1);
	unsigned char bytes[8192] = { 0 };
	struct nl_msg msg;
	uint32_t flags = 0;

	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	tap(ask(&msg) == -EINVAL, "no attribute at all", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, bytes, 0);
	nl_put(&msg, LOCKHELD_A_TEXT, "", 1);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, 0);
	tap(ask(&msg) == -EINVAL, "an empty program", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, &insn, sizeof(insn) - 1);
	nl_put(&msg, LOCKHELD_A_TEXT, "", 1);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, 0);
	tap(ask(&msg) == -EINVAL, "a program cut short", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, bytes, sizeof(bytes));
	nl_put(&msg, LOCKHELD_A_TEXT, "", 1);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, 0);
	tap(ask(&msg) < 0, "a program of 8 KiB", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, &insn, sizeof(insn));
	memset(bytes, 'x', sizeof(bytes));
	nl_put(&msg, LOCKHELD_A_TEXT, bytes, LOCKHELD_TEXT_MAX + 1);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, 0);
	tap(ask(&msg) < 0, "a text that is too long", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, &insn, sizeof(insn));
	nl_put(&msg, LOCKHELD_A_TEXT, bytes, 10);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, 0);
	tap(ask(&msg) < 0, "a text without an end", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, &insn, sizeof(insn));
	nl_put(&msg, LOCKHELD_A_TEXT, "", 1);
	nl_put_u32(&msg, LOCKHELD_A_FLAGS, ~LOCKHELD_FILTER_ALL);
	tap(ask(&msg) < 0, "flags that do not exist", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_PROGRAM, &insn, sizeof(insn));
	nl_put(&msg, LOCKHELD_A_TEXT, "", 1);
	nl_put(&msg, LOCKHELD_A_FLAGS, &flags, 1);
	tap(ask(&msg) < 0, "a number of one byte", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, 0);
	nl_put(&msg, LOCKHELD_A_MAX + 1, bytes, 4);
	tap(ask(&msg) < 0, "an attribute that does not exist", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_MAX + 1, 0);
	tap(ask(&msg) < 0, "a command that does not exist", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_UNSPEC, 0);
	tap(ask(&msg) < 0, "command 0", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_FILTER_ADD, NLM_F_DUMP);
	tap(ask(&msg) < 0, "a dump of a command that has none", NULL);
	nl_start(&nl, &msg, LOCKHELD_CMD_LOCK_NAME, 0);
	memset(bytes, 0xff, sizeof(bytes));
	nl_put(&msg, LOCKHELD_A_ADDR, bytes, 8);
	tap(ask(&msg) == -ENOENT, "the name of no lock", NULL);
}

/* Often something that makes sense: else the first check refuses it all. */
static unsigned char likely(unsigned int max)
{
	return tap_random() % 8 ? tap_random() % (max + 2) : tap_random();
}

static uint64_t number(void)
{
	switch (tap_random() % 4) {
	case 0:
		return tap_random() % 64;
	case 1:
		return 0xffff888000000000 + tap_random() % (1ULL << 33);
	case 2:
		return 0xffffffff80000000 + tap_random() % (1ULL << 30);
	default:
		return tap_random();
	}
}

static size_t random_program(struct lockheld_insn *insns)
{
	size_t i, n = tap_random() % 12;

	memset(insns, 0, n * sizeof(*insns));
	for (i = 0; i < n; i++) {
		struct lockheld_insn *insn = &insns[i];

		insn->op = likely(LOCKHELD_OP_MAX);
		if (insn->op == LOCKHELD_OP_TERM)
			insn->arg = likely(LOCKHELD_TERM_MAX);
		if (insn->op == LOCKHELD_OP_LOCK) {
			insn->arg = likely(LOCKHELD_SPEC_MAX);
			insn->mode = likely(LOCKHELD_MODE_MAX);
			if (insn->arg == LOCKHELD_SPEC_TYPE)
				insn->family = likely(LOCKHELD_FAMILY_MAX);
		}
		if (insn->op == LOCKHELD_OP_IMM ||
		    insn->arg == LOCKHELD_SPEC_ADDR || !(tap_random() % 16)) {
			insn->imm = number();
			insn->imm2 = tap_random() % 2 ? 0 : number() % 256;
		}
		if (!(tap_random() % 32))
			insn->pad = tap_random();
	}
	return n * sizeof(*insns);
}

static void random_attr(struct nl_msg *msg)
{
	static const unsigned short types[] = {
		LOCKHELD_A_PROGRAM, LOCKHELD_A_TEXT, LOCKHELD_A_FLAGS,
		LOCKHELD_A_FILTER_ID, LOCKHELD_A_EVENT_FD, LOCKHELD_A_ADDR,
	};
	unsigned char data[512];
	unsigned short type = types[tap_random() % 6];
	size_t i, len;
	uint64_t v = number();

	if (!(tap_random() % 16))
		type = tap_random();
	switch (type) {
	case LOCKHELD_A_PROGRAM:
		len = random_program((struct lockheld_insn *)data);
		break;
	case LOCKHELD_A_ADDR:
		memcpy(data, &v, len = 8);
		break;
	case LOCKHELD_A_FLAGS:
	case LOCKHELD_A_FILTER_ID:
	case LOCKHELD_A_EVENT_FD:
		v = tap_random() % 8;
		memcpy(data, &v, len = 4);
		break;
	default:
		len = tap_random() % 64;
		for (i = 0; i < len; i++)
			data[i] = tap_random();
		if (len)
			data[len - 1] = 0;
	}
	if (!(tap_random() % 16) && len)
		len = tap_random() % len;
	nl_put(msg, type, data, len);
}

static void random_message(struct nl_msg *msg)
{
	unsigned int attrs = tap_random() % 5, flips;

	nl_start(&nl, msg, likely(LOCKHELD_CMD_MAX),
		 tap_random() % 4 ? 0 : NLM_F_DUMP);
	while (attrs--)
		random_attr(msg);
	/* Some bits behind the header of the message are turned. */
	flips = tap_random() % 4 ? 0 : tap_random() % 8;
	while (flips-- && msg->len > NLMSG_HDRLEN) {
		size_t at = NLMSG_HDRLEN +
			    tap_random() % (msg->len - NLMSG_HDRLEN);

		msg->buf[at] ^= 1 << tap_random() % 8;
	}
	if (!(tap_random() % 32))
		msg->len = NLMSG_HDRLEN +
			   tap_random() % (msg->len - NLMSG_HDRLEN + 1);
}

/* Filters that were accepted are taken away, or there would be no more. */
static void forget_filters(void)
{
	struct nl_filter f[LOCKHELD_FILTERS_MAX];
	int i, n = nl_filters(&nl, 0, f, LOCKHELD_FILTERS_MAX);

	for (i = 0; i < n; i++)
		nl_filter_del(&nl, f[i].id);
}

static void random_messages(unsigned long n)
{
	unsigned long i, accepted = 0, silent = 0;
	struct nl_msg msg;
	int err;

	for (i = 0; i < n; i++) {
		random_message(&msg);
		err = ask(&msg);
		accepted += !err;
		silent += err == -EAGAIN;
		if (i % 32 == 0)
			forget_filters();
	}
	forget_filters();
	printf("# %lu of %lu random messages were accepted\n", accepted, n);
	tap(!silent, "every random message is answered", "%lu are not",
	    silent);
	tap(accepted && accepted < n, "some are accepted, some are not", NULL);
}

static void works(void)
{
	static const struct lockheld_insn insns[] = { NL_IMM(1) };
	static volatile char fresh[1 << 20];
	size_t i;
	struct nl_filter f;
	uint32_t id;
	int err, fd;

	err = nl_filter_add(&nl, insns, 1, 0, &id);
	tap_errno(err, 0, nl.text, "a good filter is accepted afterwards");
	fd = event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0,
			-1, false);
	err = nl_filter_attach(&nl, id, fd);
	tap_errno(err, 0, nl.text, "and attached");
	for (i = 0; i < sizeof(fresh); i += 4096)
		fresh[i] = 1;
	nl_filters(&nl, id, &f, 1);
	tap(f.passed && f.passed == f.evaluated, "and works", NULL);
	nl_filter_del(&nl, id);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;

	printf("TAP version 13\n");
	nl_open(&nl);
	wrong_programs();
	wrong_addresses();
	wrong_messages();
	random_messages(n);
	works();
	nl_close(&nl);
	return tap_end();
}
