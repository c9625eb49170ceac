// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "ctl.h"
#include "expr.h"
#include "filteradd.h"
#include "nl.h"

/*
 * The module refuses what may be a lock that it cannot track, or does not look
 * like what is asked for: is it one?
 */
static bool kind_may_help(const struct lockheld_insn *insn, int status)
{
	return status != CTL_FAILED && !insn->family &&
	       (insn->op == LOCKHELD_OP_LOCK ||
		insn->op == LOCKHELD_OP_HELD_NS) &&
	       (insn->arg == LOCKHELD_SPEC_ADDR ||
		insn->arg == LOCKHELD_SPEC_SLAB);
}

int filter_add(struct lhnl *nl, const char *text, struct expr_result *res,
	       __u32 flags, __u32 *id)
{
	int status = lhnl_filter_add(nl, res->insns, res->n, text, flags, id);
	int insn = lhnl_insn(nl, res->n);
	char *reason;

	if (!status)
		return CTL_DONE;
	if (insn < 0 || !lhnl_reason(nl))
		return ctl_error(status, "%s", lhnl_error(nl));
	reason = ctl_printf("%s%s", lhnl_reason(nl),
			    kind_may_help(&res->insns[insn], status) ?
			    "; if it is a lock of another kind, say so: KIND@NAME, as in mutex@NAME or srcu@NAME" :
			    "");
	/* The module looked at a place that the expression names. */
	if (status == CTL_FAILED)
		status = CTL_USAGE;
	expr_refuse(text, res, insn, reason);
	free(reason);
	return expr_print_error(status, res);
}
