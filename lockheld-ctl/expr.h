/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter language: text in, program for the module out.
 *
 * On a tracepoint the event's own fields may stand in the expression too; what
 * the kernel's tracepoint filter can do is split off and given back as text.
 */
#ifndef LOCKHELD_CTL_EXPR_H
#define LOCKHELD_CTL_EXPR_H

#include <linux/lockheld.h>

struct tep_event;

/**
 * struct expr_opts - what an expression is about
 * @event: format of the tracepoint it filters; NULL for any other event
 * @kallsyms: file with the kernel's symbols; NULL for /proc/kallsyms, read
 *	only if the expression names a symbol
 * @root: stands in front of /proc and /sys where slab caches, control
 *	groups and the layout of run queues are looked up; NULL: nothing
 */
struct expr_opts {
	struct tep_event *event;
	const char *kallsyms;
	const char *root;
};

/* Bytes [first, last) of the text. */
struct expr_span {
	size_t first;
	size_t last;
};

/**
 * struct expr_result - a compiled expression
 * @insns: program for the module, NULL if all went into @tp_filter
 * @places: what in the text each instruction is about
 * @n: number of instructions
 * @tp_filter: text for PERF_EVENT_IOC_SET_FILTER, NULL if there is none; a
 *	sample must pass both
 * @has_locks: some lock_held() or held_ns() is in the program
 * @note: lines for the user about how a name was understood, or NULL
 * @error: one line without the caret; NULL if all is well
 * @caret: where it went wrong, two lines ("  EXPRESSION\n  ^~~~"), or NULL
 * @column: of the error, from 1; 0 if it has none
 */
struct expr_result {
	struct lockheld_insn *insns;
	struct expr_span *places;
	unsigned int n;
	char *tp_filter;
	int has_locks;
	char *note;
	char *error;
	char *caret;
	unsigned int column;
};

/**
 * expr_compile() - compile @text
 *
 * Return: enum ctl_status. 0: @res holds a program, a tracepoint filter or
 * both. Otherwise @res->error says why. Free @res in both cases.
 */
int expr_compile(const char *text, const struct expr_opts *opts,
		 struct expr_result *res);
void expr_result_free(struct expr_result *res);

/**
 * expr_refuse() - the module refused an instruction of a compiled expression
 * @text: the expression
 * @res: gets @error and its place in the text
 * @insn: the instruction, out of @res
 * @why: the module's words
 */
void expr_refuse(const char *text, struct expr_result *res, unsigned int insn,
		 const char *why);

/* Says @res->note, if there is one, on stderr. */
void expr_print_note(const struct expr_result *res);

/* Says @res->error with its caret on stderr. Returns @status. */
int expr_print_error(int status, const struct expr_result *res);

#endif
