// SPDX-License-Identifier: GPL-2.0-only
/* Words for the numbers of the module's interface, both ways. */
#include <stddef.h>
#include <string.h>

#include "lockname.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const families[] = {
	/* of a term: what the lock at an address may be */
	[LOCKHELD_FAMILY_NONE] = "spinlock or rwlock",
	[LOCKHELD_FAMILY_MUTEX] = "mutex",
	[LOCKHELD_FAMILY_RWSEM] = "rwsem",
	[LOCKHELD_FAMILY_SPINLOCK] = "spinlock",
	[LOCKHELD_FAMILY_RWLOCK] = "rwlock",
};

static const char *const modes[] = {
	[LOCKHELD_MODE_ANY] = "any",
	[LOCKHELD_MODE_READ] = "R",
	[LOCKHELD_MODE_WRITE] = "W",
};

static const char *const mechanisms[] = {
	[LOCKHELD_MECH_NONE] = "none",
	[LOCKHELD_MECH_OWNER] = "owner",
	[LOCKHELD_MECH_HOOK] = "hook",
};

static const char *const costs[] = {
	[LOCKHELD_MECH_NONE] = "cannot be tracked",
	[LOCKHELD_MECH_OWNER] = "read at each sample, nothing when locks are taken",
	[LOCKHELD_MECH_HOOK] = "a little at each lock and unlock of the family",
};

static const char *const contexts[] = {
	[LOCKHELD_CTX_TASK] = "none",
	[LOCKHELD_CTX_SOFTIRQ] = "soft",
	[LOCKHELD_CTX_HARDIRQ] = "hard",
	[LOCKHELD_CTX_NMI] = "nmi",
};

static const char *word(const char *const *words, size_t n, unsigned int i)
{
	return i < n && words[i] ? words[i] : "?";
}

static int find(const char *const *words, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (words[i] && !strcmp(words[i], word))
			return i;
	return -1;
}

const char *lockname_family(unsigned int family)
{
	return word(families, COUNT(families), family);
}

const char *lockname_mode(unsigned int mode)
{
	return word(modes, COUNT(modes), mode);
}

const char *lockname_mechanism(unsigned int mechanism)
{
	return word(mechanisms, COUNT(mechanisms), mechanism);
}

const char *lockname_cost(unsigned int mechanism)
{
	return word(costs, COUNT(costs), mechanism);
}

const char *lockname_context(unsigned int context)
{
	return word(contexts, COUNT(contexts), context);
}

int lockname_find_family(const char *word)
{
	return find(families, COUNT(families), word);
}

int lockname_find_context(const char *word)
{
	return find(contexts, COUNT(contexts), word);
}
