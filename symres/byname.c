// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From a name to all its addresses. The hashes of a file's names are kept like
 * its addresses are, in the order of a search; equal ones follow each other.
 * What has the right hash is then read and compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct found {
	uint64_t addr;
	uint32_t ref;
};

struct found_list {
	struct found *v;
	size_t n, room;
};

static int push(struct found_list *l, uint64_t addr, uint32_t ref)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		struct found *v = reallocarray(l->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = (struct found) { addr, ref };
	return 0;
}

static int compare(const void *va, const void *vb)
{
	const struct found *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

/* Keeps of a file's names what it takes to find them. */
static int build(struct file *f, struct symres *s)
{
	struct range_list l = { 0 };
	struct pair *v = NULL, *sorted;
	int ret = file_read_sections(f);

	if (!ret)
		ret = names_collect(f, s, &l);
	file_free_sections(f);
	if (!ret && l.n) {
		v = reallocarray(NULL, l.n, 2 * sizeof(*v));
		ret = v ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < l.n && !ret; i++)
		v[i] = (struct pair) { l.v[i].hash, (uint32_t)i };
	sorted = ret || !l.n ? NULL : pair_sort(v, v + l.n, l.n);
	for (size_t i = 0; i < l.n && !ret; i++)
		ret = index_append(&f->names, sorted[i].key,
				   l.v[sorted[i].at].ref);
	if (!ret)
		ret = index_finish(&f->names);
	free(v);
	range_list_free(&l);
	return ret;
}

static int prepare(struct file *f, struct symres *s)
{
	int ret;

	if (f->names.n || !f->indexed)
		return 0;
	ret = cache_load(f, s, KEPT_NAMES);
	if (ret && ret != -ENOMEM) {
		ret = build(f, s);
		if (!ret)
			cache_save(f, s, KEPT_NAMES);
	}
	budget_keep(s, f);
	return ret;
}

static int collect_found(struct file *f, struct symres *s, const char *name,
			 struct found_list *l)
{
	uint32_t hash = name_hash(name, strlen(name));
	int ret = 0;

	for (uint32_t at = index_first(&f->names, hash);
	     at && index_key(&f->names, at) == hash && !ret;
	     at = index_next(&f->names, at)) {
		struct symres_sym sym = { .size = sizeof(sym) };
		uint32_t ref = index_value(&f->names, at - 1);

		ret = file_symbol(f, ref, &s->name, &sym);
		if (!ret && !strcmp(sym.name, name))
			ret = push(l, sym.addr, ref);
		else if (ret != -ENOMEM)
			ret = 0;
	}
	return ret;
}

/* Hands over a symbol as the answer to @addr, which it holds. */
int place_tell(struct symres *s, struct symres_place *pl, uint32_t ref,
	       uint64_t addr, symres_sym_fn fn, void *arg)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct file *f = pl->file;

	if (file_symbol(f, ref, &s->name, &sym) || file_unchanged(f))
		return 0;
	sym_mark(&sym, f);
	sym.module = pl->path;
	sym.module_addr = addr;
	sym.offset = addr - sym.addr;
	if (f->build_id_len) {
		sym.build_id = f->build_id;
		sym.build_id_len = f->build_id_len;
	}
	return fn(&sym, arg);
}

/* Why nothing can be told of a place. */
int place_miss_errno(const struct symres_place *pl)
{
	switch (pl->file ? pl->file->miss : pl->miss) {
	case SYMRES_MISS_NO_FILE:
		return pl->file ? -pl->file->err : -pl->err;
	case SYMRES_MISS_NO_SYMBOLS:
		return 0;
	case SYMRES_MISS_CHANGED:
		return -ESTALE;
	case SYMRES_MISS_PACKED:
		return -EBADMSG;
	default:
		return -ENOEXEC;
	}
}

/* Sees to it that a place has an index. 0, or why it cannot as an errno. */
int place_indexed(struct symres *s, struct symres_place *pl)
{
	int ret;

	if (!pl->file || pl->file->miss)
		return place_miss_errno(pl);
	file_renew(pl->file);
	ret = file_index(pl->file, s, true);
	range_list_free(&s->spare);
	if (!ret && pl->file->miss)
		return place_miss_errno(pl);
	return ret ? ret : file_unchanged(pl->file);
}

long symres_find_file(struct symres *s, const char *path, const char *name,
		      symres_sym_fn fn, void *arg)
{
	struct found_list l = { 0 };
	struct symres_place *pl;
	long n = 0;
	int ret;

	if (!name || !fn)
		return -EINVAL;
	ret = symres_place(s, path, &pl);
	if (ret)
		return ret;
	ret = place_indexed(s, pl);
	if (!ret)
		ret = prepare(pl->file, s);
	if (!ret && pl->file->indexed)
		ret = collect_found(pl->file, s, name, &l);
	if (!ret && l.n)
		qsort(l.v, l.n, sizeof(*l.v), compare);
	for (size_t i = 0; i < l.n && !ret; i++) {
		/* The same symbol in two tables. */
		if (i && l.v[i].addr == l.v[i - 1].addr)
			continue;
		ret = place_tell(s, pl, l.v[i].ref, l.v[i].addr, fn, arg);
		n += !ret;
	}
	free(l.v);
	return ret ? ret : n;
}
