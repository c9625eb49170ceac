// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Answers of a batch that were read lately. Few symbols get most questions, and
 * each answer costs two reads of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Half a MiB; names that are longer are read each time. */
enum { SLOTS = 4096, NAME_ROOM = 88 };

struct answer {
	const struct file *file;
	uint64_t addr, size;
	uint32_t ref;
	uint8_t source, kind, flags;
	char name[NAME_ROOM];
};

struct recent {
	struct answer slot[SLOTS];
};

static struct answer *slot_of(struct recent *r, const struct file *f,
			      uint32_t ref)
{
	uint64_t h = ((uintptr_t)f >> 4) + ref;

	return &r->slot[h * 0x9e3779b97f4a7c15u >> 52];
}

/* The answer of a symbol, or false: it has to be read. */
bool recent_get(struct recent *r, const struct file *f, uint32_t ref,
		struct symres_sym *sym)
{
	struct answer *a = r ? slot_of(r, f, ref) : NULL;

	if (!a || a->file != f || a->ref != ref)
		return false;
	sym->addr = a->addr;
	sym->sym_size = a->size;
	sym->source = a->source;
	sym->kind = a->kind;
	sym->flags |= a->flags;
	sym->name = a->name;
	return true;
}

void recent_put(struct recent *r, const struct file *f, uint32_t ref,
		const struct symres_sym *sym)
{
	size_t len = r ? strlen(sym->name) + 1 : 0;
	struct answer *a;

	if (!r || len > NAME_ROOM)
		return;
	a = slot_of(r, f, ref);
	a->file = f;
	a->ref = ref;
	a->addr = sym->addr;
	a->size = sym->sym_size;
	a->source = (uint8_t)sym->source;
	a->kind = (uint8_t)sym->kind;
	a->flags = (uint8_t)(sym->flags & SYMRES_F_APPROX);
	memcpy(a->name, sym->name, len);
}

int symres_batch_begin(struct symres *s)
{
	if (!s)
		return -EINVAL;
	if (!s->recent)
		s->recent = calloc(1, sizeof(*s->recent));
	if (!s->recent)
		return -ENOMEM;
	s->batch++;
	return 0;
}

void symres_batch_end(struct symres *s)
{
	if (!s)
		return;
	free(s->recent);
	s->recent = NULL;
}
