/* SPDX-License-Identifier: GPL-2.0-only */
/* What has to be found out before the recorded kernel is gone. */
#ifndef LOCKHELD_CTL_LEARN_H
#define LOCKHELD_CTL_LEARN_H

#include "notes.h"
#include "perfdata.h"

struct lhnl;
struct symres;

/*
 * Reads the sealed file once and sets: names of the kernel addresses and slab
 * caches of the locks in it (into @notes), and build-ids of the files that
 * samples fell in (into @file). @nl may be NULL.
 */
void learn_names(struct pd_writer *file, const char *path,
		 struct symres *symres, struct lhnl *nl, struct notes *notes);

#endif
