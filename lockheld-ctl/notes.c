// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "notes.h"

void notes_add_filter(struct notes *n, const struct note_filter *f)
{
	struct note_filter *new;
	char *p;

	n->filters = ctl_realloc(n->filters, n->nr_filters + 1,
				 sizeof(*n->filters));
	new = &n->filters[n->nr_filters++];
	*new = *f;
	new->text = ctl_strdup(f->text);
	/* it has to stay on its line */
	for (p = new->text; *p; p++)
		if (*p == '\n')
			*p = ' ';
}

void notes_add_symbol(struct notes *n, uint64_t addr, uint64_t offset,
		      const char *name, const char *module)
{
	n->symbols = ctl_realloc(n->symbols, n->nr_symbols + 1,
				 sizeof(*n->symbols));
	n->symbols[n->nr_symbols++] = (struct note_symbol){
		.addr = addr,
		.offset = offset,
		.name = ctl_strdup(name),
		.module = ctl_strdup(module),
	};
}

void notes_add_slab(struct notes *n, uint64_t addr, const char *name)
{
	n->slabs = ctl_realloc(n->slabs, n->nr_slabs + 1, sizeof(*n->slabs));
	n->slabs[n->nr_slabs++] = (struct note_slab){
		.addr = addr,
		.name = ctl_strdup(name),
	};
}

char *notes_text(const struct notes *n, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	size_t i;

	if (!out)
		exit(ctl_error(CTL_FAILED, "out of memory"));
	fprintf(out, "state %s\n", n->complete ? "complete" : "recording");
	fprintf(out, "samples %" PRIu64 "\n", n->samples);
	fprintf(out, "lost %" PRIu64 "\n", n->lost);
	fprintf(out, "own %" PRIu64 "\n", n->own);
	for (i = 0; i < n->nr_filters; i++) {
		const struct note_filter *f = &n->filters[i];

		fprintf(out, "filter %zu %" PRIu32 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 " %s\n", f->event, f->id,
			f->evaluated, f->passed, f->dropped, f->uncertain,
			f->text);
		if (f->deleted)
			fprintf(out, "deleted %zu\n", f->event);
	}
	for (i = 0; i < n->nr_symbols; i++)
		fprintf(out, "symbol %" PRIx64 " %" PRIx64 " %s %s\n",
			n->symbols[i].addr, n->symbols[i].offset,
			n->symbols[i].module, n->symbols[i].name);
	for (i = 0; i < n->nr_slabs; i++)
		fprintf(out, "slab %" PRIx64 " %s\n", n->slabs[i].addr,
			n->slabs[i].name);
	if (fclose(out))
		exit(ctl_error(CTL_FAILED, "out of memory"));
	return text;
}

static void parse_filter(struct notes *n, char *line)
{
	struct note_filter f = { 0 };
	int at = 0;

	if (sscanf(line, "%zu %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %n", &f.event, &f.id, &f.evaluated, &f.passed,
		   &f.dropped, &f.uncertain, &at) < 6 || !at)
		return;
	f.text = line + at;
	notes_add_filter(n, &f);
}

/* Behind the filter's own line. */
static void parse_deleted(struct notes *n, const char *line)
{
	size_t event, i;

	for (i = 0; i < n->nr_filters && sscanf(line, "%zu", &event) == 1; i++)
		if (n->filters[i].event == event)
			n->filters[i].deleted = true;
}

static void parse_symbol(struct notes *n, char *line)
{
	uint64_t addr, offset;
	char *module, *name;
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &addr, &offset,
		   &at) < 2 || !at)
		return;
	module = line + at;
	name = strchr(module, ' ');
	if (!name)
		return;
	*name++ = '\0';
	if (*module && *name)
		notes_add_symbol(n, addr, offset, name, module);
}

static void parse_slab(struct notes *n, char *line)
{
	uint64_t addr;
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %n", &addr, &at) == 1 && at && line[at])
		notes_add_slab(n, addr, line + at);
}

static void parse_line(struct notes *n, char *line)
{
	char *rest = strchr(line, ' ');

	if (!rest)
		return;
	*rest++ = '\0';
	if (!strcmp(line, "state"))
		n->complete = !strcmp(rest, "complete");
	else if (!strcmp(line, "samples"))
		n->samples = strtoull(rest, NULL, 10);
	else if (!strcmp(line, "lost"))
		n->lost = strtoull(rest, NULL, 10);
	else if (!strcmp(line, "own"))
		n->own = strtoull(rest, NULL, 10);
	else if (!strcmp(line, "filter"))
		parse_filter(n, rest);
	else if (!strcmp(line, "deleted"))
		parse_deleted(n, rest);
	else if (!strcmp(line, "symbol"))
		parse_symbol(n, rest);
	else if (!strcmp(line, "slab"))
		parse_slab(n, rest);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_symbols(const void *a, const void *b)
{
	return compare(((const struct note_symbol *)a)->addr,
		       ((const struct note_symbol *)b)->addr);
}

static int compare_slabs(const void *a, const void *b)
{
	return compare(((const struct note_slab *)a)->addr,
		       ((const struct note_slab *)b)->addr);
}

void notes_parse(struct notes *n, const char *text, size_t len)
{
	char *copy = ctl_zalloc(len + 1);
	char *rest = copy, *line;

	memcpy(copy, text, len);
	while ((line = strsep(&rest, "\n")))
		parse_line(n, line);
	free(copy);
	if (n->nr_symbols)
		qsort(n->symbols, n->nr_symbols, sizeof(*n->symbols),
		      compare_symbols);
	if (n->nr_slabs)
		qsort(n->slabs, n->nr_slabs, sizeof(*n->slabs), compare_slabs);
}

const struct note_symbol *notes_symbol(const struct notes *n, uint64_t addr)
{
	const struct note_symbol key = { .addr = addr };

	return n->nr_symbols ? bsearch(&key, n->symbols, n->nr_symbols,
				       sizeof(key), compare_symbols) : NULL;
}

const struct note_slab *notes_slab(const struct notes *n, uint64_t addr)
{
	const struct note_slab key = { .addr = addr };

	return n->nr_slabs ? bsearch(&key, n->slabs, n->nr_slabs, sizeof(key),
				     compare_slabs) : NULL;
}

void notes_free(struct notes *n)
{
	size_t i;

	for (i = 0; i < n->nr_filters; i++)
		free(n->filters[i].text);
	for (i = 0; i < n->nr_symbols; i++) {
		free(n->symbols[i].name);
		free(n->symbols[i].module);
	}
	for (i = 0; i < n->nr_slabs; i++)
		free(n->slabs[i].name);
	free(n->filters);
	free(n->symbols);
	free(n->slabs);
	memset(n, 0, sizeof(*n));
}
