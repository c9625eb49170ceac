// SPDX-License-Identifier: GPL-2.0-only
#include "ctl.h"
#include "expr.h"
#include "filteradd.h"
#include "nl.h"

int filter_add(struct lhnl *nl, const char *text, struct expr_result *res,
	       __u32 flags, __u32 *id)
{
	int status = lhnl_filter_add(nl, res->insns, res->n, text, flags, id);
	int insn = lhnl_insn(nl, res->n);

	if (!status)
		return CTL_DONE;
	if (insn < 0 || !lhnl_reason(nl))
		return ctl_error(status, "%s", lhnl_error(nl));
	expr_refuse(text, res, insn, lhnl_reason(nl));
	return expr_print_error(status, res);
}
