// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text is either refused with one line, or compiled to something that the
 * module's verifier accepts. The first byte chooses the event.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ctl.h"
#include "expr.h"
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

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The verifier's file wants these; it never calls them. */
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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("LOCKHELD_CTL_TESTS");
	struct tep_handle *tep = tep_alloc();
	char text[8192], *body;
	size_t i, len;

	(void)argc;
	(void)argv;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expr_opts opts = { .kallsyms = kallsyms, .root = root };
	struct expr_result res;
	unsigned int at;
	char *text;

	if (!size)
		return 0;
	opts.event = events[data[0] % 3];
	text = ctl_zalloc(size);
	memcpy(text, data + 1, size - 1);
	if (expr_compile(text, &opts, &res)) {
		check_error(&res);
	} else {
		CHECK(!res.error && !res.caret);
		CHECK(res.n || res.tp_filter);
		CHECK(!res.tp_filter || opts.event);
		CHECK(!res.insns == !res.n);
		if (res.n)
			CHECK(!lh_filter_check(res.insns, res.n, &at));
	}
	expr_result_free(&res);
	free(text);
	return 0;
}
