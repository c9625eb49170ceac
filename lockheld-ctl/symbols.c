// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <symres.h>

#include "ctl.h"
#include "lockname.h"
#include "symbols.h"

/* A label, with its place in the table of all labels. */
struct entry {
	struct label label;
	struct entry *next;
};

/* What an address was called last time. */
struct cached {
	const struct procmap *map;	/* NULL: kernel */
	uint64_t addr;
	const struct label *label;
};

#define CACHE_SIZE	65536		/* entries, a power of two */
#define TABLE_SIZE	16384

struct symbols {
	const struct pd_reader *reader;
	const struct notes *notes;
	struct procmaps *maps;
	struct symres *symres;
	bool live;		/* the recorded kernel runs here now */
	struct entry *table[TABLE_SIZE];
	struct cached cache[CACHE_SIZE];
};

static int take_address(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return -1;
}

static void find_kernel_map(struct procmap *m, bool kernel, void *arg)
{
	if (kernel && !strncmp(m->path, "[kernel.kallsyms]", 17))
		*(struct procmap **)arg = m;
}

/* The running kernel's symbols are the recording's if it is the same build and
 * lies at the same addresses. */
static bool kernel_is_live(struct symbols *s)
{
	const struct pd_reader *r = s->reader;
	unsigned char id[SYMRES_BUILD_ID_MAX];
	struct procmap *map = NULL;
	struct utsname uts;
	uint64_t text = 0;
	size_t i;
	int len;

	if (uname(&uts) || !r->osrelease || strcmp(uts.release, r->osrelease))
		return false;
	len = symres_build_id(s->symres, "[kernel]", id);
	for (i = 0; i < r->nr_build_ids; i++)
		if (!strcmp(r->build_ids[i].path, "[kernel.kallsyms]") &&
		    (len < 0 || memcmp(id, r->build_ids[i].id,
				       r->build_ids[i].len)))
			return false;
	procmaps_each(s->maps, find_kernel_map, &map);
	if (!map)
		return false;
	symres_find_kernel(s->symres, strstr(map->path, "_stext") ?
			   "vmlinux:_stext" : "vmlinux:_text", take_address,
			   &text);
	return text && text == map->pgoff;
}

struct symbols *symbols_new(const struct pd_reader *reader,
			    const struct notes *notes, struct procmaps *maps)
{
	struct symbols *s = ctl_zalloc(sizeof(*s));

	s->reader = reader;
	s->notes = notes;
	s->maps = maps;
	if (symres_open(&s->symres, NULL))
		exit(ctl_error(CTL_FAILED, "out of memory"));
	s->live = kernel_is_live(s);
	return s;
}

void symbols_free(struct symbols *s)
{
	size_t i;

	for (i = 0; i < TABLE_SIZE; i++) {
		while (s->table[i]) {
			struct entry *e = s->table[i];

			s->table[i] = e->next;
			free((char *)e->label.name);
			free((char *)e->label.module);
			free(e);
		}
	}
	symres_close(s->symres);
	free(s);
}

static uint32_t hash_string(const char *s, uint32_t hash)
{
	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	return hash;
}

static const struct label *make_label(struct symbols *s, const char *name,
				      const char *module, bool known)
{
	uint32_t hash = hash_string(module, hash_string(name, 2166136261u));
	struct entry **slot = &s->table[hash % TABLE_SIZE];
	struct entry *e;

	for (e = *slot; e; e = e->next)
		if (!strcmp(e->label.name, name) &&
		    !strcmp(e->label.module, module))
			return &e->label;
	e = ctl_zalloc(sizeof(*e));
	e->label.name = ctl_strdup(name);
	e->label.module = ctl_strdup(module);
	e->label.known = known;
	e->next = *slot;
	*slot = e;
	return &e->label;
}

static struct cached *cached(struct symbols *s, const struct procmap *map,
			     uint64_t addr)
{
	uint64_t hash = (addr ^ (uintptr_t)map) * 0x9e3779b97f4a7c15ULL;

	return &s->cache[hash >> 48 & (CACHE_SIZE - 1)];
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const struct label *unnamed(struct symbols *s, const struct procmap *map,
				   uint64_t offset)
{
	const struct label *label;
	char *name;

	if (!map)
		return make_label(s, "[unknown]", "", false);
	name = ctl_printf("%s+0x%" PRIx64, base_name(map->path), offset);
	label = make_label(s, name, map->path, false);
	free(name);
	return label;
}

/* Return: whether @sym was filled in with a symbol of the kernel recorded. */
static bool live_symbol(struct symbols *s, uint64_t addr,
			struct symres_sym *sym)
{
	return s->live && symres_lookup_kernel(s->symres, addr, sym) == 1;
}

static const struct label *name_kernel(struct symbols *s, uint64_t addr)
{
	const struct note_symbol *note = notes_symbol(s->notes, addr);
	struct symres_sym sym = { .size = sizeof(sym) };
	struct procmap *map;

	if (note)
		return make_label(s, note->name, note->module, true);
	if (live_symbol(s, addr, &sym))
		return make_label(s, sym.name,
				  sym.module ? sym.module : "[kernel]", true);
	map = procmaps_find_kernel(s->maps, addr);
	return unnamed(s, map, map ? addr - map->start : 0);
}

const struct label *symbols_kernel(struct symbols *s, uint64_t addr)
{
	struct cached *c = cached(s, NULL, addr);

	if (!c->label || c->map || c->addr != addr) {
		c->map = NULL;
		c->addr = addr;
		c->label = name_kernel(s, addr);
	}
	return c->label;
}

/* A mapping knows its build-id, or the file has it by path. */
static void set_build_id(const struct symbols *s, const struct procmap *map,
			 struct symres_map *to)
{
	size_t i;

	to->build_id = map->build_id;
	to->build_id_len = map->build_id_len;
	for (i = 0; i < s->reader->nr_build_ids && !to->build_id; i++) {
		const struct pd_build_id *b = &s->reader->build_ids[i];

		if (strcmp(b->path, map->path))
			continue;
		to->build_id = b->id;
		to->build_id_len = b->len;
	}
}

static const struct label *name_user(struct symbols *s,
				     const struct procmap *map, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres_map m = {
		.size = sizeof(m),
		.start = map->start,
		.end = map->end,
		.pgoff = map->pgoff,
		.path = map->path,
	};

	set_build_id(s, map, &m);
	if (symres_lookup_map(s->symres, &m, addr, &sym) == 1)
		return make_label(s, sym.name, map->path, true);
	return unnamed(s, map, addr - map->start + map->pgoff);
}

const struct label *symbols_user(struct symbols *s, uint32_t pid,
				 uint64_t addr, uint64_t time)
{
	struct procmap *map = procmaps_find(s->maps, pid, addr, time);
	struct cached *c;

	if (!map)
		return unnamed(s, NULL, 0);
	c = cached(s, map, addr);
	if (!c->label || c->map != map || c->addr != addr) {
		c->map = map;
		c->addr = addr;
		c->label = name_user(s, map, addr);
	}
	return c->label;
}

static const struct label *lock_label(struct symbols *s, const char *name,
				      uint64_t offset, const char *module)
{
	const struct label *label;
	char *text;

	if (!offset)
		return make_label(s, name, module, true);
	text = ctl_printf("%s+0x%" PRIx64, name, offset);
	label = make_label(s, text, module, true);
	free(text);
	return label;
}

const struct label *symbols_lock(struct symbols *s, unsigned int family,
				 uint64_t addr)
{
	const struct note_symbol *note = notes_symbol(s->notes, addr);
	const struct note_slab *slab = notes_slab(s->notes, addr);
	struct symres_sym sym = { .size = sizeof(sym) };
	const struct label *label;
	char *name;

	/* There is but one RCU. */
	if (!addr)
		return make_label(s, lockname_family(family), "", true);
	if (note)
		return lock_label(s, note->name, note->offset, note->module);
	if (slab) {
		name = ctl_printf("&%s", slab->name);
		label = make_label(s, name, "", true);
		free(name);
		return label;
	}
	if (live_symbol(s, addr, &sym))
		return lock_label(s, sym.name, sym.offset,
				  sym.module ? sym.module : "[kernel]");
	return NULL;
}

const struct label *symbols_held(struct symbols *s, unsigned int family,
				 unsigned int mode, uint64_t addr)
{
	const struct label *lock = symbols_lock(s, family, addr), *label;
	const char *word = lockname_family(family);
	bool named = lock && strcmp(lock->name, word);
	char *name;

	name = ctl_printf("[%s%s%s%s%s]", word,
			  mode == LOCKHELD_MODE_ANY ? "" : ":",
			  mode == LOCKHELD_MODE_ANY ? "" : lockname_mode(mode),
			  named ? " " : "", named ? lock->name : "");
	label = make_label(s, name, "", true);
	free(name);
	return label;
}
