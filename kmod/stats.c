// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the module, one copy for each CPU. */
#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "lockheld.h"

DEFINE_PER_CPU(u64 [LH_NR_STATS], lh_stats);

const char * const lh_stat_names[LH_NR_STATS] = {
#define X(name, meaning) [LH_STAT_##name] = #name,
	LH_STATS(X)
#undef X
};

u64 lh_stat_sum(enum lh_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(lh_stats[stat], cpu);
	return sum;
}
