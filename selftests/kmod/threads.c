// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads [-w] SCRIPT...: runs each script of holdmod in a thread of its own,
 * all at once and through one descriptor. With -w it prints the threads' ids
 * and waits for a line on standard input before it lets them run.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRIPTS_MAX	640

static int fd;
static bool wait_for_line;
static pthread_barrier_t started, go;

static void *run(void *script)
{
	char *c;

	if (wait_for_line) {
		printf("%d\n", gettid());
		fflush(stdout);
		pthread_barrier_wait(&started);
		pthread_barrier_wait(&go);
	}
	for (c = script; *c; c++)
		if (*c == '\n')
			*c = ';';
	if (write(fd, script, strlen(script)) < 0) {
		fprintf(stderr, "threads: '%s': %s\n", (char *)script,
			strerror(errno));
		return script;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[SCRIPTS_MAX];
	int failed = 0;
	void *ret;
	int i;

	if (argc > 1 && !strcmp(argv[1], "-w")) {
		wait_for_line = true;
		argv++;
		argc--;
	}
	if (argc < 2 || argc > SCRIPTS_MAX) {
		fprintf(stderr, "usage: threads [-w] SCRIPT...\n");
		return 64;
	}
	fd = open("/sys/kernel/debug/holdmod/run", O_WRONLY);
	if (fd < 0) {
		perror("threads: cannot open holdmod's file");
		return 1;
	}
	pthread_barrier_init(&started, NULL, argc);
	pthread_barrier_init(&go, NULL, argc);
	for (i = 1; i < argc; i++) {
		if (pthread_create(&threads[i], NULL, run, argv[i])) {
			fprintf(stderr, "threads: cannot start a thread\n");
			exit(1);
		}
	}
	if (wait_for_line) {
		pthread_barrier_wait(&started);
		getchar();
		pthread_barrier_wait(&go);
	}
	for (i = 1; i < argc; i++) {
		pthread_join(threads[i], &ret);
		if (ret)
			failed = 1;
	}
	return failed;
}
