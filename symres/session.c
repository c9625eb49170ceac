// SPDX-License-Identifier: LGPL-2.1-or-later
/* The session: its files by path, and the look-ups in them. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { WORTH_FOCUS = 20000 };	/* below that an index takes no time */

const char *symres_version(void)
{
	return SYMRES_VERSION;
}

const char *symres_miss_str(enum symres_miss miss)
{
	static const char *const text[] = {
		[SYMRES_MISS_NONE] = "named",
		[SYMRES_MISS_UNMAPPED] = "address is not mapped",
		[SYMRES_MISS_ANON] = "memory of no file",
		[SYMRES_MISS_NO_FILE] = "file cannot be read",
		[SYMRES_MISS_DELETED] = "file was deleted",
		[SYMRES_MISS_BUILD_ID] = "file has another build-id",
		[SYMRES_MISS_NOT_ELF] = "not a usable ELF file",
		[SYMRES_MISS_PACKED] =
			"compressed file is damaged or too big",
		[SYMRES_MISS_CHANGED] = "file changed while in use",
		[SYMRES_MISS_NO_SYMBOLS] = "no symbol table",
		[SYMRES_MISS_NO_SYMBOL] = "no symbol at this address",
		[SYMRES_MISS_NO_KALLSYMS] = "kernel symbols cannot be read",
		[SYMRES_MISS_HIDDEN] = "kernel addresses are hidden",
	};

	return (size_t)miss < sizeof(text) / sizeof(*text) ? text[miss] :
							     "unknown reason";
}

const char *symres_source_str(enum symres_source source)
{
	static const char *const text[] = {
		[SYMRES_SOURCE_NONE] = "none",
		[SYMRES_SOURCE_SYMTAB] = "symtab",
		[SYMRES_SOURCE_DYNSYM] = "dynsym",
		[SYMRES_SOURCE_DEBUG] = "debug",
		[SYMRES_SOURCE_PLT] = "plt",
		[SYMRES_SOURCE_KALLSYMS] = "kallsyms",
		[SYMRES_SOURCE_MINI] = "minidebug",
		[SYMRES_SOURCE_LDYNSYM] = "ldynsym",
		[SYMRES_SOURCE_JIT] = "jit",
	};

	return (size_t)source < sizeof(text) / sizeof(*text) ? text[source] :
							       "unknown";
}

const char *symres_left_str(enum symres_left why)
{
	static const char *const text[] = {
		[SYMRES_LEFT_NONE] = "none was",
		[SYMRES_LEFT_UNREADABLE] = "it cannot be read",
		[SYMRES_LEFT_NOT_FILE] = "it is not a file",
		[SYMRES_LEFT_NOT_ELF] = "it is not a usable ELF file",
		[SYMRES_LEFT_CUT_SHORT] = "it is cut short or damaged",
		[SYMRES_LEFT_OTHER_KIND] =
			"it is for another machine or kind of file",
		[SYMRES_LEFT_BUILD_ID] = "it has another build-id",
		[SYMRES_LEFT_CHECKSUM] = "it has another checksum",
		[SYMRES_LEFT_NO_SYMBOLS] = "it has no symbol table",
	};

	return (size_t)why < sizeof(text) / sizeof(*text) ? text[why] :
							    "unknown reason";
}

static int compare_places(const void *a, const void *b)
{
	return strcmp(((const struct symres_place *)a)->path,
		      ((const struct symres_place *)b)->path);
}

int symres_open(struct symres **out, const struct symres_opts *opts)
{
	static const struct symres_opts none;
	struct symres *s;

	if (!out || (opts && opts->size != sizeof(*opts)))
		return -EINVAL;
	if (!opts)
		opts = &none;
	if (opts->policy > SYMRES_POLICY_PERF)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	if (worker_init(&s->worker)) {
		free(s);
		return -ENOMEM;
	}
	s->asked = asked_new();
	if (!s->asked) {
		symres_close(s);
		return -ENOMEM;
	}
	s->perf = opts->policy == SYMRES_POLICY_PERF;
	s->demangle = opts->demangle;
	s->ask_debuginfod = opts->debuginfod;
	s->worth_focus = WORTH_FOCUS;
	s->max_bytes = opts->max_bytes;
	s->pool.map = opts->map_files;
	s->use_thread = opts->use_thread;
	if (opts->root && *opts->root &&
	    root_open(&s->root, AT_FDCWD, opts->root, opts->root)) {
		symres_close(s);
		return -ENOMEM;
	}
	if (opts->cache_dir && *opts->cache_dir) {
		s->cache_dir = strdup(opts->cache_dir);
		if (!s->cache_dir) {
			symres_close(s);
			return -ENOMEM;
		}
	}
	if (!opts->debug_dirs)
		s->debug_root = s->root;
	s->debug_dirs = strdup(opts->debug_dirs ? opts->debug_dirs :
						  "/usr/lib/debug");
	s->kallsyms = strdup(opts->kallsyms ? opts->kallsyms :
					      "/proc/kallsyms");
	if (!s->debug_dirs || !s->kallsyms) {
		symres_close(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

int symres_sigbus(struct symres *s, const void *addr)
{
	if (!s)
		return 0;
	if (pool_sigbus(&s->pool, addr) ||
	    input_sigbus(s->loading.mem, s->loading.size, addr))
		return 1;
	for (uint32_t i = 0; i < s->files; i++) {
		struct file *f = s->file[i];

		if (input_sigbus(f->index.map, f->index.map_size, addr) ||
		    input_sigbus(f->names.map, f->names.map_size, addr)) {
			f->in.lost = true;
			return 1;
		}
	}
	return 0;
}

static void place_free(void *node)
{
	free(((struct symres_place *)node)->path);
	free(node);
}

void symres_close(struct symres *s)
{
	if (!s)
		return;
	tdestroy(s->by_path, place_free);
	for (uint32_t i = 0; i < s->files; i++)
		file_free(s->file[i]);
	worker_end(&s->worker);
	free(s->file);
	free(s->place);
	asked_free(s->asked);
	range_list_free(&s->spare);
	free(s->kept_path);
	kernel_free(s->kernel);
	debuginfod_free(s->debuginfod);
	free(s->debug_dirs);
	root_put(s->root);
	free(s->cache_dir);
	free(s->kallsyms);
	free(s->name.s);
	free(s);
}

char *path_join(const char *a, const char *b, const char *c)
{
	size_t la = strlen(a), lb = strlen(b), lc = strlen(c);
	char *p = malloc(la + lb + lc + 1);

	if (p) {
		memcpy(p, a, la);
		memcpy(p + la, b, lb);
		memcpy(p + la + lb, c, lc + 1);
	}
	return p;
}

/* A caller of another version has another size: it would read past the end. */
int sym_start(struct symres_sym *sym)
{
	if (!sym || sym->size != sizeof(*sym))
		return -EINVAL;
	*sym = (struct symres_sym) { .size = sizeof(*sym) };
	return 0;
}

/* Room for one more pointer in an array that never shrinks. */
static int array_grow(void *array, uint32_t n, uint32_t *room)
{
	void **v = array, *bigger;

	if (n < *room)
		return 0;
	bigger = n > INT32_MAX / 2 ? NULL :
		 reallocarray(*v, n ? n * 2 : 16, sizeof(void *));
	if (!bigger)
		return -ENOMEM;
	*v = bigger;
	*room = n ? n * 2 : 16;
	return 0;
}

/* Takes over @f. */
static int session_add(struct symres *s, struct symres_place *pl,
		       struct file *f)
{
	if (array_grow(&s->file, s->files, &s->file_room)) {
		file_free(f);
		return -ENOMEM;
	}
	f->number = s->files;
	s->file[s->files++] = f;
	pl->file = f;
	return 0;
}

/*
 * Opens @path for a place. Two paths of one file share it: a file is known by
 * what it is, not by its name. 0, or -ENOMEM; a file that cannot be read makes
 * the place a miss.
 */
int place_open(struct symres *s, struct symres_place *pl, struct root *root,
	       const char *path, struct root *dir_root, const char *dir)
{
	struct file *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return -ENOMEM;
	ret = input_open(&f->in, &s->pool, root, path);
	f->debug_in.fd = -1;
	f->mini_in.fd = -1;
	if (ret) {
		pl->miss = SYMRES_MISS_NO_FILE;
		pl->err = -ret;
		file_free(f);
		return ret == -ENOMEM ? ret : 0;
	}
	for (uint32_t i = 0; i < s->files; i++)
		if (input_same(&s->file[i]->in, &f->in)) {
			file_free(f);
			pl->file = s->file[i];
			return 0;
		}
	f->dir = strdup(dir);
	f->dir_root = root_get(dir_root);
	if (!f->dir) {
		file_free(f);
		return -ENOMEM;
	}
	file_load(f);
	return session_add(s, pl, f);
}

/* The same for an image in memory, which it takes over. */
int place_memory(struct symres *s, struct symres_place *pl, unsigned char *mem,
		 size_t size)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f) {
		free(mem);
		return -ENOMEM;
	}
	input_from_memory(&f->in, mem, size);
	f->debug_in.fd = -1;
	f->mini_in.fd = -1;
	file_load(f);
	return session_add(s, pl, f);
}

static int place_fill(struct symres *s, struct symres_place *pl)
{
	const char *slash = strrchr(pl->path, '/');
	unsigned char *mem;
	char *dir;
	size_t size;
	int ret;

	if (!strcmp(pl->path, "[vdso]")) {
		ret = vdso_of_self(&mem, &size);
		if (!ret)
			return place_memory(s, pl, mem, size);
		pl->miss = SYMRES_MISS_NO_FILE;
		pl->err = -ret;
		return ret == -ENOMEM ? ret : 0;
	}
	dir = slash ? strndup(pl->path, slash > pl->path ?
			      (size_t)(slash - pl->path) : 1) : strdup(".");
	ret = dir ? place_open(s, pl, s->root, pl->path, s->root, dir) :
		    -ENOMEM;
	free(dir);
	return ret;
}

/* The place of a path, opened at its first use. */
int symres_place(struct symres *s, const char *path, struct symres_place **out)
{
	struct symres_place key = { .path = (char *)path }, *pl;
	void *node;
	int ret;

	if (!s || !path || !out)
		return -EINVAL;
	node = tfind(&key, &s->by_path, compare_places);
	if (node) {
		*out = *(struct symres_place **)node;
		return 0;
	}
	pl = calloc(1, sizeof(*pl));
	if (!pl)
		return -ENOMEM;
	pl->path = strdup(path);
	ret = pl->path ? place_fill(s, pl) : -ENOMEM;
	if (!ret)
		ret = array_grow(&s->place, s->places, &s->place_room);
	if (!ret && !tsearch(pl, &s->by_path, compare_places))
		ret = -ENOMEM;
	if (ret) {
		place_free(pl);
		return ret;
	}
	s->place[s->places++] = pl;
	pl->number = s->places;
	*out = pl;
	return 0;
}

/* Names an address, or an offset, of a place's file. */
int place_name(struct symres *s, struct symres_place *pl, uint64_t at, bool is_offset,
	       struct symres_sym *sym)
{
	struct file *f = pl->file;
	uint64_t addr = at;
	bool mapped;
	int ret;

	sym->module = pl->path;
	if (!f)
		return sym_miss(sym, pl->miss, pl->err);
	if (f->build_id_len) {
		sym->build_id = f->build_id;
		sym->build_id_len = f->build_id_len;
	}
	mapped = is_offset ? elf_offset_to_addr(&f->elf, at, &addr) :
			     file_loads(f, addr);
	sym->module_addr = mapped ? addr : 0;
	if (f->miss)
		ret = sym_miss(sym, f->miss, f->err);
	else if (!mapped)
		ret = sym_miss(sym, SYMRES_MISS_UNMAPPED, 0);
	else
		ret = file_lookup(f, s, addr, sym);
	sym_mark(sym, f);
	return ret;
}

int symres_lookup_file(struct symres *s, const char *path, uint64_t vaddr,
		       struct symres_sym *sym)
{
	struct symres_place *pl;
	int ret = sym_start(sym);

	if (!ret)
		ret = symres_place(s, path, &pl);
	return ret ? ret : place_name(s, pl, vaddr, false, sym);
}

int symres_lookup_offset(struct symres *s, const char *path, uint64_t offset,
			 struct symres_sym *sym)
{
	struct symres_place *pl;
	int ret = sym_start(sym);

	if (!ret)
		ret = symres_place(s, path, &pl);
	return ret ? ret : place_name(s, pl, offset, true, sym);
}

/* Recorders pad build-ids with zeros to a fixed length. */
static bool same_build_id(const unsigned char *a, size_t na,
			  const unsigned char *b, size_t nb)
{
	while (na > nb && !a[na - 1])
		na--;
	while (nb > na && !b[nb - 1])
		nb--;
	return na == nb && !memcmp(a, b, na);
}

static bool has_build_id(const struct symres_map *map)
{
	for (size_t i = 0; map->build_id && i < map->build_id_len; i++)
		if (map->build_id[i])
			return true;
	return false;
}

/* "[heap]", "//anon", "anon_inode:...": names of memory, not of files. */
static bool is_anonymous(const char *path)
{
	return !path || !*path || !strncmp(path, "//anon", 6) ||
	       !strncmp(path, "anon_inode:", 11) ||
	       (*path == '[' && strcmp(path, "[vdso]"));
}

/*
 * The kernel marks a deleted file's path. A file may really be called so; else
 * what is now at the path needs a build-id to be believed.
 */
static int place_of_map(struct symres *s, const struct symres_map *map,
			struct symres_place **out, bool *deleted)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(map->path), n = sizeof(mark) - 1;
	char *path;
	int ret;

	*deleted = len > n && !strcmp(map->path + len - n, mark) &&
		   !root_has(s->root, map->path);
	if (!*deleted)
		return symres_place(s, map->path, out);
	path = strndup(map->path, len - n);
	ret = path ? symres_place(s, path, out) : -ENOMEM;
	free(path);
	return ret;
}

int symres_lookup_map(struct symres *s, const struct symres_map *map,
		      uint64_t pc, struct symres_sym *sym)
{
	struct symres_place *pl;
	bool deleted, sure, vdso;
	int ret;

	if (!s || !map || map->size != sizeof(*map))
		return -EINVAL;
	ret = sym_start(sym);
	if (ret)
		return ret;
	if (pc < map->start || pc >= map->end)
		return sym_miss(sym, SYMRES_MISS_UNMAPPED, 0);
	if (is_anonymous(map->path))
		return sym_miss(sym, SYMRES_MISS_ANON, 0);
	ret = place_of_map(s, map, &pl, &deleted);
	if (ret)
		return ret;
	sym->module = pl->path;
	sure = has_build_id(map);
	vdso = !strcmp(map->path, "[vdso]");
	if (deleted && (!sure || !pl->file))
		return sym_miss(sym, SYMRES_MISS_DELETED, 0);
	if (vdso && !sure)
		return sym_miss(sym, SYMRES_MISS_NO_FILE, 0);
	if (sure && pl->file && (!pl->file->miss || pl->file->build_id_len) &&
	    !same_build_id(map->build_id, map->build_id_len,
			   pl->file->build_id, pl->file->build_id_len))
		return sym_miss(sym, SYMRES_MISS_BUILD_ID, 0);
	return place_name(s, pl, pc - map->start + (vdso ? 0 : map->pgoff),
			  true, sym);
}

int symres_build_id(struct symres *s, const char *path, unsigned char *id)
{
	struct symres_place *pl;
	int ret;

	if (!s || !path || !id)
		return -EINVAL;
	if (!strcmp(path, "[kernel]"))
		return read_kernel_build_id(id);
	ret = symres_place(s, path, &pl);
	if (ret)
		return ret;
	if (!pl->file)
		return -pl->err;
	if (pl->file->miss == SYMRES_MISS_NO_FILE)
		return -pl->file->err;
	if (pl->file->miss == SYMRES_MISS_NOT_ELF ||
	    pl->file->miss == SYMRES_MISS_PACKED)
		return place_miss_errno(pl);
	if (!pl->file->build_id_len)
		return -ENODATA;
	memcpy(id, pl->file->build_id, pl->file->build_id_len);
	return (int)pl->file->build_id_len;
}
