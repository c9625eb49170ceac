// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Kernel symbols from the text of /proc/kallsyms. It has no sizes: a symbol
 * ends where the next one of any type begins, but not across a module's border,
 * and not across a gap bigger than symbols are.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

#define PAGE 4096u
#define MAX_FUNC (1u << 20)	/* no function is longer */
#define MAX_DATA (64u << 20)

static int add_name(struct kernel *k, const char *s, size_t len, uint32_t *at)
{
	if (k->names_len + len + 1 > UINT32_MAX)
		return -ENOMEM;
	if (k->names_len + len + 1 > k->names_room) {
		size_t room = (k->names_len + len + 1) * 2 + PAGE;
		char *names = realloc(k->names, room);

		if (!names)
			return -ENOMEM;
		k->names = names;
		k->names_room = room;
	}
	*at = (uint32_t)k->names_len;
	memcpy(k->names + k->names_len, s, len);
	k->names[k->names_len + len] = 0;
	k->names_len += len + 1;
	return 0;
}

static int new_module(struct kernel *k, const char *name, size_t len)
{
	int ret;

	if (k->nmod > UINT16_MAX)
		return -E2BIG;
	if (k->nmod == k->mod_room) {
		uint32_t room = k->mod_room ? k->mod_room * 2 : 64;
		struct kmod *v = reallocarray(k->mod, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		k->mod = v;
		k->mod_room = room;
	}
	k->mod[k->nmod] = (struct kmod) { .start = UINT64_MAX };
	ret = add_name(k, name, len, &k->mod[k->nmod].name);
	if (!ret)
		k->nmod++;
	return ret;
}

/* The number of a module, a new one at need, or a negative errno. */
static int module_number(struct kernel *k, const char *name, size_t len)
{
	uint32_t hash = 2166136261u, *slot, i;
	int ret;

	for (size_t j = 0; j < len; j++)
		hash = (hash ^ (unsigned char)name[j]) * 16777619u;
	slot = &k->bucket[hash % KALLSYMS_BUCKETS];
	for (i = *slot; i; i = k->mod[i].next) {
		const char *s = name_of(k, k->mod[i].name);

		if (!strncmp(s, name, len) && !s[len])
			return (int)i;
	}
	ret = new_module(k, name, len);
	if (ret)
		return ret;
	i = k->nmod - 1;
	k->mod[i].next = *slot;
	*slot = i;
	return (int)i;
}

static int push_symbol(struct kernel *k, uint64_t addr, char type,
		       const char *name, size_t len, uint16_t mod)
{
	struct ksym *sym;
	int ret;

	if (k->n == k->room) {
		uint32_t room = k->room ? k->room * 2 : 1024;
		struct ksym *v = room > INT32_MAX ? NULL :
				 reallocarray(k->sym, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		k->sym = v;
		k->room = room;
	}
	sym = &k->sym[k->n];
	*sym = (struct ksym) { .addr = addr, .mod = mod, .type = type };
	ret = add_name(k, name, len, &sym->name);
	if (!ret)
		k->n++;
	return ret;
}

/* "ADDRESS TYPE NAME", then "\t[MODULE]"; other lines are passed over. */
static int add_line(struct kernel *k, const char *line)
{
	const char *name, *mod;
	char *end, type;
	size_t len;
	uint64_t addr;
	int ret = KALLSYMS_CORE;

	if (!isxdigit((unsigned char)*line))
		return 0;
	errno = 0;
	addr = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	type = end[1];
	name = end + 3;
	len = strcspn(name, " \t\n");
	if (!len)
		return 0;
	mod = name + len + strspn(name + len, " \t");
	if (*mod == '[') {
		size_t n = strcspn(++mod, "]\n");

		if (n && mod[n] == ']')
			ret = module_number(k, mod, n);
	}
	if (ret == -E2BIG)
		return 0;
	return ret < 0 ? ret : push_symbol(k, addr, type, name, len,
					   (uint16_t)ret);
}

static bool is_abs(const struct ksym *s)
{
	return s->type == 'A' || s->type == 'a';
}

enum symres_kind kallsyms_kind(const struct ksym *s)
{
	if (is_abs(s))
		return SYMRES_KIND_ABS;
	if (strchr("tTwWi", s->type))
		return SYMRES_KIND_FUNC;
	return strchr("dDbBrRgGsSvVuC", s->type) ? SYMRES_KIND_DATA :
						  SYMRES_KIND_UNKNOWN;
}

/* Markers of the linker script: nothing lives at an end. */
static bool is_end(const char *name)
{
	static const char *const ends[] = {
		"_etext", "_einittext", "_edata", "_end", "__end_rodata",
		"__bss_stop", "__brk_limit", "__init_end",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(name, ends[i]))
			return true;
	return false;
}

static int compare(const void *va, const void *vb)
{
	const struct ksym *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* > 0: @a names their common address better than @b. */
static int better(const struct kernel *k, const struct ksym *a,
		  const struct ksym *b)
{
	bool weak_a = strchr("wWvV", a->type), weak_b = strchr("wWvV", b->type);
	bool local_a = a->type >= 'a', local_b = b->type >= 'a';

	if (weak_a != weak_b)
		return weak_a ? -1 : 1;
	if (local_a != local_b)
		return local_a ? -1 : 1;
	return compare_names(name_of(k, a->name), name_of(k, b->name));
}

/* Where a symbol ends, seeing the next address that has one. */
static uint64_t end_of(const struct ksym *s, const struct ksym *next)
{
	uint64_t page = (s->addr | (PAGE - 1)) + 1;
	uint64_t gap = next ? next->addr - s->addr : UINT64_MAX;
	bool func = kallsyms_kind(s) == SYMRES_KIND_FUNC;

	if (!page)
		page = UINT64_MAX;
	if (next && next->mod == s->mod && gap <= (func ? MAX_FUNC : MAX_DATA) &&
	    (!func || kallsyms_kind(next) == SYMRES_KIND_FUNC))
		return next->addr;
	return gap < page - s->addr ? next->addr : page;
}

static void count_in_module(struct kernel *k, const struct ksym *s,
			    uint64_t end)
{
	struct kmod *m = &k->mod[s->mod];

	m->count++;
	if (s->addr < m->start)
		m->start = s->addr;
	if (end > m->end)
		m->end = end;
}

/* Next symbol at another address, of any type. */
static uint32_t next_address(const struct kernel *k, uint32_t i)
{
	uint64_t addr = k->sym[i].addr;

	while (i < k->n && (k->sym[i].addr == addr || is_abs(&k->sym[i])))
		i++;
	return i;
}

static int build_index(struct kernel *k)
{
	int ret = 0;

	for (uint32_t i = 0, j; i < k->n && !ret; i = j) {
		const struct ksym *best = NULL;
		uint64_t end;

		if (is_abs(&k->sym[i])) {
			j = i + 1;
			continue;
		}
		j = next_address(k, i);
		for (uint32_t a = i; a < j; a++) {
			struct ksym *s = &k->sym[a];

			if (is_abs(s) || is_end(name_of(k, s->name)))
				continue;
			if (!best || better(k, s, best) > 0)
				best = s;
		}
		end = end_of(best ? best : &k->sym[i],
			     j < k->n ? &k->sym[j] : NULL);
		for (uint32_t a = i; a < j; a++)
			if (!is_abs(&k->sym[a]))
				count_in_module(k, &k->sym[a], end);
		ret = index_add(&k->index, k->sym[i].addr,
				best ? (uint32_t)(best - k->sym) : INDEX_NONE);
		if (!ret && end != UINT64_MAX)
			ret = index_add(&k->index, end, INDEX_NONE);
	}
	return ret;
}

static bool all_zero(const struct kernel *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->sym[i].addr)
			return false;
	return true;
}

static uint64_t marker(const struct kernel *k, const char *name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (!k->sym[i].mod && !strcmp(name_of(k, k->sym[i].name), name))
			return k->sym[i].addr;
	return 0;
}

/* Since 7.0 or so the letters of the kernel's data may be those of code. */
static void correct_types(struct kernel *k)
{
	uint64_t from = marker(k, "_sdata"), to = marker(k, "_edata");

	for (uint32_t i = 0; i < k->n && from; i++) {
		struct ksym *s = &k->sym[i];

		if (s->mod || s->addr < from || s->addr >= to)
			continue;
		if (s->type == 'T')
			s->type = 'D';
		else if (s->type == 't')
			s->type = 'd';
	}
}

/* Reads all of @f. 0, or -ENOMEM; k->miss says what else is wrong. */
int kallsyms_parse(struct kernel *k, FILE *f)
{
	size_t room = 0;
	char *line = NULL;
	int ret = new_module(k, "vmlinux", strlen("vmlinux"));

	while (!ret && getline(&line, &room, f) > 0)
		ret = add_line(k, line);
	free(line);
	if (ret)
		return ret;
	if (!k->n) {
		k->miss = SYMRES_MISS_NO_KALLSYMS;
		k->err = ferror(f) ? EIO : EBADMSG;
	} else if (all_zero(k)) {
		k->miss = SYMRES_MISS_HIDDEN;
	} else {
		correct_types(k);
		qsort(k->sym, k->n, sizeof(*k->sym), compare);
		ret = build_index(k);
		if (!ret)
			ret = index_finish(&k->index);
	}
	return ret;
}
