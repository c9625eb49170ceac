/* SPDX-License-Identifier: GPL-2.0-only */
/* Grammar of the filter language. */
%require "3.8"
%define api.pure full
%define api.prefix {expryy}
%define api.location.type {struct expr_span}
%define parse.error custom
%define parse.lac full
%locations
%param {void *scanner}
%parse-param {struct expr *e}

%code requires {
#include "ast.h"
}

%code {
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define YYLLOC_DEFAULT(cur, rhs, n)					\
	do {								\
		(cur).first = (n) ? YYRHSLOC(rhs, 1).first :		\
				    YYRHSLOC(rhs, 0).last;		\
		(cur).last = YYRHSLOC(rhs, n).last;			\
	} while (0)

int exprlex_lex(EXPRYYSTYPE *val, EXPRYYLTYPE *at, void *scanner);
#define expryylex exprlex_lex

static void expryyerror(EXPRYYLTYPE *at, void *scanner, struct expr *e,
			const char *msg);
}

%union {
	struct ast *ast;
}

%token <ast> NUMBER "number"
%token <ast> STRING "text"
%token <ast> NAME "name"
%token OR "||" AND "&&" NOT "!" COMMA ","
%token EQ "==" NE "!=" LT "<" LE "<=" GT ">" GE ">=" GLOB "~" BAND "&"
%token OPEN "(" CLOSE ")" MINUS "-" COLON ":" AT "@"

%type <ast> expr operand lock place cache

/* As in perf's filters, a comma separates what "||" joins. */
%left ","
%left "||"
%left "&&"
/* As in the kernel's filters, "!a == b" is "!(a == b)", not "(!a) == b"... */
%precedence "!"
%nonassoc "==" "!=" "<" "<=" ">" ">=" "~"
/* ...and "a & b == c" is "(a & b) == c". */
%left "&"

%%

filter:
	expr			{ e->root = $1; }
	;

expr:
	  expr "," expr		{ $$ = ast_op(e, LOCKHELD_OP_LAND, @2, $1, $3); }
	| expr "||" expr		{ $$ = ast_op(e, LOCKHELD_OP_LOR, @2, $1, $3); }
	| expr "&&" expr		{ $$ = ast_op(e, LOCKHELD_OP_LAND, @2, $1, $3); }
	| "!" expr		{ $$ = ast_op(e, LOCKHELD_OP_NOT, @1, $2, NULL); }
	| expr "==" expr		{ $$ = ast_op(e, LOCKHELD_OP_EQ, @2, $1, $3); }
	| expr "!=" expr		{ $$ = ast_op(e, LOCKHELD_OP_NE, @2, $1, $3); }
	| expr "<" expr		{ $$ = ast_op(e, LOCKHELD_OP_LT, @2, $1, $3); }
	| expr "<=" expr		{ $$ = ast_op(e, LOCKHELD_OP_LE, @2, $1, $3); }
	| expr ">" expr		{ $$ = ast_op(e, LOCKHELD_OP_GT, @2, $1, $3); }
	| expr ">=" expr		{ $$ = ast_op(e, LOCKHELD_OP_GE, @2, $1, $3); }
	| expr "~" expr		{ $$ = ast_op(e, AST_OP_GLOB, @2, $1, $3); }
	| expr "&" expr		{ $$ = ast_op(e, LOCKHELD_OP_AND, @2, $1, $3); }
	| "(" expr ")"		{ $$ = $2; $$->at = @$; }
	| operand
	;

operand:
	  NUMBER
	| "-" NUMBER		{
		$$ = $2;
		$$->at = @$;
		$$->negative = $2->value != 0;
		if ($2->value > 1ULL << 63) {
			expr_error(e, CTL_USAGE, @$, "more than 64 bits");
			YYABORT;
		}
		$$->value = -$2->value;
	}
	| STRING
	| NAME
	| NAME "("		{
		if (!locks_function(e, $1))
			YYABORT;
	} lock ")"		{ $$ = ast_call(e, $1, $4, @$); }
	;

lock:
	  place
	| NAME "@" place	{ $$ = $3; $$->at = @$; $$->family = $1; }
	;

place:
	  NUMBER		{ $$ = ast_lock(e, @$, $1, NULL, NULL); }
	| NUMBER ":" NAME	{ $$ = ast_lock(e, @$, $1, NULL, $3); }
	| NAME			{ $$ = ast_lock(e, @$, $1, NULL, NULL); }
	| NAME ":" NAME		{ $$ = ast_lock(e, @$, $1, $3, NULL); }
	| NAME ":" NAME ":" NAME { $$ = ast_lock(e, @$, $1, $3, $5); }
	| cache			{ $$ = ast_lock(e, @$, $1, NULL, NULL); }
	| cache ":" NAME	{ $$ = ast_lock(e, @$, $1, NULL, $3); }
	;

/* Some caches have names that are no names here. */
cache:
	  "&" NAME		{ $$ = $2; $$->at = @$; $$->kind = AST_CACHE; }
	| "&" STRING		{ $$ = $2; $$->at = @$; $$->kind = AST_CACHE; }
	;

%%

/* What bison itself has to say: its stack is full. */
static void expryyerror(EXPRYYLTYPE *at, void *scanner, struct expr *e,
			const char *msg)
{
	(void)scanner;
	expr_error(e, CTL_USAGE, *at, "%s", msg);
}

static bool word_is(const struct expr *e, EXPRYYLTYPE at, const char *word)
{
	size_t len = strlen(word);

	return at.last - at.first == len &&
	       !strncmp(e->text + at.first, word, len);
}

static bool compares(yysymbol_kind_t token)
{
	return token == YYSYMBOL_EQ || token == YYSYMBOL_NE ||
	       token == YYSYMBOL_LT || token == YYSYMBOL_LE ||
	       token == YYSYMBOL_GT || token == YYSYMBOL_GE ||
	       token == YYSYMBOL_GLOB;
}

/* One sentence: what stands there, and what would have to. */
static int yyreport_syntax_error(const yypcontext_t *ctx, void *scanner,
				 struct expr *e)
{
	yysymbol_kind_t token = yypcontext_token(ctx);
	EXPRYYLTYPE at = *yypcontext_location(ctx);
	yysymbol_kind_t expected[YYNTOKENS];
	int i, n = yypcontext_expected_tokens(ctx, expected, YYNTOKENS);
	bool text = false, name = false, number = false;
	bool close = false, op = false;
	const char *want = NULL;
	char *found;

	(void)scanner;
	for (i = 0; i < n; i++) {
		if (expected[i] == YYSYMBOL_STRING)
			text = true;
		if (expected[i] == YYSYMBOL_NAME)
			name = true;
		if (expected[i] == YYSYMBOL_NUMBER)
			number = true;
		if (expected[i] == YYSYMBOL_CLOSE)
			close = true;
		if (expected[i] == YYSYMBOL_AND)
			op = true;
	}
	if (token == YYSYMBOL_YYEOF)
		found = ctl_strdup("the expression ends here");
	else
		found = ctl_printf("unexpected '%.*s'",
				   at.last - at.first > 40 ? 40 :
				   (int)(at.last - at.first),
				   e->text + at.first);
	if (word_is(e, at, "and"))
		want = "write '&&' for \"and\"";
	else if (word_is(e, at, "or"))
		want = "write '||' for \"or\"";
	else if (op && (word_is(e, at, "ns") || word_is(e, at, "us") ||
			word_is(e, at, "ms") || word_is(e, at, "s")))
		want = "a unit stands right behind its number, as in 10ms";
	else if (text && number)
		want = "a lock_held(), a term or a number must stand here";
	else if (text)
		want = "the name of a slab cache must stand here";
	else if (name && number)
		want = "the name or address of a lock must stand here";
	else if (name)
		want = "a name must stand here";
	else if (number)
		want = "a number must stand here";
	else if (compares(token))
		want = "comparisons cannot be chained, join two with '&&'";
	else if (close)
		want = op ? "')' or an operator must stand here" :
			    "')' must stand here";
	else
		want = "an operator must stand here";
	expr_error(e, CTL_USAGE, at, "%s: %s", found, want);
	free(found);
	return 0;
}
