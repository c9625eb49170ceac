// SPDX-License-Identifier: GPL-2.0-only
/* The nodes of an expression, and whether they make sense together. */
#include <stdlib.h>
#include <string.h>

#include "ast.h"
#include "ctl.h"

struct ast *ast_new(struct expr *e, enum ast_kind kind, struct expr_span at)
{
	struct ast *n = ctl_zalloc(sizeof(*n));

	n->kind = kind;
	n->at = at;
	n->op_at = at;
	n->older = e->nodes;
	e->nodes = n;
	return n;
}

struct ast *ast_leaf(struct expr *e, enum ast_kind kind, struct expr_span at,
		     const char *text, size_t len)
{
	struct ast *n = ast_new(e, kind, at);

	n->text = ctl_zalloc(len + 1);
	memcpy(n->text, text, len);
	return n;
}

struct ast *ast_op(struct expr *e, unsigned int op, struct expr_span op_at,
		   struct ast *left, struct ast *right)
{
	struct ast *n = ast_new(e, AST_OP, op_at);

	n->op = op;
	n->left = left;
	n->right = right;
	if (right)
		n->at.first = left->at.first;
	n->at.last = (right ? right : left)->at.last;
	return n;
}

struct ast *ast_lock(struct expr *e, struct expr_span at, struct ast *place,
		     struct ast *name, struct ast *mode)
{
	struct ast *n = ast_new(e, AST_LOCK, at);

	n->left = place;
	n->right = name;
	if (name)
		name->right = mode;
	else if (mode)
		n->right = mode;
	return n;
}

struct ast *ast_call(struct expr *e, struct ast *function, struct ast *lock,
		     struct expr_span at)
{
	struct ast *n = ast_leaf(e, AST_CALL, at, function->text,
				 strlen(function->text));

	n->op_at = function->at;
	n->left = lock;
	return n;
}

void ast_free(struct ast *nodes)
{
	while (nodes) {
		struct ast *older = nodes->older;

		free(nodes->text);
		free(nodes);
		nodes = older;
	}
}

static bool is_const(const struct ast *n)
{
	return n->type == AST_CONST || n->type == AST_CONST_TEXT;
}

static void swap_sides(struct ast *n)
{
	static const unsigned char mirrored[] = {
		[LOCKHELD_OP_EQ] = LOCKHELD_OP_EQ,
		[LOCKHELD_OP_NE] = LOCKHELD_OP_NE,
		[LOCKHELD_OP_LT] = LOCKHELD_OP_GT,
		[LOCKHELD_OP_LE] = LOCKHELD_OP_GE,
		[LOCKHELD_OP_GT] = LOCKHELD_OP_LT,
		[LOCKHELD_OP_GE] = LOCKHELD_OP_LE,
		[LOCKHELD_OP_AND] = LOCKHELD_OP_AND,
		[AST_OP_GLOB] = AST_OP_GLOB,
	};
	struct ast *left = n->left;

	n->left = n->right;
	n->right = left;
	n->op = mirrored[n->op];
}

/* May @n stand where true or false is wanted? */
static bool check_truth(struct expr *e, struct ast *n)
{
	switch (n->type) {
	case AST_BOOL:
		return true;
	case AST_VALUE:
		if (n->uses & AST_USES_FIELD)
			return tpfilter_check(e, n);
		return true;
	case AST_TEXT:
		expr_error(e, CTL_USAGE, n->at,
			   "a text is not true or false, compare it: %.*s == \"NAME\"",
			   (int)(n->at.last - n->at.first),
			   e->text + n->at.first);
		return false;
	default:
		expr_error(e, CTL_USAGE, n->at,
			   "a constant alone decides nothing, compare it with a term");
		return false;
	}
}

static bool check_mask(struct expr *e, struct ast *n)
{
	struct ast *sides[2] = { n->left, n->right };
	int i;

	for (i = 0; i < 2; i++) {
		if (sides[i]->type == AST_CONST || sides[i]->type == AST_VALUE)
			continue;
		expr_error(e, CTL_USAGE, sides[i]->at,
			   "'&' works on numbers only, write '&&' for \"and\"");
		return false;
	}
	if (is_const(n->left) && is_const(n->right)) {
		expr_error(e, CTL_USAGE, n->at, "both sides are constants");
		return false;
	}
	if (is_const(n->left))
		swap_sides(n);
	if (n->right->negative || n->right->time) {
		expr_error(e, CTL_USAGE, n->right->at,
			   n->right->time ? "a mask cannot have a unit" :
					    "a mask cannot be negative");
		return false;
	}
	n->type = AST_VALUE;
	return true;
}

/* lock_held(X) == 0 is a way to say !lock_held(X). */
static bool check_bool_compare(struct expr *e, struct ast *n)
{
	if (n->right->type == AST_CONST && n->right->value <= 1 &&
	    (n->op == LOCKHELD_OP_EQ || n->op == LOCKHELD_OP_NE))
		return true;
	expr_error(e, CTL_USAGE, n->op_at,
		   "true or false can only be compared as == 0, == 1, != 0 or != 1");
	return false;
}

static bool check_text_compare(struct expr *e, struct ast *n)
{
	size_t len;

	if (n->right->type != AST_CONST_TEXT) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "'%s' can only be compared with a name in quotation marks",
			   n->left->text);
		return false;
	}
	if (n->op != LOCKHELD_OP_EQ && n->op != LOCKHELD_OP_NE &&
	    !(n->op == AST_OP_GLOB && n->left->kind == AST_FIELD)) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "'%s' can only be compared with == and !=%s",
			   n->left->text,
			   n->left->kind == AST_FIELD ? " and ~" : "");
		return false;
	}
	len = strlen(n->right->text);
	if (n->left->kind == AST_COMM && len > 15) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "task names have at most 15 bytes, this one has %zu",
			   len);
		return false;
	}
	return true;
}

static bool is_term(const struct ast *n, enum lockheld_term term)
{
	return n->kind == AST_TERM && n->value == term;
}

static bool check_number_compare(struct expr *e, struct ast *n)
{
	bool irq = is_term(n->left, LOCKHELD_TERM_IRQ);
	bool equality = n->op == LOCKHELD_OP_EQ || n->op == LOCKHELD_OP_NE;

	if (n->op == AST_OP_GLOB) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "'~' works on text fields of a tracepoint only");
		return false;
	}
	if (n->right->type != AST_CONST && n->right->type != AST_VALUE) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "a number can only be compared with a number");
		return false;
	}
	if (n->right->time && n->left->kind != AST_LOCK &&
	    !is_term(n->left, LOCKHELD_TERM_TIME)) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "a number with a unit can only be compared with held_ns() and time");
		return false;
	}
	/* What words_resolve() made from a word has the word still. */
	if (is_term(n->left, LOCKHELD_TERM_CGROUP) && n->right->text &&
	    n->right->type == AST_CONST && !equality) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "a control group's path can only be compared with == and !=");
		return false;
	}
	if (irq && !(n->right->type == AST_CONST && n->right->text)) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "'irq' can only be compared with none, soft, hard or nmi");
		return false;
	}
	if (n->right->negative && !(n->uses & AST_USES_FIELD)) {
		expr_error(e, CTL_USAGE, n->right->at,
			   "sample terms are never negative");
		return false;
	}
	return true;
}

static bool check_compare(struct expr *e, struct ast *n)
{
	if (is_const(n->left) && is_const(n->right)) {
		expr_error(e, CTL_USAGE, n->at, "both sides are constants");
		return false;
	}
	if (is_const(n->left))
		swap_sides(n);
	n->type = AST_BOOL;
	if (n->left->type == AST_BOOL)
		return check_bool_compare(e, n);
	if (n->left->type == AST_TEXT) {
		if (!check_text_compare(e, n))
			return false;
	} else if (!check_number_compare(e, n)) {
		return false;
	}
	return !(n->uses & AST_USES_FIELD) || tpfilter_check(e, n);
}

/* The term whose words may stand on the other side: that of "mem_op & load" is
 * mem_op. */
static int worded_term(struct expr *e, const struct ast *n)
{
	int term;

	if (n->kind == AST_OP && n->op == LOCKHELD_OP_AND) {
		term = worded_term(e, n->left);
		return term >= 0 ? term : worded_term(e, n->right);
	}
	term = names_term(e, n);
	return words_has(term) ? term : -1;
}

/* A bare word is a name in "comm == bash" and a context in "irq == hard". */
static bool check_bare_words(struct expr *e, struct ast *n)
{
	struct ast *word = n->right;
	struct ast *other = n->left;
	int term;

	if (!names_is_text(e, other) && worded_term(e, other) < 0) {
		word = n->left;
		other = n->right;
	}
	if (word->kind == AST_NAME && names_is_text(e, other) &&
	    n->op != LOCKHELD_OP_AND) {
		if (names_is_field(e, word)) {
			expr_error(e, CTL_USAGE, word->at,
				   "'%s' is a field, and a text can only be compared with a constant: write \"%s\" for the word",
				   word->text, word->text);
			return false;
		}
		word->kind = AST_STRING;
	}
	/* A pattern is for texts only, which is said later. */
	if (n->op == AST_OP_GLOB && word->kind == AST_STRING)
		return true;
	term = worded_term(e, other);
	if (term < 0 || names_term(e, word) >= 0 ||
	    (word->kind != AST_NAME && word->kind != AST_STRING))
		return true;
	return words_resolve(e, term, word);
}

static bool check(struct expr *e, struct ast *n);

static bool check_op(struct expr *e, struct ast *n)
{
	bool logical = n->op == LOCKHELD_OP_LAND || n->op == LOCKHELD_OP_LOR ||
		       n->op == LOCKHELD_OP_NOT;

	if (!logical && !check_bare_words(e, n))
		return false;
	if (!check(e, n->left) || (n->right && !check(e, n->right)))
		return false;
	n->uses = n->left->uses | (n->right ? n->right->uses : 0);
	if (logical) {
		n->type = AST_BOOL;
		return check_truth(e, n->left) &&
		       (!n->right || check_truth(e, n->right));
	}
	if (n->op == LOCKHELD_OP_AND)
		return check_mask(e, n);
	return check_compare(e, n);
}

static bool check(struct expr *e, struct ast *n)
{
	switch (n->kind) {
	case AST_NUMBER:
		n->type = AST_CONST;
		return true;
	case AST_STRING:
		n->type = AST_CONST_TEXT;
		return true;
	case AST_NAME:
		return names_resolve(e, n);
	case AST_CALL:
		return locks_resolve(e, n);
	case AST_OP:
		return check_op(e, n);
	default:
		return true;
	}
}

bool ast_check(struct expr *e)
{
	return check(e, e->root) && check_truth(e, e->root);
}
