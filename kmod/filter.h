/* SPDX-License-Identifier: GPL-2.0-only */
/* Filter programs: checking them and running them. */
#ifndef LH_FILTER_H
#define LH_FILTER_H

#include <linux/lockheld.h>
#include <linux/types.h>

/*
 * For large variables of handlers, which the compiler would clear on kernels
 * with CONFIG_INIT_STACK_ALL_ZERO. What is not written of them is not read.
 */
#if __has_attribute(uninitialized)
#define LH_UNINITIALIZED	__attribute__((uninitialized))
#else
#define LH_UNINITIALIZED
#endif

struct lh_sample;

/**
 * lh_filter_check() - may a program be run?
 * @insns: the program
 * @nr: its length in instructions
 * @at: on error, the instruction at fault
 *
 * Return: NULL, or what is wrong in a few words.
 */
const char *lh_filter_check(const struct lockheld_insn *insns, unsigned int nr,
			    unsigned int *at);

/**
 * lh_filter_run() - judges a sample
 * @insns: a program that was checked
 * @nr: its length
 * @sample: given to lh_term(), lh_lock_held(), lh_held_ns() and lh_comm()
 *
 * Takes at most @nr steps. Any context.
 *
 * Return: whether to record the sample.
 */
bool lh_filter_run(const struct lockheld_insn *insns, unsigned int nr,
		   struct lh_sample *sample);

/* What programs ask about a sample; not part of filter.c. */
u64 lh_term(struct lh_sample *sample, enum lockheld_term term);
bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn);
u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn);
bool lh_comm(struct lh_sample *sample, const u8 comm[16]);

/*
 * memsrc.c: the field of a union perf_mem_data_src, given as a number, that a
 * term means.
 */
u64 lh_mem_src(u64 value, enum lockheld_term term);

#endif /* LH_FILTER_H */
