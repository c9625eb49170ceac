// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One thread beside the caller's, which carries out tasks in the order in which
 * they are given. It begins with the first one, and takes no signals but those
 * that it causes itself: the others are the program's.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"

/* The demangler goes deeper than small default stacks allow. */
enum { STACK = 2 << 20 };

int worker_init(struct worker *w)
{
	w->last = &w->first;
	if (pthread_mutex_init(&w->lock, NULL))
		return -ENOMEM;
	if (!pthread_cond_init(&w->changed, NULL))
		return 0;
	pthread_mutex_destroy(&w->lock);
	return -ENOMEM;
}

static void take_out(struct worker *w, struct task **at)
{
	struct task *t = *at;

	*at = t->next;
	if (!t->next)
		w->last = at;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		struct task *t = w->first;

		if (!t) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		take_out(w, &w->first);
		w->busy = true;
		pthread_mutex_unlock(&w->lock);
		t->run(t);
		pthread_mutex_lock(&w->lock);
		w->busy = false;
		t->ended = true;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* A thread takes room of its own for its stack and what it allocates. */
static bool may_begin(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_AS, &limit) &&
	       limit.rlim_cur == RLIM_INFINITY;
}

static bool begin(struct worker *w)
{
	static const int own[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
	};
	sigset_t others, before;
	pthread_attr_t attr;

	if (!may_begin() || pthread_attr_init(&attr))
		return false;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	w->begun = !pthread_attr_setstacksize(&attr, STACK) &&
		   !pthread_create(&w->thread, &attr, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	w->pid = getpid();
	return w->begun;
}

/* Is the thread there? A child after fork() has none, and the lock may be held
 * for ever there. */
static bool is_here(const struct worker *w)
{
	return w->begun && w->pid == getpid();
}

/* 0, or -EAGAIN: there can be no thread. */
int worker_add(struct worker *w, struct task *t)
{
	if (w->begun ? !is_here(w) : !begin(w))
		return -EAGAIN;
	pthread_mutex_lock(&w->lock);
	t->next = NULL;
	t->ended = false;
	*w->last = t;
	w->last = &t->next;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* Would a task begin at once? */
bool worker_is_idle(struct worker *w)
{
	bool idle;

	if (!is_here(w))
		return !w->begun;
	pthread_mutex_lock(&w->lock);
	idle = !w->first && !w->busy;
	pthread_mutex_unlock(&w->lock);
	return idle;
}

/* Now what the task wrote can be read. False: it will never end, in a child. */
bool worker_wait(struct worker *w, struct task *t)
{
	if (!is_here(w))
		return false;
	pthread_mutex_lock(&w->lock);
	while (!t->ended)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return true;
}

/* The same, but one that has not begun yet is taken back. */
bool worker_drop(struct worker *w, struct task *t)
{
	struct task **at;

	if (!is_here(w))
		return false;
	pthread_mutex_lock(&w->lock);
	for (at = &w->first; *at && *at != t; at = &(*at)->next)
		;
	if (*at) {
		take_out(w, at);
		t->ended = true;
	}
	pthread_mutex_unlock(&w->lock);
	return worker_wait(w, t);
}

/* All tasks have been waited for, or dropped. */
void worker_end(struct worker *w)
{
	if (w->begun && !is_here(w))
		return;
	if (w->begun) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}
