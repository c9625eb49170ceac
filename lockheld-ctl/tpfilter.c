// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of an expression the kernel's own tracepoint filter can do: taken out of
 * the rest, and written in that filter's language, which knows "FIELD OP
 * CONSTANT", "FIELD & CONSTANT", "&&", "||", "!" and parentheses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ast.h"
#include "ctl.h"

/* The kernel's limit on a text in a filter, its NUL included. */
#define TEXT_MAX 256

static bool is_op(const struct ast *n, unsigned int op)
{
	return n->kind == AST_OP && n->op == op;
}

static bool check_text(struct expr *e, const struct ast *text)
{
	const char *why = NULL;

	if (strlen(text->text) >= TEXT_MAX)
		why = "longer than the kernel's filter takes";
	else if (strchr(text->text, '"') && strchr(text->text, '\''))
		why = "the kernel's filter cannot take both kinds of quotation marks in one text";
	if (why)
		expr_error(e, CTL_USAGE, text->at, "%s", why);
	return !why;
}

/*
 * The kernel cuts a constant to the field's size without a word, and reads it
 * as signed for signed fields.
 */
static bool check_range(struct expr *e, const struct tep_format_field *f,
			const struct ast *number)
{
	unsigned int bits = f->size * 8;
	bool is_signed = f->flags & TEP_FIELD_IS_SIGNED;
	uint64_t max = UINT64_MAX >> (64 - bits);
	bool fits;

	if (number->negative)
		fits = is_signed && -number->value <= 1ULL << (bits - 1);
	else if (is_signed && (bits == 64 || !number->hex))
		fits = number->value <= max / 2;
	else
		fits = number->value <= max;
	if (!fits)
		expr_error(e, CTL_USAGE, number->at,
			   "does not fit into '%s', which is %s with %u bits",
			   f->name, is_signed ? "signed" : "unsigned", bits);
	return fits;
}

static bool check_field(struct expr *e, const struct ast *n)
{
	const struct tep_format_field *f = n->field;

	if (!(f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) &&
	    (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8))
		return true;
	expr_error(e, CTL_USAGE, n->at,
		   "the kernel's filter cannot compare '%s', which is '%s'",
		   f->name, f->type);
	return false;
}

bool tpfilter_check(struct expr *e, struct ast *n)
{
	bool compares = n->type == AST_BOOL;
	struct ast *field = compares ? n->left : n;
	struct ast *mask = NULL;

	if (n->uses & AST_USES_SAMPLE) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "a tracepoint's field can be compared with a constant only");
		return false;
	}
	if (is_op(field, LOCKHELD_OP_AND)) {
		mask = field->right;
		field = field->left;
	}
	if (field->kind != AST_FIELD || (mask && mask->kind != AST_NUMBER) ||
	    (compares && n->right->type != AST_CONST &&
	     n->right->type != AST_CONST_TEXT)) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "the kernel's filter can only compare or mask one field with one constant");
		return false;
	}
	if (field->type == AST_TEXT)
		return check_text(e, n->right);
	if (!check_field(e, field) ||
	    (mask && !check_range(e, field->field, mask)) ||
	    (compares && !check_range(e, field->field, n->right)))
		return false;
	if (mask && compares && n->op != LOCKHELD_OP_EQ &&
	    n->op != LOCKHELD_OP_NE) {
		expr_error(e, CTL_USAGE, n->op_at,
			   "the kernel's filter can compare masked fields with == and != only");
		return false;
	}
	return true;
}

static struct ast *logic(struct expr *e, unsigned int op, struct ast *left,
			 struct ast *right)
{
	struct ast *n = ast_op(e, op, left->op_at, left, right);

	n->type = AST_BOOL;
	n->uses = left->uses;
	return n;
}

static void append(struct expr *e, struct ast **list, struct ast *n, bool negate)
{
	if (negate)
		n = logic(e, LOCKHELD_OP_NOT, n, NULL);
	*list = *list ? logic(e, LOCKHELD_OP_LAND, *list, n) : n;
}

static const struct ast *find_user(const struct ast *n, unsigned int uses)
{
	const struct ast *found = NULL;

	if (!(n->uses & uses))
		return NULL;
	if (n->kind != AST_OP)
		return n;
	found = find_user(n->left, uses);
	return found || !n->right ? found : find_user(n->right, uses);
}

static void cannot_split(struct expr *e, const struct ast *n)
{
	const struct ast *field = find_user(n, AST_USES_FIELD);
	const struct ast *sample = find_user(n, AST_USES_SAMPLE);

	expr_error(e, CTL_USAGE, n->op_at,
		   "the field '%.*s' is the kernel's to filter and '%.*s' is the module's, so only \"and\" can join them: record the event twice, with one side of this each",
		   (int)(field->at.last - field->at.first),
		   e->text + field->at.first,
		   (int)(sample->at.last - sample->at.first),
		   e->text + sample->at.first);
}

/* "!(a || b)" is "!a && !b", so that can be split as well. */
static bool hand_out(struct expr *e, struct ast *n, bool negate,
		     struct ast **sample, struct ast **field)
{
	unsigned int and = negate ? LOCKHELD_OP_LOR : LOCKHELD_OP_LAND;

	if (n->uses == AST_USES_SAMPLE) {
		append(e, sample, n, negate);
		return true;
	}
	if (n->uses == AST_USES_FIELD) {
		append(e, field, n, negate);
		return true;
	}
	if (is_op(n, LOCKHELD_OP_NOT))
		return hand_out(e, n->left, !negate, sample, field);
	if (is_op(n, and))
		return hand_out(e, n->left, negate, sample, field) &&
		       hand_out(e, n->right, negate, sample, field);
	/* lock_held(X) == 0 and its like are the only comparisons of these. */
	cannot_split(e, n);
	return false;
}

bool tpfilter_split(struct expr *e, struct ast **sample, struct ast **field)
{
	*sample = NULL;
	*field = NULL;
	return hand_out(e, e->root, false, sample, field);
}

static char *quote(const char *text)
{
	return ctl_printf(strchr(text, '"') ? "'%s'" : "\"%s\"", text);
}

static char *number(const struct ast *n)
{
	if (n->negative)
		return ctl_printf("-%llu", (unsigned long long)-n->value);
	return ctl_printf(n->hex ? "%#llx" : "%llu",
			  (unsigned long long)n->value);
}

/*
 * "f & mask == value" bit by bit, since the kernel's filter can only ask
 * whether any bit of a mask is set.
 */
static char *masked(const char *field, uint64_t mask, uint64_t value,
		    bool negate)
{
	char *text = ctl_strdup("");
	char *longer;
	int bit;

	if (value & ~mask || !mask) {
		free(text);
		/* Decided already, but the language has no "true". */
		return ctl_printf(!!(value & ~mask) != negate ? "%s & 0" :
				  "!(%s & 0)", field);
	}
	for (bit = 0; bit < 64; bit++) {
		uint64_t one = mask & (1ULL << bit);

		if (!one || !(value & one))
			continue;
		longer = ctl_printf("%s%s%s & %#llx", text,
				    *text ? " && " : "", field,
				    (unsigned long long)one);
		free(text);
		text = longer;
	}
	if (mask & ~value) {
		longer = ctl_printf("%s%s!(%s & %#llx)", text,
				    *text ? " && " : "", field,
				    (unsigned long long)(mask & ~value));
		free(text);
		text = longer;
	}
	if (negate) {
		longer = ctl_printf("!(%s)", text);
		free(text);
		text = longer;
	}
	return text;
}

static char *comparison(const struct ast *n)
{
	static const char *const words[] = {
		[LOCKHELD_OP_EQ] = "==",
		[LOCKHELD_OP_NE] = "!=",
		[LOCKHELD_OP_LT] = "<",
		[LOCKHELD_OP_LE] = "<=",
		[LOCKHELD_OP_GT] = ">",
		[LOCKHELD_OP_GE] = ">=",
		[AST_OP_GLOB] = "~",
	};
	char *constant, *text;

	if (is_op(n->left, LOCKHELD_OP_AND))
		return masked(n->left->left->text, n->left->right->value,
			      n->right->value, n->op == LOCKHELD_OP_NE);
	constant = n->right->type == AST_CONST_TEXT ? quote(n->right->text) :
						      number(n->right);
	text = ctl_printf("%s %s %s", n->left->text, words[n->op], constant);
	free(constant);
	return text;
}

/* In parentheses unless they could change nothing. */
static char *part(const struct ast *n, unsigned int op)
{
	char *text = tpfilter_text(n);
	bool bare = n->kind != AST_OP || n->op == op ||
		    n->op == LOCKHELD_OP_NOT;
	char *wrapped;

	if (bare)
		return text;
	wrapped = ctl_printf("(%s)", text);
	free(text);
	return wrapped;
}

char *tpfilter_text(const struct ast *n)
{
	char *left, *right = NULL, *text;

	if (n->kind == AST_FIELD)
		return ctl_printf("%s != 0", n->text);
	switch (n->op) {
	case LOCKHELD_OP_AND:
		right = number(n->right);
		text = ctl_printf("%s & %s", n->left->text, right);
		free(right);
		return text;
	case LOCKHELD_OP_NOT:
		left = tpfilter_text(n->left);
		text = ctl_printf("!(%s)", left);
		break;
	case LOCKHELD_OP_LAND:
	case LOCKHELD_OP_LOR:
		left = part(n->left, n->op);
		right = part(n->right, n->op);
		text = ctl_printf("%s %s %s", left,
				  n->op == LOCKHELD_OP_LAND ? "&&" : "||",
				  right);
		break;
	default:
		/* (a == 3) == 0 */
		if (n->left->type != AST_BOOL)
			return comparison(n);
		left = tpfilter_text(n->left);
		text = ctl_printf(!n->right->value ==
				  (n->op == LOCKHELD_OP_EQ) ? "!(%s)" : "(%s)",
				  left);
		break;
	}
	free(left);
	free(right);
	return text;
}
