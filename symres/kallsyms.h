/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What kallsyms.c reads and kernel.c looks up. */
#ifndef SYMRES_KALLSYMS_H
#define SYMRES_KALLSYMS_H

#include "internal.h"

#define KALLSYMS_BUCKETS 1024u
#define KALLSYMS_CORE 0u	/* number of the kernel proper among modules */

struct ksym {
	uint64_t addr;
	uint32_t name;		/* offset in names */
	uint16_t mod;
	char type;
};

struct kmod {
	uint32_t name;
	uint32_t next;		/* in the bucket; 0: last */
	uint64_t start, end, count;
};

struct kernel {
	enum symres_miss miss;
	int err;
	struct ksym *sym;
	uint32_t n, room;
	char *names;
	size_t names_len, names_room;
	struct kmod *mod;
	uint32_t nmod, mod_room;
	uint32_t bucket[KALLSYMS_BUCKETS];
	struct index index;
	struct text shown;	/* "[module]" of the last result */
};

int kallsyms_parse(struct kernel *k, FILE *f);
enum symres_kind kallsyms_kind(const struct ksym *s);

static inline const char *name_of(const struct kernel *k, uint32_t at)
{
	return k->names + at;
}

#endif
