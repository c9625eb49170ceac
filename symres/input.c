// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The bytes of a file, read with pread: a file cut short under a mapping would
 * kill the reader. Where the program has said that its SIGBUS comes to us,
 * files are mapped: small reads all over a file then take a tenth of the time.
 * Descriptors beyond a limit are closed and opened again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* Headers alone are not worth a mapping. */
enum { READS_BEFORE_MAP = 16 };

static void let_go(struct input *in)
{
	if (in->map) {
		munmap(in->map, in->map_size);
		in->pool->mapped -= in->map_size;
	}
	in->map = NULL;
	in->reads = 0;
	close(in->fd);
	in->fd = -1;
}

/* A slot for one more descriptor; @full: there can be no more of them. The one
 * unused for longest makes room; NULL: there is none. */
static struct input **pool_slot(struct input_pool *pool, bool full)
{
	struct input **oldest = NULL;

	for (size_t i = 0; i < INPUT_MAX_OPEN; i++) {
		struct input **slot = &pool->open[i];

		if (!*slot && !full)
			return slot;
		if (*slot && (!oldest || (*slot)->used < (*oldest)->used))
			oldest = slot;
	}
	if (!oldest)
		return NULL;
	let_go(*oldest);
	*oldest = NULL;
	return oldest;
}

static int open_once(const struct root *root, const char *path,
		     struct stat *st)
{
	int err = root_stat(root, path, st), fd;

	/* Opening a device or a pipe can have effects of its own. */
	if (err)
		return err;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (!S_ISREG(st->st_mode))
		return -ENODEV;
	fd = root_file(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, st))
		err = errno;
	else if (!S_ISREG(st->st_mode))
		err = ENODEV;
	if (err) {
		close(fd);
		return -err;
	}
	return fd;
}

/* The process may be allowed fewer descriptors than we keep. */
static int open_regular(struct input_pool *pool, const struct root *root,
			const char *path, struct stat *st)
{
	int fd;

	do {
		fd = open_once(root, path, st);
	} while ((fd == -EMFILE || fd == -ENFILE) && pool_slot(pool, true));
	return fd;
}

static bool stat_agrees(const struct input *in, const struct stat *st)
{
	return st->st_dev == in->dev && st->st_ino == in->ino &&
	       (uint64_t)st->st_size == in->base + in->size &&
	       st->st_mtim.tv_sec == in->mtime.tv_sec &&
	       st->st_mtim.tv_nsec == in->mtime.tv_nsec;
}

static void pool_add(struct input *in, int fd)
{
	*pool_slot(in->pool, false) = in;
	in->fd = fd;
	in->used = ++in->pool->tick;
}

/* @root: NULL, or what the path is below. */
int input_open(struct input *in, struct input_pool *pool, struct root *root,
	       const char *path)
{
	const char *slash = root && *path != '/' ? "/" : "";
	struct stat st;
	int fd;

	memset(in, 0, sizeof(*in));
	in->fd = -1;
	fd = open_regular(pool, root, path, &st);
	if (fd < 0)
		return fd;
	in->path = path_join(root ? root->name : "", slash, path);
	if (!in->path) {
		close(fd);
		return -ENOMEM;
	}
	in->root = root_get(root);
	in->below = root ? strlen(root->name) : 0;
	in->pool = pool;
	in->size = (uint64_t)st.st_size;
	in->dev = st.st_dev;
	in->ino = st.st_ino;
	in->mtime = st.st_mtim;
	in->ctime = st.st_ctim;
	pool_add(in, fd);
	return 0;
}

/* Takes over @mem. */
void input_from_memory(struct input *in, unsigned char *mem, uint64_t size)
{
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->mem = mem;
	in->size = size;
}

static int unpack_now(struct input *in)
{
	unsigned char *mem;
	size_t size;
	int ret = unpack(in->packed, 0, in->packed->size, &mem, &size);

	if (ret)
		return ret;
	free(in->mem);
	in->mem = mem;
	in->size = size;
	in->from = 0;
	return 0;
}

/* What a compressed file holds. */
int input_unpack(struct input *in, struct input *packed)
{
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->packed = packed;
	return unpack_now(in);
}

/* What is before @from is not needed; if it is after all, all of it is kept. */
void input_trim(struct input *in, uint64_t from)
{
	unsigned char *mem;
	size_t left;

	if (!in->packed || !in->mem || in->again || from <= in->from ||
	    from > in->size)
		return;
	left = (size_t)(in->size - from);
	memmove(in->mem, in->mem + (from - in->from), left);
	in->from = from;
	mem = realloc(in->mem, left ? left : 1);
	if (mem)
		in->mem = mem;
}

/* Gives back the memory of what can be unpacked again. */
void input_forget(struct input *in)
{
	if (!in->packed)
		return;
	free(in->mem);
	in->mem = NULL;
	in->again = false;
}

/* Another size is another file, which is seen to elsewhere. */
static int unpack_again(struct input *in)
{
	uint64_t size = in->size;
	int ret = unpack_now(in);

	in->again = true;
	return !ret && in->size != size ? -ESTALE : ret;
}

void input_close(struct input *in)
{
	if (in->fd >= 0) {
		for (size_t i = 0; i < INPUT_MAX_OPEN; i++)
			if (in->pool->open[i] == in)
				in->pool->open[i] = NULL;
		let_go(in);
	}
	free(in->mem);
	free(in->path);
	root_put(in->root);
	memset(in, 0, sizeof(*in));
	in->fd = -1;
}

/* What is opened may be another file by now: input_unchanged() tells. */
static int reopen(struct input *in)
{
	struct stat st;
	int fd;

	if (in->fd >= 0)
		return 0;
	if (!in->path)
		return -EBADF;
	fd = open_regular(in->pool, in->root, in->path + in->below, &st);
	if (fd < 0)
		return fd;
	pool_add(in, fd);
	return 0;
}

/* Most of the address space is for others. */
static uint64_t most_mapped(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur > SIZE_MAX)
		return SIZE_MAX / 8;
	return limit.rlim_cur / 8;
}

/* Without a mapping all is read with pread. */
static void map_if_worth(struct input *in)
{
	uint64_t size = in->base + in->size, most;
	void *to;

	if (in->reads++ != READS_BEFORE_MAP)
		return;
	most = most_mapped();
	if (size > most || in->pool->mapped > most - size)
		return;
	to = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (to == MAP_FAILED)
		return;
	in->map = to;
	in->map_size = (size_t)size;
	in->pool->mapped += size;
}

/*
 * What is in memory already, or NULL. It stays there until other files are
 * opened; whether it was all there is known afterwards, see input_lost().
 */
const unsigned char *input_view(const struct input *in, uint64_t off,
				uint64_t len)
{
	if (off > in->size || len > in->size - off)
		return NULL;
	if (in->mem && !in->packed)
		return in->mem + off;
	return in->map ? in->map + in->base + off : NULL;
}

/* Were there zeros in place of something that was in the file? */
bool input_lost(const struct input *in)
{
	/* The handler that says so ran in this thread, when that was read. */
	atomic_signal_fence(memory_order_acquire);
	return in->lost;
}

/*
 * Called by a handler of SIGBUS. From there to the end of a mapping there are
 * zeros from now on. False: it is not in this one.
 */
bool input_sigbus(unsigned char *map, size_t size, const void *addr)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)addr & ~(page - 1);
	uintptr_t begin = (uintptr_t)map;

	if (!map || from < begin || from - begin >= size)
		return false;
	return mmap((void *)from, size - (from - begin), PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED;
}

/* The same in all files that are mapped. */
bool pool_sigbus(struct input_pool *pool, const void *addr)
{
	for (size_t i = 0; i < INPUT_MAX_OPEN; i++) {
		struct input *in = pool->open[i];

		if (in && input_sigbus(in->map, in->map_size, addr)) {
			in->lost = true;
			return true;
		}
	}
	return false;
}

/* All of @len or an error. */
int input_read(struct input *in, uint64_t off, void *buf, size_t len)
{
	char *to = buf;
	ssize_t got;
	int ret;

	if (off > in->size || len > in->size - off)
		return -EIO;
	if (in->packed && (!in->mem || off < in->from)) {
		ret = unpack_again(in);
		if (ret)
			return ret;
	}
	if (in->mem) {
		memcpy(buf, in->mem + (off - in->from), len);
		return 0;
	}
	off += in->base;
	ret = reopen(in);
	if (ret)
		return ret;
	in->used = ++in->pool->tick;
	if (in->pool->map && !in->map)
		map_if_worth(in);
	if (in->map) {
		memcpy(buf, in->map + off, len);
		return input_lost(in) ? -EIO : 0;
	}
	while (len) {
		got = pread(in->fd, to, len, (off_t)off);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		to += got;
		off += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

/* 0, or -ESTALE when the file is no longer what was opened. */
int input_unchanged(struct input *in)
{
	struct stat st;
	int ret;

	if (in->mem || in->packed)
		return 0;
	if (input_lost(in))
		return -ESTALE;
	ret = reopen(in);
	if (ret)
		return ret;
	if (fstat(in->fd, &st))
		return -errno;
	return stat_agrees(in, &st) ? 0 : -ESTALE;
}

bool input_same(const struct input *a, const struct input *b)
{
	return !a->mem && !b->mem && a->dev == b->dev && a->ino == b->ino &&
	       a->size == b->size && a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec;
}
