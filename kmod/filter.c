// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filter programs. Also compiled for the host, where the tests run and fuzz
 * it; so it uses nothing but filter.h.
 */
#include "filter.h"

/* Values an operation takes from the stack, by enum lockheld_op. */
static const u8 pops[] = {
	[LOCKHELD_OP_IMM] = 0,
	[LOCKHELD_OP_TERM] = 0,
	[LOCKHELD_OP_COMM] = 0,
	[LOCKHELD_OP_LOCK] = 0,
	[LOCKHELD_OP_EQ] = 2,
	[LOCKHELD_OP_NE] = 2,
	[LOCKHELD_OP_LT] = 2,
	[LOCKHELD_OP_LE] = 2,
	[LOCKHELD_OP_GT] = 2,
	[LOCKHELD_OP_GE] = 2,
	[LOCKHELD_OP_AND] = 2,
	[LOCKHELD_OP_LAND] = 2,
	[LOCKHELD_OP_LOR] = 2,
	[LOCKHELD_OP_NOT] = 1,
};

static const char *check_lock(const struct lockheld_insn *insn)
{
	bool wants_family = insn->arg == LOCKHELD_SPEC_TYPE;
	bool has_family = insn->family != LOCKHELD_FAMILY_NONE;
	bool has_addr = insn->arg == LOCKHELD_SPEC_ADDR;

	if (insn->arg > LOCKHELD_SPEC_MAX)
		return "unknown kind of lock";
	if (insn->mode > LOCKHELD_MODE_MAX)
		return "unknown lock mode";
	if (insn->family > LOCKHELD_FAMILY_MAX)
		return "unknown lock family";
	if (has_family != wants_family)
		return "a lock family goes with a lock type, and only there";
	if (has_addr && insn->imm <= 1)
		return "not the address of a lock";
	if (!has_addr && (insn->imm || insn->imm2))
		return "an address goes with an address term only";
	return NULL;
}

static const char *check_insn(const struct lockheld_insn *insn)
{
	if (insn->op > LOCKHELD_OP_MAX)
		return "unknown operation";
	if (insn->pad)
		return "padding is not 0";
	if (insn->op == LOCKHELD_OP_LOCK)
		return check_lock(insn);
	if (insn->family || insn->mode)
		return "a lock family or mode where there is no lock";
	if (insn->op == LOCKHELD_OP_TERM) {
		if (insn->arg > LOCKHELD_TERM_MAX)
			return "unknown sample term";
	} else if (insn->arg) {
		return "an argument where none is used";
	}
	if (insn->op == LOCKHELD_OP_COMM)
		return NULL;
	if (insn->imm2 || (insn->imm && insn->op != LOCKHELD_OP_IMM))
		return "a value where none is used";
	return NULL;
}

const char *lh_filter_check(const struct lockheld_insn *insns, unsigned int nr,
			    unsigned int *at)
{
	unsigned int depth = 0;
	const char *msg;

	*at = 0;
	if (!nr)
		return "the program is empty";
	if (nr > LOCKHELD_INSNS_MAX)
		return "the program is too long";

	for (; *at < nr; (*at)++) {
		const struct lockheld_insn *insn = &insns[*at];

		msg = check_insn(insn);
		if (msg)
			return msg;
		if (depth < pops[insn->op])
			return "the stack has too few values";
		depth += 1 - pops[insn->op];
		if (depth > LOCKHELD_STACK_MAX)
			return "the stack is too deep";
	}
	*at = nr - 1;
	return depth == 1 ? NULL : "the program leaves more than one value";
}

static u64 binary(u8 op, u64 a, u64 b)
{
	switch (op) {
	case LOCKHELD_OP_EQ:
		return a == b;
	case LOCKHELD_OP_NE:
		return a != b;
	case LOCKHELD_OP_LT:
		return a < b;
	case LOCKHELD_OP_LE:
		return a <= b;
	case LOCKHELD_OP_GT:
		return a > b;
	case LOCKHELD_OP_GE:
		return a >= b;
	case LOCKHELD_OP_AND:
		return a & b;
	case LOCKHELD_OP_LAND:
		return a && b;
	default:
		return a || b;
	}
}

bool lh_filter_run(const struct lockheld_insn *insns, unsigned int nr,
		   struct lh_sample *sample)
{
	const struct lockheld_insn *insn, *end = insns + nr;
	u64 stack[LOCKHELD_STACK_MAX];
	u64 *top = stack;	/* the next free place */

	for (insn = insns; insn != end; insn++) {
		switch (insn->op) {
		case LOCKHELD_OP_IMM:
			*top++ = insn->imm;
			break;
		case LOCKHELD_OP_TERM:
			*top++ = lh_term(sample, insn->arg);
			break;
		case LOCKHELD_OP_COMM:
			*top++ = lh_comm(sample, insn->comm);
			break;
		case LOCKHELD_OP_LOCK:
			*top++ = lh_lock_held(sample, insn);
			break;
		case LOCKHELD_OP_NOT:
			top[-1] = !top[-1];
			break;
		default:
			top--;
			top[-1] = binary(insn->op, top[-1], top[0]);
		}
	}
	return stack[0];
}
