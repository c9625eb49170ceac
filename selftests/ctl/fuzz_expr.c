// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text is either refused with one line, or compiled to something that the
 * module's verifier accepts. The first byte chooses the event. Most texts are
 * made by grammar: see exprgen.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ctl.h"
#include "expr.h"
#include "exprgen.h"
#include "../../kmod/filter.h"

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: %s is not so\n",	\
				__FILE__, __LINE__, #cond);		\
			abort();					\
		}							\
	} while (0)

static struct tep_event *events[3];
static const char *const formats[] = { "mm_page_alloc", "mixture" };
static char *kallsyms;
static const char *root;

static unsigned long tried, accepted;

int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What programs ask about a sample, of which this one has nothing. */
struct lh_sample {
	int nothing;
};

u64 lh_term(struct lh_sample *sample, enum lockheld_term term)
{
	(void)sample;
	return term;
}

bool lh_lock_held(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	(void)sample;
	return insn->mode;
}

u64 lh_held_ns(struct lh_sample *sample, const struct lockheld_insn *insn)
{
	(void)sample;
	return insn->mode;
}

bool lh_comm(struct lh_sample *sample, const u8 comm[16])
{
	(void)sample;
	return comm[0];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	if (!size || max < 2 || seed % 8 == 0)
		return LLVMFuzzerMutate(data, size, max);
	if (seed % 8 == 1)
		data[0] = seed >> 8;
	return 1 + exprgen_mutate((char *)data + 1, size - 1, max - 1,
				  seed >> 3);
}

static void say_counts(void)
{
	printf("expressions: %lu tried, %lu accepted\n", tried, accepted);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("LOCKHELD_CTL_TESTS");
	struct tep_handle *tep = tep_alloc();
	char text[8192], *body;
	size_t i, len;

	(void)argc;
	(void)argv;
	atexit(say_counts);
	root = getenv("LOCKHELD_CTL_ROOT");
	CHECK(folder && root);
	kallsyms = ctl_printf("%s/kallsyms", folder);
	for (i = 0; i < 2; i++) {
		char *path = ctl_printf("%s/formats/%s", folder, formats[i]);
		FILE *f = fopen(path, "r");

		CHECK(f);
		len = fread(text, 1, sizeof(text) - 1, f);
		text[len] = 0;
		fclose(f);
		free(path);
		body = strstr(text, "name:");
		CHECK(!tep_parse_format(tep, &events[i + 1], body,
					strlen(body), "test"));
	}
	return 0;
}

static void check_error(const struct expr_result *res)
{
	const char *s;

	CHECK(res->error && !res->insns && !res->tp_filter);
	for (s = res->error; *s; s++)
		CHECK(*s != '\n');
	CHECK(!res->caret || res->column);
	for (s = res->caret ? res->caret : ""; *s; s++)
		CHECK(*s == '\n' || (unsigned char)*s >= ' ');
}

static void check_program(const char *text, const struct expr_result *res)
{
	struct lh_sample sample = { 1 };
	unsigned int i, at;

	CHECK(res->insns && res->places);
	CHECK(!lh_filter_check(res->insns, res->n, &at));
	lh_filter_run(res->insns, res->n, &sample);
	for (i = 0; i < res->n; i++)
		CHECK(res->places[i].first <= res->places[i].last &&
		      res->places[i].last <= strlen(text));
}

/* The kernel's part of it is in the same language. */
static void check_tp_filter(const char *text, const struct expr_opts *opts)
{
	struct expr_result res;

	CHECK(opts->event);
	CHECK(!expr_compile(text, opts, &res));
	CHECK(!res.n && res.tp_filter);
	expr_result_free(&res);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expr_opts opts = { .kallsyms = kallsyms, .root = root };
	struct expr_result res;
	char *text;

	if (!size)
		return 0;
	opts.event = events[data[0] % 3];
	text = ctl_zalloc(size);
	memcpy(text, data + 1, size - 1);
	tried++;
	if (expr_compile(text, &opts, &res)) {
		check_error(&res);
	} else {
		accepted++;
		CHECK(!res.error && !res.caret);
		CHECK(res.n || res.tp_filter);
		if (res.n)
			check_program(text, &res);
		if (res.tp_filter)
			check_tp_filter(res.tp_filter, &opts);
	}
	expr_result_free(&res);
	free(text);
	return 0;
}
