// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names as the programmer wrote them, through libiberty: it knows C++ and both
 * of Rust's schemes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "internal.h"

/* Deeply nested names make the demangler use much stack and time. */
#define MAX_MANGLED (64u << 10)

/* A name of Rust's first scheme ends in a hash, which looks like C++. */
static bool may_be_rust(const char *name)
{
	return name[1] == 'R' || strstr(name, "17h");
}

static char *demangle(const char *name)
{
	/* Without VERBOSE Rust's hash is left out. */
	char *s = may_be_rust(name) ? rust_demangle(name, DMGL_PARAMS) : NULL;

	return s ? s : cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI |
					       DMGL_VERBOSE);
}

/*
 * Replaces a name by what it stands for. What is behind an @, such as a stub's
 * mark, stays; a name that is not mangled stays as it is. 0, or -ENOMEM.
 */
int text_demangle(struct text *name)
{
	size_t len = strlen(name->s), tail;
	char *at, *s;
	int ret;

	if (name->s[0] != '_' || len > MAX_MANGLED)
		return 0;
	at = strchr(name->s, '@');
	tail = at ? len - (size_t)(at - name->s) : 0;
	if (at)
		*at = 0;
	s = demangle(name->s);
	if (at)
		*at = '@';
	if (!s)
		return 0;
	len = strlen(s);
	ret = text_reserve(name, strlen(name->s) + len + 1);
	if (!ret) {
		memmove(name->s + len, name->s + strlen(name->s) - tail,
			tail + 1);
		memcpy(name->s, s, len);
	}
	free(s);
	return ret;
}

/* The same for a name that is nowhere to be changed, if the session wants it. */
int sym_demangle(struct symres *s, struct symres_sym *sym)
{
	int ret;

	if (!s->demangle || *sym->name != '_')
		return 0;
	ret = text_reserve(&s->name, strlen(sym->name) + 1);
	if (ret)
		return ret;
	strcpy(s->name.s, sym->name);
	ret = text_demangle(&s->name);
	sym->name = s->name.s;
	return ret;
}
