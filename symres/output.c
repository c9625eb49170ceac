// SPDX-License-Identifier: LGPL-2.1-or-later
/* One line for each answer, as text or as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Of eight bytes: has one its top bit where it is no printable ASCII? */
static inline uint64_t odd_bits(const char *name)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t part;

	memcpy(&part, name, sizeof(part));
	return part | (part - ones * ' ') | (part + ones);
}

/* Eight bytes at a time, the last ones maybe twice; what is odd one by one. */
static bool is_plain(const char *name, size_t len)
{
	const uint64_t tops = 0x8080808080808080u;
	const char *end = name + len, *at;
	uint64_t odd = tops;

	if (len >= sizeof(odd)) {
		odd = odd_bits(end - sizeof(odd));
		for (at = name; at < end - sizeof(odd); at += sizeof(odd))
			odd |= odd_bits(at);
	}
	if (!(odd & tops))
		return true;
	for (; name < end; name++)
		if (is_control(*name))
			return false;
	return true;
}

/* A byte as text that stays on its line; returns its length. */
size_t escape(char c, char out[ESCAPED])
{
	if (c == '\n' || c == '\t')
		return (size_t)sprintf(out, "\\%c", c == '\n' ? 'n' : 't');
	if (is_control(c))
		return (size_t)sprintf(out, "\\x%02x", (unsigned char)c);
	*out = c;
	return 1;
}

/* Bytes of well-formed UTF-8 at @s, or 0. */
static size_t utf8(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s >= 0xf0 && *s < 0xf8 ? 4 : *s >= 0xe0 && *s < 0xf0 ? 3 :
		   *s >= 0xc0 && *s < 0xe0 ? 2 : 0;
	uint32_t c = *s & (0x7f >> n);

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

/* Names are bytes; those that are no text become lone surrogates. */
void json_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	putchar('"');
	for (; *s; s += n) {
		n = 1;
		if (*s == '"' || *s == '\\') {
			printf("\\%c", *s);
		} else if (*s < 0x20) {
			printf("\\u%04x", *s);
		} else if (*s < 0x80) {
			putchar(*s);
		} else if (utf8(s)) {
			n = utf8(s);
			fwrite(s, 1, n, stdout);
		} else {
			printf("\\udc%02x", *s);
		}
	}
	putchar('"');
}

/* Pipes and devices are not opened at all. */
const char *why_of(int err)
{
	return err == ENODEV ? "not a regular file" : strerror(err);
}

static void json_hex(const char *key, uint64_t v)
{
	printf(",\"%s\":\"0x%" PRIx64 "\"", key, v);
}

static void json_text(const char *key, const char *text)
{
	printf(",\"%s\":", key);
	json_string(text);
}

void json_left(const char *path, enum symres_left why, int err)
{
	json_text("debug_left", path);
	json_text("debug_left_why", symres_left_str(why));
	if (err)
		json_text("debug_left_error", strerror(err));
}

static void print_json(const char *path, uint64_t addr, int ret,
		       const struct symres_sym *sym)
{
	static const char *const kinds[] = {
		[SYMRES_KIND_UNKNOWN] = "label", [SYMRES_KIND_FUNC] = "function",
		[SYMRES_KIND_DATA] = "data", [SYMRES_KIND_ABS] = "number",
	};

	printf("{\"address\":\"0x%" PRIx64 "\"", addr);
	if (path)
		json_text("path", path);
	if (ret < 0) {
		json_text("error", strerror(-ret));
		puts("}");
		return;
	}
	if (sym->module)
		json_text("module", sym->module);
	if (sym->build_id_len) {
		fputs(",\"build_id\":\"", stdout);
		for (size_t i = 0; i < sym->build_id_len; i++)
			printf("%02x", sym->build_id[i]);
		putchar('"');
	}
	if (ret > 0) {
		json_text("name", sym->name);
		json_hex("start", sym->addr);
		json_hex("offset", sym->offset);
		json_hex("size", sym->sym_size);
		json_text("source", symres_source_str(sym->source));
		json_text("kind", kinds[sym->kind]);
		printf(",\"approximate\":%s",
		       sym->flags & SYMRES_F_APPROX ? "true" : "false");
	} else {
		json_text("miss", symres_miss_str(sym->miss));
		if (sym->err)
			json_text("error", why_of(sym->err));
	}
	if (sym->left)
		json_left(sym->left_path, sym->left, sym->left_err);
	puts("}");
}

/* Whoever reads lines must get a line for each answer, whatever names hold. */
void print_text(const char *text)
{
	size_t len = strlen(text);
	char out[ESCAPED];

	if (is_plain(text, len)) {
		fwrite_unlocked(text, 1, len, stdout);
		return;
	}
	for (; *text; text++)
		fwrite_unlocked(out, 1, escape(*text, out), stdout);
}

/* @name: NULL: none is known. */
void print_name(const struct format *format, const char *name, uint64_t offset)
{
	print_text(name ? name : "??");
	if (name && format->offset)
		printf("+0x%" PRIx64, offset);
	putc_unlocked('\n', stdout);
}

/*
 * What print_name() would print, where there is room for it and nothing has to
 * be escaped: for many answers, which a call of the standard library for each
 * would make slow. Returns its length; 0: it has to be printed.
 */
size_t put_name(char *to, size_t room, const struct format *format,
		const struct symres_answer *is, uint64_t addr)
{
	static const char digits[16] = "0123456789abcdef";
	uint64_t offset = addr - is->addr;
	size_t len = is->name_len;

	if (len >= room || room - len < sizeof("+0x\n") + 16)
		return 0;
	if (!is->name) {
		memcpy(to, "??\n", 3);
		return 3;
	}
	if (!is_plain(is->name, len))
		return 0;
	memcpy(to, is->name, len);
	if (format->offset) {
		int shift = offset ? (63 - __builtin_clzll(offset)) / 4 * 4 : 0;

		memcpy(to + len, "+0x", 3);
		for (len += 3; shift >= 0; shift -= 4)
			to[len++] = digits[offset >> shift & 15];
	}
	to[len] = '\n';
	return len + 1;
}

/* In place of the answer to a line that is no question. */
void print_refused(const struct format *format, uint64_t line, const char *why)
{
	if (!format->json) {
		puts("??");
		return;
	}
	printf("{\"line\":%" PRIu64 ",\"error\":", line);
	json_string(why);
	puts("}");
}

void print_answer(const struct format *format, const char *path, uint64_t addr,
		  int ret, const struct symres_sym *sym)
{
	if (format->json) {
		print_json(path, addr, ret, sym);
		return;
	}
	if (format->address)
		printf("0x%" PRIx64 ": ", addr);
	print_name(format, ret > 0 ? sym->name : NULL, sym->offset);
}
