// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapped WIDE: files that are cut short while they are mapped. WIDE has a build-id
 * and the functions wide_function_number_0 and so on, of one byte each, behind
 * them one of two bytes whose name is longer than a page, and in that "inner", a
 * byte later. It is cut within the long name, whose first part would be a wrong
 * one: at the end of a page, and amid a page, whose rest then reads as zeros without
 * a signal. Prints "ok NAME" or "not ok NAME: LINE".
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <symres.h>

#include "check.h"

enum { WIDE = 200000, ASKED = 4000, TURNS = 2000, ENOUGH = 10, PAGE = 4096 };

#define report(name) report_of("mapped.c", name)

static const char *wide;
static off_t page_end, cut_at;
static uint64_t first, inner;
static struct symres *running;
static volatile sig_atomic_t buses;

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	buses++;
	if (!symres_sigbus(running, info->si_addr))
		_exit(3);
}

static void start(const char *cache)
{
	struct symres_opts opts = {
		.size = sizeof(opts), .map_files = 1, .cache_dir = cache,
	};
	char cmd[256];

	/* the same size and time: the same index */
	snprintf(cmd, sizeof(cmd), "cp -p %s cut.so", wide);
	if (system(cmd) || symres_open(&running, &opts))
		exit(1);
	buses = 0;
}

static bool is_right(const char *name, uint64_t addr)
{
	char want[64];

	if (addr == inner - 1)
		return strlen(name) > PAGE;
	if (addr == inner)
		return !strcmp(name, "inner");
	snprintf(want, sizeof(want), "wide_function_number_%llu",
		 (unsigned long long)(addr - first));
	return !strcmp(name, want);
}

static int find_start(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return 0;
}

/* Where the last run of z in the file has a page's end. */
static off_t within_long_name(void)
{
	static const char zs[] = "zzzzzzzzzzzzzzzz";
	FILE *f = fopen(wide, "r");
	char *all, *at;
	struct stat st;
	off_t run = 0;

	if (!f || fstat(fileno(f), &st))
		exit(1);
	all = malloc((size_t)st.st_size);
	if (!all || fread(all, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		exit(1);
	fclose(f);
	for (at = all; (at = memmem(at, (size_t)(all + st.st_size - at), zs,
				    strlen(zs)));
	     at += strspn(at, "z"))
		run = at - all;
	free(all);
	return (run + PAGE) / PAGE * PAGE;
}

static int cut_after_first(const struct symres_sym *sym, void *arg)
{
	int *n = arg;

	CHECK(is_right(sym->name, sym->addr));
	if (++*n == 1)
		CHECK(!truncate("cut.so", cut_at));
	return 0;
}

static void test_between(const char *name)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	int here = 0, told = 0;

	start(NULL);
	CHECK(symres_lookup_file(running, "cut.so", inner - 1, &sym) == 1);
	CHECK(sym.name && is_right(sym.name, inner - 1));
	symres_find_address(running, "cut.so", inner, cut_after_first, &told);
	CHECK(told == 1 && (buses || cut_at != page_end));
	CHECK(symres_lookup_file(running, "cut.so", first, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_CHANGED);
	CHECK(!symres_sigbus(running, &here) && !symres_sigbus(running, NULL));
	symres_close(running);
	report(name);
}

/* What an index says is confirmed by the file. */
static void test_index(void)
{
	struct symres_info info = { .size = sizeof(info) };
	struct symres_sym sym = { .size = sizeof(sym) };

	start("cut_cache");
	CHECK(symres_file_info(running, "cut.so", &info) == 1);
	CHECK(info.kept_path && !truncate(info.kept_path, PAGE));
	for (uint64_t i = 0; i < WIDE; i += 1000) {
		CHECK(symres_lookup_file(running, "cut.so", first + i, &sym) >= 0);
		CHECK(!sym.name || is_right(sym.name, first + i));
	}
	CHECK(buses);
	symres_close(running);
	report("mapped: a kept index that is cut short");
}

static void *cut_soon(void *arg)
{
	unsigned int *turn = arg;

	usleep(*turn * 997 % 1500);
	CHECK(!truncate("cut.so", cut_at));
	return NULL;
}

/* All names are right or none; returns how many were there. */
static int ask_all(void)
{
	const struct symres_answer *is;
	struct symres_place *place;
	uint64_t addr;
	int named = 0;

	if (symres_place(running, "cut.so", &place))
		return 0;
	for (uint64_t i = 0; i < ASKED; i++)
		symres_ask(running, place, first + i * (WIDE / ASKED));
	symres_ask(running, place, inner - 1);
	while ((is = symres_answer(running, &addr))) {
		CHECK(!is->name || is_right(is->name, addr));
		named += is->name != NULL;
	}
	return named;
}

/* Late enough for the file to have been found unchanged, now and then. */
static void test_asked(const char *name)
{
	int hit = 0, some;

	start("cut_cache");
	CHECK(ask_all() == ASKED + 1);
	symres_close(running);
	for (unsigned int turn = 0; turn < TURNS && hit < ENOUGH; turn++) {
		pthread_t cutter;

		start("cut_cache");
		CHECK(!pthread_create(&cutter, NULL, cut_soon, &turn));
		some = ask_all();
		pthread_join(cutter, NULL);
		/* Neither before all was read nor at the start. */
		hit += some > 0 && some <= ASKED;
		symres_close(running);
	}
	CHECK(hit);
	report(name);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {
		.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO,
	};

	if (argc != 2 || sigaction(SIGBUS, &sa, NULL))
		return 1;
	wide = argv[1];
	page_end = within_long_name();
	cut_at = page_end;
	start(NULL);
	CHECK(symres_find_file(running, wide, "wide_function_number_0",
			       find_start, &first) == 1);
	CHECK(symres_find_file(running, wide, "inner", find_start, &inner) == 1);
	symres_close(running);
	test_between("mapped: cut short between two symbols");
	test_index();
	test_asked("mapped: cut short while names are read");
	cut_at += 200;
	test_between("mapped: cut amid a page between two symbols");
	test_asked("mapped: cut amid a page while names are read");
	return 0;
}
