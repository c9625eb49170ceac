// SPDX-License-Identifier: GPL-2.0-only
/*
 * growth SMALL BIG: what takes longer in a file with four times as many symbols,
 * and how much. The library was compiled to call us in each basic block, so
 * that steps are counted, not time; sorting and reading is all its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <symres.h>

enum { LOOKUPS = 2000 };

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

struct cost {
	uint64_t build, lookup;
	uint64_t first, last;
};

static int remember(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return 0;
}

/* Both kinds of look-up, all over the file; returns how many were named. */
static int look_up(struct symres *s, const char *path, const struct cost *c)
{
	uint64_t step = (c->last - c->first) / LOOKUPS, addr;
	const struct symres_answer *is;
	struct symres_place *place;
	int named = 0;

	if (symres_place(s, path, &place))
		return 0;
	for (uint64_t i = 0; i < LOOKUPS; i++) {
		struct symres_sym sym = { .size = sizeof(sym) };

		named += symres_lookup_file(s, path, c->first + i * step,
					    &sym) == 1;
		symres_ask(s, place, c->first + i * step + step / 2);
	}
	while ((is = symres_answer(s, &addr)))
		named += is->name != NULL;
	return named;
}

/* Functions are wide_function_number_0 to the nth. */
static int measure(const char *path, int n, struct cost *c)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	char last[64];
	struct symres *s;

	sprintf(last, "wide_function_number_%d", n - 1);
	if (symres_open(&s, NULL))
		return 0;
	if (symres_find_file(s, path, "wide_function_number_0", remember,
			     &c->first) != 1 ||
	    symres_find_file(s, path, last, remember, &c->last) != 1)
		return 0;
	symres_close(s);
	if (symres_open(&s, NULL))
		return 0;
	steps = 0;
	/* The second one makes the index. */
	for (int i = 0; i < 2; i++)
		if (symres_lookup_file(s, path, c->first, &sym) != 1)
			return 0;
	c->build = steps;
	steps = 0;
	if (look_up(s, path, c) != 2 * LOOKUPS)
		return 0;
	c->lookup = steps / (2 * LOOKUPS);
	symres_close(s);
	return 1;
}

static void report(int good, const char *what)
{
	printf("%sok %s\n", good ? "" : "not ", what);
}

int main(int argc, char **argv)
{
	struct cost small = { 0 }, big = { 0 };

	if (argc != 3 || !measure(argv[1], 50000, &small) ||
	    !measure(argv[2], 200000, &big)) {
		printf("not ok growth: look-ups failed\n");
		return 1;
	}
	printf("50,000 symbols: %" PRIu64 " steps for the index, %" PRIu64 " for a look-up; 200,000: %" PRIu64 ", %" PRIu64 "\n",
	       small.build, small.lookup, big.build, big.lookup);
	report(small.build > 50000, "steps are counted");
	report(big.build < small.build * 9 / 2,
	       "an index takes steps in proportion to the symbols");
	/* Two steps of a search, of a few basic blocks each. */
	report(big.lookup < small.lookup + 16,
	       "a look-up takes few more with four times as many");
	return 0;
}
