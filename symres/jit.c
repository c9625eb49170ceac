// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code that a process compiled itself: /tmp/perf-PID.map, in the process's own
 * mount namespace and by the number it has there. Lines are "START SIZE NAME";
 * code is replaced, so a later line wins where it covers an earlier one.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define MAX_MAP (256u << 20)

struct jit_line {
	uint64_t start, end;
	uint32_t name;
};

struct jit {
	char path[64];
	char *text;
	struct jit_line *v;
	uint32_t n, room;
	struct index index;
	struct stat st;		/* of the file that was read */
};

static void forget(struct jit *j)
{
	free(j->text);
	free(j->v);
	index_free(&j->index);
	j->text = NULL;
	j->v = NULL;
	j->n = 0;
	j->room = 0;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	forget(j);
	free(j);
}

static bool take_hex(const char **at, uint64_t *v)
{
	char *end;

	/* strtoull() would also take blanks and a sign. */
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*v = strtoull(*at, &end, 16);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

static int add_line(struct jit *j, const char *line)
{
	struct jit_line l = { 0 };
	const char *at = line;
	uint64_t size;

	if (!take_hex(&at, &l.start) || !take_hex(&at, &size) || !*at ||
	    !size || size > UINT64_MAX - l.start)
		return 0;
	l.end = l.start + size;
	l.name = (uint32_t)(at - j->text);
	if (j->n == j->room) {
		uint32_t room = j->room ? j->room * 2 : 256;
		struct jit_line *v = room > INT32_MAX ? NULL :
				     reallocarray(j->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		j->v = v;
		j->room = room;
	}
	j->v[j->n++] = l;
	return 0;
}

/* The lines that cover the place of the sweep, the latest on top. */
struct heap {
	const struct jit *j;
	uint32_t *v, n;
};

static void heap_push(struct heap *h, uint32_t line)
{
	uint32_t at = h->n++;

	for (; at && h->v[(at - 1) / 2] < line; at = (at - 1) / 2)
		h->v[at] = h->v[(at - 1) / 2];
	h->v[at] = line;
}

static void heap_pop(struct heap *h)
{
	uint32_t last = h->v[--h->n], at = 0, kid;

	for (; (kid = 2 * at + 1) < h->n; at = kid) {
		if (kid + 1 < h->n && h->v[kid + 1] > h->v[kid])
			kid++;
		if (h->v[kid] <= last)
			break;
		h->v[at] = h->v[kid];
	}
	h->v[at] = last;
}

/* Until @to: when the line on top ends, the next one goes on. */
static int advance(struct heap *h, struct index *ix, uint64_t to)
{
	int ret = 0;

	while (h->n && h->j->v[h->v[0]].end <= to && !ret) {
		uint64_t at = h->j->v[h->v[0]].end;

		while (h->n && h->j->v[h->v[0]].end <= at)
			heap_pop(h);
		ret = index_add(ix, at, h->n ? h->v[0] : INDEX_NONE);
	}
	return ret;
}

static int make_index(struct jit *j)
{
	struct range_list order = { 0 };
	struct heap h = { .j = j };
	int ret = range_reserve(&order, j->n);

	if (!ret && j->n) {
		h.v = reallocarray(NULL, j->n, sizeof(*h.v));
		ret = h.v ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < j->n && !ret; i++)
		order.v[order.n++] = (struct range) {
			.start = j->v[i].start, .ref = i,
		};
	if (!ret)
		ret = range_sort(&order, range_compare_start);
	for (size_t i = 0; i < order.n && !ret; i++) {
		ret = advance(&h, &j->index, order.v[i].start);
		heap_push(&h, order.v[i].ref);
		if (!ret)
			ret = index_add(&j->index, order.v[i].start, h.v[0]);
	}
	if (!ret)
		ret = advance(&h, &j->index, UINT64_MAX);
	if (!ret)
		ret = index_finish(&j->index);
	free(h.v);
	range_list_free(&order);
	return ret;
}

/*
 * Takes over @text, with room for a byte behind its @len. A last line without
 * an end may still be being written: it does not count yet.
 */
int jit_parse(struct jit *j, char *text, size_t len)
{
	char *line = text, *end;
	int ret = 0;

	forget(j);
	j->text = text;
	while (!ret && (end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = 0;
		ret = add_line(j, line);
		line = end + 1;
	}
	return ret ? ret : make_index(j);
}

struct jit *jit_new(void)
{
	return calloc(1, sizeof(struct jit));
}

int jit_find(const struct jit *j, uint64_t pc, struct symres_sym *sym)
{
	uint32_t at = index_find(&j->index, pc);

	if (at == INDEX_NONE)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	sym->name = j->text + j->v[at].name;
	sym->addr = j->v[at].start;
	sym->offset = pc - sym->addr;
	sym->sym_size = j->v[at].end - sym->addr;
	sym->source = SYMRES_SOURCE_JIT;
	sym->kind = SYMRES_KIND_FUNC;
	return 1;
}

/* The number of a process in the innermost of its namespaces; 0: not known. */
static long inner_pid(int proc)
{
	char buf[4096], *at, *end;
	int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	buf[n] = 0;
	at = strstr(buf, "\nNStgid:");
	if (!at)
		return 0;
	at++;
	end = strchr(at, '\n');
	if (end)
		*end = 0;
	at = strrchr(at, '\t');
	return at ? strtol(at + 1, NULL, 10) : 0;
}

/* Whoever else may write there must not name other people's code. */
static bool is_trusted(int proc, const struct stat *st)
{
	struct stat owner;

	return S_ISREG(st->st_mode) && !fstat(proc, &owner) &&
	       (st->st_uid == owner.st_uid || !st->st_uid) &&
	       !(st->st_mode & 02);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int read_map(struct jit *j, int fd)
{
	size_t size = (size_t)j->st.st_size, got = 0;
	char *text = malloc(size + 1);

	if (!text)
		return -ENOMEM;
	while (got < size) {
		ssize_t n = pread(fd, text + got, size - got, (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return jit_parse(j, text, got);
}

/* Reads the map of a process if it has changed. 0, -ENOENT: none, -ENOMEM. */
int jit_refresh(struct jit *j, int proc, const struct root *root)
{
	struct stat st;
	int fd, ret;

	if (!*j->path)
		snprintf(j->path, sizeof(j->path), "/tmp/perf-%ld.map",
			 inner_pid(proc));
	fd = root_file(root, j->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) || !is_trusted(proc, &st) ||
	    st.st_size > MAX_MAP) {
		if (fd >= 0)
			close(fd);
		forget(j);
		return -ENOENT;
	}
	ret = 0;
	if (!j->text || !same_file(&st, &j->st)) {
		j->st = st;
		ret = read_map(j, fd);
	}
	close(fd);
	if (ret)
		forget(j);
	return ret;
}

const char *jit_path(const struct jit *j)
{
	return j->path;
}
