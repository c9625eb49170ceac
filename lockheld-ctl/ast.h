/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An expression on its way from text to program: parsed (expr.l, expr.y),
 * checked (ast.c, names.c), split (tpfilter.c), compiled (compile.c).
 */
#ifndef LOCKHELD_CTL_AST_H
#define LOCKHELD_CTL_AST_H

#include <stdbool.h>
#include <stddef.h>

#include "expr.h"

struct suggest;
struct symres;
struct tep_format_field;

enum ast_kind {
	AST_NUMBER,		/* value, negative, hex */
	AST_STRING,		/* text */
	AST_NAME,		/* text; ast_check() turns it into one of the next three */
	AST_TERM,		/* value: enum lockheld_term */
	AST_COMM,
	AST_FIELD,		/* field */
	AST_CACHE,		/* text: name of a slab cache */
	AST_CALL,		/* text: function, left: the lock; becomes: */
	AST_LOCK,		/* insn */
	AST_OP,			/* op, left, right (not for NOT) */
};

/* Beside enum lockheld_op in ast.op; only tracepoint fields know it. */
#define AST_OP_GLOB (LOCKHELD_OP_MAX + 1)

/* What a node comes to, known after ast_check(). */
enum ast_type {
	AST_CONST,		/* number */
	AST_CONST_TEXT,
	AST_VALUE,		/* number known at the sample */
	AST_TEXT,		/* string known at the sample */
	AST_BOOL,
};

#define AST_USES_SAMPLE	(1u << 0)	/* locks and sample terms */
#define AST_USES_FIELD	(1u << 1)	/* the tracepoint's own fields */

struct ast {
	enum ast_kind kind;
	enum ast_type type;
	unsigned int op;
	unsigned int uses;
	struct expr_span at;
	struct expr_span op_at;
	struct ast *left;
	struct ast *right;
	char *text;
	__u64 value;
	bool negative;
	bool hex;
	bool time;		/* a number with a unit, "10ms" */
	struct ast *family;	/* of a lock: the word in front of "@", or NULL */
	struct tep_format_field *field;
	struct lockheld_insn insn;
	struct ast *older;	/* all nodes of an expression, to free them */
};

struct expr {
	const char *text;
	size_t pos;		/* of the lexer */
	const struct expr_opts *opts;
	struct expr_result *res;
	int status;		/* of the first error */
	struct ast *nodes;
	struct ast *root;
	struct symres *symbols;	/* opened by the first symbol */
};

/* Only the first error counts. */
void expr_error(struct expr *e, int status, struct expr_span at,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Fills in @e->root; errors are in @e. */
void expr_parse(struct expr *e);

struct ast *ast_new(struct expr *e, enum ast_kind kind, struct expr_span at);
struct ast *ast_leaf(struct expr *e, enum ast_kind kind, struct expr_span at,
		     const char *text, size_t len);
struct ast *ast_op(struct expr *e, unsigned int op, struct expr_span op_at,
		   struct ast *left, struct ast *right);
struct ast *ast_lock(struct expr *e, struct expr_span at, struct ast *place,
		     struct ast *name, struct ast *mode);
struct ast *ast_call(struct expr *e, struct ast *function, struct ast *lock,
		     struct expr_span at);
void ast_free(struct ast *nodes);

/* Gives every node under @e->root its type and meaning; false after an error. */
bool ast_check(struct expr *e);

/* names.c: terms and fields. */
bool names_resolve(struct expr *e, struct ast *name);
/* True if @n is a name that stands for a text. */
bool names_is_text(struct expr *e, const struct ast *n);
bool names_is_field(struct expr *e, const struct ast *n);
/* The term that a name will stand for; -1 if it is none. */
int names_term(struct expr *e, const struct ast *n);

/* locks.c: is it a lock function's name? If not, that is an error. */
bool locks_function(struct expr *e, const struct ast *function);
bool locks_is_function(const char *name);
void locks_suggest(struct suggest *near);
/* Turns a call into a lock. */
bool locks_resolve(struct expr *e, struct ast *call);

/* words.c: does the term have words for its values? */
bool words_has(int term);
bool words_known(const char *word);
/* Turns the word into the number that it is for the term. */
bool words_resolve(struct expr *e, int term, struct ast *word);

/* tpfilter.c: hands the conjuncts of @e->root out to the two filters; each
 * becomes NULL if it gets none. False after an error. */
bool tpfilter_split(struct expr *e, struct ast **sample, struct ast **field);
/* May the kernel's filter compare like that? If not, that is an error. */
bool tpfilter_check(struct expr *e, struct ast *n);
char *tpfilter_text(const struct ast *n);

#endif
