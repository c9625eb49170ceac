// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads, which print how many nanoseconds they took. In a VM whose time is
 * counted in instructions, these are instructions.
 *
 *	work fault N	N page faults
 *	work files N	N files created and removed in the current folder
 *	work switch N	N times there and back between two processes
 *	work tasks N M	no workload: N threads that sleep, of which M hold a
 *			mutex each (benchmod); says "ready" and waits for a
 *			signal
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOLD	"/sys/kernel/debug/benchmod/hold"

static void die(const char *what)
{
	fprintf(stderr, "work: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void fault(long n)
{
	size_t page = sysconf(_SC_PAGESIZE), chunk = 64, i;
	char *mem;

	for (; n > 0; n -= chunk) {
		mem = mmap(NULL, chunk * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mem == MAP_FAILED)
			die("mmap");
		for (i = 0; i < chunk; i++)
			mem[i * page] = 1;
		munmap(mem, chunk * page);
	}
}

static void files(long n)
{
	int fd;

	while (n--) {
		fd = open("work.file", O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			die("work.file");
		close(fd);
		unlink("work.file");
	}
}

static void pass(int from, int to, long n)
{
	char c = 0;

	while (n--) {
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			die("pipe");
	}
}

static void switches(long n)
{
	int there[2], back[2];
	char c = 0;

	if (pipe(there) || pipe(back))
		die("pipe");
	switch (fork()) {
	case -1:
		die("fork");
		break;
	case 0:
		pass(there[0], back[1], n);
		exit(0);
	}
	if (write(there[1], &c, 1) != 1)
		die("pipe");
	pass(back[0], there[1], n - 1);
	if (read(back[0], &c, 1) != 1)
		die("pipe");
	wait(NULL);
}

static void *sleeper(void *holds)
{
	int fd = -1;

	if (holds) {
		fd = open(HOLD, O_WRONLY);
		if (fd < 0 || write(fd, "x", 1) != 1)
			die(HOLD);
	}
	for (;;)
		pause();
	return NULL;
}

static void tasks(long n, long holders)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_attr_setguardsize(&attr, 0);
	while (n--) {
		err = pthread_create(&thread, &attr, sleeper,
				     holders > 0 ? &holders : NULL);
		if (err) {
			errno = err;
			die("pthread_create");
		}
		holders--;
	}
	if (puts("ready") == EOF || fflush(stdout))
		die("standard output");
	pause();
	exit(0);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	long long from;

	if (argc == 4 && !strcmp(argv[1], "tasks"))
		tasks(n, atol(argv[3]));
	from = now();
	if (argc == 3 && !strcmp(argv[1], "fault"))
		fault(n);
	else if (argc == 3 && !strcmp(argv[1], "files"))
		files(n);
	else if (argc == 3 && !strcmp(argv[1], "switch"))
		switches(n);
	else
		return 64;
	printf("%lld\n", now() - from);
	return 0;
}
