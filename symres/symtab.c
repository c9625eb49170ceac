// SPDX-License-Identifier: LGPL-2.1-or-later
/* A symbol table and its string table, both read in pieces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* No name is longer; a table without an end must not fill the memory. */
#define MAX_NAME (1u << 20)
#define LONG_NAME (64u << 10)

static size_t entry_size(int class)
{
	return class == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* A name must end within the table: cut it behind its last NUL. */
static uint64_t last_nul(const struct strings *str, uint64_t size)
{
	char buf[4096];

	while (size) {
		size_t len = size < sizeof(buf) ? size : sizeof(buf);
		char *nul;

		if (input_read(str->in, str->off + size - len, buf, len))
			return 0;
		nul = memrchr(buf, 0, len);
		if (nul)
			return size - len + (uint64_t)(nul - buf) + 1;
		size -= len;
	}
	return 0;
}

static bool table_usable(const struct elf *elf, const GElf_Shdr *sh)
{
	return !(sh->sh_flags & SHF_COMPRESSED) &&
	       elf_extent_ok(elf, sh->sh_offset, sh->sh_size);
}

/* Section numbers that do not fit into symbols stand in a table beside them. */
static void find_xindex(struct symtab *t, const struct elf *elf, size_t symtab)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		if (sh->sh_type == SHT_SYMTAB_SHNDX && sh->sh_link == symtab &&
		    sh->sh_size / sizeof(uint32_t) >= t->count &&
		    table_usable(elf, sh))
			t->xindex = sh->sh_offset;
	}
}

/*
 * The first usable table of a type. The type decides, never the name: a debug
 * file keeps a .dynsym that holds nothing. 0, or -ENOENT.
 */
int symtab_find(struct symtab *t, const struct elf *elf, uint32_t type,
		enum symres_source source)
{
	size_t size = entry_size(elf->class);

	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i], *str;

		if (sh->sh_type != type || sh->sh_entsize != size ||
		    sh->sh_link >= elf->nshdr || !table_usable(elf, sh) ||
		    sh->sh_size / size > INT32_MAX)
			continue;
		str = &elf->shdr[sh->sh_link];
		if (str->sh_type != SHT_STRTAB || !table_usable(elf, str))
			continue;
		memset(t, 0, sizeof(*t));
		t->in = elf->in;
		t->class = elf->class;
		t->encoding = elf->encoding;
		t->off = sh->sh_offset;
		t->section = i;
		t->count = (uint32_t)(sh->sh_size / size);
		t->source = source;
		t->str.in = elf->in;
		t->str.off = str->sh_offset;
		t->str.size = last_nul(&t->str, str->sh_size);
		find_xindex(t, elf, i);
		if (t->count > 1 && t->str.size)
			return 0;
	}
	return -ENOENT;
}

/* Values in a relocatable file count from the symbol's section. */
static int add_section_addr(const struct symtab *t, uint32_t from, uint32_t n,
			    GElf_Sym *syms)
{
	const struct elf *elf = t->elf;
	uint32_t wide[128] = { 0 }, first = 0, end = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t section = syms[i].st_shndx;

		if (section == SHN_XINDEX && i >= end) {
			first = i;
			end = n - i < 128 ? n : i + 128;
			if (symtab_read_xindex(t, elf, from + i, end - i, wide))
				return -EIO;
		}
		if (section == SHN_XINDEX)
			section = wide[i - first];
		else if (section >= SHN_LORESERVE)
			continue;
		if (section < elf->nplaced)
			syms[i].st_value += elf->section_addr[section];
	}
	return 0;
}

/* Symbols [from, from + n) as 64-bit records of this machine. */
int symtab_read(const struct symtab *t, uint32_t from, uint32_t n,
		GElf_Sym *out)
{
	size_t size = entry_size(t->class);
	Elf32_Sym *in = (Elf32_Sym *)out;
	int ret;

	ret = records_read(t->in, t->class, t->encoding, ELF_T_SYM,
			   t->off + from * (uint64_t)size, out, n * size);
	if (ret)
		return ret;
	for (uint32_t i = 0; t->code->opd.size && i < n; i++)
		if (GELF_ST_TYPE(out[i].st_info) == STT_FUNC)
			out[i].st_value = opd_code(t->code, out[i].st_value);
	/* Widen in place, the last one first. */
	for (uint32_t i = t->class == ELFCLASS64 ? 0 : n; i-- > 0; ) {
		Elf32_Sym s = in[i];

		out[i] = (GElf_Sym) {
			.st_name = s.st_name, .st_info = s.st_info,
			.st_other = s.st_other, .st_shndx = s.st_shndx,
			.st_value = s.st_value, .st_size = s.st_size,
		};
	}
	return t->elf->section_addr ? add_section_addr(t, from, n, out) : 0;
}

/* One that will be read soon. */
void symtab_prefetch(const struct symtab *t, uint32_t at)
{
	size_t size = entry_size(t->class);
	const unsigned char *sym;

	sym = input_view(t->in, t->off + at * (uint64_t)size, size);
	if (sym)
		__builtin_prefetch(sym);
}

/* The wide section numbers of symbols [from, from + n), if there are any. */
int symtab_read_xindex(const struct symtab *t, const struct elf *elf,
		       uint32_t from, uint32_t n, uint32_t *out)
{
	if (!t->xindex)
		return 0;
	return elf_read(elf, ELF_T_WORD, t->xindex + from * sizeof(*out), out,
			n * sizeof(*out));
}

int text_reserve(struct text *t, size_t room)
{
	char *s;

	if (room <= t->room)
		return 0;
	room = room < 128 ? 128 : room * 2;
	s = realloc(t->s, room);
	if (!s)
		return -ENOMEM;
	t->s = s;
	t->room = room;
	return 0;
}

/*
 * An index is made from names in no order; what is near to one that was read
 * is kept meanwhile.
 */
enum { CACHE_BLOCK = 16 << 10, CACHE_BLOCKS = 128 };

struct strings_cache {
	uint64_t at[CACHE_BLOCKS];
	size_t len[CACHE_BLOCKS];
	char block[CACHE_BLOCKS][CACHE_BLOCK];
};

/* Without memory for it names are read one by one. */
void strings_cache(struct strings *str)
{
	str->cache = calloc(1, sizeof(*str->cache));
}

void strings_uncache(struct strings *str)
{
	free(str->cache);
	str->cache = NULL;
}

/* What is read at @at, and how far; at least one byte. */
static int window(struct strings *str, uint64_t at, const char **from,
		  size_t *n)
{
	struct strings_cache *c = str->cache;
	uint64_t start = c ? at - at % CACHE_BLOCK : at;
	size_t slot = c ? at / CACHE_BLOCK % CACHE_BLOCKS : 0;
	uint64_t *now = c ? &c->at[slot] : &str->at;
	size_t *len = c ? &c->len[slot] : &str->len;
	char *buf = c ? c->block[slot] : str->buf;
	size_t room = c ? CACHE_BLOCK : sizeof(str->buf);
	int ret;

	if (at < *now || at - *now >= *len) {
		*len = 0;
		if (room > str->size - start)
			room = str->size - start;
		ret = input_read(str->in, str->off + start, buf, room);
		if (ret)
			return ret;
		*now = start;
		*len = room;
	}
	*from = buf + (at - *now);
	*n = *len - (at - *now);
	return 0;
}

/*
 * The name at @at of the string table, without the version text that linkers
 * write into .symtab ("f@@V2" is f). 0, -ENOENT when there is no proper name,
 * or another error.
 */
int strings_get(struct strings *str, uint64_t at, struct text *out)
{
	size_t len = 0;
	char *ver;
	int ret;

	for (;;) {
		const char *from, *nul;
		size_t n;

		if (at >= str->size)
			return -ENOENT;
		ret = window(str, at, &from, &n);
		if (ret)
			return ret;
		nul = memchr(from, 0, n);
		if (nul)
			n = (size_t)(nul - from);
		ret = text_reserve(out, len + n + 1);
		if (ret)
			return ret;
		memcpy(out->s + len, from, n);
		len += n;
		if (nul)
			break;
		if (len > MAX_NAME)
			return -ENOENT;
		at += n;
	}
	out->s[len] = 0;
	if (!len)
		return -ENOENT;
	ver = str->keep_version ? NULL : strchr(out->s + 1, '@');
	if (ver)
		*ver = 0;
	return 0;
}

void strings_prefetch(const struct strings *str, uint64_t at)
{
	const unsigned char *name = input_view(str->in, str->off + at, 1);

	if (name)
		__builtin_prefetch(name);
}

/* Are all names in memory? */
bool strings_there(const struct strings *str)
{
	return input_view(str->in, str->off, str->size);
}

/*
 * The name at @at of such, and its length. NULL: it has to be read by itself, as
 * it is too long to be looked at for each of many symbols.
 */
const char *strings_in_place(const struct strings *str, uint64_t at,
			     size_t *len)
{
	const char *from, *nul;
	size_t most;

	if (at >= str->size)
		return NULL;
	most = str->size - at < LONG_NAME ? (size_t)(str->size - at) :
					    LONG_NAME;
	from = (const char *)input_view(str->in, str->off + at, most);
	nul = from ? memchr(from, 0, most) : NULL;
	*len = nul ? (size_t)(nul - from) : 0;
	return nul ? from : NULL;
}

/*
 * The name at @at and its length, out of a stretch of names that are asked for
 * in order, the last of all at @last. NULL: it has to be read by itself.
 */
const char *strings_stretch(struct strings *str, struct stretch *st,
			    uint64_t at, uint64_t last, size_t *len)
{
	const char *from, *nul;
	uint64_t end = last + 256 < str->size ? last + 256 : str->size;

	for (int reads = 0; ; reads++) {
		if (at >= st->at && at - st->at < st->len) {
			from = st->buf + (at - st->at);
			nul = memchr(from, 0, st->len - (at - st->at));
			if (nul) {
				*len = (size_t)(nul - from);
				return from;
			}
		}
		if (at >= end || reads)
			return NULL;
		st->at = at;
		st->len = end - at < st->room ? (size_t)(end - at) : st->room;
		if (input_read(str->in, str->off + at, st->buf, st->len))
			st->len = 0;
	}
}
