// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define PATIENCE_MS	5000	/* from SIGTERM to SIGKILL */

static void run_child(int wait_fd, int failed_fd, char **argv)
{
	sigset_t none;
	char byte;
	int error;

	/* The recorder blocks what it reads from a signalfd, and ignores
	 * SIGPIPE: that is not for the command to inherit. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (read(wait_fd, &byte, 1) != 1)
		_exit(0);		/* the recorder gave up */
	execvp(argv[0], argv);
	error = errno;
	_exit(write(failed_fd, &error, sizeof(error)) < 0 ? 126 : 127);
}

int workload_prepare(struct workload *w, char **argv)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		int ret = -errno;

		close(go[0]);
		close(go[1]);
		return ret;
	}
	w->pid = fork();
	if (!w->pid) {
		close(go[1]);
		close(failed[0]);
		run_child(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	w->go = go[1];
	w->failed = failed[0];
	if (w->pid > 0)
		return 0;
	w->pid = 0;
	close(w->go);
	close(w->failed);
	return -errno;
}

int workload_run(struct workload *w)
{
	int error = 0;
	ssize_t n;

	if (write(w->go, "", 1) != 1)
		return -errno;
	/* It closes without a word when the command runs. */
	do {
		n = read(w->failed, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

void workload_poll(struct workload *w)
{
	if (w->pid && !w->ended && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->ended = true;
}

void workload_end(struct workload *w)
{
	const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	int ms;

	workload_poll(w);
	if (!w->pid || w->ended)
		return;
	kill(w->pid, SIGTERM);
	for (ms = 0; ms < PATIENCE_MS && !w->ended; ms += 10) {
		nanosleep(&step, NULL);
		workload_poll(w);
	}
	if (w->ended)
		return;
	kill(w->pid, SIGKILL);
	if (waitpid(w->pid, &w->status, 0) == w->pid)
		w->ended = true;
}

void workload_free(struct workload *w)
{
	if (!w->pid)
		return;
	close(w->go);
	close(w->failed);
	memset(w, 0, sizeof(*w));
}

int workload_exit_status(const struct workload *w)
{
	if (WIFSIGNALED(w->status))
		return 128 + WTERMSIG(w->status);
	return WEXITSTATUS(w->status);
}
