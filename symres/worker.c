// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One thread beside the caller's, which carries out tasks in the order in which
 * they are given. It begins with the first one, and takes no signals: those are
 * the program's.
 */
#include <errno.h>
#include <signal.h>

#include "internal.h"

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
		t->state = TASK_RUNS;
		w->busy = true;
		pthread_mutex_unlock(&w->lock);
		t->run(t);
		pthread_mutex_lock(&w->lock);
		w->busy = false;
		t->state = TASK_ENDED;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static bool has_thread(struct worker *w)
{
	sigset_t all, before;

	if (w->begun)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->begun = !pthread_create(&w->thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return w->begun;
}

/* 0, or -EAGAIN: there can be no thread. */
int worker_add(struct worker *w, struct task *t)
{
	if (!has_thread(w))
		return -EAGAIN;
	pthread_mutex_lock(&w->lock);
	t->next = NULL;
	t->state = TASK_WAITS;
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

	pthread_mutex_lock(&w->lock);
	idle = !w->first && !w->busy;
	pthread_mutex_unlock(&w->lock);
	return idle;
}

/* What the task wrote can be read after that. */
void worker_wait(struct worker *w, struct task *t)
{
	pthread_mutex_lock(&w->lock);
	while (t->state != TASK_ENDED)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* The same, but one that has not begun yet is taken back. */
void worker_drop(struct worker *w, struct task *t)
{
	struct task **at;

	pthread_mutex_lock(&w->lock);
	for (at = &w->first; *at && *at != t; at = &(*at)->next)
		;
	if (*at) {
		take_out(w, at);
		t->state = TASK_ENDED;
	}
	pthread_mutex_unlock(&w->lock);
	worker_wait(w, t);
}

/* All tasks have been waited for, or dropped. */
void worker_end(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->begun)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}
