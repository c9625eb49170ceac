// SPDX-License-Identifier: GPL-2.0-only
/* kmod/filter.c: what the verifier refuses, and what programs answer. */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "tap.h"

void (*host_interrupt)(void);

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* A sample for the tests: each term is 100 + its number. */
struct lh_sample {
	unsigned int locks_asked;
	bool held;
};

u64 lh_term(struct lh_sample *sample, enum lockheld_term term)
{
	(void)sample;
	return 100 + term;
}

bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	(void)insn;
	sample->locks_asked++;
	return sample->held;
}

u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	(void)insn;
	sample->locks_asked++;
	return sample->held ? 5000 : 0;
}

bool lh_comm(struct lh_sample *sample, const u8 comm[16])
{
	(void)sample;
	return !strncmp((const char *)comm, "make", 16);
}

static const char *check(const struct lockheld_insn *insns, unsigned int nr)
{
	unsigned int at;

	return lh_filter_check(insns, nr, &at);
}

static bool run(const struct lockheld_insn *insns, unsigned int nr)
{
	struct lh_sample sample = { .held = true };

	EXPECT(!check(insns, nr));
	return lh_filter_run(insns, nr, &sample);
}

#define IMM(value)	{ .op = LOCKHELD_OP_IMM, .imm = (value) }
#define OP(name)	{ .op = LOCKHELD_OP_##name }
#define TERM(name)	{ .op = LOCKHELD_OP_TERM, .arg = LOCKHELD_TERM_##name }
#define LOCK(_family, _mode)						\
	{ .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_TYPE,		\
	  .family = LOCKHELD_FAMILY_##_family,				\
	  .mode = LOCKHELD_MODE_##_mode }

static void arithmetic(void)
{
	static const struct {
		u8 op;
		u64 a, b;
		bool result;
	} cases[] = {
		{ LOCKHELD_OP_EQ, 5, 5, true },
		{ LOCKHELD_OP_EQ, 5, 6, false },
		{ LOCKHELD_OP_NE, 5, 6, true },
		{ LOCKHELD_OP_NE, 5, 5, false },
		{ LOCKHELD_OP_LT, 5, 6, true },
		{ LOCKHELD_OP_LT, 6, 5, false },
		{ LOCKHELD_OP_LT, 5, 5, false },
		{ LOCKHELD_OP_LT, 5, ~0ULL, true },
		{ LOCKHELD_OP_LE, 5, 5, true },
		{ LOCKHELD_OP_LE, 6, 5, false },
		{ LOCKHELD_OP_GT, ~0ULL, 5, true },
		{ LOCKHELD_OP_GT, 5, 5, false },
		{ LOCKHELD_OP_GE, 5, 5, true },
		{ LOCKHELD_OP_GE, 4, 5, false },
		{ LOCKHELD_OP_AND, 6, 4, true },
		{ LOCKHELD_OP_AND, 1ULL << 40, 1ULL << 40, true },
		{ LOCKHELD_OP_AND, 6, 9, false },
		{ LOCKHELD_OP_LAND, 2, 4, true },
		{ LOCKHELD_OP_LAND, 2, 0, false },
		{ LOCKHELD_OP_LOR, 0, 4, true },
		{ LOCKHELD_OP_LOR, 0, 0, false },
	};
	unsigned int i;

	for (i = 0; i < NR(cases); i++) {
		const struct lockheld_insn program[] = {
			IMM(cases[i].a), IMM(cases[i].b), { .op = cases[i].op },
		};

		EXPECT(run(program, NR(program)) == cases[i].result);
	}
}

static void terms(void)
{
	const struct lockheld_insn cpu[] = {
		TERM(CPU), IMM(100 + LOCKHELD_TERM_CPU), OP(EQ),
	};
	const struct lockheld_insn not[] = { LOCK(MUTEX, ANY), OP(NOT) };
	const struct lockheld_insn lock[] = { LOCK(RWSEM, READ) };
	const struct lockheld_insn held_ns[] = {
		{ .op = LOCKHELD_OP_HELD_NS, .arg = LOCKHELD_SPEC_SLAB,
		  .name = "a name of thirty-two bytes, full" },
		IMM(5000), OP(GE),
	};
	const struct lockheld_insn addr[] = {
		{ .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_ADDR,
		  .family = LOCKHELD_FAMILY_SRCU, .mode = LOCKHELD_MODE_READ,
		  .imm = 4096 },
	};
	struct lockheld_insn comm = { .op = LOCKHELD_OP_COMM };

	EXPECT(!lh_filter_check(addr, NR(addr), &(unsigned int){ 0 }));
	EXPECT(run(cpu, NR(cpu)));
	EXPECT(run(lock, NR(lock)));
	EXPECT(!run(not, NR(not)));
	EXPECT(run(held_ns, NR(held_ns)));
	memcpy(comm.comm, "make", 4);
	EXPECT(run(&comm, 1));
	memcpy(comm.comm, "made", 4);
	EXPECT(!run(&comm, 1));
}

static void refused(void)
{
	static const struct {
		const char *msg;
		unsigned int at;
		struct lockheld_insn insns[3];
		unsigned int nr;
	} cases[] = {
		{ "the program is empty", 0, { IMM(1) }, 0 },
		{ "unknown operation", 0, { { .op = 200 } }, 1 },
		{ "unknown operation", 0,
		  { { .op = LOCKHELD_OP_MAX + 1 } }, 1 },
		{ "padding is not 0", 0, { { .pad = 1 } }, 1 },
		{ "unknown sample term", 0,
		  { { .op = LOCKHELD_OP_TERM, .arg = LOCKHELD_TERM_MAX + 1 } },
		  1 },
		{ "an argument where none is used", 0, { { .arg = 1 } }, 1 },
		{ "a value where none is used", 1,
		  { IMM(1), { .op = LOCKHELD_OP_NOT, .imm = 1 } }, 2 },
		{ "a value where none is used", 0,
		  { { .op = LOCKHELD_OP_IMM, .imm2 = 1 } }, 1 },
		{ "a lock family or mode where there is no lock", 0,
		  { { .op = LOCKHELD_OP_IMM, .family = 1 } }, 1 },
		{ "the stack has too few values", 0, { OP(NOT) }, 1 },
		{ "the stack has too few values", 1, { IMM(1), OP(EQ) }, 2 },
		{ "the program leaves more than one value", 1,
		  { IMM(1), IMM(1) }, 2 },
		{ "unknown kind of lock", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_MAX + 1 } },
		  1 },
		{ "unknown lock mode", 0,
		  { { .op = LOCKHELD_OP_LOCK, .family = 1,
		      .mode = LOCKHELD_MODE_MAX + 1 } }, 1 },
		{ "unknown lock family", 0,
		  { { .op = LOCKHELD_OP_LOCK,
		      .family = LOCKHELD_FAMILY_MAX + 1 } }, 1 },
		{ "a lock type without its family", 0,
		  { { .op = LOCKHELD_OP_LOCK } }, 1 },
		{ "a lock family where it is clear already", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_MMAP_LOCK,
		      .family = LOCKHELD_FAMILY_RWSEM } }, 1 },
		{ "a lock family where it is clear already", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_ZONE_LOCK,
		      .family = LOCKHELD_FAMILY_MUTEX } },
		  1 },
		{ "locks of this family have no address", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_ADDR,
		      .family = LOCKHELD_FAMILY_RCU, .imm = 4096 } }, 1 },
		{ "locks of this family have no address", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_ADDR,
		      .family = LOCKHELD_FAMILY_RCU_TRACE, .imm = 4096 } },
		  1 },
		{ "not the address of a lock", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_ADDR } },
		  1 },
		{ "a value where none is used", 0,
		  { { .op = LOCKHELD_OP_LOCK, .family = 1, .imm = 4096 } }, 1 },
		{ "a value where none is used", 0,
		  { { .op = LOCKHELD_OP_HELD_NS, .family = 1, .imm2 = 4096 } },
		  1 },
		{ "a value where none is used", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_RQ_LOCK,
		      .imm = 1, .imm2 = 1 } }, 1 },
		{ "a value where none is used", 0,
		  { { .op = LOCKHELD_OP_COMM,
		      .name = "sixteen bytes...X" } }, 1 },
		{ "the name of a slab cache is empty", 0,
		  { { .op = LOCKHELD_OP_LOCK, .arg = LOCKHELD_SPEC_SLAB } },
		  1 },
	};
	unsigned int i, at;

	for (i = 0; i < NR(cases); i++) {
		const char *msg = lh_filter_check(cases[i].insns, cases[i].nr,
						  &at);

		EXPECT(msg && !strcmp(msg, cases[i].msg) && at == cases[i].at);
		if (!tap_good) {
			printf("# case %u: %s at %u\n", i, msg ? msg : "-", at);
			return;
		}
	}
}

static void limits(void)
{
	static struct lockheld_insn insns[LOCKHELD_INSNS_MAX + 1];
	unsigned int i;

	/* As deep as the stack goes, and one deeper. */
	for (i = 0; i < LOCKHELD_STACK_MAX; i++)
		insns[i] = (struct lockheld_insn)IMM(1);
	for (; i < 2 * LOCKHELD_STACK_MAX - 1; i++)
		insns[i] = (struct lockheld_insn)OP(LAND);
	EXPECT(run(insns, i));
	for (i = 0; i < LOCKHELD_STACK_MAX + 1; i++)
		insns[i] = (struct lockheld_insn)IMM(1);
	for (; i < 2 * LOCKHELD_STACK_MAX + 1; i++)
		insns[i] = (struct lockheld_insn)OP(LAND);
	EXPECT(!strcmp(check(insns, i), "the stack is too deep"));

	/* As long as a program may be, and one longer. */
	insns[0] = (struct lockheld_insn)IMM(0);
	for (i = 1; i < LOCKHELD_INSNS_MAX + 1; i++)
		insns[i] = (struct lockheld_insn)OP(NOT);
	EXPECT(run(insns, LOCKHELD_INSNS_MAX));
	EXPECT(!strcmp(check(insns, LOCKHELD_INSNS_MAX + 1),
		       "the program is too long"));
}

/* Whatever the verifier accepts runs; the sanitizers watch. */
static void random_programs(void)
{
	unsigned int i, step, accepted = 0;

	srand(2);
	for (step = 0; step < 300000; step++) {
		struct lockheld_insn insns[12];
		unsigned int nr = 1 + rand() % NR(insns);
		struct lh_sample sample = { .held = rand() % 2 };

		for (i = 0; i < nr; i++) {
			insns[i] = (struct lockheld_insn) {
				.op = rand() % (LOCKHELD_OP_MAX + 2),
			};
			if (insns[i].op == LOCKHELD_OP_TERM)
				insns[i].arg = rand() % LOCKHELD_TERM_MAX;
			if (insns[i].op == LOCKHELD_OP_LOCK ||
			    insns[i].op == LOCKHELD_OP_HELD_NS)
				insns[i].family = rand() %
						  (LOCKHELD_FAMILY_MAX + 2);
			if (insns[i].op == LOCKHELD_OP_IMM)
				insns[i].imm = rand() % 3;
		}
		if (check(insns, nr))
			continue;
		accepted++;
		lh_filter_run(insns, nr, &sample);
	}
	EXPECT(accepted > 1000);
}

int main(void)
{
	printf("TAP version 13\n");
	tap_case("operators", arithmetic);
	tap_case("terms, locks and names", terms);
	tap_case("what the verifier refuses, and where", refused);
	tap_case("stack and length limits", limits);
	tap_case("300000 random programs", random_programs);
	return tap_end();
}
