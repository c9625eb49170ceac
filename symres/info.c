// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known about a file before any address of it is named. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void fill(const struct file *f, struct symres_info *info)
{
	info->ranges = f->index.n;
	info->range_bytes = f->index.narrow ? 6 : 8;
	info->stubs = f->plt.n;
	for (unsigned int i = 0; i < f->ntab; i++) {
		info->table[i].source = f->tab[i].source;
		info->table[i].symbols = f->tab[i].count;
	}
	info->tables = f->ntab;
	if (f->build_id_len) {
		info->build_id = f->build_id;
		info->build_id_len = f->build_id_len;
	}
	info->debug_path = f->debug.in ? f->debug_in.path : NULL;
}

static void fill_left(const struct file *f, struct symres_info *info)
{
	info->left_path = f->left_path;
	info->left = f->left;
	info->left_err = f->left_err;
}

/* One that takes part in addresses, with content or without. */
static const GElf_Shdr *find_loaded(const struct elf *elf, const char *name)
{
	for (size_t i = 1; i < elf->nshdr; i++)
		if (elf->shdr[i].sh_flags & SHF_ALLOC &&
		    !strcmp(elf_section_name(elf, &elf->shdr[i]), name))
			return &elf->shdr[i];
	return NULL;
}

int symres_section(struct symres *s, const char *path, const char *name,
		   uint64_t *addr, uint64_t *bytes)
{
	const GElf_Shdr *sh;
	struct symres_place *pl;
	struct file *f;
	int ret;

	if (!name || !addr || !bytes)
		return -EINVAL;
	ret = symres_place(s, path, &pl);
	if (ret)
		return ret;
	f = pl->file;
	/* It has sections even if nothing in them has a name. */
	if (!f || (f->miss && f->miss != SYMRES_MISS_NO_SYMBOLS))
		return place_miss_errno(pl);
	ret = file_unchanged(f);
	if (!ret)
		ret = file_read_sections(f);
	sh = ret ? NULL : find_loaded(&f->elf, name);
	if (sh) {
		*addr = sh->sh_addr;
		*bytes = sh->sh_size;
	} else if (!ret) {
		ret = -ENODATA;
	}
	if (f->indexed)
		file_free_sections(f);
	return ret;
}

int symres_file_info(struct symres *s, const char *path,
		     struct symres_info *info)
{
	struct symres_place *pl;
	struct file *f;
	int ret;

	if (!info || info->size != sizeof(*info))
		return -EINVAL;
	*info = (struct symres_info) { .size = sizeof(*info) };
	ret = symres_place(s, path, &pl);
	if (ret)
		return ret;
	f = pl->file;
	if (f && !f->miss) {
		ret = file_index(f, s, true);
		range_list_free(&s->spare);
		if (ret)
			return ret;
	}
	if (f)
		fill_left(f, info);
	if (!f || f->miss) {
		info->miss = f ? f->miss : pl->miss;
		info->err = f ? f->err : pl->err;
		return 0;
	}
	fill(f, info);
	if (f->index.map) {
		free(s->kept_path);
		s->kept_path = cache_path(f, s);
		info->kept_path = s->kept_path;
		info->bytes = f->index.map_size;
		info->kept_bytes = f->index.map_size;
	} else {
		info->bytes = f->index.n * info->range_bytes +
			      f->index.nchunk * sizeof(*f->index.chunk) +
			      f->plt.n * sizeof(*f->plt.v);
	}
	return 1;
}
