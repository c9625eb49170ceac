// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of standard input, each with a file and an address in it. As many are
 * asked at once as are there; what was asked so far is answered before more is
 * waited for.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

#define READ_SIZE (64u << 10)
#define MAX_LINE (1u << 20)
#define PLACES 1024u

/* A path that was read lately. */
struct known {
	char *path;
	size_t len;
	struct symres_place *place;
};

struct batch {
	struct symres *s;
	const struct format *format;
	bool verbose;
	enum status status;
	bool skip;		/* what is left of a line that is too long */
	uint64_t line;
	void *told_left;	/* debug files of which that was told */
	bool told_memory;
	struct known known[PLACES];
	char out[READ_SIZE];
};

/* Not what the file is to blame for; once is enough. */
static void tell_memory(struct batch *b)
{
	if (!b->told_memory)
		complain("%s: what is not named may have a name",
			 strerror(ENOMEM));
	b->told_memory = true;
	b->status = FAILED;
}

/* Answers to all that was asked. */
static void answer(struct batch *b)
{
	const struct symres_answer *is;
	size_t len = 0, n;
	uint64_t addr;

	while ((is = symres_answer(b->s, &addr))) {
		if (!is->name && is->err == ENOMEM)
			tell_memory(b);
		n = put_name(b->out + len, sizeof(b->out) - len, b->format, is,
			     addr);
		if (!n) {
			fwrite_unlocked(b->out, 1, len, stdout);
			len = 0;
			n = put_name(b->out, sizeof(b->out), b->format, is, addr);
		}
		if (!n)
			print_name(b->format, is->name, addr - is->addr);
		len += n;
	}
	fwrite_unlocked(b->out, 1, len, stdout);
}

static void refuse_line(struct batch *b, const char *why)
{
	answer(b);
	complain("line %llu %s", (unsigned long long)b->line, why);
	print_refused(b->format, b->line, why);
	b->status = FAILED;
}

/* PATH, a tab, perhaps an offset in the file and a tab, and the address. No path
 * has a NUL: what is before it could be another file. */
static bool split(char *line, size_t *len, uint64_t *addr)
{
	char *tab = memrchr(line, '\t', *len);

	if (!tab || tab == line ||
	    !parse_hex(tab + 1, (size_t)(line + *len - tab - 1), addr))
		return false;
	*len = (size_t)(tab - line);
	tab = memrchr(line, '\t', *len);
	if (tab && tab != line &&
	    is_hex(tab + 1, (size_t)(line + *len - tab - 1)))
		*len = (size_t)(tab - line);
	line[*len] = 0;
	return strlen(line) == *len;
}

/* Eight bytes at a time, the last eight perhaps some of them again. */
static size_t slot_of(const char *path, size_t len)
{
	uint64_t h = len, part = 0;

	for (size_t i = 0; i + sizeof(part) < len; i += sizeof(part)) {
		memcpy(&part, path + i, sizeof(part));
		h = (h ^ part) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	if (len >= sizeof(part))
		memcpy(&part, path + len - sizeof(part), sizeof(part));
	else
		memcpy(&part, path, len);
	return ((h ^ part) * 0x9e3779b97f4a7c15u >> 40) % PLACES;
}

static int find_place(struct batch *b, const char *path, size_t len,
		      struct symres_place **out)
{
	struct known *k = &b->known[slot_of(path, len)];
	int ret;

	if (!k->path || k->len != len || memcmp(k->path, path, len)) {
		ret = symres_place(b->s, path, &k->place);
		if (ret)
			return ret;
		free(k->path);
		k->path = strdup(path);
		k->len = len;
	}
	*out = k->place;
	return 0;
}

/* All that is known takes a look-up of its own. */
static int answer_in_full(struct batch *b, const char *path, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	int ret = symres_lookup_file(b->s, path, addr, &sym);

	if (ret >= 0)
		print_answer(b->format, path, addr, ret, &sym);
	if (ret >= 0 && b->verbose && sym.left &&
	    first_time(&b->told_left, sym.left_path))
		tell_left(path, sym.left_path, sym.left, sym.left_err);
	if (!ret && b->verbose)
		tell_miss(addr, &sym);
	return ret < 0 ? ret : 1;
}

static void ask(struct batch *b, char *line, size_t len)
{
	struct symres_place *place;
	uint64_t addr;
	int ret;

	b->line++;
	if (len && line[len - 1] == '\r')
		len--;
	if (!split(line, &len, &addr)) {
		refuse_line(b, "is not PATH, a tab and a hexadecimal address");
		return;
	}
	ret = b->format->json || b->verbose ?
		answer_in_full(b, line, addr) : find_place(b, line, len, &place);
	if (!ret)
		ret = symres_ask(b->s, place, addr);
	if (ret < 0)
		refuse_line(b, strerror(-ret));
	else if (!ret)
		answer(b);
}

/* All whole lines in the buffer; returns how much that was. */
static size_t ask_lines(struct batch *b, char *buf, size_t len)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(buf + at, '\n', len - at))) {
		ask(b, buf + at, (size_t)(end - buf - at));
		at = (size_t)(end + 1 - buf);
	}
	return at;
}

/* Returns how much is left of the buffer. */
static size_t skip_line(struct batch *b, char *buf, size_t len)
{
	char *end = memchr(buf, '\n', len);
	size_t used = end ? (size_t)(end + 1 - buf) : len;

	b->skip = !end;
	memmove(buf, buf + used, len - used);
	return len - used;
}

static bool more_is_there(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) == 1;
}

enum status lookup_batch(struct symres *s, const struct format *format,
			 bool verbose)
{
	static char written[READ_SIZE];
	static struct batch b;
	char *buf = malloc(READ_SIZE + MAX_LINE + 1);
	size_t have = 0, used;
	ssize_t n;

	b = (struct batch) { .s = s, .format = format, .verbose = verbose };
	if (!buf) {
		complain("%s", strerror(ENOMEM));
		return FAILED;
	}
	/* Of that size only if it is ours. */
	setvbuf(stdout, written, _IOFBF, sizeof(written));
	while ((n = read(STDIN_FILENO, buf + have, READ_SIZE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			complain("standard input: %s", strerror(errno));
			b.status = FAILED;
			break;
		}
		have += (size_t)n;
		if (b.skip)
			have = skip_line(&b, buf, have);
		used = ask_lines(&b, buf, have);
		have -= used;
		memmove(buf, buf + used, have);
		if (have > MAX_LINE) {
			b.line++;
			refuse_line(&b, "is longer than a MiB");
			b.skip = true;
			have = 0;
		}
		if (!more_is_there()) {
			answer(&b);
			fflush(stdout);
		}
	}
	if (have)
		ask(&b, buf, have);
	answer(&b);
	for (size_t i = 0; i < PLACES; i++)
		free(b.known[i].path);
	free(buf);
	forget_told(b.told_left);
	return b.status;
}
