// SPDX-License-Identifier: LGPL-2.1-or-later
/* An ELF file: which of its symbols count, and what they are called. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Headers only: cheap, and enough to know whether this is the right file. */
void file_load(struct file *f)
{
	int ret = elf_open(&f->elf, &f->in);

	if (ret) {
		f->miss = ret == -ENOEXEC || ret == -EIO ? SYMRES_MISS_NOT_ELF :
							   SYMRES_MISS_NO_FILE;
		f->err = f->miss == SYMRES_MISS_NO_FILE ? -ret : 0;
		return;
	}
	f->build_id_len = elf_build_id(&f->elf, f->build_id);
	if (f->elf.ehdr.e_type == ET_REL)
		f->miss = SYMRES_MISS_RELOCATABLE;
}

void file_free(struct file *f)
{
	elf_close(&f->elf);
	elf_close(&f->debug);
	elf_close(&f->mini);
	input_close(&f->in);
	input_close(&f->debug_in);
	input_close(&f->mini_in);
	free(f->dir);
	free(f->plt.v);
	index_free(&f->index);
	free(f);
}

static struct symtab *tab_of(struct file *f, uint32_t ref)
{
	unsigned int i = f->ntab;

	while (i-- > 0)
		if (ref >= f->tab[i].first)
			return &f->tab[i];
	return NULL;
}

/* Marks between code and data. */
static bool is_mapping_symbol(const struct elf *elf, const char *name)
{
	switch (elf->ehdr.e_machine) {
	case EM_ARM:
	case EM_AARCH64:
	case EM_RISCV:
		return name[0] == '$' && name[1] && strchr("adtx", name[1]);
	}
	return false;
}

/* Labels that tools put into code and data; they name nothing. */
static bool is_tool_label(const struct elf *elf, const char *name)
{
	return !strncmp(name, ".L", 2) || is_mapping_symbol(elf, name);
}

/* @xindex: the section's number where it is too big for the symbol. */
static const GElf_Shdr *section_of(const struct elf *elf, const GElf_Sym *sym,
				   uint32_t xindex)
{
	const GElf_Shdr *sh;
	uint32_t at = sym->st_shndx;

	if (at == SHN_XINDEX)
		at = xindex;
	else if (at >= SHN_LORESERVE)
		return NULL;
	if (at == SHN_UNDEF || at >= elf->nshdr)
		return NULL;
	sh = &elf->shdr[at];
	if (!(sh->sh_flags & SHF_ALLOC))
		return NULL;
	/* A label at a section's end belongs to what follows by address only. */
	if (sym->st_value < sh->sh_addr ||
	    sym->st_value - sh->sh_addr >= sh->sh_size)
		return NULL;
	return sh;
}

/* perf's measure: what is between sections counts, odd numbers do not. */
static const GElf_Shdr *perf_section_of(const struct elf *elf,
					const GElf_Sym *sym, uint32_t xindex)
{
	uint32_t at = sym->st_shndx == SHN_XINDEX ? xindex : sym->st_shndx;

	if (at == SHN_UNDEF || at >= elf->nshdr ||
	    (at >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX) ||
	    !(elf->shdr[at].sh_flags & SHF_ALLOC))
		return NULL;
	return &elf->shdr[at];
}

/* perf takes labels where a section says "text" or "data" in its name. */
static bool perf_takes_labels(const struct elf *elf, const GElf_Shdr *sh)
{
	const GElf_Shdr *names = &elf->shdr[elf->shstrndx];
	char name[64] = "";
	uint64_t n;

	if (elf->shstrndx >= elf->nshdr || sh->sh_name >= names->sh_size ||
	    !elf_extent_ok(elf, names->sh_offset, names->sh_size))
		return false;
	n = names->sh_size - sh->sh_name;
	if (n > sizeof(name) - 1)
		n = sizeof(name) - 1;
	return !input_read(elf->in, names->sh_offset + sh->sh_name, name, n) &&
	       (strstr(name, "text") || strstr(name, "data"));
}

static bool perf_classify(const struct elf *elf, struct symtab *t,
			  const GElf_Sym *sym, uint32_t xindex,
			  bool demangle, struct text *name, struct range *r)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	unsigned int bind = GELF_ST_BIND(sym->st_info);
	const GElf_Shdr *sh = perf_section_of(elf, sym, xindex);

	if (!sh || !sym->st_name || sym->st_name >= t->str.size)
		return false;
	if (type == STT_NOTYPE) {
		if (GELF_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_INTERNAL ||
		    !perf_takes_labels(elf, sh) ||
		    strings_get(&t->str, sym->st_name, name) ||
		    is_mapping_symbol(elf, name->s))
			return false;
	} else if (type != STT_FUNC && type != STT_GNU_IFUNC &&
		   type != STT_OBJECT) {
		return false;
	}
	r->start = sym->st_value;
	if (elf->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		r->start &= ~(uint64_t)1;
	r->end = r->start + sym->st_size;
	r->own_end = sym->st_size && r->end > r->start;
	if (r->end < r->start)
		r->end = UINT64_MAX;
	/* How a name looks demangled is asked for rivals alone. */
	r->key = sym->st_name;
	if (!demangle) {
		if (strings_get(&t->str, sym->st_name, name))
			return false;
		r->key = name_key(name->s);
	}
	r->rank = (uint8_t)(!!sym->st_size << 3 | (type != STT_NOTYPE) << 2 |
			    (bind != STB_WEAK) << 1 | (bind == STB_GLOBAL));
	return true;
}

static uint8_t rank_of(const GElf_Sym *sym)
{
	static const uint8_t types[16] = {
		[STT_FUNC] = 3, [STT_GNU_IFUNC] = 2, [STT_OBJECT] = 1,
	};
	unsigned int bind = GELF_ST_BIND(sym->st_info);

	return (uint8_t)(types[GELF_ST_TYPE(sym->st_info)] << 2 |
			 (bind != STB_WEAK) << 1 |
			 (bind == STB_GLOBAL || bind == STB_GNU_UNIQUE));
}

static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619;
	return h;
}

/* Turns one symbol into a range; false if it can name nothing. */
static bool classify(const struct elf *elf, struct symtab *t,
		     const GElf_Sym *sym, uint32_t xindex, struct text *name,
		     struct range *r)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	const GElf_Shdr *sh = section_of(elf, sym, xindex);
	uint64_t room;

	if (!sh || !sym->st_name || sym->st_name >= t->str.size)
		return false;
	r->start = sym->st_value;
	if (elf->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		r->start &= ~(uint64_t)1;	/* Thumb, not part of it */
	room = sh->sh_size - (r->start - sh->sh_addr);
	r->end = r->start + (sym->st_size && sym->st_size < room ?
			     sym->st_size : room);
	r->own_end = sym->st_size && sym->st_size <= room;
	if (r->end < r->start)
		r->end = UINT64_MAX;
	if (strings_get(&t->str, sym->st_name, name))
		return false;
	r->key = name_key(name->s);
	r->hash = hash_of(name->s);
	r->rank = rank_of(sym);
	r->exact_only = false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		r->layer = sym->st_size ? LAYER_TYPED : LAYER_SIZELESS;
		break;
	case STT_NOTYPE:
		if (is_tool_label(elf, name->s))
			return false;
		r->layer = sym->st_size ? LAYER_UNTYPED : LAYER_SIZELESS;
		/* Hidden ones are the notes of compiler plug-ins. */
		if (!(sh->sh_flags & SHF_EXECINSTR) ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_HIDDEN ||
		    GELF_ST_VISIBILITY(sym->st_other) == STV_INTERNAL)
			r->layer = LAYER_BOUND;
		break;
	default:
		return false;
	}
	/* .dynsym lacks the local symbols that would end a sizeless one. */
	if (r->layer == LAYER_SIZELESS && t->source == SYMRES_SOURCE_DYNSYM)
		r->exact_only = true;
	return true;
}

/* All of a table that reads well; the rest is as if it were not there. */
static int collect(const struct elf *elf, struct symtab *t, bool perf,
		   bool demangle, struct range_list *l, struct text *name)
{
	enum { WINDOW = 1024 };
	GElf_Sym *syms = malloc(WINDOW * sizeof(*syms));
	uint32_t xindex[WINDOW] = { 0 };
	int ret = syms ? 0 : -ENOMEM;

	for (uint32_t at = 0; at < t->count && !ret; ) {
		uint32_t n = t->count - at < WINDOW ? t->count - at : WINDOW;

		if (symtab_read(t, at, n, syms) ||
		    symtab_read_xindex(t, elf, at, n, xindex))
			break;
		for (uint32_t i = 0; i < n && !ret; i++) {
			struct range r = { .ref = t->first + at + i };

			if (perf ? perf_classify(elf, t, &syms[i], xindex[i],
						 demangle, name, &r) :
				   classify(elf, t, &syms[i], xindex[i], name,
					    &r))
				ret = range_push(l, &r);
		}
		at += n;
	}
	free(syms);
	return ret;
}

struct name_pair {
	struct file *f;
	struct text a, b;
};

static int ref_name(struct file *f, uint32_t ref, struct text *name)
{
	struct symtab *t = tab_of(f, ref);
	GElf_Sym sym;
	int ret;

	/* A stub has no rival: its name is not asked for here. */
	if (!t || ref >= f->plt_first)
		return -ENOENT;
	ret = symtab_read(t, ref - t->first, 1, &sym);
	return ret ? ret : strings_get(&t->str, sym.st_name, name);
}

static int better_name(void *arg, const struct range *a, const struct range *b)
{
	struct name_pair *p = arg;
	int ret;

	if (a->key >> 1 != b->key >> 1)
		return a->key >> 1 > b->key >> 1 ? 1 : -1;
	/* The same name in two tables. */
	if (a->hash == b->hash)
		return a->ref < b->ref ? 1 : -1;
	if (ref_name(p->f, a->ref, &p->a))
		return -1;
	if (ref_name(p->f, b->ref, &p->b))
		return 1;
	ret = compare_names(p->a.s, p->b.s);
	return ret ? ret : (a->ref < b->ref ? 1 : -1);
}

static uint32_t worth(void *arg, const struct range *r)
{
	struct name_pair *p = arg;
	struct symtab *t = tab_of(p->f, r->ref);

	if (!p->f->demangle)
		return r->key;
	if (!t || strings_get(&t->str, r->key, &p->a) || text_demangle(&p->a))
		return 0;
	return name_key(p->a.s);
}

/* By the stored name, whatever is shown. */
static uint32_t stored_worth(struct name_pair *p, const struct range *r)
{
	return ref_name(p->f, r->ref, &p->a) ? 0 : name_key(p->a.s);
}

/* Stubs without a name of their own: by the function that is resolved there. */
struct resolver {
	uint64_t addr;
	struct range best;	/* empty: none yet */
	bool ifunc;		/* it is known as one */
};

static int compare_resolvers(const void *va, const void *vb)
{
	const struct resolver *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static bool is_ifunc(struct file *f, uint32_t ref)
{
	struct symtab *t = tab_of(f, ref);
	GElf_Sym sym;

	return t && !symtab_read(t, ref - t->first, 1, &sym) &&
	       GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
}

/* perf names it as it would name the resolver; the rest of us want the IFUNC. */
static void resolver_offer(struct file *f, bool perf, struct resolver *to,
			   const struct range *r, struct name_pair *names)
{
	bool ifunc = is_ifunc(f, r->ref);
	bool first = to->best.end == 0;
	uint32_t a, b;

	if (!perf && !ifunc)
		return;
	to->ifunc |= ifunc;
	if (!first && to->best.rank > r->rank)
		return;
	if (!first && to->best.rank == r->rank) {
		a = stored_worth(names, &to->best);
		b = stored_worth(names, r);
		if (a > b || (a == b && to->best.ref < r->ref))
			return;
	}
	to->best = *r;
	to->best.end = 1;
}

static int name_resolvers(struct file *f, bool perf, const struct range_list *l,
			  struct name_pair *names)
{
	struct resolver *v, *hit;
	size_t n = 0;

	for (size_t i = 0; i < f->plt.n; i++)
		n += f->plt.v[i].kind == PLT_IRELATIVE;
	if (!n)
		return 0;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < f->plt.n; i++)
		if (f->plt.v[i].kind == PLT_IRELATIVE)
			v[n++].addr = f->plt.v[i].target;
	qsort(v, n, sizeof(*v), compare_resolvers);
	for (size_t i = 1, last = 0; i <= n; i++)
		if (i == n)
			n = last + 1;
		else if (v[i].addr != v[last].addr)
			v[++last] = v[i];
	for (size_t i = 0; i < l->n; i++) {
		struct resolver key = { .addr = l->v[i].start };

		hit = bsearch(&key, v, n, sizeof(*v), compare_resolvers);
		if (hit)
			resolver_offer(f, perf, hit, &l->v[i], names);
	}
	for (size_t i = 0; i < f->plt.n; i++) {
		struct plt_slot *stub = &f->plt.v[i];
		struct resolver key = { .addr = stub->target };

		if (stub->kind != PLT_IRELATIVE)
			continue;
		hit = bsearch(&key, v, n, sizeof(*v), compare_resolvers);
		if (hit && hit->ifunc) {
			stub->sym = hit->best.ref;
			continue;
		}
		/* perf counts it all the same; its place it knows. */
		stub->kind = PLT_UNKNOWN;
	}
	free(v);
	return 0;
}

static int collect_plt(struct file *f, bool perf, struct range_list *l)
{
	int ret = 0;

	for (size_t i = 0; i < f->plt.n && !ret; i++) {
		uint64_t end = f->plt.v[i].addr + f->plt.v[i].size;
		struct range r = {
			.start = f->plt.v[i].addr,
			.end = end,
			.ref = f->plt_first + (uint32_t)i,
			.layer = LAYER_UNTYPED,
			.rank = UINT8_MAX,
			.own_end = true,
		};

		if (end > r.start && (perf || f->plt.v[i].kind != PLT_UNKNOWN))
			ret = range_push(l, &r);
	}
	return ret;
}

static void add_table(struct file *f, const struct elf *elf, uint32_t type,
		      enum symres_source source, bool perf)
{
	struct symtab *t = &f->tab[f->ntab];

	if (symtab_find(t, elf, type, source) ||
	    t->count > INT32_MAX - f->plt_first)
		return;
	t->elf = elf;
	t->first = f->plt_first;
	t->str.keep_version = perf;
	f->plt_first += t->count;
	f->ntab++;
	if (source == SYMRES_SOURCE_DYNSYM)
		f->dynsym = t;
}

/*
 * All tables are merged: a stripped program's debug file may lack what .dynsym
 * has, and some keep part of their .symtab. perf takes one .symtab and .dynsym.
 */
int file_find_tables(struct file *f, bool perf)
{
	int ret = 0;

	if (f->debug.in)
		add_table(f, &f->debug, SHT_SYMTAB, SYMRES_SOURCE_DEBUG, perf);
	if (!perf || !f->ntab)
		add_table(f, &f->elf, SHT_SYMTAB, SYMRES_SOURCE_SYMTAB, perf);
	if (!f->ntab && !f->mini.in)
		ret = minidebug_open(f);
	if (!ret && f->mini.in)
		add_table(f, &f->mini, SHT_SYMTAB, SYMRES_SOURCE_MINI, perf);
	if (!ret)
		add_table(f, &f->elf, SHT_DYNSYM, SYMRES_SOURCE_DYNSYM, perf);
	return ret;
}

void file_forget_tables(struct file *f)
{
	f->ntab = 0;
	f->plt_first = 0;
	f->dynsym = NULL;
	free(f->plt.v);
	f->plt = (struct plt) { 0 };
	elf_close(&f->mini);
	f->mini.in = NULL;
	input_close(&f->mini_in);
}

static int build_index(struct file *f, const struct symres *s)
{
	struct name_pair names = { .f = f };
	struct range_list l = { 0 }, stubs = { 0 };
	struct text name = { 0 };
	int ret = file_find_tables(f, s->perf);

	for (unsigned int i = 0; i < f->ntab && !ret; i++) {
		strings_cache(&f->tab[i].str);
		ret = collect(f->tab[i].elf, &f->tab[i], s->perf,
			      s->demangle, &l, &name);
		/* Names have been weighed; only equals and the demangled are
		 * asked for again. */
		if (s->perf && !s->demangle)
			strings_uncache(&f->tab[i].str);
	}
	if (!ret)
		ret = plt_read(&f->plt, &f->elf, f->dynsym ? f->dynsym->count : 0,
			       s->perf);
	if (!ret)
		ret = name_resolvers(f, s->perf, &l, &names);
	if (!ret)
		ret = collect_plt(f, s->perf, s->perf ? &stubs : &l);
	if (!ret && !l.n && !stubs.n)
		f->miss = SYMRES_MISS_NO_SYMBOLS;
	if (!ret && s->perf)
		ret = perf_to_index(&l, &stubs, &f->index, worth, &names);
	else if (!ret)
		ret = ranges_to_index(&l, &f->index, better_name, &names);
	for (unsigned int i = 0; i < f->ntab; i++)
		strings_uncache(&f->tab[i].str);
	free(names.a.s);
	free(names.b.s);
	free(name.s);
	free(l.v);
	free(stubs.v);
	return ret;
}

/* What is on disk now need not be in memory as well. */
static int exchange_for_kept(struct file *f, struct symres *s)
{
	int ret;

	index_free(&f->index);
	file_forget_tables(f);
	ret = cache_load(f, s);
	return ret && ret != -ENOMEM ? build_index(f, s) : ret;
}

/* Takes the index that was kept, or reads every table once. */
int file_index(struct file *f, struct symres *s)
{
	int ret;

	if (f->indexed || f->miss)
		return 0;
	if (input_unchanged(&f->in)) {
		f->miss = SYMRES_MISS_CHANGED;
		return 0;
	}
	f->demangle = s->demangle;
	ret = debugfile_find(f, s);
	if (!ret)
		ret = cache_load(f, s);
	if (ret && ret != -ENOMEM) {
		ret = build_index(f, s);
		if (!ret && cache_save(f, s))
			ret = exchange_for_kept(f, s);
	}
	f->indexed = !ret;
	elf_free_sections(&f->elf);
	elf_free_sections(&f->debug);
	elf_free_sections(&f->mini);
	return ret;
}

/* The stored name of a symbol, wherever it is. */
static int stored_name(struct symtab *t, uint32_t at, struct text *name)
{
	GElf_Sym s;
	int ret = symtab_read(t, at, 1, &s);

	return ret ? ret : strings_get(&t->str, s.st_name, name);
}

static int name_stub(struct file *f, const struct plt_slot *slot,
		     struct text *name, struct symres_sym *sym)
{
	struct symtab *t;
	int ret = -ENOENT;

	sym->addr = slot->addr;
	sym->sym_size = slot->size;
	sym->source = SYMRES_SOURCE_PLT;
	sym->kind = SYMRES_KIND_FUNC;
	switch (slot->kind) {
	case PLT_SECTION:
		sym->name = ".plt";
		return 0;
	case PLT_DYNSYM:
		if (f->dynsym && slot->sym < f->dynsym->count)
			ret = stored_name(f->dynsym, slot->sym, name);
		break;
	case PLT_IRELATIVE:
		t = tab_of(f, slot->sym);
		if (t && slot->sym < f->plt_first)
			ret = stored_name(t, slot->sym - t->first, name);
		break;
	case PLT_UNKNOWN:
		ret = text_reserve(name, sizeof("offset_0x") + 16);
		if (!ret)
			sprintf(name->s, "offset_0x%" PRIx64, slot->offset);
		break;
	}
	if (!ret)
		ret = text_reserve(name, strlen(name->s) + sizeof("@plt"));
	if (ret)
		return ret;
	sym->name = strcat(name->s, "@plt");
	return 0;
}

static int name_symbol(struct symtab *t, uint32_t at, const struct elf *elf,
		       struct text *name, struct symres_sym *sym)
{
	static const uint8_t kinds[16] = {
		[STT_FUNC] = SYMRES_KIND_FUNC,
		[STT_GNU_IFUNC] = SYMRES_KIND_FUNC,
		[STT_OBJECT] = SYMRES_KIND_DATA,
	};
	unsigned int type;
	GElf_Sym s;
	int ret = symtab_read(t, at, 1, &s);

	if (!ret)
		ret = strings_get(&t->str, s.st_name, name);
	if (ret)
		return ret;
	type = GELF_ST_TYPE(s.st_info);
	sym->name = name->s;
	sym->addr = s.st_value;
	if (elf->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		sym->addr &= ~(uint64_t)1;
	sym->sym_size = s.st_size;
	sym->source = t->source;
	sym->kind = kinds[type];
	if (!s.st_size)
		sym->flags |= SYMRES_F_APPROX;
	return 0;
}

/* Reads what a symbol is called and where it is. */
static int read_symbol(struct file *f, uint32_t ref, struct text *name,
		       struct symres_sym *sym)
{
	struct symtab *t;
	int ret;

	if (ref >= f->plt_first && ref - f->plt_first >= f->plt.n)
		return -ENOENT;
	if (ref >= f->plt_first) {
		ret = name_stub(f, &f->plt.v[ref - f->plt_first], name, sym);
	} else {
		t = tab_of(f, ref);
		ret = name_symbol(t, ref - t->first, &f->elf, name, sym);
	}
	if (!ret && f->demangle && sym->name == name->s) {
		ret = text_demangle(name);
		sym->name = name->s;
	}
	return ret;
}

/* In a batch a file that was looked at once is taken as it was. */
static int check_unchanged(struct file *f, const struct symres *s)
{
	int ret;

	if (s->recent && f->batch == s->batch)
		return 0;
	ret = input_unchanged(&f->in);
	if (!ret && f->debug.in)
		ret = input_unchanged(&f->debug_in);
	if (!ret && f->mini.in)
		ret = input_unchanged(&f->mini_in);
	if (!ret)
		f->batch = s->batch;
	return ret;
}

/* Names an address of an indexed file; sym->miss says why not. */
int file_name(struct file *f, struct symres *s, uint64_t addr,
	      struct symres_sym *sym)
{
	uint32_t ref = index_find(&f->index, addr);
	int ret;

	if (ref == INDEX_NONE)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	ret = check_unchanged(f, s);
	if (!ret && !recent_get(s->recent, f, ref, sym)) {
		ret = read_symbol(f, ref, &s->name, sym);
		if (!ret)
			recent_put(s->recent, f, ref, sym);
	}
	if (ret == -ENOMEM)
		return ret;
	if (ret == -ESTALE || ret == -EIO)
		return sym_miss(sym, SYMRES_MISS_CHANGED, 0);
	if (ret == -ENOENT && !sym->name)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	if (ret)
		return sym_miss(sym, SYMRES_MISS_NO_FILE, -ret);
	/* An index that lies costs its answer only. */
	if (addr < sym->addr)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	sym->offset = addr - sym->addr;
	if (sym->sym_size && sym->offset >= sym->sym_size)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	return 1;
}
