// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Indexes kept on disk. One file for each ELF file, policy and way of naming;
 * its name says what it is for, its head says it again, a checksum covers all.
 * It is written under another name and renamed, and never changed after that.
 * Whatever is in doubt, the index is made anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "internal.h"

#define MAGIC "symresIX"
#define FORMAT 1	/* of this file, and of what the rules make of symbols */
#define BYTE_ORDER_MARK 0x01020304
#define MAX_TABLES 4

struct stamp {
	uint64_t size, seconds, nanoseconds;
};

struct table_mark {
	uint64_t off;
	uint32_t count, source;
};

struct head {
	char magic[8];
	uint32_t format, byte_order, crc, how;
	uint64_t size;			/* of this file */
	struct stamp file, debug;
	struct table_mark tab[MAX_TABLES];
	uint64_t mini_size;
	uint32_t ntab, nchunk, n, nplt;
	uint32_t build_id_len, unused;
	unsigned char build_id[SYMRES_BUILD_ID_MAX];
};

struct stub {
	uint64_t addr;
	uint32_t size, sym;
	uint64_t offset;
	uint64_t kind;
};

static struct stamp stamp_of(const struct input *in)
{
	return (struct stamp) {
		in->size, (uint64_t)in->mtime.tv_sec,
		(uint64_t)in->mtime.tv_nsec,
	};
}

static uint64_t pad(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

/* What an index of this file has to say of itself; not: how much it holds. */
static void describe(const struct file *f, const struct symres *s,
		     struct head *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, MAGIC, sizeof(h->magic));
	h->format = FORMAT;
	h->byte_order = BYTE_ORDER_MARK;
	h->how = s->perf | s->demangle << 1;
	h->file = stamp_of(&f->in);
	if (f->debug.in)
		h->debug = stamp_of(&f->debug_in);
	h->build_id_len = (uint32_t)f->build_id_len;
	memcpy(h->build_id, f->build_id, f->build_id_len);
}

/* Without a build-id the file's own number has to tell it from others. */
static char *path_of(const struct file *f, const struct symres *s,
		     const char *suffix)
{
	char id[2 * SYMRES_BUILD_ID_MAX + 1] = "", *path;
	int n;

	for (size_t i = 0; i < f->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", f->build_id[i]);
	if (!*id)
		sprintf(id, "%" PRIx64 ".%" PRIx64, (uint64_t)f->in.dev,
			(uint64_t)f->in.ino);
	n = asprintf(&path, "%s/%s-%" PRIx64 "-%" PRIx64 ".%lx-%c%s.%d%s",
		     s->cache_dir, id, f->in.size, (uint64_t)f->in.mtime.tv_sec,
		     (unsigned long)f->in.mtime.tv_nsec, s->perf ? 'p' : 'h',
		     s->demangle ? "d" : "", FORMAT, suffix);
	return n < 0 ? NULL : path;
}

static uint32_t checksum(const struct head *h, const void *rest, size_t n)
{
	struct head copy = *h;
	uLong crc = crc32(0, NULL, 0);

	copy.crc = 0;
	crc = crc32(crc, (const unsigned char *)&copy, sizeof(copy));
	return (uint32_t)crc32_z(crc, rest, n);
}

/* Does the head describe this file, and do its parts fill the index file? */
static bool head_fits(const struct head *h, const struct head *want,
		      uint64_t size)
{
	uint64_t parts = sizeof(*h) +
		h->nchunk * (uint64_t)sizeof(struct index_chunk) +
		h->nplt * (uint64_t)sizeof(struct stub) +
		2 * pad(h->n * (uint64_t)sizeof(uint32_t));

	return !memcmp(h->magic, want->magic, sizeof(h->magic)) &&
	       h->format == want->format &&
	       h->byte_order == want->byte_order && h->how == want->how &&
	       !memcmp(&h->file, &want->file, sizeof(h->file)) &&
	       !memcmp(&h->debug, &want->debug, sizeof(h->debug)) &&
	       h->build_id_len == want->build_id_len &&
	       !memcmp(h->build_id, want->build_id, sizeof(h->build_id)) &&
	       h->ntab <= MAX_TABLES && h->size == size &&
	       parts <= size && h->mini_size == size - parts;
}

static bool chunks_fit(const struct index *ix)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < ix->nchunk; i++) {
		const struct index_chunk *c = &ix->chunk[i];

		if (c->first != at || !c->n || c->n > ix->n - at ||
		    (i && c->base <= c[-1].base))
			return false;
		at += c->n;
	}
	return at == ix->n;
}

static int take_stubs(struct plt *plt, const struct stub *v, size_t n)
{
	plt->v = calloc(n ? n : 1, sizeof(*plt->v));
	if (!plt->v)
		return -ENOMEM;
	for (; plt->n < n; plt->n++)
		plt->v[plt->n] = (struct plt_slot) {
			.addr = v[plt->n].addr, .size = v[plt->n].size,
			.sym = v[plt->n].sym, .offset = v[plt->n].offset,
			.kind = (enum plt_kind)v[plt->n].kind,
		};
	return 0;
}

/* The tables are those that the index was made from; else it is of no use. */
static bool tables_fit(struct file *f, const struct head *h)
{
	if (h->ntab != f->ntab)
		return false;
	for (uint32_t i = 0; i < h->ntab; i++)
		if (h->tab[i].off != f->tab[i].off ||
		    h->tab[i].count != f->tab[i].count ||
		    h->tab[i].source != f->tab[i].source)
			return false;
	return true;
}

/* The mini debug info, decompressed, lies behind the index. */
static int take_mini(struct file *f, struct symres *s, const char *path,
		     const struct head *h)
{
	int ret;

	if (!h->mini_size)
		return 0;
	ret = input_open(&f->mini_in, &s->pool, path);
	if (ret)
		return ret;
	f->mini_in.base = h->size - h->mini_size;
	f->mini_in.size = h->mini_size;
	return elf_open(&f->mini, &f->mini_in);
}

static int map_file(const char *path, void **map, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ret = -ENOEXEC;

	if (fd < 0)
		return -errno;
	/* Nobody else's: it could be cut short under the mapping. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && !(st.st_mode & 022) &&
	    st.st_size > (off_t)sizeof(struct head) && st.st_size < INT32_MAX) {
		*size = (size_t)st.st_size;
		*map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
			    fd, 0);
		ret = *map == MAP_FAILED ? -errno : 0;
	}
	close(fd);
	return ret;
}

static int take(struct file *f, struct symres *s, const char *path,
		const struct head *h, unsigned char *map, size_t size)
{
	struct index ix = { .map = map, .map_size = size };
	unsigned char *at = map + sizeof(*h);
	const struct stub *stubs;
	struct head want;
	int ret;

	describe(f, s, &want);
	if (!head_fits(h, &want, size) ||
	    h->crc != checksum(h, at, size - sizeof(*h)))
		return -ENOEXEC;
	ix.chunk = (struct index_chunk *)at;
	ix.nchunk = h->nchunk;
	at += h->nchunk * sizeof(struct index_chunk);
	stubs = (const struct stub *)at;
	at += h->nplt * sizeof(struct stub);
	ix.key = (uint32_t *)at;
	ix.val = (uint32_t *)(at + pad(h->n * sizeof(uint32_t)));
	ix.n = h->n;
	if (!chunks_fit(&ix))
		return -ENOEXEC;
	ret = take_mini(f, s, path, h);
	if (!ret)
		ret = file_find_tables(f, s->perf);
	if (!ret && !tables_fit(f, h))
		ret = -ENOEXEC;
	if (!ret)
		ret = take_stubs(&f->plt, stubs, h->nplt);
	if (!ret)
		f->index = ix;
	return ret;
}

/* 0: the file has its index now; -ENOMEM; else there was none of use. */
int cache_load(struct file *f, struct symres *s)
{
	char *path;
	size_t size = 0;
	void *map = NULL;
	int ret;

	if (!s->cache_dir || f->in.mem)
		return -ENOENT;
	path = path_of(f, s, "");
	if (!path)
		return -ENOMEM;
	ret = map_file(path, &map, &size);
	if (!ret) {
		ret = take(f, s, path, map, map, size);
		if (ret) {
			munmap(map, size);
			file_forget_tables(f);
		}
	}
	free(path);
	return ret;
}

struct out {
	int fd;
	uLong crc;
};

static int put(struct out *o, const void *buf, size_t len)
{
	const char *from = buf;

	o->crc = crc32_z(o->crc, buf, len);
	while (len) {
		ssize_t n = write(o->fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int put_padded(struct out *o, const uint32_t *v, uint32_t n)
{
	static const char zero[8];
	uint64_t len = n * (uint64_t)sizeof(*v);
	int ret = put(o, v, len);

	return ret ? ret : put(o, zero, pad(len) - len);
}

static int put_stubs(struct out *o, const struct plt *plt)
{
	int ret = 0;

	for (size_t i = 0; i < plt->n && !ret; i++) {
		struct stub stub = {
			.addr = plt->v[i].addr,
			.size = (uint32_t)plt->v[i].size,
			.sym = plt->v[i].sym, .offset = plt->v[i].offset,
			.kind = plt->v[i].kind,
		};

		ret = put(o, &stub, sizeof(stub));
	}
	return ret;
}

static int write_all(const struct file *f, struct head *h, int fd)
{
	struct out o = { .fd = fd };
	const struct index *ix = &f->index;
	int ret;

	h->crc = 0;
	o.crc = crc32(0, NULL, 0);
	ret = put(&o, h, sizeof(*h));
	if (!ret)
		ret = put(&o, ix->chunk, ix->nchunk * sizeof(*ix->chunk));
	if (!ret)
		ret = put_stubs(&o, &f->plt);
	if (!ret)
		ret = put_padded(&o, ix->key, ix->n);
	if (!ret)
		ret = put_padded(&o, ix->val, ix->n);
	if (!ret && h->mini_size)
		ret = put(&o, f->mini_in.mem, h->mini_size);
	if (ret)
		return ret;
	h->crc = (uint32_t)o.crc;
	return pwrite(fd, h, sizeof(*h), 0) == sizeof(*h) ? 0 : -EIO;
}

static void make_dirs(const char *dir)
{
	char *copy = strdup(dir);

	for (char *p = copy ? strchr(copy + 1, '/') : NULL; p;
	     p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(copy, 0700);
		*p = '/';
	}
	if (copy)
		mkdir(copy, 0700);
	free(copy);
}

/* True: it is kept. One that cannot be kept is still of use. */
bool cache_save(struct file *f, struct symres *s)
{
	char *path = NULL, *temp = NULL;
	struct head h;
	bool kept = false;
	int fd;

	if (!s->cache_dir || f->in.mem || !f->index.n)
		return false;
	for (size_t i = 0; i < f->plt.n; i++)
		if (f->plt.v[i].size > UINT32_MAX)
			return false;
	describe(f, s, &h);
	h.ntab = f->ntab;
	for (uint32_t i = 0; i < h.ntab; i++)
		h.tab[i] = (struct table_mark) {
			f->tab[i].off, f->tab[i].count, f->tab[i].source,
		};
	h.nchunk = f->index.nchunk;
	h.n = f->index.n;
	h.nplt = (uint32_t)f->plt.n;
	h.mini_size = f->mini.in ? f->mini_in.size : 0;
	h.size = sizeof(h) + h.nchunk * sizeof(struct index_chunk) +
		 h.nplt * sizeof(struct stub) +
		 2 * pad(h.n * sizeof(uint32_t)) + h.mini_size;
	path = path_of(f, s, "");
	temp = path_of(f, s, ".XXXXXX");
	if (!path || !temp)
		goto out;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		make_dirs(s->cache_dir);
		strcpy(temp + strlen(temp) - 6, "XXXXXX");
		fd = mkostemp(temp, O_CLOEXEC);
	}
	if (fd < 0)
		goto out;
	/* What changed meanwhile must not be kept for what it was before. */
	kept = !write_all(f, &h, fd) && !input_unchanged(&f->in) &&
	       (!f->debug.in || !input_unchanged(&f->debug_in)) &&
	       !rename(temp, path);
	if (!kept)
		unlink(temp);
	close(fd);
out:
	free(path);
	free(temp);
	return kept;
}
