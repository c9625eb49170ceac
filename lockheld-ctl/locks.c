// SPDX-License-Identifier: GPL-2.0-only
/* What lock_held() and held_ns() speak of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <symres.h>

#include "ast.h"
#include "ctl.h"
#include "lockname.h"
#include "lockspec.h"
#include "rqlock.h"
#include "slabname.h"
#include "suggest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The per-CPU variable that the run queues' locks are in. */
#define RUN_QUEUES "runqueues"

static const struct {
	const char *name;
	enum lockheld_op op;
	enum lockheld_mode mode;
} functions[] = {
	{ "lock_held", LOCKHELD_OP_LOCK, LOCKHELD_MODE_ANY },
	{ "lock_held_read", LOCKHELD_OP_LOCK, LOCKHELD_MODE_READ },
	{ "lock_held_shared", LOCKHELD_OP_LOCK, LOCKHELD_MODE_READ },
	{ "lock_held_write", LOCKHELD_OP_LOCK, LOCKHELD_MODE_WRITE },
	{ "lock_held_exclusive", LOCKHELD_OP_LOCK, LOCKHELD_MODE_WRITE },
	{ "held_ns", LOCKHELD_OP_HELD_NS, LOCKHELD_MODE_ANY },
};

/* Locks that are neither a kind nor at an address known beforehand. */
static const struct {
	const char *name;
	enum lockheld_spec spec;
	bool has_readers;
} members[] = {
	{ "mmap_lock", LOCKHELD_SPEC_MMAP_LOCK, true },
	{ "siglock", LOCKHELD_SPEC_SIGLOCK, false },
	{ "rq_lock", LOCKHELD_SPEC_RQ_LOCK, false },
	{ "zone_lock", LOCKHELD_SPEC_ZONE_LOCK, false },
};

/* Whether locks of a family can be held for reading. */
static const bool has_readers[LOCKHELD_FAMILY_MAX + 1] = {
	[LOCKHELD_FAMILY_RWSEM] = true,
	[LOCKHELD_FAMILY_RWLOCK] = true,
	[LOCKHELD_FAMILY_PERCPU_RWSEM] = true,
	[LOCKHELD_FAMILY_SRCU] = true,
	[LOCKHELD_FAMILY_RCU] = true,
	[LOCKHELD_FAMILY_RCU_TRACE] = true,
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
			return i;
	return -1;
}

bool locks_is_function(const char *name)
{
	return find_function(name) >= 0;
}

void locks_suggest(struct suggest *near)
{
	size_t i;

	for (i = 0; i < COUNT(functions); i++)
		suggest_offer(near, functions[i].name);
}

bool locks_function(struct expr *e, const struct ast *function)
{
	struct suggest near;
	char *hint;

	if (locks_is_function(function->text))
		return true;
	suggest_init(&near, function->text);
	locks_suggest(&near);
	hint = suggest_text(&near);
	expr_error(e, CTL_USAGE, function->at, "unknown function '%.40s'%s",
		   function->text, *hint ? hint : ": there are lock_held, lock_held_read, lock_held_write and held_ns");
	free(hint);
	return false;
}

static int find_mode(const struct ast *n)
{
	if (!strcmp(n->text, lockname_mode(LOCKHELD_MODE_READ)))
		return LOCKHELD_MODE_READ;
	if (!strcmp(n->text, lockname_mode(LOCKHELD_MODE_WRITE)))
		return LOCKHELD_MODE_WRITE;
	return -1;
}

static bool open_symbols(struct expr *e, struct expr_span at)
{
	struct symres_opts opts = {
		.size = sizeof(opts),
		.kallsyms = e->opts->kallsyms,
	};

	if (!e->symbols && symres_open(&e->symbols, &opts)) {
		expr_error(e, CTL_FAILED, at, "out of memory");
		return false;
	}
	return true;
}

/* Whoever forgets the "&" finds out here. */
static bool is_cache(struct expr *e, const char *name)
{
	char *own, *others, *error;
	struct suggest near;
	bool found;

	suggest_init(&near, name);
	found = !slabname_find(e->opts->root, name, &near, &own, &others,
			       &error);
	free(suggest_text(&near));
	free(own);
	free(others);
	free(error);
	return found;
}

static void offer_words(struct suggest *near)
{
	size_t i;

	for (i = 1; lockname_family_word(i); i++)
		suggest_offer(near, lockname_family_word(i));
	for (i = 0; i < COUNT(members); i++)
		suggest_offer(near, members[i].name);
}

/* Adds a line, which is freed. */
static void add_note(struct expr *e, char *line)
{
	char *before = e->res->note;

	e->res->note = before ? ctl_printf("%s\n%s", before, line) :
				ctl_strdup(line);
	free(before);
	free(line);
}

/* Cuts "+0xOFF" off; the lexer lets nothing else behind a '+'. */
static int cut_offset(char *name, __u64 *offset)
{
	char *plus = strchr(name, '+');

	*offset = 0;
	if (!plus)
		return 0;
	*plus = 0;
	errno = 0;
	*offset = strtoull(plus + 1, NULL, 16);
	return errno;
}

/* @name is "place" or "module:place", maybe with "+0xOFF". */
static bool lock_symbol(struct expr *e, struct ast *call, struct expr_span at,
			char *name)
{
	__u64 addr, extent, offset;
	struct suggest near;
	char *error, *hint;
	int status;

	if (!open_symbols(e, at))
		return false;
	if (cut_offset(name, &offset)) {
		expr_error(e, CTL_USAGE, at, "more than 64 bits");
		return false;
	}
	suggest_init(&near, strchr(name, ':') ? strchr(name, ':') + 1 : name);
	if (!strchr(name, ':') && !call->insn.family)
		offer_words(&near);
	status = lockspec_find(e->symbols, name, &near, &addr, &extent, &error);
	hint = suggest_text(&near);
	if (!status && extent && offset >= extent) {
		status = CTL_USAGE;
		free(hint);
		hint = ctl_strdup("");
		error = ctl_printf("%#llx bytes behind it another symbol begins",
				   (unsigned long long)extent);
	} else if (status == CTL_USAGE && is_cache(e, name)) {
		free(hint);
		hint = ctl_printf(": write &%s for the slab cache of that name",
				  name);
	}
	if (status)
		expr_error(e, status, at, "lock '%.60s': %s%s", name, error,
			   status == CTL_USAGE ? hint : "");
	else
		call->insn.arg = LOCKHELD_SPEC_ADDR;
	call->insn.imm = status ? 0 : addr + offset;
	call->insn.imm2 = status || !extent ? 0 : extent - offset;
	if (!status && !call->insn.family && strstr(name, "srcu"))
		add_note(e, ctl_printf("%s may be an SRCU domain, whose bytes do not tell: then write srcu@%s",
				       name, name));
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

static void note_aliases(struct expr *e, const char *cache, const char *own,
			 const char *others)
{
	char *called = strcmp(cache, own) ?
		       ctl_printf(" (the kernel calls it %s)", own) :
		       ctl_strdup("");

	add_note(e, ctl_printf("the slab cache of %s is that of %s too: locks in any of their objects are meant%s",
			       cache, others, called));
	free(called);
}

static bool lock_cache(struct expr *e, struct ast *call, struct ast *place)
{
	char *own, *others, *error, *hint;
	struct suggest near;
	int status;

	suggest_init(&near, place->text);
	status = slabname_find(e->opts->root, place->text, &near, &own,
			       &others, &error);
	hint = suggest_text(&near);
	if (status) {
		expr_error(e, status, place->at, "slab cache '%.60s': %s%s",
			   place->text, error,
			   status == CTL_USAGE ? hint : "");
	} else {
		call->insn.arg = LOCKHELD_SPEC_SLAB;
		memcpy(call->insn.name, own, strlen(own));
		if (others)
			note_aliases(e, place->text, own, others);
	}
	free(own);
	free(others);
	free(error);
	free(hint);
	return !status;
}

static bool lock_member(struct expr *e, struct ast *call, struct ast *place,
			int member)
{
	char *error;
	__u64 value, offset;
	int status;

	call->insn.arg = members[member].spec;
	if (members[member].spec != LOCKHELD_SPEC_RQ_LOCK)
		return true;
	if (!open_symbols(e, place->at))
		return false;
	status = lockspec_percpu(e->symbols, RUN_QUEUES, &value, &error);
	if (!status)
		status = rqlock_offset(e->opts->root, &offset, &error);
	if (status)
		expr_error(e, status, place->at, "rq_lock: per-CPU variable %s: %s",
			   RUN_QUEUES, error);
	free(error);
	call->insn.imm = status ? 0 : value + offset;
	return !status;
}

/* The family that stands in front of an address, a symbol or a cache. */
static bool lock_family(struct expr *e, struct ast *call,
			const struct ast *word)
{
	int family = lockname_find_family(word->text);
	struct suggest near;
	char *hint;
	size_t i;

	if (family < 0) {
		suggest_init(&near, word->text);
		for (i = 1; lockname_family_word(i); i++)
			suggest_offer(&near, lockname_family_word(i));
		hint = suggest_text(&near);
		expr_error(e, CTL_USAGE, word->at,
			   "'%.40s' is no kind of lock%s", word->text, hint);
		free(hint);
		return false;
	}
	if (family == LOCKHELD_FAMILY_RCU ||
	    family == LOCKHELD_FAMILY_RCU_TRACE) {
		expr_error(e, CTL_USAGE, word->at,
			   "there is only one '%s', write %s alone", word->text,
			   word->text);
		return false;
	}
	call->insn.family = family;
	return true;
}

static bool lock_place(struct expr *e, struct ast *call, struct ast *place,
		       struct ast *name)
{
	bool explicit = call->insn.family;
	int family, member;
	bool ok;
	char *qualified;

	if (place->kind == AST_NUMBER)
		return lock_address(e, call, place);
	if (place->kind == AST_CACHE)
		return lock_cache(e, call, place);
	family = explicit ? -1 : lockname_find_family(place->text);
	member = explicit ? -1 : find_member(place->text);
	if (explicit && find_member(place->text) >= 0) {
		expr_error(e, CTL_USAGE, place->at,
			   "the kind of '%s' is known, write %s alone",
			   place->text, place->text);
		return false;
	}
	if (name && find_mode(name) >= 0) {
		expr_error(e, CTL_USAGE, name->at, "one mode is enough");
		return false;
	}
	if (name && (family >= 0 || member >= 0)) {
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
	if (member >= 0)
		return lock_member(e, call, place, member);
	if (!name)
		return lock_symbol(e, call, place->at, place->text);
	qualified = ctl_printf("%s:%s", place->text, name->text);
	ok = lock_symbol(e, call, (struct expr_span){ place->at.first,
						     name->at.last },
			 qualified);
	free(qualified);
	return ok;
}

/* Mutexes and spinlocks have no readers. */
static bool check_mode(struct expr *e, const struct ast *call,
		       const struct ast *lock)
{
	const struct ast *word = lock->family ? lock->family : lock->left;
	bool readers;

	if (call->insn.mode != LOCKHELD_MODE_READ)
		return true;
	if (call->insn.family)
		readers = has_readers[call->insn.family];
	else if (call->insn.arg == LOCKHELD_SPEC_ADDR ||
		 call->insn.arg == LOCKHELD_SPEC_SLAB)
		readers = true;		/* the module will look at the lock */
	else
		readers = members[find_member(word->text)].has_readers;
	if (!readers)
		expr_error(e, CTL_USAGE, lock->at,
			   "'%s' is never held for reading: lock_held() is enough",
			   word->text);
	return readers;
}

bool locks_resolve(struct expr *e, struct ast *call)
{
	struct ast *lock = call->left;
	struct ast *name = lock->right;
	struct ast *mode = name ? name->right : NULL;
	int function = find_function(call->text);
	int function_mode = functions[function].mode;
	int m = LOCKHELD_MODE_ANY;

	/* After the last colon stands a mode if it looks like one. */
	if (name && !mode &&
	    (find_mode(name) >= 0 || lock->left->kind != AST_NAME)) {
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
	if (function_mode && m && function_mode != m) {
		expr_error(e, CTL_USAGE, mode->at, "'%s' contradicts ':%s'",
			   call->text, mode->text);
		return false;
	}
	call->insn.op = functions[function].op;
	call->insn.mode = m ? m : function_mode;
	if ((lock->family && !lock_family(e, call, lock->family)) ||
	    !lock_place(e, call, lock->left, name) ||
	    !check_mode(e, call, lock))
		return false;
	call->kind = AST_LOCK;
	call->type = call->insn.op == LOCKHELD_OP_LOCK ? AST_BOOL : AST_VALUE;
	call->uses = AST_USES_SAMPLE;
	return true;
}
