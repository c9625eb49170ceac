// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One thread beside the caller's, which carries out tasks in the order in which
 * they are given. It is there while there are any, and takes no signals: those
 * are the program's.
 */
#include <errno.h>
#include <signal.h>

#include "internal.h"

int worker_init(struct worker *w)
{
	w->last = &w->first;
	if (pthread_mutex_init(&w->lock, NULL))
		return -ENOMEM;
	if (!pthread_cond_init(&w->ended, NULL))
		return 0;
	pthread_mutex_destroy(&w->lock);
	return -ENOMEM;
}

static struct task *next_task(struct worker *w)
{
	struct task *t = w->first;

	if (t)
		w->first = t->next;
	if (!w->first)
		w->last = &w->first;
	return t;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct task *t;

	pthread_mutex_lock(&w->lock);
	while ((t = next_task(w))) {
		t->state = TASK_RUNS;
		pthread_mutex_unlock(&w->lock);
		t->run(t);
		pthread_mutex_lock(&w->lock);
		t->state = TASK_ENDED;
		pthread_cond_broadcast(&w->ended);
	}
	w->runs = false;
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Whether there is a thread for what is in the list now. */
static bool has_thread(struct worker *w)
{
	sigset_t all, before;

	if (w->runs)
		return true;
	/* It has left its loop, and returns without this lock. */
	if (w->begun)
		pthread_join(w->thread, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->begun = !pthread_create(&w->thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->runs = w->begun;
	return w->runs;
}

/* 0, or -EAGAIN: there can be no thread. */
int worker_add(struct worker *w, struct task *t)
{
	int ret = 0;

	pthread_mutex_lock(&w->lock);
	t->next = NULL;
	t->state = TASK_WAITS;
	*w->last = t;
	w->last = &t->next;
	if (!has_thread(w)) {
		next_task(w);
		ret = -EAGAIN;
	}
	pthread_mutex_unlock(&w->lock);
	return ret;
}

/* What the task wrote can be read after that. */
void worker_wait(struct worker *w, struct task *t)
{
	pthread_mutex_lock(&w->lock);
	while (t->state != TASK_ENDED)
		pthread_cond_wait(&w->ended, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* The same, but one that has not begun yet is taken back. */
void worker_drop(struct worker *w, struct task *t)
{
	struct task **at;

	pthread_mutex_lock(&w->lock);
	if (t->state == TASK_WAITS) {
		for (at = &w->first; *at != t; at = &(*at)->next)
			;
		*at = t->next;
		if (!t->next)
			w->last = at;
		t->state = TASK_ENDED;
	}
	pthread_mutex_unlock(&w->lock);
	worker_wait(w, t);
}

/* All tasks have been waited for, or dropped. */
void worker_end(struct worker *w)
{
	if (w->begun)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
}
