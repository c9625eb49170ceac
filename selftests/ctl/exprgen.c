// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "exprgen.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TOKENS_MAX 512

static const char *const functions[] = {
	"lock_held", "lock_held_read", "lock_held_shared", "lock_held_write",
	"lock_held_exclusive", "held_ns",
};
static const char *const places[] = {
	"mutex", "rwsem", "spinlock", "rwlock", "rt-mutex", "percpu-rwsem",
	"pcpu-sem", "semaphore", "srcu", "rcu", "rcu-trace", "raw-spinlock",
	"mmap_lock", "siglock", "rq_lock", "zone_lock", "cgroup_mutex",
	"rtnl_mutex", "ext4:twice_lock", "twice_lock", "runqueues",
	"0xffffffff82000000", "0x12", "&dentry", "&twin", "&\"with blank\"",
	"srcu@cgroup_mutex", "mutex@0xffffffff82000000", "rwsem@ext4:ext4_li_mtx",
};
static const char *const modes[] = { "", "", "", ":W", ":R", ":x" };
static const char *const terms[] = {
	"ip", "pid", "tid", "cpu", "time", "addr", "period", "uid", "gid",
	"depth", "id", "txn", "weight", "weight1", "weight2", "weight3",
	"phys_addr", "code_pgsz", "data_pgsz", "cgroup", "mem_op", "mem_lvl",
	"mem_lvlnum", "mem_snoop", "mem_remote", "mem_lock", "mem_dtlb",
	"mem_blk", "mem_hops", "sample.pid",
};
static const char *const numbers[] = {
	"0", "1", "0x400", "010", "18446744073709551615", "0xffffffff82000000",
};
static const char *const times[] = { "5ms", "2s", "7us", "3ns", "0s" };
/* Comparisons of terms that have words for their values. */
static const char *const worded[] = {
	"irq == hard", "irq != none", "soft <= irq", "comm == bash",
	"comm != 'kworker/0:1'", "mem_op == load", "mem_op & STORE",
	"mem_lvl == L3", "mem_snoop & hitm", "mem_dtlb & walk == walk",
	"locked == mem_lock", "mem_blk != by_addr", "mem_hops >= hops2",
	"sample.irq == nmi", "name ~ 'eth*'", "name == \"lo\"",
};
/* Of the two tracepoints that there are formats of. */
static const char *const fields[] = {
	"pfn", "order", "gfp_flags", "migratetype", "common_pid", "irq",
	"name", "flag", "small", "id",
};
static const char *const values[] = {
	"0", "1", "0x400", "010", "18446744073709551615", "-1", "5ms", "2s",
	"7us", "3ns", "hard", "none", "load", "L3", "hitm", "walk", "bash",
	"\"kworker/0:1\"", "'a\"b'", "\"/lockheld\"",
};
static const char *const operators[] = {
	"==", "!=", "<", "<=", ">", ">=", "&", "~",
};
static const char *const joints[] = { "&&", "||", "," };
static const char *const marks[] = {
	"(", ")", "!", "-", ":", "@", "&", "\"", "",
};

static const struct {
	const char *const *words;
	size_t n;
} kinds[] = {
	{ functions, COUNT(functions) }, { places, COUNT(places) },
	{ modes, COUNT(modes) }, { terms, COUNT(terms) },
	{ fields, COUNT(fields) }, { values, COUNT(values) },
	{ numbers, COUNT(numbers) }, { times, COUNT(times) },
	{ worded, COUNT(worded) },
	{ operators, COUNT(operators) }, { joints, COUNT(joints) },
	{ marks, COUNT(marks) },
};

#define PICK(words) ((words)[next(COUNT(words))])

static uint32_t state;

static size_t next(size_t below)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* Where an expression is being written; what does not fit is lost. */
struct out {
	char text[4096];
	size_t len;
};

static void put(struct out *out, const char *word)
{
	size_t len = strlen(word);

	if (out->len + len + 1 >= sizeof(out->text))
		return;
	memcpy(out->text + out->len, word, len);
	out->len += len;
	if (next(8))
		out->text[out->len++] = ' ';
}

static void put_lock(struct out *out)
{
	put(out, PICK(functions));
	put(out, "(");
	put(out, PICK(places));
	put(out, PICK(modes));
	put(out, ")");
}

static void put_comparison(struct out *out)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };

	switch (next(8)) {
	case 0:
		put(out, PICK(fields));
		put(out, PICK(operators));
		put(out, PICK(values));
		break;
	case 1:
		put(out, PICK(worded));
		break;
	case 2:
		put(out, "held_ns(");
		put(out, PICK(places));
		put(out, ")");
		put(out, PICK(ops));
		put(out, PICK(times));
		break;
	case 3:
		put(out, PICK(terms));
		put(out, "&");
		put(out, PICK(numbers));
		break;
	case 4:
		put(out, PICK(terms));
		put(out, PICK(ops));
		put(out, PICK(terms));
		break;
	default:
		put(out, PICK(terms));
		put(out, PICK(ops));
		put(out, PICK(numbers));
		break;
	}
}

/* Most of them make sense. */
static void put_expr(struct out *out, unsigned int depth)
{
	switch (next(depth ? 7 : 4)) {
	case 0:
		put_lock(out);
		break;
	case 1:
		put(out, PICK(terms));
		break;
	case 2:
	case 3:
		put_comparison(out);
		break;
	case 4:
		put(out, "!");
		put_expr(out, depth - 1);
		break;
	case 5:
		put(out, "(");
		put_expr(out, depth - 1);
		put(out, ")");
		break;
	default:
		put_expr(out, depth - 1);
		put(out, PICK(joints));
		put_expr(out, depth - 1);
		break;
	}
}

struct token {
	const char *at;
	size_t len;
};

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Roughly as the language has them: it need not be right. */
static size_t split(const char *text, size_t len, struct token tokens[])
{
	size_t i = 0, n = 0, start;

	while (i < len && n < TOKENS_MAX) {
		if (text[i] == ' ') {
			i++;
			continue;
		}
		start = i++;
		if (in_word(text[start]))
			while (i < len && in_word(text[i]))
				i++;
		else if (i < len && strchr("=&|", text[i]) && text[i])
			i++;
		tokens[n++] = (struct token){ text + start, i - start };
	}
	return n;
}

static void put_token(struct out *out, const struct token *token)
{
	char word[256];

	snprintf(word, sizeof(word), "%.*s",
		 token->len < sizeof(word) ? (int)token->len : 255, token->at);
	put(out, word);
}

static void put_tokens(struct out *out, const struct token *tokens, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		put_token(out, &tokens[i]);
}

static void put_word(struct out *out)
{
	size_t kind = next(COUNT(kinds));

	put(out, kinds[kind].words[next(kinds[kind].n)]);
}

/* What is done at the token that was chosen. */
static void change(struct out *out, const struct token *tokens, size_t n,
		   size_t at)
{
	size_t end;

	switch (next(6)) {
	case 0:
		break;		/* leave it out */
	case 1:
		put_word(out);
		break;
	case 2:
		put_word(out);
		put_token(out, &tokens[at]);
		break;
	case 3:
		put_expr(out, 2);
		break;
	case 4:
		put_token(out, &tokens[at]);
		put(out, PICK(joints));
		put_expr(out, 3);
		break;
	default:
		/* this and some that follow, twice */
		end = at + next(n - at) + 1;
		put_tokens(out, tokens + at, end - at);
		put(out, PICK(joints));
		put_token(out, &tokens[at]);
		break;
	}
}

/* What made sense does so afterwards. */
static void extend(struct out *out, const struct token *tokens, size_t n)
{
	switch (next(4)) {
	case 0:
		put_expr(out, 4);
		break;
	case 1:
		put(out, "!(");
		put_tokens(out, tokens, n);
		put(out, ")");
		break;
	case 2:
		put_expr(out, 2);
		put(out, PICK(joints));
		put_tokens(out, tokens, n);
		break;
	default:
		put_tokens(out, tokens, n);
		put(out, PICK(joints));
		put_expr(out, 2);
		break;
	}
}

size_t exprgen_mutate(char *text, size_t len, size_t max, unsigned int seed)
{
	static struct token tokens[TOKENS_MAX];
	static struct out out;
	size_t n, at;

	state = seed;
	out.len = 0;
	n = split(text, len, tokens);
	if (!n || next(2)) {
		extend(&out, tokens, n);
	} else {
		at = next(n);
		put_tokens(&out, tokens, at);
		change(&out, tokens, n, at);
		put_tokens(&out, tokens + at + 1, n - at - 1);
	}
	if (out.len > max)
		out.len = max;
	memcpy(text, out.text, out.len);
	return out.len;
}
