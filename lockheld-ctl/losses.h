/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks that the module could not follow while a recording was made. */
#ifndef LOCKHELD_CTL_LOSSES_H
#define LOCKHELD_CTL_LOSSES_H

#include <stdint.h>

#include "nl.h"

#define LOSSES_KINDS 3

/**
 * struct losses - counters of the module
 * @before: what they were at the beginning
 */
struct losses {
	uint64_t before[LOSSES_KINDS];
};

void losses_begin(struct losses *l, struct lhnl *nl);
/* Warns of each that has risen since. */
void losses_say(const struct losses *l, struct lhnl *nl);

#endif
