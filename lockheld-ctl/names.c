// SPDX-License-Identifier: GPL-2.0-only
/* What the names in an expression stand for: terms and fields. */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ast.h"
#include "ctl.h"
#include "suggest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Reaches a term where the tracepoint has a field of the same name. */
#define SAMPLE_PREFIX "sample."

static const struct {
	const char *name;
	enum lockheld_term term;
} terms[] = {
	{ "ip", LOCKHELD_TERM_IP },
	{ "pid", LOCKHELD_TERM_PID },
	{ "tid", LOCKHELD_TERM_TID },
	{ "cpu", LOCKHELD_TERM_CPU },
	{ "time", LOCKHELD_TERM_TIME },
	{ "addr", LOCKHELD_TERM_ADDR },
	{ "period", LOCKHELD_TERM_PERIOD },
	{ "uid", LOCKHELD_TERM_UID },
	{ "gid", LOCKHELD_TERM_GID },
	{ "irq", LOCKHELD_TERM_IRQ },
	{ "depth", LOCKHELD_TERM_DEPTH },
	{ "id", LOCKHELD_TERM_ID },
	{ "txn", LOCKHELD_TERM_TXN },
	{ "weight", LOCKHELD_TERM_WEIGHT },
	{ "weight1", LOCKHELD_TERM_WEIGHT1 },
	{ "weight2", LOCKHELD_TERM_WEIGHT2 },
	{ "weight3", LOCKHELD_TERM_WEIGHT3 },
	{ "phys_addr", LOCKHELD_TERM_PHYS_ADDR },
	{ "code_pgsz", LOCKHELD_TERM_CODE_PGSZ },
	{ "data_pgsz", LOCKHELD_TERM_DATA_PGSZ },
	{ "cgroup", LOCKHELD_TERM_CGROUP },
	{ "mem_op", LOCKHELD_TERM_MEM_OP },
	{ "mem_lvlnum", LOCKHELD_TERM_MEM_LVLNUM },
	/* as perf calls it */
	{ "mem_lvl", LOCKHELD_TERM_MEM_LVLNUM },
	{ "mem_snoop", LOCKHELD_TERM_MEM_SNOOP },
	{ "mem_remote", LOCKHELD_TERM_MEM_REMOTE },
	{ "mem_lock", LOCKHELD_TERM_MEM_LOCK },
	{ "mem_dtlb", LOCKHELD_TERM_MEM_DTLB },
	{ "mem_blk", LOCKHELD_TERM_MEM_BLK },
	{ "mem_hops", LOCKHELD_TERM_MEM_HOPS },
};

static const char comm_term[] = "comm";

static struct tep_format_field *find_field(const struct expr *e,
					   const char *name)
{
	return e->opts->event ? tep_find_any_field(e->opts->event, name) : NULL;
}

static int find_term(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(terms); i++)
		if (!strcmp(terms[i].name, name))
			return terms[i].term;
	return -1;
}

static const char *without_prefix(const char *name)
{
	size_t len = strlen(SAMPLE_PREFIX);

	return strncmp(name, SAMPLE_PREFIX, len) ? name : name + len;
}

/* What the kernel's filter takes for a text: arrays of and pointers to char. */
static bool field_is_text(const struct tep_format_field *f)
{
	if ((f->flags & TEP_FIELD_IS_ARRAY) && strstr(f->type, "char"))
		return true;
	return !strcmp(f->type, "char *") || !strcmp(f->type, "const char *");
}

bool names_is_text(struct expr *e, const struct ast *n)
{
	const struct tep_format_field *f;

	if (n->kind != AST_NAME)
		return false;
	f = find_field(e, n->text);
	return f ? field_is_text(f) :
		   !strcmp(without_prefix(n->text), comm_term);
}

bool names_is_field(struct expr *e, const struct ast *n)
{
	return n->kind == AST_NAME && find_field(e, n->text);
}

int names_term(struct expr *e, const struct ast *n)
{
	if (n->kind != AST_NAME || find_field(e, n->text))
		return -1;
	return find_term(without_prefix(n->text));
}

static void unknown_name(struct expr *e, const struct ast *name)
{
	struct tep_event *event = e->opts->event;
	struct tep_format_field *f;
	struct suggest near;
	char *hint;
	size_t i;

	if (locks_is_function(name->text)) {
		expr_error(e, CTL_USAGE, name->at,
			   "'%s' needs a lock in parentheses: %s(mutex)",
			   name->text, name->text);
		return;
	}
	suggest_init(&near, name->text);
	for (f = event ? event->format.fields : NULL; f; f = f->next)
		suggest_offer(&near, f->name);
	for (f = event ? event->format.common_fields : NULL; f; f = f->next)
		suggest_offer(&near, f->name);
	for (i = 0; i < COUNT(terms); i++)
		suggest_offer(&near, terms[i].name);
	suggest_offer(&near, comm_term);
	locks_suggest(&near);
	hint = suggest_text(&near);
	if (words_known(name->text))
		expr_error(e, CTL_USAGE, name->at,
			   event ? "'%s' is a value of a sample term, such as irq or mem_op, which is sample.irq where %s:%s has such a field" :
				   "'%s' is a value of a sample term, such as irq or mem_op: compare it with that",
			   name->text, event ? event->system : "",
			   event ? event->name : "");
	else if (event)
		expr_error(e, CTL_USAGE, name->at,
			   "'%.40s' is neither a field of %s:%s nor a sample term%s",
			   name->text, event->system, event->name, hint);
	else
		expr_error(e, CTL_USAGE, name->at,
			   "unknown sample term '%.40s'%s", name->text,
			   *hint ? hint : ": a tracepoint's fields can be used in record -e TRACEPOINT only");
	free(hint);
}

bool names_resolve(struct expr *e, struct ast *name)
{
	struct tep_format_field *f = find_field(e, name->text);
	int term;

	/* perf's users know a tracepoint's filter by its fields. */
	if (f) {
		name->kind = AST_FIELD;
		name->type = field_is_text(f) ? AST_TEXT : AST_VALUE;
		name->uses = AST_USES_FIELD;
		name->field = f;
		return true;
	}
	name->uses = AST_USES_SAMPLE;
	if (!strcmp(without_prefix(name->text), comm_term)) {
		name->kind = AST_COMM;
		name->type = AST_TEXT;
		return true;
	}
	term = find_term(without_prefix(name->text));
	if (term < 0) {
		unknown_name(e, name);
		return false;
	}
	name->kind = AST_TERM;
	name->type = AST_VALUE;
	name->value = term;
	return true;
}
