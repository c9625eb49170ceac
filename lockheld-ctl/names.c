// SPDX-License-Identifier: GPL-2.0-only
/* What the names in an expression stand for: terms, fields, locks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <symres.h>

#include "ast.h"
#include "ctl.h"
#include "lockname.h"
#include "lockspec.h"
#include "suggest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Reaches a term where the tracepoint has a field of the same name. */
#define SAMPLE_PREFIX "sample."

static const char *const terms[] = {
	[LOCKHELD_TERM_IP] = "ip",
	[LOCKHELD_TERM_PID] = "pid",
	[LOCKHELD_TERM_TID] = "tid",
	[LOCKHELD_TERM_CPU] = "cpu",
	[LOCKHELD_TERM_TIME] = "time",
	[LOCKHELD_TERM_ADDR] = "addr",
	[LOCKHELD_TERM_PERIOD] = "period",
	[LOCKHELD_TERM_UID] = "uid",
	[LOCKHELD_TERM_GID] = "gid",
	[LOCKHELD_TERM_IRQ] = "irq",
	[LOCKHELD_TERM_DEPTH] = "depth",
};

static const char comm_term[] = "comm";

static const struct {
	const char *name;
	enum lockheld_mode mode;
} functions[] = {
	{ "lock_held", LOCKHELD_MODE_ANY },
	{ "lock_held_read", LOCKHELD_MODE_READ },
	{ "lock_held_shared", LOCKHELD_MODE_READ },
	{ "lock_held_write", LOCKHELD_MODE_WRITE },
	{ "lock_held_exclusive", LOCKHELD_MODE_WRITE },
};

static const struct {
	const char *name;
	enum lockheld_spec spec;
} members[] = {
	{ "mmap_lock", LOCKHELD_SPEC_MMAP_LOCK },
	{ "siglock", LOCKHELD_SPEC_SIGLOCK },
};

static int find_function(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(functions); i++)
		if (!strcmp(functions[i].name, name))
			return i;
	return -1;
}

static int find_member(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(members); i++)
		if (!strcmp(members[i].name, name))
			return members[i].spec;
	return -1;
}

bool names_function(struct expr *e, const struct ast *function)
{
	struct suggest near;
	char *hint;
	size_t i;

	if (find_function(function->text) >= 0)
		return true;
	suggest_init(&near, function->text);
	for (i = 0; i < COUNT(functions); i++)
		suggest_offer(&near, functions[i].name);
	hint = suggest_text(&near);
	expr_error(e, CTL_USAGE, function->at, "unknown function '%.40s'%s",
		   function->text, *hint ? hint : ": there are lock_held, lock_held_read and lock_held_write");
	free(hint);
	return false;
}

static struct tep_format_field *find_field(const struct expr *e,
					   const char *name)
{
	return e->opts->event ? tep_find_any_field(e->opts->event, name) : NULL;
}

static int find_term(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(terms); i++)
		if (!strcmp(terms[i], name))
			return i;
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

bool names_is_irq(struct expr *e, const struct ast *n)
{
	return n->kind == AST_NAME && !find_field(e, n->text) &&
	       find_term(without_prefix(n->text)) == LOCKHELD_TERM_IRQ;
}

bool names_context(struct expr *e, struct ast *word)
{
	int context = lockname_find_context(word->text);

	if (context < 0) {
		expr_error(e, CTL_USAGE, word->at,
			   "'%.40s': 'irq' is one of none, soft, hard and nmi",
			   word->text);
		return false;
	}
	word->kind = AST_NUMBER;
	word->value = context;
	return true;
}

static void unknown_name(struct expr *e, const struct ast *name)
{
	struct tep_event *event = e->opts->event;
	struct tep_format_field *f;
	struct suggest near;
	char *hint;
	size_t i;

	if (find_function(name->text) >= 0) {
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
		suggest_offer(&near, terms[i]);
	suggest_offer(&near, comm_term);
	for (i = 0; i < COUNT(functions); i++)
		suggest_offer(&near, functions[i].name);
	hint = suggest_text(&near);
	if (event && lockname_find_context(name->text) >= 0)
		expr_error(e, CTL_USAGE, name->at,
			   "'%s' goes with the sample's irq, which is sample.irq where %s:%s has such a field",
			   name->text, event->system, event->name);
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

static int find_mode(const struct ast *n)
{
	if (!strcmp(n->text, lockname_mode(LOCKHELD_MODE_READ)))
		return LOCKHELD_MODE_READ;
	if (!strcmp(n->text, lockname_mode(LOCKHELD_MODE_WRITE)))
		return LOCKHELD_MODE_WRITE;
	return -1;
}

/* @name is "place" or "module:place". */
static bool lock_symbol(struct expr *e, struct ast *call, struct ast_span at,
			const char *name)
{
	struct symres_opts opts = {
		.size = sizeof(opts),
		.kallsyms = e->opts->kallsyms,
	};
	__u64 addr, extent;
	struct suggest near;
	char *error, *hint;
	int status, i;

	if (!e->symbols && symres_open(&e->symbols, &opts)) {
		expr_error(e, CTL_FAILED, at, "out of memory");
		return false;
	}
	suggest_init(&near, strchr(name, ':') ? strchr(name, ':') + 1 : name);
	if (!strchr(name, ':')) {
		for (i = 1; i <= LOCKHELD_FAMILY_MAX; i++)
			suggest_offer(&near, lockname_family(i));
		for (i = 0; i < (int)COUNT(members); i++)
			suggest_offer(&near, members[i].name);
	}
	status = lockspec_find(e->symbols, name, &near, &addr, &extent, &error);
	hint = suggest_text(&near);
	if (status)
		expr_error(e, status, at, "lock '%.60s': %s%s", name, error,
			   status == CTL_USAGE ? hint : "");
	else
		call->insn.arg = LOCKHELD_SPEC_ADDR;
	call->insn.imm = status ? 0 : addr;
	call->insn.imm2 = status ? 0 : extent;
	free(hint);
	free(error);
	return !status;
}

static bool lock_address(struct expr *e, struct ast *call, struct ast *place)
{
	/* The kernel lives in the upper half; a small number is a slip. */
	if (!(place->value >> 63)) {
		expr_error(e, CTL_USAGE, place->at,
			   "%#llx is not an address of the kernel",
			   (unsigned long long)place->value);
		return false;
	}
	call->insn.arg = LOCKHELD_SPEC_ADDR;
	call->insn.imm = place->value;
	return true;
}

static bool lock_place(struct expr *e, struct ast *call, struct ast *place,
		       struct ast *name)
{
	int family, spec;
	bool ok;
	char *qualified;

	if (place->kind == AST_NUMBER)
		return lock_address(e, call, place);
	family = lockname_find_family(place->text);
	spec = find_member(place->text);
	if (name && find_mode(name) >= 0) {
		expr_error(e, CTL_USAGE, name->at, "one mode is enough");
		return false;
	}
	if (name && (family >= 0 || spec >= 0)) {
		expr_error(e, CTL_USAGE, name->at,
			   "unknown mode '%.40s': write %s:R (read, shared) or %s:W (write, exclusive)",
			   name->text, place->text, place->text);
		return false;
	}
	if (family >= 0) {
		call->insn.arg = LOCKHELD_SPEC_TYPE;
		call->insn.family = family;
		return true;
	}
	if (spec >= 0) {
		call->insn.arg = spec;
		return true;
	}
	if (!name)
		return lock_symbol(e, call, place->at, place->text);
	qualified = ctl_printf("%s:%s", place->text, name->text);
	ok = lock_symbol(e, call, (struct ast_span){ place->at.first,
						     name->at.last },
			 qualified);
	free(qualified);
	return ok;
}

/* Mutexes and spinlocks have no readers. */
static bool check_mode(struct expr *e, const struct ast *call,
		       const struct ast *lock)
{
	bool writers_only = call->insn.arg == LOCKHELD_SPEC_SIGLOCK ||
			    call->insn.family == LOCKHELD_FAMILY_MUTEX ||
			    call->insn.family == LOCKHELD_FAMILY_SPINLOCK;

	if (call->insn.mode != LOCKHELD_MODE_READ || !writers_only)
		return true;
	expr_error(e, CTL_USAGE, lock->at,
		   "'%s' is never held for reading, write lock_held(%s)",
		   lock->left->text, lock->left->text);
	return false;
}

bool names_lock(struct expr *e, struct ast *call)
{
	struct ast *lock = call->left;
	struct ast *name = lock->right;
	struct ast *mode = name ? name->right : NULL;
	int function_mode, m = LOCKHELD_MODE_ANY;

	/* After the last colon stands a mode if it looks like one. */
	if (name && !mode &&
	    (find_mode(name) >= 0 || lock->left->kind == AST_NUMBER)) {
		mode = name;
		name = NULL;
	}
	if (mode) {
		m = find_mode(mode);
		if (m < 0) {
			expr_error(e, CTL_USAGE, mode->at,
				   "unknown mode '%.40s': write :R (read, shared) or :W (write, exclusive)",
				   mode->text);
			return false;
		}
	}
	function_mode = functions[find_function(call->text)].mode;
	if (function_mode && m && function_mode != m) {
		expr_error(e, CTL_USAGE, mode->at, "'%s' contradicts ':%s'",
			   call->text, mode->text);
		return false;
	}
	call->insn.op = LOCKHELD_OP_LOCK;
	call->insn.mode = m ? m : function_mode;
	if (!lock_place(e, call, lock->left, name) ||
	    !check_mode(e, call, lock))
		return false;
	call->kind = AST_LOCK;
	call->type = AST_BOOL;
	call->uses = AST_USES_SAMPLE;
	return true;
}
