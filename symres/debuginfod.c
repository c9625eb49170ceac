// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asks the servers that the user has named in DEBUGINFOD_URLS for a debug file.
 * The client library brings one for HTTP with it, so it is loaded by whoever
 * needs it. Whatever goes wrong, there is no debug file.
 */
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define SECONDS 90		/* if DEBUGINFOD_TIMEOUT does not say */

struct debuginfod {
	debuginfod_client *client;	/* NULL: there is none to ask */
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find;
	time_t limit;
};

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static int seconds(void)
{
	const char *text = getenv(DEBUGINFOD_TIMEOUT_ENV_VAR);
	int n = text ? atoi(text) : 0;

	return n > 0 ? n : SECONDS;
}

/*
 * The client bounds slow downloads, but not the wait for a server to answer.
 * Not 0: give up. Once it is known how much will come, the rest is its part.
 */
static int progress(debuginfod_client *client, long done, long all)
{
	void *lib = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_NOLOAD);
	__typeof__(debuginfod_get_user_data) *data;
	const struct debuginfod *d = NULL;

	(void)done;
	if (!lib)
		return 0;
	data = (__typeof__(data))dlsym(lib, "debuginfod_get_user_data");
	if (data)
		d = data(client);
	dlclose(lib);
	return d && all <= 0 && now() >= d->limit;
}

/* Leaves d->client NULL if it does not work. */
static void begin(struct debuginfod *d)
{
	/* Stays loaded: what it has loaded itself does not like to go. */
	void *lib = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_NODELETE);
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_set_progressfn) *set_progress;
	__typeof__(debuginfod_set_user_data) *set_data;
	__typeof__(debuginfod_set_verbose_fd) *set_verbose;

	if (!lib)
		return;
	begin = (__typeof__(begin))dlsym(lib, "debuginfod_begin");
	set_progress = (__typeof__(set_progress))
		dlsym(lib, "debuginfod_set_progressfn");
	set_data = (__typeof__(set_data))dlsym(lib, "debuginfod_set_user_data");
	set_verbose = (__typeof__(set_verbose))
		dlsym(lib, "debuginfod_set_verbose_fd");
	d->end = (__typeof__(d->end))dlsym(lib, "debuginfod_end");
	d->find = (__typeof__(d->find))dlsym(lib, "debuginfod_find_debuginfo");
	if (begin && set_progress && set_data && set_verbose && d->end &&
	    d->find)
		d->client = begin();
	if (d->client) {
		set_data(d->client, d);
		set_progress(d->client, progress);
		set_verbose(d->client, -1);
	}
	dlclose(lib);
}

static void end(struct debuginfod *d)
{
	if (d->client)
		d->end(d->client);
	d->client = NULL;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	end(d);
	free(d);
}

/* The path of the debug file of a build-id, or NULL; to be freed. */
char *debuginfod_path(struct symres *s, const unsigned char *id, size_t len)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	struct debuginfod *d = s->debuginfod;
	char *path = NULL;
	int fd;

	if (!s->ask_debuginfod || !urls || !*urls)
		return NULL;
	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return NULL;
		s->debuginfod = d;
		begin(d);
	}
	if (!d->client)
		return NULL;
	d->limit = now() + seconds();
	fd = d->find(d->client, id, (int)len, &path);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	/* Whoever could not be reached would be waited for again each time. */
	if (fd != -ENOENT)
		end(d);
	return NULL;
}
