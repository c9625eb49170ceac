// SPDX-License-Identifier: LGPL-2.1-or-later
/* An ELF file: its tables, its index, and what its symbols are called. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Headers only: cheap, and enough to know whether this is the right file. */
void file_load(struct file *f)
{
	bool packed = packing_of(&f->in, 0) != PACKING_NONE;
	int ret = packed ? input_unpack(&f->unpacked, &f->in) : 0;

	if (ret == -EBADMSG || ret == -EFBIG) {
		f->miss = SYMRES_MISS_PACKED;
		return;
	}
	if (!ret)
		ret = elf_open(&f->elf, packed ? &f->unpacked : &f->in);
	if (ret) {
		f->miss = ret == -ENOEXEC || ret == -EIO ? SYMRES_MISS_NOT_ELF :
							   SYMRES_MISS_NO_FILE;
		f->err = f->miss == SYMRES_MISS_NO_FILE ? -ret : 0;
		return;
	}
	f->build_id_len = elf_build_id(&f->elf, f->build_id);
}

void file_free(struct file *f)
{
	cache_unpack_drop(f);
	elf_close(&f->elf);
	elf_close(&f->debug);
	elf_close(&f->mini);
	if (f->unpacked.packed)
		input_close(&f->unpacked);
	input_close(&f->in);
	input_close(&f->debug_in);
	input_close(&f->mini_in);
	free(f->dir);
	debugfile_forget(f);
	root_put(f->dir_root);
	plt_free(&f->plt, f->index.map != NULL);
	index_free(&f->index);
	index_free(&f->names);
	free(f);
}

static void add_table(struct file *f, const struct elf *elf, uint32_t type,
		      enum symres_source source, bool perf)
{
	struct symtab *t = &f->tab[f->ntab];

	if (symtab_find(t, elf, type, source) ||
	    t->count > INT32_MAX - f->plt_first)
		return;
	t->elf = elf;
	t->code = &f->elf;
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
int file_find_tables(struct file *f, struct symres *s, bool wait)
{
	bool perf = s->perf;
	int ret = 0;

	f->ntab = 0;
	f->plt_first = 0;
	f->dynsym = NULL;
	if (f->debug.in)
		add_table(f, &f->debug, SHT_SYMTAB, SYMRES_SOURCE_DEBUG, perf);
	if (!perf || !f->ntab)
		add_table(f, &f->elf, SHT_SYMTAB, SYMRES_SOURCE_SYMTAB, perf);
	if (!f->ntab && !f->mini.in)
		ret = minidebug_open(f, s, wait);
	if (!ret && f->mini.in)
		add_table(f, &f->mini, SHT_SYMTAB, SYMRES_SOURCE_MINI, perf);
	if (!ret)
		add_table(f, &f->elf, SHT_SUNW_LDYNSYM, SYMRES_SOURCE_LDYNSYM,
			  perf);
	if (!ret)
		add_table(f, &f->elf, SHT_DYNSYM, SYMRES_SOURCE_DYNSYM, perf);
	return ret;
}

void file_forget_tables(struct file *f)
{
	f->ntab = 0;
	f->plt_first = 0;
	f->dynsym = NULL;
	plt_free(&f->plt, f->index.map != NULL);
	elf_close(&f->mini);
	f->mini.in = NULL;
	input_close(&f->mini_in);
}

/* All that is read of a file from now on are symbols and their names. */
static void trim_unpacked(struct file *f)
{
	uint64_t from = f->unpacked.size;

	for (unsigned int i = 0; i < f->ntab; i++) {
		const struct symtab *t = &f->tab[i];

		if (t->in != &f->unpacked)
			continue;
		from = t->off < from ? t->off : from;
		from = t->str.off < from ? t->str.off : from;
		if (t->xindex)
			from = t->xindex < from ? t->xindex : from;
	}
	input_trim(&f->unpacked, from);
}

void file_free_sections(struct file *f)
{
	elf_free_sections(&f->elf);
	elf_free_sections(&f->debug);
	elf_free_sections(&f->mini);
	trim_unpacked(f);
}

/* Reads section headers again, for tables that were found by them before. */
int file_read_sections(struct file *f)
{
	struct elf *all[] = { &f->elf, &f->debug, &f->mini };
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !ret; i++) {
		struct input *in = all[i]->in;

		if (!in || all[i]->shdr)
			continue;
		elf_close(all[i]);
		ret = elf_open(all[i], in);
	}
	if (!ret && f->debug.in && f->debug.section_addr)
		elf_place_like(&f->debug, &f->elf);
	return ret;
}

static void file_indexed(struct file *f, struct symres *s)
{
	f->indexed = true;
	file_free_sections(f);
	budget_keep(s, f);
}

/* 0: the file has the index that was kept of it, or is a miss; 1: none was kept;
 * or -ENOMEM. */
int file_take_kept(struct file *f, struct symres *s)
{
	int ret;

	if (f->prepared)
		return 1;
	if (input_unchanged(&f->in)) {
		f->miss = SYMRES_MISS_CHANGED;
		return 0;
	}
	f->demangle = s->demangle;
	ret = file_read_sections(f);
	if (ret == -ENOMEM)
		return ret;
	ret = debugfile_find(f, s);
	if (!ret)
		ret = cache_load(f, s, KEPT_ADDRESSES);
	if (ret == -ENOMEM)
		return ret;
	f->prepared = true;
	if (!ret)
		file_indexed(f, s);
	return !!ret;
}

/* Takes the index that was kept, or reads every table once. @wait: see
 * minidebug_open(). */
int file_index(struct file *f, struct symres *s, bool wait)
{
	int ret;

	f->used = ++s->tick;
	if (f->indexed || f->miss)
		return 0;
	ret = file_take_kept(f, s);
	if (ret <= 0)
		return ret;
	s->made_index = true;
	ret = file_find_tables(f, s, wait);
	if (!ret)
		ret = index_build(f, s, NULL);
	if (ret)
		return ret;
	cache_save(f, s, KEPT_ADDRESSES);
	file_indexed(f, s);
	return 0;
}

/*
 * An answer that can be had without an index in less time. 0 or 1 as ever,
 * -EAGAIN: an index is needed, or -ENOMEM.
 */
static int name_without_index(struct file *f, struct symres *s, uint64_t addr,
			      struct symres_sym *sym)
{
	struct focus focus = { .addr = addr };
	int ret;

	if (f->looked)
		return -EAGAIN;
	ret = file_take_kept(f, s);
	if (ret <= 0)
		return ret ? ret : -EAGAIN;
	ret = file_find_tables(f, s, true);
	if (!ret)
		ret = sorted_lookup(f, s, addr, sym);
	if (ret != -EAGAIN)
		return ret;
	f->looked = true;
	if (f->plt_first < s->worth_focus || f->mini.in)
		return -EAGAIN;
	ret = index_build(f, s, &focus);
	if (!ret)
		ret = file_name(f, s, addr, sym);
	/* Stubs are named by symbols that may have been left out. */
	if (ret == 1 && sym->source == SYMRES_SOURCE_PLT)
		ret = -EAGAIN;
	free(focus.holder);
	index_free(&f->index);
	plt_free(&f->plt, false);
	return ret;
}

/* Mini debug info that was taken out of the cache, or put there anew by somebody
 * else, is to be found again; that is no change of the file. */
void file_renew(struct file *f)
{
	if (f->indexed && f->mini.in && input_unchanged(&f->mini_in) &&
	    !input_unchanged(&f->in))
		file_unload(f);
}

/* Names an address; sym->miss says why not. */
int file_lookup(struct file *f, struct symres *s, uint64_t addr,
		struct symres_sym *sym)
{
	struct symres_sym before = *sym;
	int ret;

	file_renew(f);
	ret = f->indexed ? -EAGAIN : name_without_index(f, s, addr, sym);
	range_list_free(&s->spare);
	if (ret != -EAGAIN)
		return ret;
	*sym = before;
	ret = file_index(f, s, true);
	range_list_free(&s->spare);
	if (ret)
		return ret;
	if (f->miss)
		return sym_miss(sym, f->miss, f->err);
	return file_name(f, s, addr, sym);
}

/* Gives up all that can be found or made again. */
void file_unload(struct file *f)
{
	file_forget_tables(f);
	index_free(&f->index);
	index_free(&f->names);
	elf_close(&f->debug);
	f->debug.in = NULL;
	input_close(&f->debug_in);
	debugfile_forget(f);
	input_forget(&f->unpacked);
	f->indexed = false;
	f->prepared = false;
	f->round = 0;
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
	/* No file confirms it: an index that was cut short has zeros here. */
	if (!slot->size)
		return -ENOENT;
	switch (slot->kind) {
	case PLT_SECTION:
		sym->name = ".plt";
		return 0;
	case PLT_DYNSYM:
		if (f->dynsym && slot->sym < f->dynsym->count)
			ret = stored_name(f->dynsym, slot->sym, name);
		break;
	case PLT_IRELATIVE:
		t = file_table(f, slot->sym);
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

/* All but the name. */
void symbol_describe(const struct symtab *t, const struct elf *elf,
		     const GElf_Sym *s, struct symres_sym *sym)
{
	static const uint8_t kinds[16] = {
		[STT_FUNC] = SYMRES_KIND_FUNC,
		[STT_GNU_IFUNC] = SYMRES_KIND_FUNC,
		[STT_OBJECT] = SYMRES_KIND_DATA,
	};
	unsigned int type = GELF_ST_TYPE(s->st_info);

	sym->addr = s->st_value;
	if (elf->ehdr.e_machine == EM_ARM &&
	    (type == STT_FUNC || type == STT_GNU_IFUNC))
		sym->addr &= ~(uint64_t)1;
	sym->sym_size = s->st_size;
	sym->source = t->source;
	sym->kind = kinds[type];
	if (!s->st_size)
		sym->flags |= SYMRES_F_APPROX;
}

static int name_symbol(struct symtab *t, uint32_t at, const struct elf *elf,
		       struct text *name, struct symres_sym *sym)
{
	GElf_Sym s;
	int ret = symtab_read(t, at, 1, &s);

	/* No index that is well has it. */
	if (!ret && s.st_shndx == SHN_UNDEF)
		ret = -ENOENT;
	if (!ret)
		ret = strings_get(&t->str, s.st_name, name);
	if (ret)
		return ret;
	symbol_describe(t, elf, &s, sym);
	sym->name = name->s;
	return 0;
}

/* Reads what a symbol is called and where it is. */
int file_symbol(struct file *f, uint32_t ref, struct text *name,
		struct symres_sym *sym)
{
	struct symtab *t;
	int ret;

	if (ref >= f->plt_first && ref - f->plt_first >= f->plt.n)
		return -ENOENT;
	if (ref >= f->plt_first) {
		ret = name_stub(f, &f->plt.v[ref - f->plt_first], name, sym);
	} else {
		t = file_table(f, ref);
		ret = name_symbol(t, ref - t->first, &f->elf, name, sym);
	}
	if (!ret && f->demangle && sym->name == name->s) {
		ret = text_demangle(name);
		sym->name = name->s;
	}
	return ret;
}

int file_unchanged(struct file *f)
{
	int ret = input_unchanged(&f->in);

	if (!ret && f->debug.in)
		ret = input_unchanged(&f->debug_in);
	if (!ret && f->mini.in)
		ret = input_unchanged(&f->mini_in);
	return ret;
}

/* What was read of it was read from what is open still. */
bool file_changed_meanwhile(struct file *f)
{
	struct input *all[] = { &f->in, &f->debug_in, &f->mini_in };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->fd >= 0 && input_unchanged(all[i]))
			return true;
	return false;
}

/* Once for all questions of a round: can it be searched, and is it as it was? */
bool file_is_ready(struct file *f, struct symres *s)
{
	file_renew(f);
	if (f->miss || file_index(f, s, true) || f->miss || file_unchanged(f))
		return false;
	f->round = s->round;
	return true;
}

bool file_loads(struct file *f, uint64_t addr)
{
	return elf_loads(&f->elf, addr, &f->seg_start, &f->seg_size);
}

/* Names an address of an indexed file; sym->miss says why not. */
int file_name(struct file *f, struct symres *s, uint64_t addr,
	      struct symres_sym *sym)
{
	uint32_t ref = index_find(&f->index, addr);
	int ret, changed;

	if (ref == INDEX_NONE)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	ret = file_symbol(f, ref, &s->name, sym);
	if (ret == -ENOMEM)
		return ret;
	/* What was read is of this file only if it is still the same. */
	changed = file_unchanged(f);
	if (changed == -ESTALE || ret == -ESTALE || ret == -EIO)
		return sym_miss(sym, SYMRES_MISS_CHANGED, 0);
	if (changed)
		return sym_miss(sym, SYMRES_MISS_NO_FILE, -changed);
	if (ret == -ENOENT && !sym->name)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	if (ret)
		return sym_miss(sym, SYMRES_MISS_NO_FILE, -ret);
	return symbol_holds(sym, addr);
}
