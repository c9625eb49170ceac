// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a processor says about the memory that an instruction used. Also
 * compiled for the host, where it is tested: no virtual machine shows it.
 */
#include "filter.h"

/* Where the fields lie, which older kernels' headers do not have all of. */
static const struct {
	u8 shift;
	u8 bits;
} fields[] = {
	[LOCKHELD_TERM_MEM_OP] = { 0, 5 },
	[LOCKHELD_TERM_MEM_SNOOP] = { 19, 5 },
	[LOCKHELD_TERM_MEM_LOCK] = { 24, 2 },
	[LOCKHELD_TERM_MEM_DTLB] = { 26, 7 },
	[LOCKHELD_TERM_MEM_LVLNUM] = { 33, 4 },
	[LOCKHELD_TERM_MEM_REMOTE] = { 37, 1 },
	[LOCKHELD_TERM_MEM_BLK] = { 40, 3 },
	[LOCKHELD_TERM_MEM_HOPS] = { 43, 3 },
};

/* More results of snooping, found later. */
#define SNOOPX_SHIFT	38
#define SNOOPX_BITS	2

static u64 field(u64 value, unsigned int shift, unsigned int bits)
{
	return value >> shift & ((1U << bits) - 1);
}

u64 lh_mem_src(u64 value, enum lockheld_term term)
{
	u64 result = field(value, fields[term].shift, fields[term].bits);

	if (term == LOCKHELD_TERM_MEM_SNOOP)
		result |= field(value, SNOOPX_SHIFT, SNOOPX_BITS) <<
			  fields[term].bits;
	return result;
}
