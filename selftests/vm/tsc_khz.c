// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of this machine's time stamp counter in kHz. An emulated
 * guest reads the same counter but would have to measure it against timers that
 * run late on a busy machine; its clock then runs at several times real time.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
	uint64_t tsc;
	uint64_t ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* Of many tries the one in which nothing came between the two clocks */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = now_ns();
		uint64_t after = __rdtsc();

		if (after - before < least) {
			least = after - before;
			best.tsc = before + least / 2;
			best.ns = ns;
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	struct reading from = read_both(), to;

	nanosleep(&pause, NULL);
	to = read_both();
	printf("%.0f\n", (to.tsc - from.tsc) * 1e6 / (to.ns - from.ns));
	return 0;
}
