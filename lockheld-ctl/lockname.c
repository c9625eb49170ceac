// SPDX-License-Identifier: GPL-2.0-only
/* Words for the numbers of the module's interface, both ways. */
#include <stddef.h>
#include <string.h>

#include "lockname.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The first word of a family is the one that is shown. */
static const struct {
	const char *word;
	enum lockheld_family family;
} families[] = {
	/* of a term: there may be locks of several families there */
	{ "any", LOCKHELD_FAMILY_NONE },
	{ "mutex", LOCKHELD_FAMILY_MUTEX },
	{ "rwsem", LOCKHELD_FAMILY_RWSEM },
	{ "spinlock", LOCKHELD_FAMILY_SPINLOCK },
	{ "rwlock", LOCKHELD_FAMILY_RWLOCK },
	{ "rt-mutex", LOCKHELD_FAMILY_RT_MUTEX },
	{ "percpu-rwsem", LOCKHELD_FAMILY_PERCPU_RWSEM },
	{ "pcpu-sem", LOCKHELD_FAMILY_PERCPU_RWSEM },
	{ "semaphore", LOCKHELD_FAMILY_SEMAPHORE },
	{ "srcu", LOCKHELD_FAMILY_SRCU },
	{ "rcu", LOCKHELD_FAMILY_RCU },
	{ "rcu-trace", LOCKHELD_FAMILY_RCU_TRACE },
	{ "raw-spinlock", LOCKHELD_FAMILY_RAW_SPINLOCK },
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
	[LOCKHELD_MECH_TASK] = "task",
};

static const char *const costs[] = {
	[LOCKHELD_MECH_NONE] = "cannot be tracked",
	[LOCKHELD_MECH_OWNER] = "read at each sample, nothing when locks are taken",
	[LOCKHELD_MECH_HOOK] = "a little at each lock and unlock of the family",
	[LOCKHELD_MECH_TASK] = "read at each sample, nothing in read sections",
};

static const char *const cost_classes[] = {
	[LOCKHELD_MECH_NONE] = "none",
	[LOCKHELD_MECH_OWNER] = "sample",
	[LOCKHELD_MECH_HOOK] = "lock",
	[LOCKHELD_MECH_TASK] = "sample",
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
	size_t i;

	for (i = 0; i < COUNT(families); i++)
		if (families[i].family == family)
			return families[i].word;
	return "?";
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

const char *lockname_cost_class(unsigned int mechanism)
{
	return word(cost_classes, COUNT(cost_classes), mechanism);
}

const char *lockname_context(unsigned int context)
{
	return word(contexts, COUNT(contexts), context);
}

const char *lockname_family_word(unsigned int i)
{
	return i < COUNT(families) ? families[i].word : NULL;
}

int lockname_find_family(const char *word)
{
	size_t i;

	for (i = 1; i < COUNT(families); i++)
		if (!strcmp(families[i].word, word))
			return families[i].family;
	return -1;
}

int lockname_find_context(const char *word)
{
	return find(contexts, COUNT(contexts), word);
}
