// SPDX-License-Identifier: GPL-2.0-only
/* kmod/filter.c: any bytes as a program. */
#include <string.h>

#include "filter.h"

void (*host_interrupt)(void);

struct lh_sample {
	const u8 *data;
	size_t size, at;
};

static u8 next(struct lh_sample *sample)
{
	return sample->size ? sample->data[sample->at++ % sample->size] : 0;
}

u64 lh_term(struct lh_sample *sample, enum lockheld_term term)
{
	return term * (u64)next(sample);
}

bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	return (insn->family + next(sample)) & 1;
}

u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	return insn->mode * (u64)next(sample);
}

bool lh_comm(struct lh_sample *sample, const u8 comm[16])
{
	return (comm[15] + next(sample)) & 1;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct lockheld_insn insns[LOCKHELD_INSNS_MAX + 1];
	struct lh_sample sample = { .data = data, .size = size };
	unsigned int nr = size / sizeof(insns[0]), at;

	if (nr > LOCKHELD_INSNS_MAX + 1)
		nr = LOCKHELD_INSNS_MAX + 1;
	memcpy(insns, data, nr * sizeof(insns[0]));
	if (!lh_filter_check(insns, nr, &at))
		lh_filter_run(insns, nr, &sample);
	else if (nr && at >= nr)
		__builtin_trap();	/* names no instruction of the program */
	return 0;
}
