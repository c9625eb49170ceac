// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads KALLSYMS FILE...: different handles in different threads, for the thread
 * sanitizer.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <symres.h>

static char *kallsyms, **files;
static int nfiles;

static int count(const struct symres_sym *sym, void *arg)
{
	(void)arg;
	return sym->name ? 0 : -1;
}

static long answer(struct symres *s)
{
	const struct symres_answer *is;
	uint64_t addr;
	long named = 0;

	while ((is = symres_answer(s, &addr)))
		named += is->name != NULL;
	return named;
}

static long ask(struct symres *s, const char *path, uint64_t addr)
{
	struct symres_place *place;

	if (symres_place(s, path, &place))
		abort();
	return symres_ask(s, place, addr) == 1 ? 0 : answer(s);
}

static void *work(void *arg)
{
	/* All of them make and find the same kept indexes. */
	struct symres_opts opts = {
		.size = sizeof(opts), .kallsyms = kallsyms,
		.cache_dir = "threads_store", .demangle = 1, .use_thread = 1,
	};
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s;
	long named = 0;

	(void)arg;
	if (symres_open(&s, &opts))
		return NULL;
	for (uint64_t addr = 0x1000; addr < 0x40000; addr += 0x35) {
		named += symres_lookup_file(s, files[0], addr, &sym) > 0;
		named += symres_lookup_file(s, files[1], addr, &sym) > 0;
		named += symres_lookup_kernel(s, 0xffffffff81000000 + addr,
					      &sym) > 0;
	}
	for (uint64_t at = 0x1000; at < 0x40000; at += 0x15)
		for (int i = 0; i < nfiles; i++)
			named += ask(s, files[i], at);
	named += answer(s);
	for (int i = 0; i < nfiles; i++)
		named += symres_find_file(s, files[i], "malloc", count, NULL);
	symres_close(s);
	return (void *)named;
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	void *first = NULL, *got;

	if (argc < 4)
		return 1;
	kallsyms = argv[1];
	files = argv + 2;
	nfiles = argc - 2;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &got);
		if (!i)
			first = got;
		if (!got || got != first) {
			printf("thread %d named %ld, not %ld\n", i, (long)got,
			       (long)first);
			return 1;
		}
	}
	return 0;
}
