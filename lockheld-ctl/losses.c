// SPDX-License-Identifier: GPL-2.0-only
/* Locks that the module could not follow while a recording was made. */
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "losses.h"

static const struct {
	const char *counter;
	const char *meaning;
} kinds[LOSSES_KINDS] = {
	{ "stack_full", "locks were not seen, since too many were held at once" },
	{ "records_full", "tasks slept with locks that were lost: load the module with a larger max_sleepers" },
	{ "missed", "hooks were not run, since another one was running: locks may be missing or held too long" },
};

static void read_counters(struct lhnl *nl, uint64_t values[])
{
	struct lhnl_stat *stats;
	size_t i, k, n;

	memset(values, 0, LOSSES_KINDS * sizeof(*values));
	if (lhnl_stats(nl, &stats, &n))
		return;
	for (i = 0; i < n; i++)
		for (k = 0; k < LOSSES_KINDS; k++)
			if (!strcmp(stats[i].name, kinds[k].counter))
				values[k] = stats[i].value;
	lhnl_stats_free(stats, n);
}

void losses_begin(struct losses *l, struct lhnl *nl)
{
	read_counters(nl, l->before);
}

void losses_say(const struct losses *l, struct lhnl *nl)
{
	uint64_t now[LOSSES_KINDS];
	size_t k;

	read_counters(nl, now);
	for (k = 0; k < LOSSES_KINDS; k++)
		if (now[k] > l->before[k])
			ctl_warn("%s: %" PRIu64 " %s", kinds[k].counter,
				 now[k] - l->before[k], kinds[k].meaning);
}
