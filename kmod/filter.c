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
	[LOCKHELD_OP_HELD_NS] = 0,
};

/* Which fields of an instruction mean something. */
enum operand {
	NOTHING,
	IMM,
	IMM2,
	COMM,
	NAME,
};

static enum operand operand_of(const struct lockheld_insn *insn)
{
	switch (insn->op) {
	case LOCKHELD_OP_IMM:
		return IMM;
	case LOCKHELD_OP_COMM:
		return COMM;
	case LOCKHELD_OP_LOCK:
	case LOCKHELD_OP_HELD_NS:
		break;
	default:
		return NOTHING;
	}
	switch (insn->arg) {
	case LOCKHELD_SPEC_ADDR:
		return IMM2;
	case LOCKHELD_SPEC_RQ_LOCK:
		return IMM;
	case LOCKHELD_SPEC_SLAB:
		return NAME;
	default:
		return NOTHING;
	}
}

/* All behind what is used is 0. */
static bool rest_is_zero(const struct lockheld_insn *insn)
{
	static const u8 used[] = {
		[NOTHING] = 0,
		[IMM] = sizeof(insn->imm),
		[IMM2] = sizeof(insn->imm) + sizeof(insn->imm2),
		[COMM] = sizeof(insn->comm),
		[NAME] = sizeof(insn->name),
	};
	unsigned int i;

	for (i = used[operand_of(insn)]; i < sizeof(insn->name); i++) {
		if (insn->name[i])
			return false;
	}
	return true;
}

/* There is but one RCU, and one Tasks Trace RCU. */
static bool has_objects(u8 family)
{
	return family != LOCKHELD_FAMILY_RCU &&
	       family != LOCKHELD_FAMILY_RCU_TRACE;
}

static bool takes_family(u8 spec)
{
	return spec == LOCKHELD_SPEC_TYPE || spec == LOCKHELD_SPEC_ADDR ||
	       spec == LOCKHELD_SPEC_SLAB;
}

static const char *check_lock(const struct lockheld_insn *insn)
{
	if (insn->arg > LOCKHELD_SPEC_MAX)
		return "unknown kind of lock";
	if (insn->mode > LOCKHELD_MODE_MAX)
		return "unknown lock mode";
	if (insn->family > LOCKHELD_FAMILY_MAX)
		return "unknown lock family";
	if (insn->arg == LOCKHELD_SPEC_TYPE && !insn->family)
		return "a lock type without its family";
	if (insn->family && !takes_family(insn->arg))
		return "a lock family where it is clear already";
	if (insn->arg != LOCKHELD_SPEC_TYPE && !has_objects(insn->family))
		return "locks of this family have no address";
	if (insn->arg == LOCKHELD_SPEC_ADDR && insn->imm <= 1)
		return "not the address of a lock";
	if (insn->arg == LOCKHELD_SPEC_SLAB && !insn->name[0])
		return "the name of a slab cache is empty";
	return NULL;
}

static const char *check_insn(const struct lockheld_insn *insn)
{
	const char *msg = NULL;

	if (insn->op > LOCKHELD_OP_MAX)
		return "unknown operation";
	if (insn->pad)
		return "padding is not 0";
	if (insn->op == LOCKHELD_OP_LOCK || insn->op == LOCKHELD_OP_HELD_NS)
		msg = check_lock(insn);
	else if (insn->family || insn->mode)
		msg = "a lock family or mode where there is no lock";
	else if (insn->op != LOCKHELD_OP_TERM && insn->arg)
		msg = "an argument where none is used";
	else if (insn->op == LOCKHELD_OP_TERM &&
		 insn->arg > LOCKHELD_TERM_MAX)
		msg = "unknown sample term";
	if (!msg && !rest_is_zero(insn))
		msg = "a value where none is used";
	return msg;
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
	u64 stack[LOCKHELD_STACK_MAX] LH_UNINITIALIZED;
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
		case LOCKHELD_OP_HELD_NS:
			*top++ = lh_held_ns(sample, insn);
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
