// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The mappings of a process that runs. Its files are reached through the
 * process, so that another mount namespace or a deleted file does no harm; the
 * descriptor of its /proc folder keeps a new process of that number out.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "internal.h"

#define MAX_VDSO (1u << 20)

struct mapping {
	uint64_t start, end, off;
	dev_t dev;
	ino_t ino;
	char *raw;		/* path as the kernel shows it */
	struct symres_place place;	/* its path is what to show */
	bool opened;
};

struct symres_maps {
	struct symres *s;
	int proc;		/* /proc/PID */
	struct root *root;	/* what the process sees */
	struct mapping *v;	/* in order of address */
	size_t n, room;
	struct jit *jit;	/* read at the first need */
};

static int add_line(struct symres_maps *m, char *line)
{
	unsigned int major, minor;
	struct mapping map = { 0 };
	uint64_t ino;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %"
		   SCNu64 " %n", &map.start, &map.end, &map.off, &major, &minor,
		   &ino, &at) != 6 || !at)
		return 0;
	if (m->n == m->room) {
		size_t room = m->room ? m->room * 2 : 64;
		struct mapping *v = reallocarray(m->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		m->v = v;
		m->room = room;
	}
	map.dev = makedev(major, minor);
	map.ino = (ino_t)ino;
	map.raw = strdup(line + at);
	if (!map.raw)
		return -ENOMEM;
	m->v[m->n++] = map;
	return 0;
}

static int read_maps(struct symres_maps *m)
{
	int fd = openat(m->proc, "maps", O_RDONLY | O_CLOEXEC);
	size_t room = 0;
	char *line = NULL;
	int ret = 0;
	FILE *f;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && getline(&line, &room, f) > 0)
		ret = add_line(m, line);
	if (!ret && ferror(f))
		ret = errno ? -errno : -EIO;
	free(line);
	fclose(f);
	return ret;
}

static int open_proc(struct symres *s, const char *dir,
		     struct symres_maps **out)
{
	struct symres_maps *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	m->s = s;
	m->proc = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->proc < 0)
		ret = errno == ENOENT ? -ESRCH : -errno;
	else
		ret = root_open(&m->root, m->proc, "root", "");
	if (!ret)
		ret = read_maps(m);
	if (ret) {
		symres_maps_close(m);
		return ret;
	}
	*out = m;
	return 0;
}

int symres_maps_open(struct symres *s, pid_t pid, struct symres_maps **out)
{
	char dir[32];

	if (!s || !out || pid <= 0)
		return -EINVAL;
	snprintf(dir, sizeof(dir), "/proc/%d", (int)pid);
	return open_proc(s, dir, out);
}

void symres_maps_close(struct symres_maps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].raw);
		free(m->v[i].place.path);
	}
	free(m->v);
	jit_free(m->jit);
	root_put(m->root);
	if (m->proc >= 0)
		close(m->proc);
	free(m);
}

static bool is_this(const struct mapping *map, const struct root *root,
		    const char *path)
{
	struct stat st;

	return !root_stat(root, path, &st) && st.st_dev == map->dev &&
	       st.st_ino == map->ino;
}

/* The kernel's " (deleted)" is not part of the name, unless it really is. */
static int show_path(struct symres_maps *m, struct mapping *map)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(map->raw), n = sizeof(mark) - 1;

	if (len > n && !strcmp(map->raw + len - n, mark) &&
	    !is_this(map, m->root, map->raw))
		len -= n;
	map->place.path = strndup(map->raw, len);
	return map->place.path ? 0 : -ENOMEM;
}

static char *dir_of(const char *path)
{
	char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (slash)
		slash[slash == dir] = 0;
	return dir;
}

/* Through the mapping itself; else by path, if that leads to the same file. */
static int open_file(struct symres_maps *m, struct mapping *map)
{
	struct root *root = is_this(map, NULL, map->place.path) ? NULL : m->root;
	const char *path = map->place.path;
	char handle[128], *dir;
	int ret;

	snprintf(handle, sizeof(handle),
		 "/proc/self/fd/%d/map_files/%" PRIx64 "-%" PRIx64,
		 m->proc, map->start, map->end);
	if (root && root_has(NULL, handle))
		path = handle;
	else if (root && !is_this(map, root, path)) {
		map->place.miss = SYMRES_MISS_NO_FILE;
		map->place.err = root_has(root, path) ? ESTALE : ENOENT;
		return 0;
	}
	dir = dir_of(map->place.path);
	ret = dir ? place_open(m->s, &map->place, path == handle ? NULL : root,
			       path, root, dir) : -ENOMEM;
	free(dir);
	return ret;
}

static int copy_vdso(struct symres_maps *m, const struct mapping *map,
		     unsigned char **mem)
{
	size_t size = map->end - map->start, got = 0;
	int fd, err = 0;

	if (size > MAX_VDSO)
		return -EFBIG;
	*mem = malloc(size);
	if (!*mem)
		return -ENOMEM;
	fd = openat(m->proc, "mem", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && got < size) {
		ssize_t n = pread(fd, *mem + got, size - got,
				  (off_t)(map->start + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (got < size)
		err = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (err) {
		free(*mem);
		*mem = NULL;
	}
	return -err;
}

static int open_vdso(struct symres_maps *m, struct mapping *map)
{
	unsigned char *mem;
	int ret = copy_vdso(m, map, &mem);

	if (!ret)
		return place_memory(m->s, &map->place, mem,
				    map->end - map->start);
	map->place.miss = SYMRES_MISS_NO_FILE;
	map->place.err = -ret;
	return ret == -ENOMEM ? ret : 0;
}

static struct mapping *find(struct symres_maps *m, uint64_t pc)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < m->v[lo - 1].end ? &m->v[lo - 1] : NULL;
}

/* Memory of no file may be code that the process has compiled. */
static int lookup_jit(struct symres_maps *m, uint64_t pc,
		      struct symres_sym *sym)
{
	int ret;

	if (!m->jit)
		m->jit = jit_new();
	ret = m->jit ? jit_refresh(m->jit, m->proc, m->root) : -ENOMEM;
	if (ret)
		return ret == -ENOMEM ? ret :
					sym_miss(sym, SYMRES_MISS_ANON, 0);
	sym->module = jit_path(m->jit);
	sym->module_addr = pc;
	ret = jit_find(m->jit, pc, sym);
	if (ret == 1 && sym_demangle(m->s, sym))
		ret = -ENOMEM;
	return ret;
}

int symres_lookup_maps(struct symres_maps *m, uint64_t pc,
		       struct symres_sym *sym)
{
	struct mapping *map;
	bool vdso;
	int ret = m ? sym_start(sym) : -EINVAL;

	if (ret)
		return ret;
	map = find(m, pc);
	if (!map)
		return sym_miss(sym, SYMRES_MISS_UNMAPPED, 0);
	vdso = !strcmp(map->raw, "[vdso]");
	if (!vdso && map->raw[0] != '/')
		return lookup_jit(m, pc, sym);
	if (!map->opened) {
		if (!map->place.path)
			ret = show_path(m, map);
		if (!ret)
			ret = vdso ? open_vdso(m, map) : open_file(m, map);
		if (ret)
			return ret;
		map->opened = true;
	}
	ret = place_name(m->s, &map->place,
			 pc - map->start + (vdso ? 0 : map->off), true, sym);
	/* Compilers also map files without content of their own. */
	if (!ret && (sym->miss == SYMRES_MISS_NOT_ELF ||
		     sym->miss == SYMRES_MISS_NO_FILE)) {
		struct symres_sym why = *sym;

		sym_start(sym);
		ret = lookup_jit(m, pc, sym);
		if (!ret)
			*sym = why;
	}
	return ret;
}

/* A copy of the calling process's own vdso. */
int vdso_of_self(unsigned char **mem, size_t *size)
{
	struct symres_maps *m = NULL;
	int ret = open_proc(NULL, "/proc/self", &m);

	if (ret)
		return ret;
	ret = -ENOENT;
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->v[i].raw, "[vdso]"))
			continue;
		*size = m->v[i].end - m->v[i].start;
		ret = copy_vdso(m, &m->v[i], mem);
		break;
	}
	symres_maps_close(m);
	return ret;
}
