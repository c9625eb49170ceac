// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_ask ROOT CACHE < LIST: all look-ups of a list, twice, by perf's rules.
 * For callgrind: it tells the instructions of first_pass() and second_pass(),
 * which do nothing but call the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symres.h>

struct lookup {
	struct symres_place *place;
	uint64_t addr;
};

/* Returns how many were named. */
static inline __attribute__((always_inline)) size_t
pass(struct symres *s, const struct lookup *v, size_t n)
{
	const struct symres_answer *is;
	size_t named = 0;
	uint64_t addr;

	for (size_t i = 0; i < n; i++)
		if (symres_ask(s, v[i].place, v[i].addr) != 1)
			while ((is = symres_answer(s, &addr)))
				named += is->name != NULL;
	while ((is = symres_answer(s, &addr)))
		named += is->name != NULL;
	return named;
}

static __attribute__((noinline)) size_t
first_pass(struct symres *s, const struct lookup *v, size_t n)
{
	return pass(s, v, n);
}

/* Returns how many were not named, so it is another function. */
static __attribute__((noinline)) size_t
second_pass(struct symres *s, const struct lookup *v, size_t n)
{
	return n - pass(s, v, n);
}

int main(int argc, char **argv)
{
	struct symres_opts opts = {
		.size = sizeof(opts), .policy = SYMRES_POLICY_PERF,
		.root = argv[1], .cache_dir = argv[2],
	};
	size_t n = 0, room = 0, named;
	struct lookup *v = NULL;
	static char line[8192];
	struct symres *s;

	if (argc != 3 || symres_open(&s, &opts))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		char *tab = strchr(line, '\t'), *last = strrchr(line, '\t');

		if (n == room) {
			room = room ? room * 2 : 4096;
			v = reallocarray(v, room, sizeof(*v));
		}
		if (!tab || !v)
			return 1;
		*tab = 0;
		v[n].addr = strtoull(last + 1, NULL, 16);
		if (symres_place(s, line, &v[n++].place))
			return 1;
	}
	named = first_pass(s, v, n);
	if (second_pass(s, v, n) != n - named)
		return 1;
	printf("%zu %zu\n", n, named);
	free(v);
	symres_close(s);
	return 0;
}
