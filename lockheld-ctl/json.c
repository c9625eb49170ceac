// SPDX-License-Identifier: GPL-2.0-only
/* Writes JSON, indented, to stdout. */
#include <stdio.h>

#include "json.h"

/* Bytes of the UTF-8 sequence at @s, 0 if it is not a valid one. */
static int utf8_len(const unsigned char *s)
{
	int len = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
		  *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Too long for what they say, halves of pairs, beyond the last. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void put_text(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putchar('"');
	while (*s) {
		int len = utf8_len(s);

		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < 0x20)
			printf("\\u%04x", *s);
		else if (!len)
			fputs("\\ufffd", stdout);
		else
			fwrite(s, 1, len, stdout);
		s += len ? len : 1;
	}
	putchar('"');
}

static void begin(struct json *j, const char *key)
{
	if (j->comma)
		putchar(',');
	if (j->depth)
		printf("\n%*s", (int)j->depth * 2, "");
	j->comma = true;
	if (key) {
		put_text(key);
		fputs(": ", stdout);
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	putchar(bracket);
	j->depth++;
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	if (j->comma)
		printf("\n%*s", (int)j->depth * 2, "");
	putchar(bracket);
	j->comma = true;
	if (!j->depth)
		putchar('\n');
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin(j, key);
	put_text(value);
}

void json_number(struct json *j, const char *key, unsigned long long value)
{
	begin(j, key);
	printf("%llu", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", stdout);
}
