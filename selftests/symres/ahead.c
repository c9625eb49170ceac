// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead WIDE SHOWN LONG HID MINI...: what a thread of the library does. WIDE has the
 * functions wide_function_number_0 and so on, of one byte each; SHOWN has C++ ones,
 * space::f0(int***) and so on, with 900 stars. In each MINI the name for HID is in
 * mini debug info alone, which LONG has too, but with more behind it than is taken.
 */
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <symres.h>

#include "check.h"

/* More than are answered before the other files are needed. */
enum { ASKED = 2000, FIRST_FEW = 3, STARS = 900 };

/* Of LONG: what is written of each before it is known to be too long. */
enum { COPIES = 8, MOST = 256 << 20 };

#define report(name) report_of("ahead.c", name)

static const char *wide, *shown, *too_long;
static char **mini;
static int minis;
static uint64_t first, first_shown, hid;

static int find_start(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return 0;
}

static struct symres *start(const char *cache, uint32_t demangle)
{
	struct symres_opts opts = {
		.size = sizeof(opts), .use_thread = 1, .cache_dir = cache,
		.demangle = demangle,
	};
	struct symres *s;

	if (symres_open(&s, &opts))
		exit(1);
	return s;
}

static struct symres_place *place_of(struct symres *s, const char *path)
{
	struct symres_place *place;

	if (symres_place(s, path, &place))
		exit(1);
	return place;
}

static void ask(struct symres *s, const char *path, uint64_t addr)
{
	CHECK(symres_ask(s, place_of(s, path), addr) == 1);
}

static void ask_all(struct symres *s)
{
	for (uint64_t i = 0; i < ASKED; i++)
		ask(s, wide, first + i);
	ask(s, too_long, hid);
	for (int i = 0; i < minis; i++)
		ask(s, mini[i], hid);
}

static void answer_is(struct symres *s, const char *want)
{
	const struct symres_answer *is;
	uint64_t addr;

	is = symres_answer(s, &addr);
	CHECK(is && is->name && is->addr == addr && !strcmp(is->name, want));
}

static void answer_wide(struct symres *s, uint64_t i)
{
	char want[64];

	snprintf(want, sizeof(want), "wide_function_number_%" PRIu64, i);
	answer_is(s, want);
}

static void answer_all(struct symres *s)
{
	const struct symres_answer *is;
	uint64_t addr;

	for (uint64_t i = 0; i < ASKED; i++)
		answer_wide(s, i);
	is = symres_answer(s, &addr);
	CHECK(is && !is->name && is->miss == SYMRES_MISS_NO_SYMBOL);
	for (int i = 0; i < minis; i++) {
		is = symres_answer(s, &addr);
		CHECK(is && is->name && !strcmp(is->name, "hid") &&
		      is->source == SYMRES_SOURCE_MINI);
	}
	CHECK(!symres_answer(s, &addr));
}

static size_t files(const char *pattern)
{
	glob_t found;
	size_t n = 0;

	if (!glob(pattern, 0, NULL, &found)) {
		n = found.gl_pathc;
		globfree(&found);
	}
	return n;
}

/* Threads of this process, and those that SIGUSR1 cannot reach. */
static int threads(int *blocking)
{
	unsigned long long mask;
	glob_t found;
	char line[256];
	FILE *f;
	int n = 0;

	*blocking = 0;
	if (glob("/proc/self/task/*/status", 0, NULL, &found))
		exit(1);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		f = fopen(found.gl_pathv[i], "r");
		if (!f)
			continue;
		n++;
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "SigBlk: %llx", &mask) == 1)
				*blocking += mask >> (SIGUSR1 - 1) & 1;
		fclose(f);
	}
	globfree(&found);
	return n;
}

static void test_answers(const char *name, const char *cache)
{
	struct symres *s = start(cache, 0);
	char pattern[64];

	ask_all(s);
	answer_all(s);
	/* Those that are remembered, and those that were kept. */
	ask_all(s);
	answer_all(s);
	symres_close(s);
	snprintf(pattern, sizeof(pattern), "%s/*-m.*", cache);
	CHECK(files(pattern) == (size_t)minis);
	snprintf(pattern, sizeof(pattern), "%s/*-[hm].*.*", cache);
	CHECK(!files(pattern));
	s = start(cache, 0);
	ask_all(s);
	answer_all(s);
	symres_close(s);
	report(name);
}

/* Bytes that this process has written. */
static uint64_t written(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	uint64_t n = 0;

	if (!f || fscanf(f, "rchar: %*u wchar: %" SCNu64, &n) != 1)
		exit(1);
	fclose(f);
	return n;
}

/* All that is left to its thread would take it seconds. */
static void test_left(const char *name)
{
	int before, blocked_before, now, blocked;
	struct symres *s = start("ahead_left", 0);
	struct symres_place *copy[COPIES];
	char path[32], cmd[256];
	uint64_t wrote;

	before = threads(&blocked_before);
	for (int i = 0; i < COPIES; i++) {
		snprintf(path, sizeof(path), "ahead_left%d.so", i);
		snprintf(cmd, sizeof(cmd), "cp %s %s", too_long, path);
		CHECK(!system(cmd));
		copy[i] = place_of(s, path);
	}
	for (uint64_t i = 0; i < ASKED; i++)
		ask(s, wide, first + i);
	/* The last one to be decompressed is the first one to be closed. */
	for (int i = COPIES; i-- > 0; )
		CHECK(symres_ask(s, copy[i], hid) == 1);
	for (uint64_t i = 0; i < FIRST_FEW; i++)
		answer_wide(s, i);
	now = threads(&blocked);
	CHECK(now == before + 1);
	CHECK(blocked == blocked_before + 1);
	wrote = written();
	symres_close(s);
	CHECK(written() - wrote < MOST / 4);
	CHECK(threads(&blocked) == before);
	CHECK(files("ahead_left/*") && !files("ahead_left/*-m.*"));
	report(name);
}

static void test_shown(const char *name, int more)
{
	char want[64 + STARS], stars[STARS + 1] = "";
	struct symres *s = start(NULL, 1);
	int before, blocked;

	memset(stars, '*', STARS);
	before = threads(&blocked);
	for (int turn = 0; turn < 2; turn++) {
		for (uint64_t i = 0; i < ASKED; i++)
			ask(s, shown, first_shown + i);
		for (uint64_t i = 0; i < ASKED; i++) {
			snprintf(want, sizeof(want),
				 "space::f%" PRIu64 "(int%s)", i, stars);
			answer_is(s, want);
		}
		CHECK(threads(&blocked) == before + more);
	}
	symres_close(s);
	report(name);
}

/* It has no thread, but may ask and close. */
static void test_child(const char *name)
{
	struct symres *s = start("ahead_child", 0);
	int status = -1;
	pid_t pid;

	ask_all(s);
	answer_wide(s, 0);
	pid = fork();
	if (!pid) {
		for (uint64_t i = 1; i < ASKED; i++)
			answer_wide(s, i);
		symres_close(s);
		_exit(bad_line);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	for (uint64_t i = 1; i < ASKED; i++)
		answer_wide(s, i);
	symres_close(s);
	report(name);
}

static void test_without(const char *name)
{
	struct rlimit limit;

	/* A bound of the address space, however wide. */
	CHECK(!getrlimit(RLIMIT_AS, &limit));
	limit.rlim_cur = (rlim_t)1 << 62;
	CHECK(!setrlimit(RLIMIT_AS, &limit));
	test_shown("demangled where no thread can be had", 0);
	test_answers(name, "ahead_without");
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	struct symres *s;

	/* What a thread has in some programs. */
	if (pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, 128 << 10) ||
	    pthread_setattr_default_np(&attr))
		return 1;
	if (argc < 6)
		return 2;
	wide = argv[1];
	shown = argv[2];
	too_long = argv[3];
	hid = strtoull(argv[4], NULL, 16);
	mini = argv + 5;
	minis = argc - 5;
	if (symres_open(&s, NULL) ||
	    symres_find_file(s, wide, "wide_function_number_0", find_start,
			     &first) != 1 ||
	    symres_find_file(s, shown, "start_of_shown", find_start,
			     &first_shown) != 1)
		return 1;
	symres_close(s);
	test_answers("mini debug info by a thread", "ahead_store");
	test_shown("demangled by a thread", 1);
	test_child("a child after fork()");
	test_left("a session that is closed while its thread works");
	test_without("where no thread can be had");
	return 0;
}
