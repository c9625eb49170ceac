// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#include "tracing_data.h"

static void put(FILE *out, const void *bytes, size_t len)
{
	fwrite(bytes, 1, len, out);
}

static void put_u32(FILE *out, uint32_t v)
{
	put(out, &v, sizeof(v));
}

static void put_u64(FILE *out, uint64_t v)
{
	put(out, &v, sizeof(v));
}

static void put_string(FILE *out, const char *s)
{
	put(out, s, strlen(s) + 1);
}

static bool put_file(FILE *out, const char *system, const char *event,
		     const char *name)
{
	int len = 0;
	char *text = event ?
		tracefs_event_file_read(NULL, system, event, name, &len) :
		tracefs_instance_file_read(NULL, name, &len);

	if (!text)
		return false;
	put_u64(out, (uint64_t)len);
	put(out, text, (size_t)len);
	free(text);
	return true;
}

static bool first_of_system(const struct events *events, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (events->all[j].tp && !strcmp(events->all[j].tp_system,
						 events->all[i].tp_system))
			return false;
	return true;
}

/* The same tracepoint may have been asked for twice. */
static bool is_new_in(const struct events *events, size_t i, const char *system)
{
	size_t j;

	if (!events->all[i].tp || strcmp(events->all[i].tp_system, system))
		return false;
	for (j = 0; j < i; j++)
		if (events->all[j].tp == events->all[i].tp)
			return false;
	return true;
}

static bool put_system(FILE *out, const struct events *events, size_t first)
{
	const char *system = events->all[first].tp_system;
	uint32_t n = 0;
	bool ok = true;
	size_t i;

	for (i = first; i < events->n; i++)
		n += is_new_in(events, i, system);
	put_string(out, system);
	put_u32(out, n);
	for (i = first; i < events->n && ok; i++)
		if (is_new_in(events, i, system))
			ok = put_file(out, system, events->all[i].tp_name,
				      "format");
	return ok;
}

char *tracing_data(const struct events *events, size_t *len)
{
	const unsigned char start[] = {
		23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g',
		'0', '.', '6', 0,
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long),
	};
	uint32_t systems = 0;
	char *buf = NULL, *printk;
	FILE *out = open_memstream(&buf, len);
	bool ok = out != NULL;
	int n = 0;
	size_t i;

	if (!ok)
		return NULL;
	put(out, start, sizeof(start));
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_string(out, "header_page");
	ok = ok && put_file(out, NULL, NULL, "events/header_page");
	put_string(out, "header_event");
	ok = ok && put_file(out, NULL, NULL, "events/header_event");
	put_u32(out, 0);			/* ftrace's own events */
	for (i = 0; i < events->n; i++)
		systems += events->all[i].tp && first_of_system(events, i);
	put_u32(out, systems);
	for (i = 0; i < events->n; i++)
		if (events->all[i].tp && first_of_system(events, i))
			ok = ok && put_system(out, events, i);
	put_u32(out, 0);			/* kernel symbols */
	printk = tracefs_instance_file_read(NULL, "printk_formats", &n);
	put_u32(out, printk ? (uint32_t)n : 0);
	if (printk)
		put(out, printk, (size_t)n);
	free(printk);
	put_u64(out, 0);			/* names of tasks */
	if (fclose(out))
		ok = false;
	if (ok)
		return buf;
	free(buf);
	return NULL;
}
