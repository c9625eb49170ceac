// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is compressed by xz, gzip or zstd, decompressed into memory or piece by
 * piece. Known by its first bytes, never by its name. What is damaged, cut short
 * or longer than a limit is not taken at all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "internal.h"

/* For hostile files: what comes out, and what a decoder may need for it. */
#define MAX_SIZE (256u << 20)
#define MAX_DECODER (128u << 20)
#define MAX_WINDOW_LOG 27	/* the same, as zstd counts */

enum { STEP = 64 << 10 };

/* What a decoder is given: some input, and room for output. It takes of both. */
struct flow {
	const unsigned char *in;
	size_t in_len;
	unsigned char *out;
	size_t out_len;
	bool last;		/* there is no more input behind this */
};

static void taken(struct flow *flow, size_t in, size_t out)
{
	flow->in += in;
	flow->in_len -= in;
	flow->out += out;
	flow->out_len -= out;
}

/* Memory of the caller for the biggest thing that liblzma asks for, its
 * dictionary. */
struct lent {
	lzma_allocator calls;
	const struct room *room;
	bool taken;
};

static void *lend(void *arg, size_t n, size_t size)
{
	struct lent *lent = arg;

	if (size && n > SIZE_MAX / size)
		return NULL;
	if (lent->taken || n * size < STEP || n * size > lent->room->size)
		return malloc(n * size);
	lent->taken = true;
	return lent->room->mem;
}

static void give_back(void *arg, void *mem)
{
	struct lent *lent = arg;

	if (mem == lent->room->mem)
		lent->taken = false;
	else
		free(mem);
}

struct unpacker {
	enum packing packing;
	struct lent lent;
	union {
		lzma_stream xz;
		z_stream gz;
		ZSTD_DCtx *zstd;
	};
};

/* Which compression the bytes at @off are of. */
enum packing packing_of(struct input *in, uint64_t off)
{
	static const struct {
		enum packing packing;
		unsigned char len, magic[6];
	} known[] = {
		{ PACKING_XZ, 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
		{ PACKING_GZIP, 3, { 0x1f, 0x8b, 8 } },
		{ PACKING_ZSTD, 4, { 0x28, 0xb5, 0x2f, 0xfd } },
	};
	unsigned char buf[6];

	/* Nothing complete is shorter. */
	if (input_read(in, off, buf, sizeof(buf)))
		return PACKING_NONE;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!memcmp(buf, known[i].magic, known[i].len))
			return known[i].packing;
	return PACKING_NONE;
}

static int unpacker_begin(struct unpacker *u, enum packing packing,
			  const struct room *room)
{
	memset(u, 0, sizeof(*u));
	u->packing = packing;
	switch (packing) {
	case PACKING_XZ:
		u->lent = (struct lent) {
			{ lend, give_back, &u->lent }, room, false,
		};
		u->xz = (lzma_stream)LZMA_STREAM_INIT;
		u->xz.allocator = &u->lent.calls;
		return lzma_stream_decoder(&u->xz, MAX_DECODER, 0) == LZMA_OK ?
		       0 : -ENOMEM;
	case PACKING_GZIP:
		return inflateInit2(&u->gz, 16 + MAX_WBITS) == Z_OK ? 0 :
								      -ENOMEM;
	case PACKING_ZSTD:
		u->zstd = ZSTD_createDCtx();
		if (!u->zstd)
			return -ENOMEM;
		ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax,
				       MAX_WINDOW_LOG);
		return 0;
	default:
		return -EBADMSG;
	}
}

static void unpacker_end(struct unpacker *u)
{
	switch (u->packing) {
	case PACKING_XZ:
		lzma_end(&u->xz);
		break;
	case PACKING_GZIP:
		inflateEnd(&u->gz);
		break;
	case PACKING_ZSTD:
		ZSTD_freeDCtx(u->zstd);
		break;
	default:
		break;
	}
}

static int step_xz(lzma_stream *xz, struct flow *flow)
{
	lzma_ret state;

	xz->next_in = flow->in;
	xz->avail_in = flow->in_len;
	xz->next_out = flow->out;
	xz->avail_out = flow->out_len;
	state = lzma_code(xz, flow->last ? LZMA_FINISH : LZMA_RUN);
	taken(flow, flow->in_len - xz->avail_in, flow->out_len - xz->avail_out);
	if (state == LZMA_MEM_ERROR)
		return -ENOMEM;
	if (state == LZMA_STREAM_END)
		return 1;
	return state == LZMA_OK ? 0 : -EBADMSG;
}

static int step_gzip(z_stream *gz, struct flow *flow)
{
	int state;

	gz->next_in = (unsigned char *)flow->in;
	gz->avail_in = (uInt)flow->in_len;
	gz->next_out = flow->out;
	gz->avail_out = (uInt)flow->out_len;
	state = inflate(gz, Z_NO_FLUSH);
	taken(flow, flow->in_len - gz->avail_in, flow->out_len - gz->avail_out);
	if (state == Z_MEM_ERROR)
		return -ENOMEM;
	if (state == Z_STREAM_END)
		return 1;
	return state == Z_OK ? 0 : -EBADMSG;
}

static int step_zstd(ZSTD_DCtx *zstd, struct flow *flow)
{
	ZSTD_inBuffer in = { flow->in, flow->in_len, 0 };
	ZSTD_outBuffer out = { flow->out, flow->out_len, 0 };
	size_t left = ZSTD_decompressStream(zstd, &out, &in);

	taken(flow, in.pos, out.pos);
	if (ZSTD_isError(left))
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ?
		       -ENOMEM : -EBADMSG;
	if (!left)
		return 1;
	/* It does not say that it waits for what will not come. */
	return flow->last && !in.pos && !out.pos ? -EBADMSG : 0;
}

/* 1: the stream has ended; 0: it goes on; or an error. */
static int step(struct unpacker *u, struct flow *flow)
{
	switch (u->packing) {
	case PACKING_XZ:
		return step_xz(&u->xz, flow);
	case PACKING_GZIP:
		return step_gzip(&u->gz, flow);
	default:
		return step_zstd(u->zstd, flow);
	}
}

struct output {
	unsigned char *mem;
	size_t len, room;
	uint64_t passed_on;	/* before what is in memory */
	unpack_fn fn;		/* NULL: all stays there */
	void *arg;
};

static int pass_on(struct output *out)
{
	int ret = out->fn(out->arg, out->mem, out->len);

	out->passed_on += out->len;
	out->len = 0;
	return ret;
}

static int make_room(struct output *out)
{
	size_t more = out->room ? out->room * 2 : out->fn ? STEP : 256 << 10;
	unsigned char *bigger;

	if (out->fn && out->room)
		return out->passed_on + out->len < MAX_SIZE ? pass_on(out) :
							      -EFBIG;
	if (more > MAX_SIZE)
		return -EFBIG;
	bigger = realloc(out->mem, more);
	if (!bigger)
		return -ENOMEM;
	out->mem = bigger;
	out->room = more;
	return 0;
}

/* One stream of what is in [*at, end); moves *at behind it. */
static int unpack_stream(struct unpacker *u, struct input *in, uint64_t *at,
			 uint64_t end, unsigned char *buf, struct output *out)
{
	struct flow flow = { 0 };
	uint64_t next = *at;
	int ret = 0;

	while (!ret) {
		if (!flow.in_len && next < end) {
			flow.in = buf;
			flow.in_len = end - next < STEP ? (size_t)(end - next) :
							  STEP;
			ret = input_read(in, next, buf, flow.in_len);
			next += flow.in_len;
		}
		if (!ret && out->len == out->room)
			ret = make_room(out);
		if (ret)
			break;
		flow.last = next == end;
		flow.out = out->mem + out->len;
		flow.out_len = out->room - out->len;
		ret = step(u, &flow);
		out->len = (size_t)(flow.out - out->mem);
	}
	*at = next - flow.in_len;
	return ret < 0 ? ret : 0;
}

/* Some compressors write many streams. */
static int unpack_all(struct input *in, uint64_t off, uint64_t len,
		      const struct room *room, struct output *out)
{
	unsigned char *buf = malloc(STEP);
	enum packing packing = packing_of(in, off);
	struct unpacker u;
	uint64_t at = off, end = off + len;
	int ret = buf ? 0 : -ENOMEM;

	do {
		if (!ret)
			ret = unpacker_begin(&u, packing, room);
		if (ret)
			break;
		ret = unpack_stream(&u, in, &at, end, buf, out);
		unpacker_end(&u);
	} while (!ret && at < end && packing_of(in, at) == packing);
	free(buf);
	return ret;
}

/* The whole, or nothing and the reason. */
int unpack(struct input *in, uint64_t off, uint64_t len, unsigned char **mem,
	   size_t *size)
{
	static const struct room none;
	struct output out = { 0 };
	int ret = unpack_all(in, off, len, &none, &out);

	if (ret) {
		free(out.mem);
		return ret;
	}
	*size = out.len;
	*mem = realloc(out.mem, out.len ? out.len : 1);
	if (!*mem)
		*mem = out.mem;
	return 0;
}

/*
 * The same a piece at a time, all but the last of 64 KiB. An error may come after
 * some. @room: what is not needed meanwhile, perhaps nothing.
 */
int unpack_pieces(struct input *in, uint64_t off, uint64_t len,
		  const struct room *room, unpack_fn fn, void *arg)
{
	struct output out = { .fn = fn, .arg = arg };
	int ret = unpack_all(in, off, len, room, &out);

	if (!ret)
		ret = pass_on(&out);
	free(out.mem);
	return ret;
}
