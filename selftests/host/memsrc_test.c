// SPDX-License-Identifier: GPL-2.0-only
/* kmod/memsrc.c, compared with the fields that the system's header declares. */
#include <linux/perf_event.h>
#include <stdlib.h>

#include "filter.h"
#include "tap.h"

void (*host_interrupt)(void);

static union perf_mem_data_src random_source(void)
{
	union perf_mem_data_src source = { 0 };
	unsigned int i;

	for (i = 0; i < 64; i++)
		source.val |= (u64)(rand() & 1) << i;
	return source;
}

static void fields(void)
{
	unsigned int step;

	srand(3);
	for (step = 0; step < 10000; step++) {
		union perf_mem_data_src s = random_source();

		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_OP) == s.mem_op);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_LVLNUM) ==
		       s.mem_lvl_num);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_SNOOP) ==
		       (u64)(s.mem_snoop | s.mem_snoopx << 5));
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_REMOTE) ==
		       s.mem_remote);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_LOCK) ==
		       s.mem_lock);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_DTLB) ==
		       s.mem_dtlb);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_BLK) == s.mem_blk);
		EXPECT(lh_mem_src(s.val, LOCKHELD_TERM_MEM_HOPS) ==
		       s.mem_hops);
	}
}

int main(void)
{
	printf("TAP version 13\n");
	tap_case("fields of what a processor says about memory", fields);
	return tap_end();
}
