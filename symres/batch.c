// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of standard input, each with a file and an address in it. They are
 * answered as they come; what was asked so far is answered before more is
 * waited for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

#define READ_SIZE (64u << 10)
#define MAX_LINE (1u << 20)

struct batch {
	struct symres *s;
	const struct format *format;
	enum status status;
	uint64_t line;
};

/* PATH, a tab, perhaps an offset in the file and a tab, and the address. */
static bool split(char *line, uint64_t *addr)
{
	char *tab = strrchr(line, '\t');
	uint64_t offset;

	if (!tab || tab == line || !parse_address(tab + 1, addr))
		return false;
	*tab = 0;
	tab = strrchr(line, '\t');
	if (tab && tab != line && parse_address(tab + 1, &offset))
		*tab = 0;
	return true;
}

static void answer(struct batch *b, char *line)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	uint64_t addr = 0;
	int ret = -EINVAL;
	size_t len = strlen(line);

	b->line++;
	if (len && line[len - 1] == '\r')
		line[len - 1] = 0;
	if (split(line, &addr)) {
		ret = symres_lookup_file(b->s, line, addr, &sym);
		if (ret < 0)
			complain("%s: %s", line, strerror(-ret));
	} else {
		complain("line %llu is not PATH, a tab and a hexadecimal address",
			 (unsigned long long)b->line);
	}
	if (ret < 0)
		b->status = FAILED;
	print_answer(b->format, line, addr, ret, &sym);
}

/* All whole lines in the buffer; returns how much that was. */
static size_t answer_lines(struct batch *b, char *buf, size_t len)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(buf + at, '\n', len - at))) {
		*end = 0;
		answer(b, buf + at);
		at = (size_t)(end + 1 - buf);
	}
	return at;
}

enum status lookup_batch(struct symres *s, const struct format *format)
{
	struct batch b = { .s = s, .format = format };
	char *buf = malloc(READ_SIZE + MAX_LINE + 1);
	size_t have = 0, used;
	ssize_t n;

	if (!buf) {
		complain("%s", strerror(ENOMEM));
		return FAILED;
	}
	while ((n = read(STDIN_FILENO, buf + have, READ_SIZE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			complain("standard input: %s", strerror(errno));
			b.status = FAILED;
			break;
		}
		have += (size_t)n;
		/* Without memory for it, all is as it would be anyway. */
		symres_batch_begin(s);
		used = answer_lines(&b, buf, have);
		have -= used;
		memmove(buf, buf + used, have);
		if (have > MAX_LINE) {
			complain("line %llu is longer than a MiB; no more is read",
				 (unsigned long long)b.line + 1);
			b.status = FAILED;
			have = 0;
			break;
		}
		fflush(stdout);
	}
	if (have) {
		buf[have] = 0;
		answer(&b, buf);
	}
	symres_batch_end(s);
	free(buf);
	return b.status;
}
