// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What indexes may take of memory, those that lie in mappings of kept ones
 * counted too. The file that was not asked about for longest gives up its index
 * first; it is made or found again when it is needed.
 */
#include "internal.h"

static uint64_t index_memory(const struct index *ix)
{
	if (ix->map)
		return ix->map_size;
	return ix->room * (uint64_t)(sizeof(*ix->key) + sizeof(*ix->val)) +
	       ix->chunk_room * (uint64_t)sizeof(*ix->chunk);
}

static uint64_t file_memory(const struct file *f)
{
	uint64_t n = index_memory(&f->index) + index_memory(&f->names);

	if (!f->index.map)
		n += f->plt.room * (uint64_t)sizeof(*f->plt.v);
	if (f->unpacked.mem)
		n += f->unpacked.size - f->unpacked.from;
	return f->mini_in.mem ? n + f->mini_in.size : n;
}

/* @f is in use now; others go until what is left fits. */
void budget_keep(struct symres *s, struct file *f)
{
	uint64_t sum = 0;

	f->used = ++s->tick;
	if (!s->max_bytes)
		return;
	for (uint32_t i = 0; i < s->files; i++)
		sum += file_memory(s->file[i]);
	while (sum > s->max_bytes) {
		struct file *oldest = NULL;

		for (uint32_t i = 0; i < s->files; i++)
			if (s->file[i] != f && s->file[i]->indexed &&
			    (!oldest || s->file[i]->used < oldest->used))
				oldest = s->file[i];
		if (!oldest)
			return;
		sum -= file_memory(oldest);
		file_unload(oldest);
	}
}
