/* SPDX-License-Identifier: GPL-2.0-only */
/* A compiled expression on its way into the module. */
#ifndef LOCKHELD_CTL_FILTERADD_H
#define LOCKHELD_CTL_FILTERADD_H

#include <linux/types.h>

struct expr_result;
struct lhnl;

/**
 * filter_add() - make a filter of an expression
 * @nl: to the module; the filter goes when it does, unless persistent
 * @text: the expression
 * @res: what it was compiled to
 * @flags: LOCKHELD_FILTER_*
 * @id: of the filter
 *
 * Return: enum ctl_status; an error has been said, with a mark under what in
 * the expression the module refuses.
 */
int filter_add(struct lhnl *nl, const char *text, struct expr_result *res,
	       __u32 flags, __u32 *id);

#endif
