/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that is recorded: made to wait, let go, and seen to its end. */
#ifndef LOCKHELD_CTL_WORKLOAD_H
#define LOCKHELD_CTL_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;		/* 0: there is none */
	int go;			/* writing lets it run */
	int failed;		/* its errno comes out if it cannot be run */
	bool ended;
	int status;		/* of wait(), once ended */
};

/* A child that waits before it runs @argv. Return: 0 or -errno. */
int workload_prepare(struct workload *w, char **argv);
/* Return: 0, or -errno of why the command cannot be run. */
int workload_run(struct workload *w);
/* Looks whether it has ended. */
void workload_poll(struct workload *w);
/* Asks it to end, insists after some seconds, and waits for it. */
void workload_end(struct workload *w);
void workload_free(struct workload *w);
/* As a shell has it: its exit status, or 128 and the signal. */
int workload_exit_status(const struct workload *w);

#endif
