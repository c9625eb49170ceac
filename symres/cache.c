// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Indexes kept on disk. One file for each ELF file, policy and way of naming,
 * and one for its mini debug info, decompressed; its name says what it is for,
 * its head says it again, a checksum covers all. It is written under another
 * name and renamed, and never changed after that. Whatever is in doubt, it is
 * made anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define MAGIC "symresIX"
#define FORMAT 6	/* of this file, and of what the rules make of symbols */
#define BYTE_ORDER_MARK 0x01020304

struct stamp {
	uint64_t size, seconds, nanoseconds;
};

struct table_mark {
	uint64_t off;
	uint32_t count, source;
};

struct head {
	char magic[8];
	uint32_t format, byte_order;
	uint64_t sum;			/* of all else */
	uint64_t size;			/* of this file */
	uint32_t how, narrow;
	struct stamp file, debug;
	struct table_mark tab[MAX_TABLES];
	uint64_t mini_size;		/* of mini debug info: it is all then */
	uint32_t ntab, nchunk, n, nplt;
	uint32_t build_id_len, unused;
	unsigned char build_id[SYMRES_BUILD_ID_MAX];
};

static struct stamp stamp_of(const struct input *in, struct timespec time)
{
	return (struct stamp) {
		in->size, (uint64_t)time.tv_sec, (uint64_t)time.tv_nsec,
	};
}

/* Without a build-id, a copy over the file that keeps its time (cp -p) could not
 * be told from it, but by the time of the copy. */
static struct timespec time_of(const struct file *f)
{
	return f->build_id_len ? f->in.mtime : f->in.ctime;
}

static uint64_t pad(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

static uint64_t value_bytes(const struct head *h)
{
	return h->n * (uint64_t)(h->narrow ? sizeof(uint16_t) :
					     sizeof(uint32_t));
}

static uint64_t index_bytes(const struct head *h)
{
	return sizeof(*h) + h->nchunk * (uint64_t)sizeof(struct index_chunk) +
	       h->nplt * (uint64_t)sizeof(struct plt_slot) +
	       pad(h->n * (uint64_t)sizeof(uint32_t)) + pad(value_bytes(h));
}

/* What an index of this file has to say of itself; not: how much it holds. */
static void describe(const struct file *f, const struct symres *s,
		     enum kept what, struct head *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, MAGIC, sizeof(h->magic));
	h->format = FORMAT;
	h->byte_order = BYTE_ORDER_MARK;
	h->how = s->perf | s->demangle << 1 | (what == KEPT_NAMES) << 2;
	if (what == KEPT_MINI)
		h->how = 1 << 3;
	h->file = stamp_of(&f->in, time_of(f));
	if (what != KEPT_MINI && f->debug.in)
		h->debug = stamp_of(&f->debug_in, f->debug_in.mtime);
	h->build_id_len = (uint32_t)f->build_id_len;
	memcpy(h->build_id, f->build_id, f->build_id_len);
}

/* Without a build-id the file's own number has to tell it from others. */
static char *path_of(const struct file *f, const struct symres *s,
		     enum kept what, const char *suffix)
{
	char id[2 * SYMRES_BUILD_ID_MAX + 1] = "", kind[] = "???", *path;
	struct timespec time = time_of(f);
	int n;

	if (what == KEPT_MINI)
		strcpy(kind, "m");
	else
		sprintf(kind, "%c%s%s", s->perf ? 'p' : 'h',
			s->demangle ? "d" : "", what == KEPT_NAMES ? "n" : "");
	for (size_t i = 0; i < f->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", f->build_id[i]);
	if (!*id)
		sprintf(id, "%" PRIx64 ".%" PRIx64, (uint64_t)f->in.dev,
			(uint64_t)f->in.ino);
	n = asprintf(&path, "%s/%s-%" PRIx64 "-%" PRIx64 ".%lx-%s.%d%s",
		     s->cache_dir, id, f->in.size, (uint64_t)time.tv_sec,
		     (unsigned long)time.tv_nsec, kind, FORMAT, suffix);
	return n < 0 ? NULL : path;
}

/*
 * A checksum for accidents, not for enemies: each step is reversible, so what
 * differs in one word always ends up with another sum. Four at a time, since
 * all of an index is read at each start.
 */
struct sum {
	uint64_t lane[4];
	uint64_t bytes;
};

/* What is summed up may come in pieces, all but the last of multiples of 32. */
static void sum_add(struct sum *s, const void *buf, size_t len)
{
	const uint64_t *at = buf, *end = at + len / sizeof(*at);
	uint64_t a = s->lane[0], b = s->lane[1], c = s->lane[2], d = s->lane[3];
	uint64_t tail = 0;

	for (; end - at >= 4; at += 4) {
		a = (a ^ at[0]) * 0x9e3779b97f4a7c15u;
		b = (b ^ at[1]) * 0x9e3779b97f4a7c15u;
		c = (c ^ at[2]) * 0x9e3779b97f4a7c15u;
		d = (d ^ at[3]) * 0x9e3779b97f4a7c15u;
	}
	s->lane[0] = a;
	s->lane[1] = b;
	s->lane[2] = c;
	s->lane[3] = d;
	s->bytes += len;
	for (; at < end; at++)
		s->lane[0] = (s->lane[0] ^ *at) * 0x9e3779b97f4a7c15u;
	if (len % sizeof(tail)) {
		memcpy(&tail, end, len % sizeof(tail));
		s->lane[1] = (s->lane[1] ^ tail) * 0x9e3779b97f4a7c15u;
	}
}

/* The head comes last: it says what is in the rest. */
static uint64_t sum_end(struct sum *s, const struct head *h)
{
	uint64_t all = s->bytes;
	struct head copy = *h;

	copy.sum = 0;
	sum_add(s, &copy, sizeof(copy));
	for (int i = 0; i < 4; i++) {
		all = (all ^ s->lane[i]) * 0xd6e8feb86659fd93u;
		all ^= all >> 32;
	}
	return all;
}

static uint64_t sum_of(const struct head *h, const void *rest, size_t n)
{
	struct sum s = { 0 };

	sum_add(&s, rest, n);
	return sum_end(&s, h);
}

char *cache_path(const struct file *f, const struct symres *s)
{
	return path_of(f, s, KEPT_ADDRESSES, "");
}

/* Does the head describe this file, and do its parts fill the index file? */
static bool head_fits(const struct head *h, const struct head *want,
		      uint64_t size)
{
	uint64_t parts = index_bytes(h);

	return !memcmp(h->magic, want->magic, sizeof(h->magic)) &&
	       h->format == want->format &&
	       h->byte_order == want->byte_order && h->how == want->how &&
	       !memcmp(&h->file, &want->file, sizeof(h->file)) &&
	       !memcmp(&h->debug, &want->debug, sizeof(h->debug)) &&
	       h->build_id_len == want->build_id_len &&
	       !memcmp(h->build_id, want->build_id, sizeof(h->build_id)) &&
	       h->ntab <= MAX_TABLES && h->narrow <= 1 && h->size == size &&
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

/* Of mini debug info only the file is of use, which is read like any other.
 * @st: of the one that is meant. */
static int open_mini(struct file *f, struct symres *s, const char *path,
		     const struct stat *st, uint64_t size)
{
	int ret = input_open(&f->mini_in, &s->pool, NULL, path);

	if (ret)
		return ret;
	if (f->mini_in.dev != st->st_dev || f->mini_in.ino != st->st_ino ||
	    f->mini_in.size != sizeof(struct head) + size) {
		input_close(&f->mini_in);
		return -ESTALE;
	}
	f->mini_in.base = sizeof(struct head);
	f->mini_in.size = size;
	return 0;
}

/* In s->loading, where a handler of SIGBUS finds it too. */
static int map_file(struct symres *s, const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int ret = -ENOEXEC;
	void *map;

	if (fd < 0)
		return -errno;
	/* Nobody else's: it could be cut short under the mapping. */
	if (!fstat(fd, st) && S_ISREG(st->st_mode) &&
	    st->st_uid == geteuid() && !(st->st_mode & 022) &&
	    st->st_size > (off_t)sizeof(struct head) &&
	    st->st_size < INT32_MAX) {
		map = mmap(NULL, (size_t)st->st_size, PROT_READ,
			   MAP_PRIVATE | MAP_POPULATE, fd, 0);
		ret = map == MAP_FAILED ? -errno : 0;
		if (!ret)
			s->loading = (struct room) { map, (size_t)st->st_size };
	}
	close(fd);
	return ret;
}

/* The parts of an index in its mapping. */
static void find_parts(const struct head *h, unsigned char *map, size_t size,
		       struct index *ix, struct plt *plt)
{
	unsigned char *at = map + sizeof(*h);

	*ix = (struct index) {
		.map = map, .map_size = size, .n = h->n, .nchunk = h->nchunk,
		.narrow = h->narrow, .chunk = (struct index_chunk *)at,
	};
	at += h->nchunk * sizeof(struct index_chunk);
	*plt = (struct plt) { .v = (struct plt_slot *)at, .n = h->nplt };
	at += h->nplt * sizeof(struct plt_slot);
	ix->key = (uint32_t *)at;
	ix->val = (uint32_t *)(at + pad(h->n * sizeof(uint32_t)));
}

/* Names are those of tables that have been found. */
static int take_names(struct file *f, const struct head *h, struct index *ix)
{
	if (h->nplt || h->nchunk != 1 || !tables_fit(f, h))
		return -ENOEXEC;
	f->names = *ix;
	return 0;
}

static int take(struct file *f, struct symres *s, enum kept what,
		const char *path, const struct stat *st)
{
	const struct head *h = s->loading.mem;
	size_t size = s->loading.size;
	struct index ix;
	struct plt plt;
	struct head want;
	int ret;

	describe(f, s, what, &want);
	if (!head_fits(h, &want, size) ||
	    h->sum != sum_of(h, h + 1, size - sizeof(*h)))
		return -ENOEXEC;
	find_parts(h, s->loading.mem, size, &ix, &plt);
	if (!chunks_fit(&ix))
		return -ENOEXEC;
	if (what == KEPT_MINI)
		return h->mini_size && size - h->mini_size == sizeof(*h) ?
		       open_mini(f, s, path, st, h->mini_size) : -ENOEXEC;
	if (h->mini_size)
		return -ENOEXEC;
	if (what == KEPT_NAMES)
		return take_names(f, h, &ix);
	ret = file_find_tables(f, s, true);
	if (!ret && !tables_fit(f, h))
		ret = -ENOEXEC;
	if (ret)
		return ret;
	f->plt = plt;
	f->index = ix;
	return 0;
}

/* 0: the file has what was kept now; -ENOMEM; else there was none of use. */
int cache_load(struct file *f, struct symres *s, enum kept what)
{
	struct room before = s->loading;
	struct stat st;
	char *path;
	int ret;

	if (!s->cache_dir || f->in.mem)
		return -ENOENT;
	path = path_of(f, s, what, "");
	if (!path)
		return -ENOMEM;
	ret = map_file(s, path, &st);
	if (!ret) {
		ret = take(f, s, what, path, &st);
		if (ret || what == KEPT_MINI)
			munmap(s->loading.mem, s->loading.size);
		if (ret && what == KEPT_ADDRESSES)
			file_forget_tables(f);
		s->loading = before;
	}
	free(path);
	return ret;
}

static int put(int fd, const void *buf, size_t len)
{
	const char *from = buf;

	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int put_padded(int fd, const void *v, uint64_t len)
{
	static const char zero[8];
	int ret = put(fd, v, len);

	return ret ? ret : put(fd, zero, pad(len) - len);
}

/* All but the right checksum. */
static int write_all(const struct file *f, const struct index *ix,
		     const struct head *h, int fd)
{
	int ret = put(fd, h, sizeof(*h));

	if (!ret)
		ret = put(fd, ix->chunk, ix->nchunk * sizeof(*ix->chunk));
	if (!ret)
		ret = put(fd, f->plt.v, h->nplt * sizeof(*f->plt.v));
	if (!ret)
		ret = put_padded(fd, ix->key, ix->n * sizeof(*ix->key));
	if (!ret)
		ret = put_padded(fd, ix->val, value_bytes(h));
	return ret;
}

/* Of what lies on the disk now: it was not summed up while it was written. */
static int write_sum(struct symres *s, struct head *h, int fd, void **map)
{
	*map = mmap(NULL, h->size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (*map == MAP_FAILED)
		return -errno;
	s->loading = (struct room) { *map, h->size };
	h->sum = sum_of(h, (struct head *)*map + 1, h->size - sizeof(*h));
	s->loading = (struct room) { 0 };
	if (pwrite(fd, h, sizeof(*h), 0) == sizeof(*h))
		return 0;
	munmap(*map, h->size);
	return -EIO;
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

/* What is on disk now need not be in memory as well. */
static void exchange(struct file *f, enum kept what, const struct head *h,
		     void *map)
{
	struct index ix;
	struct plt plt;

	find_parts(h, map, h->size, &ix, &plt);
	if (what == KEPT_NAMES) {
		index_free(&f->names);
		f->names = ix;
		return;
	}
	plt_free(&f->plt, false);
	index_free(&f->index);
	f->plt = plt;
	f->index = ix;
}

static void fill_head(const struct file *f, const struct symres *s,
		      enum kept what, struct head *h)
{
	const struct index *ix = what == KEPT_NAMES ? &f->names : &f->index;

	describe(f, s, what, h);
	h->ntab = f->ntab;
	for (uint32_t i = 0; i < h->ntab; i++)
		h->tab[i] = (struct table_mark) {
			f->tab[i].off, f->tab[i].count, f->tab[i].source,
		};
	h->nchunk = ix->nchunk;
	h->n = ix->n;
	h->narrow = ix->narrow;
	if (what == KEPT_ADDRESSES)
		h->nplt = (uint32_t)f->plt.n;
	h->size = index_bytes(h);
}

static int create(const struct symres *s, char *temp)
{
	int fd = mkostemp(temp, O_CLOEXEC | O_RDWR);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	make_dirs(s->cache_dir);
	strcpy(temp + strlen(temp) - 6, "XXXXXX");
	return mkostemp(temp, O_CLOEXEC | O_RDWR);
}

/* A file on its way into the cache, under another name until it is complete. */
struct new_kept {
	char *path, *temp;
	int fd;
	bool there;		/* under the other name */
};

/* 0, or an error; new_end() comes after either. */
static int new_begin(struct new_kept *n, const struct file *f,
		     const struct symres *s, enum kept what)
{
	*n = (struct new_kept) { .fd = -1 };
	n->path = path_of(f, s, what, "");
	n->temp = path_of(f, s, what, ".XXXXXX");
	if (!n->path || !n->temp)
		return -ENOMEM;
	n->fd = create(s, n->temp);
	n->there = n->fd >= 0;
	return n->there ? 0 : -EIO;
}

static int new_keep(struct new_kept *n)
{
	if (rename(n->temp, n->path))
		return -EIO;
	n->there = false;
	return 0;
}

static void new_end(struct new_kept *n)
{
	if (n->fd >= 0)
		close(n->fd);
	if (n->there)
		unlink(n->temp);
	free(n->path);
	free(n->temp);
}

/* An index that cannot be kept is still of use. */
void cache_save(struct file *f, struct symres *s, enum kept what)
{
	const struct index *ix = what == KEPT_NAMES ? &f->names : &f->index;
	struct new_kept new;
	void *map = MAP_FAILED;
	struct head h;

	if (!s->cache_dir || f->in.mem || !ix->n)
		return;
	fill_head(f, s, what, &h);
	if (!new_begin(&new, f, s, what) && !write_all(f, ix, &h, new.fd) &&
	    !write_sum(s, &h, new.fd, &map) && !file_unchanged(f) &&
	    !new_keep(&new))
		exchange(f, what, &h, map);
	else if (map != MAP_FAILED)
		munmap(map, h.size);
	new_end(&new);
}

/*
 * Mini debug info on its way to the disk, perhaps by the worker. That reads only
 * what is here, and of the session and the file what never changes.
 */
struct unpacking {
	struct task task;
	const struct file *f;
	struct symres *s;
	uint64_t off, size;	/* in the file */
	struct head h;
	struct sum sum;
	int fd;
	int class, encoding;	/* that it is to have */
	char *path;		/* where it is once it has been kept */
	struct stat st;
	int ret;
	atomic_bool dropped;	/* it is of no use any more */
};

static void unpacking_begin(struct unpacking *u, struct file *f,
			    struct symres *s, uint64_t off, uint64_t size)
{
	*u = (struct unpacking) {
		.f = f, .s = s, .off = off, .size = size,
		.class = f->elf.class, .encoding = f->elf.encoding,
	};
	describe(f, s, KEPT_MINI, &u->h);
}

/* Not to fill a disk with what is of no use: it begins like its file. */
static bool begins_well(const struct unpacking *u, const void *piece,
			size_t len)
{
	Elf64_Ehdr e;

	if (len < sizeof(e))
		return false;
	memcpy(&e, piece, sizeof(e));
	return !memcmp(e.e_ident, ELFMAG, SELFMAG) &&
	       e.e_ident[EI_CLASS] == u->class &&
	       e.e_ident[EI_DATA] == u->encoding;
}

static int write_piece(void *arg, const void *piece, size_t len)
{
	struct unpacking *u = arg;

	if (atomic_load(&u->dropped))
		return -ECANCELED;
	if (!u->sum.bytes && !begins_well(u, piece, len))
		return -EBADMSG;
	sum_add(&u->sum, piece, len);
	/* No error that could be one of what is unpacked. */
	return put(u->fd, piece, len) ? -EIO : 0;
}

/* @in: what to read; @file: what has to be the same afterwards. */
static void unpack_to_disk(struct unpacking *u, struct input *in,
			   struct input *file, const struct room *room)
{
	struct head *h = &u->h;
	struct new_kept new;
	int ret = new_begin(&new, u->f, u->s, KEPT_MINI);

	u->fd = new.fd;
	if (!ret && put(u->fd, h, sizeof(*h)))
		ret = -EIO;
	if (!ret)
		ret = unpack_pieces(in, u->off, u->size, room, write_piece, u);
	h->mini_size = u->sum.bytes;
	h->size = sizeof(*h) + h->mini_size;
	h->sum = sum_end(&u->sum, h);
	if (!ret && (pwrite(u->fd, h, sizeof(*h), 0) != sizeof(*h) ||
		     fstat(u->fd, &u->st) || input_unchanged(file) ||
		     new_keep(&new)))
		ret = -EIO;
	if (!ret) {
		u->path = new.path;
		new.path = NULL;
	}
	new_end(&new);
	u->ret = ret;
}

static int take_unpacked(struct unpacking *u, struct file *f, struct symres *s)
{
	int ret = u->ret;

	if (!ret)
		ret = open_mini(f, s, u->path, &u->st, u->h.mini_size);
	free(u->path);
	return ret;
}

/*
 * Decompresses the mini debug info, of @size bytes at @off, to where it is kept.
 * 0: the file has it now; -EBADMSG, -EFBIG or -ENOMEM: it cannot be unpacked or is
 * none; else it cannot be kept.
 */
int cache_unpack_mini(struct file *f, struct symres *s, uint64_t off,
		      uint64_t size, const struct room *room)
{
	struct unpacking u;

	if (!s->cache_dir || f->in.mem)
		return -ENOENT;
	unpacking_begin(&u, f, s, off, size);
	unpack_to_disk(&u, f->elf.in, &f->in, room);
	return take_unpacked(&u, f, s);
}

/* The caller's thread reads the file meanwhile, and closes it: not this one. */
static void unpack_task(struct task *t)
{
	static const struct room none;
	struct unpacking *u = (struct unpacking *)t;
	const struct input *of = &u->f->in;
	struct input_pool pool = { 0 };
	struct input in;

	u->ret = input_open(&in, &pool, of->root, of->path + of->below);
	if (u->ret)
		return;
	if (input_same(&in, of))
		unpack_to_disk(u, &in, &in, &none);
	else
		u->ret = -ESTALE;
	input_close(&in);
}

/* The same by the worker: 0: it is about to, see cache_unpack_end(). */
int cache_unpack_ahead(struct file *f, struct symres *s, uint64_t off,
		       uint64_t size)
{
	struct unpacking *u;
	int ret;

	/* What is in memory can be forgotten meanwhile. */
	if (!s->cache_dir || f->in.mem || f->elf.in != &f->in)
		return -ENOENT;
	u = malloc(sizeof(*u));
	if (!u)
		return -ENOMEM;
	unpacking_begin(u, f, s, off, size);
	u->task.run = unpack_task;
	ret = worker_add(&s->worker, &u->task);
	if (ret)
		free(u);
	else
		f->unpacking = u;
	return ret;
}

/* Waits for that. 0: the file has it now; -EBADMSG or -EFBIG: nobody will; else
 * whoever needs it has to try for himself. */
int cache_unpack_end(struct file *f, struct symres *s)
{
	struct unpacking *u = f->unpacking;
	int ret = -ECHILD;

	f->unpacking = NULL;
	if (worker_wait(&s->worker, &u->task))
		ret = take_unpacked(u, f, s);
	free(u);
	return ret;
}

/* It is not needed, or may not be. */
void cache_unpack_drop(struct file *f)
{
	struct unpacking *u = f->unpacking;

	if (!u)
		return;
	f->unpacking = NULL;
	atomic_store(&u->dropped, true);
	if (worker_drop(&u->s->worker, &u->task))
		free(u->path);
	free(u);
}
