// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a map of compiled code, against the plain reading of it: the last
 * line that holds an address names it. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct line {
	uint64_t start, end;
	const char *name;
};

static bool hex(const char **at, uint64_t *v)
{
	const char *s = *at;
	int digits = 0;

	*v = 0;
	if (s[0] == '0' && (s[1] | 0x20) == 'x' && s[2] &&
	    strchr("0123456789abcdefABCDEF", s[2]))
		s += 2;
	for (; *s && strchr("0123456789abcdefABCDEF", *s); s++, digits++) {
		if (*v >> 60)
			return false;
		*v = *v << 4 | (uint64_t)(*s <= '9' ? *s - '0' :
					  (*s | 0x20) - 'a' + 10);
	}
	if (!digits || *s != ' ')
		return false;
	*at = s + 1;
	return true;
}

static size_t read_lines(char *text, size_t len, struct line *v, size_t most)
{
	size_t n = 0;
	char *end;

	for (char *s = text; (end = memchr(s, '\n', len - (size_t)(s - text)));
	     s = end + 1) {
		const char *at = s;
		uint64_t size;

		*end = 0;
		if (n < most && hex(&at, &v[n].start) && hex(&at, &size) &&
		    *at && size && size <= UINT64_MAX - v[n].start) {
			v[n].end = v[n].start + size;
			v[n++].name = at;
		}
	}
	return n;
}

static void check(const struct jit *j, const struct line *v, size_t n,
		  uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	int ret = jit_find(j, addr, &sym);

	while (n && (addr < v[n - 1].start || addr >= v[n - 1].end))
		n--;
	if (ret != (n > 0) || (ret && (strcmp(sym.name, v[n - 1].name) ||
				       sym.addr != v[n - 1].start)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 400 };
	struct line *v = calloc(MOST, sizeof(*v));
	char *text = malloc(size + 1), *copy = malloc(size + 1);
	struct jit *j = jit_new();
	size_t n;

	memcpy(text, data, size);
	memcpy(copy, data, size);
	text[size] = copy[size] = 0;
	n = read_lines(copy, size, v, MOST);
	if (jit_parse(j, text, size))
		abort();
	for (size_t i = 0; i < n && n < MOST; i++) {
		check(j, v, n, v[i].start);
		check(j, v, n, v[i].start - 1);
		check(j, v, n, v[i].end);
		check(j, v, n, v[i].end - 1);
		check(j, v, n, v[i].start + (v[i].end - v[i].start) / 2);
	}
	jit_free(j);
	free(copy);
	free(v);
	return 0;
}
