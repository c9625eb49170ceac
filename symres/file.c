// SPDX-License-Identifier: LGPL-2.1-or-later
/* An ELF file: which of its symbols count, and what they are called. */
#include <errno.h>
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
	input_close(&f->in);
	input_close(&f->debug_in);
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

/* Labels that tools put into code and data; they name nothing. */
static bool is_tool_label(const struct elf *elf, const char *name)
{
	if (!strncmp(name, ".L", 2))
		return true;
	switch (elf->ehdr.e_machine) {
	case EM_ARM:
	case EM_AARCH64:
	case EM_RISCV:
		return name[0] == '$' && name[1] && strchr("adtx", name[1]);
	}
	return false;
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
	if (r->end < r->start)
		r->end = UINT64_MAX;
	r->rank = rank_of(sym);
	r->exact_only = false;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		r->layer = sym->st_size ? LAYER_TYPED : LAYER_SIZELESS;
		break;
	case STT_NOTYPE:
		if (strings_get(&t->str, sym->st_name, name) ||
		    is_tool_label(elf, name->s))
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
static int collect(const struct elf *elf, struct symtab *t,
		   struct range_list *l, struct text *name)
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

			if (classify(elf, t, &syms[i], xindex[i], name, &r))
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

static int better_name(void *arg, uint32_t a, uint32_t b)
{
	struct name_pair *p = arg;
	int ret;

	if (ref_name(p->f, a, &p->a))
		return -1;
	if (ref_name(p->f, b, &p->b))
		return 1;
	ret = compare_names(p->a.s, p->b.s);
	return ret ? ret : (a < b ? 1 : -1);
}

static int collect_plt(struct file *f, struct range_list *l)
{
	int ret = plt_read(&f->plt, &f->elf,
			   f->dynsym ? f->dynsym->count : 0);

	for (size_t i = 0; i < f->plt.n && !ret; i++) {
		uint64_t end = f->plt.v[i].addr + f->plt.v[i].size;
		struct range r = {
			.start = f->plt.v[i].addr,
			.end = end,
			.ref = f->plt_first + (uint32_t)i,
			.layer = LAYER_UNTYPED,
			.rank = UINT8_MAX,
		};

		if (end > r.start)
			ret = range_push(l, &r);
	}
	return ret;
}

static int add_table(struct file *f, const struct elf *elf, uint32_t type,
		     enum symres_source source, struct range_list *l,
		     struct text *name)
{
	struct symtab *t = &f->tab[f->ntab];

	if (symtab_find(t, elf, type, source))
		return 0;
	if (t->count > INT32_MAX - f->plt_first)
		return 0;
	t->first = f->plt_first;
	f->plt_first += t->count;
	f->ntab++;
	if (source == SYMRES_SOURCE_DYNSYM)
		f->dynsym = t;
	return collect(elf, t, l, name);
}

/*
 * Reads every table once. All three are merged: a stripped program's debug file
 * may lack what .dynsym has, and some keep part of their .symtab.
 */
int file_index(struct file *f, const char *debug_dirs)
{
	struct name_pair names = { .f = f };
	struct range_list l = { 0 };
	struct text name = { 0 };
	int ret;

	if (f->indexed || f->miss)
		return 0;
	if (input_unchanged(&f->in)) {
		f->miss = SYMRES_MISS_CHANGED;
		return 0;
	}
	ret = debugfile_find(f, debug_dirs);
	if (!ret)
		ret = add_table(f, &f->elf, SHT_SYMTAB, SYMRES_SOURCE_SYMTAB,
				&l, &name);
	if (!ret && f->debug.in)
		ret = add_table(f, &f->debug, SHT_SYMTAB, SYMRES_SOURCE_DEBUG,
				&l, &name);
	if (!ret)
		ret = add_table(f, &f->elf, SHT_DYNSYM, SYMRES_SOURCE_DYNSYM,
				&l, &name);
	if (!ret)
		ret = collect_plt(f, &l);
	if (!ret && !l.n)
		f->miss = SYMRES_MISS_NO_SYMBOLS;
	if (!ret)
		ret = ranges_to_index(&l, &f->index, better_name, &names);
	f->indexed = !ret;
	elf_free_sections(&f->elf);
	elf_free_sections(&f->debug);
	free(names.a.s);
	free(names.b.s);
	free(name.s);
	free(l.v);
	return ret;
}

static int name_stub(struct file *f, const struct plt_slot *slot,
		     struct text *name, struct symres_sym *sym)
{
	GElf_Sym s;
	int ret;

	sym->addr = slot->addr;
	sym->sym_size = slot->size;
	sym->source = SYMRES_SOURCE_PLT;
	sym->kind = SYMRES_KIND_FUNC;
	if (!slot->sym) {
		sym->name = ".plt";
		return 0;
	}
	ret = symtab_read(f->dynsym, slot->sym, 1, &s);
	if (!ret)
		ret = strings_get(&f->dynsym->str, s.st_name, name);
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

/* Names an address of an indexed file; sym->miss says why not. */
int file_name(struct file *f, uint64_t addr, struct text *name,
	      struct symres_sym *sym)
{
	uint32_t ref = index_find(&f->index, addr);
	int ret;

	if (ref == INDEX_NONE)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	if (ref >= f->plt_first) {
		ret = input_unchanged(&f->in);
		if (!ret)
			ret = name_stub(f, &f->plt.v[ref - f->plt_first], name,
					sym);
	} else {
		struct symtab *t = tab_of(f, ref);

		ret = input_unchanged(t->in);
		if (!ret)
			ret = name_symbol(t, ref - t->first, &f->elf, name,
					  sym);
	}
	if (ret == -ENOMEM)
		return ret;
	if (ret == -ESTALE || ret == -EIO)
		return sym_miss(sym, SYMRES_MISS_CHANGED, 0);
	if (ret == -ENOENT && !sym->name)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	if (ret)
		return sym_miss(sym, SYMRES_MISS_NO_FILE, -ret);
	sym->offset = addr - sym->addr;
	return 1;
}
