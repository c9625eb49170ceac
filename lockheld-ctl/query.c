// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>

#include "ctl.h"
#include "nl.h"
#include "query.h"

static int options(int argc, char **argv, const char *usage, bool *json)
{
	static const struct option all[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", all, NULL)) != -1) {
		switch (opt) {
		case 'j':
			*json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_DONE;
		default:
			return ctl_bad_option(opt, argv);
		}
	}
	if (optind < argc)
		return ctl_error(CTL_USAGE, "%s: unexpected '%s'", argv[0],
				 argv[optind]);
	return -1;
}

int query_begin(int argc, char **argv, const char *usage, bool *json,
		struct lhnl **nl)
{
	int status = options(argc, argv, usage, json);

	if (status >= 0)
		return status;
	status = lhnl_open(nl);
	return status ? query_end(*nl, status) : -1;
}

int query_end(struct lhnl *nl, int status)
{
	if (status)
		ctl_error(status, "%s", lhnl_error(nl));
	lhnl_close(nl);
	return status;
}
