/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verbs that only ask the module something begin with. */
#ifndef LOCKHELD_CTL_QUERY_H
#define LOCKHELD_CTL_QUERY_H

#include <stdbool.h>

struct lhnl;

/**
 * query_begin() - understand the options --json and --help, and find the module
 * @usage: what --help prints
 * @json: true after --json
 * @nl: to the module, to be closed by query_end()
 *
 * Return: the verb's exit status, or -1 to go on.
 */
int query_begin(int argc, char **argv, const char *usage, bool *json,
		struct lhnl **nl);

/* Says what went wrong, if @status is not 0. Returns @status. */
int query_end(struct lhnl *nl, int status);

#endif
