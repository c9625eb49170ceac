// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl stats: the module's counters. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "json.h"
#include "nl.h"
#include "query.h"

static const char usage[] =
	"usage: lockheld-ctl stats [--json]\n\n"
	"Lists what the module has counted since it was loaded: among it all that\n"
	"was lost or had to be repaired, by cause.\n\n"
	"  --json      for programs\n"
	"  -h, --help  this text\n";

static void print_stats(const struct lhnl_stat *stats, size_t n, bool as_json)
{
	struct json j = { 0 };
	int width = 0;
	size_t i;

	if (as_json) {
		json_open(&j, NULL, '{');
		for (i = 0; i < n; i++)
			json_number(&j, stats[i].name, stats[i].value);
		json_close(&j, '}');
		return;
	}
	for (i = 0; i < n; i++)
		if ((int)strlen(stats[i].name) > width)
			width = strlen(stats[i].name);
	for (i = 0; i < n; i++)
		printf("%-*s  %llu\n", width, stats[i].name,
		       (unsigned long long)stats[i].value);
}

int cmd_stats(int argc, char **argv)
{
	struct lhnl_stat *stats;
	bool json = false;
	struct lhnl *nl;
	int status;
	size_t n;

	status = query_begin(argc, argv, usage, &json, &nl);
	if (status >= 0)
		return status;
	status = lhnl_stats(nl, &stats, &n);
	if (status)
		return query_end(nl, status);
	print_stats(stats, n, json);
	lhnl_stats_free(stats, n);
	return query_end(nl, CTL_DONE);
}
