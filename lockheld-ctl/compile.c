// SPDX-License-Identifier: GPL-2.0-only
/* From text to program: the way through the parts, and the last of them. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <symres.h>

#include "ast.h"
#include "ctl.h"

/* Bytes of the expression shown on either side of an error. */
#define CARET_BEFORE 48
#define CARET_AFTER 40

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Two lines: the text about @at, and marks under the bytes of @at. */
static char *caret(const char *text, struct expr_span at)
{
	size_t len = strlen(text);
	size_t first = at.first > CARET_BEFORE ? at.first - CARET_BEFORE : 0;
	size_t last = len - at.first > CARET_AFTER ? at.first + CARET_AFTER :
						     len;
	char *shown, *marks, *both;
	size_t i, n = 0;

	while (first && continues(text[first]))
		first--;
	while (last < len && continues(text[last]))
		last++;
	shown = ctl_zalloc(last - first + 1);
	marks = ctl_zalloc(last - first + 2);
	for (i = first; i < last; i++) {
		/* A control byte would move the marks away, or worse. */
		shown[i - first] = (unsigned char)text[i] < 0x20 ||
				   text[i] == 0x7f ? ' ' : text[i];
		if (continues(text[i]))
			continue;
		if (i < at.first)
			marks[n++] = ' ';
		else if (i < at.last)
			marks[n++] = i == at.first ? '^' : '~';
	}
	if (at.first >= last)
		marks[n++] = '^';
	both = ctl_printf("  %s%s%s\n  %s%s", first ? "..." : "", shown,
			  last < len ? "..." : "", first ? "   " : "", marks);
	free(shown);
	free(marks);
	return both;
}

static void set_error(struct expr_result *res, const char *text,
		      struct expr_span at, const char *message)
{
	size_t i;

	res->column = 1;
	for (i = 0; i < at.first; i++)
		res->column += !continues(text[i]);
	res->error = ctl_printf("filter, column %u: %s", res->column, message);
	res->caret = caret(text, at);
}

void expr_error(struct expr *e, int status, struct expr_span at,
		const char *fmt, ...)
{
	char *message;
	va_list ap;

	if (e->status)
		return;
	e->status = status;
	va_start(ap, fmt);
	message = ctl_vprintf(fmt, ap);
	va_end(ap);
	set_error(e->res, e->text, at, message);
	free(message);
}

void expr_refuse(const char *text, struct expr_result *res, unsigned int insn,
		 const char *why)
{
	struct expr_span at = res->places[insn];
	char *message = ctl_printf("'%.*s': %s",
				   at.last - at.first > 80 ? 80 :
				   (int)(at.last - at.first),
				   text + at.first, why);

	set_error(res, text, at, message);
	free(message);
}

int expr_print_error(int status, const struct expr_result *res)
{
	ctl_error(status, "%s", res->error);
	if (res->caret)
		fprintf(stderr, "%s\n", res->caret);
	return status;
}

void expr_print_note(const struct expr_result *res)
{
	char *rest = res->note ? ctl_strdup(res->note) : NULL;
	char *all = rest, *line;

	while ((line = strsep(&rest, "\n")))
		fprintf(stderr, "lockheld-ctl: %s\n", line);
	free(all);
}

struct program {
	struct lockheld_insn insns[LOCKHELD_INSNS_MAX];
	struct expr_span places[LOCKHELD_INSNS_MAX];
	unsigned int n;
	unsigned int depth;
};

static bool push(struct expr *e, struct program *p, const struct ast *n,
		 struct lockheld_insn insn, int depth)
{
	p->depth += depth;
	if (p->n == LOCKHELD_INSNS_MAX) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "the filter is too long: this is beyond %d instructions",
			   LOCKHELD_INSNS_MAX);
		return false;
	}
	if (p->depth > LOCKHELD_STACK_MAX) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "nested too deeply: put the longest part first");
		return false;
	}
	/* Of a call only the lock can be at fault. */
	p->places[p->n] = n->kind == AST_LOCK ? n->left->at : n->op_at;
	p->insns[p->n++] = insn;
	return true;
}

static bool emit(struct expr *e, struct program *p, const struct ast *n);

static bool emit_comm(struct expr *e, struct program *p, const struct ast *n)
{
	struct lockheld_insn insn = { .op = LOCKHELD_OP_COMM };

	/* ast.c has seen to it that the name fits, with its NUL. */
	memcpy(insn.comm, n->right->text, strlen(n->right->text));
	if (!push(e, p, n, insn, 1))
		return false;
	insn = (struct lockheld_insn){ .op = LOCKHELD_OP_NOT };
	return n->op == LOCKHELD_OP_EQ || push(e, p, n, insn, 0);
}

/* The same operation again, on its left or right, needs no room of its own. */
static bool emit_chain(struct expr *e, struct program *p, const struct ast *n,
		       unsigned int op, bool *first)
{
	struct lockheld_insn insn = { .op = op };

	if (n->kind == AST_OP && n->op == op)
		return emit_chain(e, p, n->left, op, first) &&
		       emit_chain(e, p, n->right, op, first);
	if (!emit(e, p, n))
		return false;
	if (*first) {
		*first = false;
		return true;
	}
	return push(e, p, n, insn, -1);
}

static bool emit_op(struct expr *e, struct program *p, const struct ast *n)
{
	struct lockheld_insn insn = { .op = n->op };
	bool first = true;

	switch (n->op) {
	case LOCKHELD_OP_LAND:
	case LOCKHELD_OP_LOR:
		return emit_chain(e, p, n, n->op, &first);
	case LOCKHELD_OP_NOT:
		return emit(e, p, n->left) && push(e, p, n, insn, 0);
	}
	if (n->left->kind == AST_COMM)
		return emit_comm(e, p, n);
	if (n->left->type == AST_BOOL) {
		insn.op = LOCKHELD_OP_NOT;
		if (!emit(e, p, n->left))
			return false;
		return !n->right->value != (n->op == LOCKHELD_OP_EQ) ||
		       push(e, p, n, insn, 0);
	}
	return emit(e, p, n->left) && emit(e, p, n->right) &&
	       push(e, p, n, insn, -1);
}

static bool emit(struct expr *e, struct program *p, const struct ast *n)
{
	struct lockheld_insn insn = { 0 };

	switch (n->kind) {
	case AST_OP:
		return emit_op(e, p, n);
	case AST_LOCK:
		e->res->has_locks = 1;
		return push(e, p, n, n->insn, 1);
	case AST_TERM:
		insn.op = LOCKHELD_OP_TERM;
		insn.arg = n->value;
		return push(e, p, n, insn, 1);
	default:
		insn.op = LOCKHELD_OP_IMM;
		insn.imm = n->value;
		return push(e, p, n, insn, 1);
	}
}

static void compile(struct expr *e)
{
	struct ast *sample, *field;
	struct program *p;

	expr_parse(e);
	if (e->status || !ast_check(e) ||
	    !tpfilter_split(e, &sample, &field))
		return;
	p = ctl_zalloc(sizeof(*p));
	if (sample && emit(e, p, sample)) {
		e->res->n = p->n;
		e->res->insns = ctl_realloc(NULL, p->n, sizeof(p->insns[0]));
		memcpy(e->res->insns, p->insns, p->n * sizeof(p->insns[0]));
		e->res->places = ctl_realloc(NULL, p->n, sizeof(p->places[0]));
		memcpy(e->res->places, p->places, p->n * sizeof(p->places[0]));
	}
	free(p);
	if (field && !e->status)
		e->res->tp_filter = tpfilter_text(field);
}

int expr_compile(const char *text, const struct expr_opts *opts,
		 struct expr_result *res)
{
	struct expr e = { .text = text, .opts = opts, .res = res };
	size_t len = strlen(text);

	memset(res, 0, sizeof(*res));
	if (len >= LOCKHELD_TEXT_MAX) {
		res->error = ctl_printf("filter: %zu bytes are too long, at most %d are possible",
					len, LOCKHELD_TEXT_MAX - 1);
		return CTL_USAGE;
	}
	compile(&e);
	symres_close(e.symbols);
	ast_free(e.nodes);
	return e.status;
}

void expr_result_free(struct expr_result *res)
{
	free(res->insns);
	free(res->places);
	free(res->note);
	free(res->tp_filter);
	free(res->error);
	free(res->caret);
	memset(res, 0, sizeof(*res));
}
