/* SPDX-License-Identifier: GPL-2.0-only */
/* Words for the numbers of the module's interface, both ways. */
#ifndef LOCKHELD_CTL_LOCKNAME_H
#define LOCKHELD_CTL_LOCKNAME_H

#include <linux/lockheld.h>

/* "?" for a number that has no word. */
const char *lockname_family(unsigned int family);	/* "mutex" */
const char *lockname_mode(unsigned int mode);		/* "any" "R" "W" */
const char *lockname_mechanism(unsigned int mechanism);	/* "none" "owner" "hook" "task" */
const char *lockname_cost(unsigned int mechanism);	/* a phrase */
/* When it costs something: "sample" "lock", or "none" if it cannot be known. */
const char *lockname_cost_class(unsigned int mechanism);
const char *lockname_context(unsigned int context);	/* "none" "soft" "hard" "nmi" */

/* Every word for a family, from 1; NULL behind the last one. */
const char *lockname_family_word(unsigned int i);

/* -1 for a word that has no number. */
int lockname_find_family(const char *word);
int lockname_find_context(const char *word);

#endif
