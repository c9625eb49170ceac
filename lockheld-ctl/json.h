/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes JSON, indented, to stdout. */
#ifndef LOCKHELD_CTL_JSON_H
#define LOCKHELD_CTL_JSON_H

#include <stdbool.h>

struct json {
	unsigned int depth;
	bool comma;		/* something stands before in this { or [ */
};

/* @key is NULL in an array and for the outermost value. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, unsigned long long value);
void json_bool(struct json *j, const char *key, bool value);

#endif
