// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stubs that jump to imported functions. Linkers differ in the sections, the
 * headers and the sizes of stubs; what they have in common is the jump through
 * a slot that a relocation fills. So each stub is read, and named by the slot it
 * jumps through.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_PLT (16u << 20)
#define MAX_DYNAMIC 4096	/* entries that a linker writes, and more */

struct slot {
	uint64_t addr;
	uint64_t resolver;	/* of an IFUNC; then there is no symbol */
	uint32_t sym;
};

struct slots {
	struct slot *v;
	size_t n, room;
};

static int slots_push(struct slots *s, const struct slot *slot)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct slot *v = reallocarray(s->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->v = v;
		s->room = room;
	}
	s->v[s->n++] = *slot;
	return 0;
}

static int compare(const void *va, const void *vb)
{
	const struct slot *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* A relocation of any kind. */
struct reloc {
	uint64_t slot, addend, sym;
	uint32_t type;
};

enum { CHUNK = 256 };

static size_t reloc_size(const struct elf *elf, const struct machine *m)
{
	if (elf->class == ELFCLASS64)
		return sizeof(Elf64_Rela);
	return m->addends ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

static int read_chunk(const struct elf *elf, const struct machine *m,
		      uint64_t off, size_t n, struct reloc *out)
{
	union {
		Elf64_Rela wide[CHUNK];
		Elf32_Rela rela[CHUNK];
		Elf32_Rel rel[CHUNK];
	} in;
	int ret = elf_read(elf, m->addends ? ELF_T_RELA : ELF_T_REL, off, &in,
			   n * reloc_size(elf, m));

	for (size_t i = 0; i < n && !ret; i++) {
		uint32_t info = m->addends ? in.rela[i].r_info :
					     in.rel[i].r_info;

		if (elf->class == ELFCLASS64)
			out[i] = (struct reloc) {
				.slot = in.wide[i].r_offset,
				.addend = (uint64_t)in.wide[i].r_addend,
				.sym = ELF64_R_SYM(in.wide[i].r_info),
				.type = (uint32_t)ELF64_R_TYPE(in.wide[i].r_info),
			};
		else
			out[i] = (struct reloc) {
				.slot = m->addends ? in.rela[i].r_offset :
						     in.rel[i].r_offset,
				.addend = m->addends ?
					(uint32_t)in.rela[i].r_addend : 0,
				.sym = ELF32_R_SYM(info),
				.type = ELF32_R_TYPE(info),
			};
	}
	return ret;
}

/* Without an addend beside it, the slot itself says where a resolver is. */
static uint32_t word_at(const struct elf *elf, uint64_t addr)
{
	static const char *const names[] = { ".got.plt", ".got", ".igot.plt" };
	unsigned char buf[4];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const GElf_Shdr *sh = elf_section(elf, names[i]);

		if (sh && addr >= sh->sh_addr && sh->sh_size >= sizeof(buf) &&
		    addr - sh->sh_addr <= sh->sh_size - sizeof(buf) &&
		    !input_read(elf->in, sh->sh_offset + (addr - sh->sh_addr),
				buf, sizeof(buf)))
			return elf_u32(elf, buf);
	}
	return 0;
}

static int take_reloc(struct slots *s, const struct elf *elf,
		      const struct machine *m, const struct reloc *r,
		      uint32_t ndynsym)
{
	struct slot slot = { .addr = r->slot };

	if (r->type == m->irelative) {
		slot.resolver = m->addends ? r->addend : word_at(elf, r->slot);
		if (m->machine == EM_ARM)
			slot.resolver &= ~(uint64_t)1;	/* Thumb */
	} else if ((r->type == m->jump_slot || r->type == m->glob_dat) &&
		   r->sym < ndynsym) {
		slot.sym = (uint32_t)r->sym;
	}
	return slot.sym || slot.resolver ? slots_push(s, &slot) : 0;
}

/* The slots that one relocation section fills with addresses of functions. */
static int read_relocs(struct slots *s, const struct elf *elf,
		       const struct machine *m, const GElf_Shdr *sh,
		       uint32_t ndynsym)
{
	size_t size = reloc_size(elf, m);
	uint64_t n = sh->sh_size / size;
	struct reloc r[CHUNK];
	int ret = 0;

	for (uint64_t at = 0; at < n && !ret; ) {
		size_t k = n - at < CHUNK ? (size_t)(n - at) : CHUNK;

		ret = read_chunk(elf, m, sh->sh_offset + at * size, k, r);
		for (size_t i = 0; i < k && !ret; i++)
			ret = take_reloc(s, elf, m, &r[i], ndynsym);
		at += k;
	}
	return ret;
}

static int read_slots(struct slots *s, const struct elf *elf,
		      const struct machine *m, uint32_t ndynsym)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];
		bool dynamic = sh->sh_link < elf->nshdr &&
			elf->shdr[sh->sh_link].sh_type == SHT_DYNSYM;
		int ret;

		/* A static program has slots too, but no .dynsym. */
		if (sh->sh_type != (m->addends ? SHT_RELA : SHT_REL) ||
		    !(sh->sh_flags & SHF_ALLOC) ||
		    sh->sh_entsize != reloc_size(elf, m) ||
		    !elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
			continue;
		ret = read_relocs(s, elf, m, sh, dynamic ? ndynsym : 0);
		if (ret == -ENOMEM)
			return ret;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare);
	return 0;
}

/* What position-independent code of i386 has in %ebx. */
static uint64_t find_got(const struct elf *elf)
{
	const GElf_Shdr *got = elf_section(elf, ".got.plt");
	const GElf_Shdr *sh = elf_section(elf, ".dynamic");
	Elf32_Dyn d;

	for (uint64_t at = 0; sh && at < MAX_DYNAMIC * sizeof(d) &&
	     at + sizeof(d) <= sh->sh_size; at += sizeof(d)) {
		if (elf_read(elf, ELF_T_DYN, sh->sh_offset + at, &d,
			     sizeof(d)) || !d.d_tag)
			break;
		if (d.d_tag == DT_PLTGOT)
			return d.d_un.d_ptr;
	}
	return got ? got->sh_addr : 0;
}

static const struct slot *slot_at(const struct slots *s, uint64_t addr)
{
	struct slot key = { .addr = addr };

	return s->n ? bsearch(&key, s->v, s->n, sizeof(*s->v), compare) : NULL;
}

static int grow(void *array, size_t room, size_t size)
{
	void **v = array, *bigger = reallocarray(*v, room, size);

	if (!bigger)
		return -ENOMEM;
	*v = bigger;
	return 0;
}

static int push(struct plt *plt, const struct plt_slot *slot, uint64_t target)
{
	size_t room = plt->room ? plt->room * 2 : 64;

	if (plt->n == plt->room) {
		if (grow(&plt->v, room, sizeof(*plt->v)) ||
		    grow(&plt->target, room, sizeof(*plt->target)))
			return -ENOMEM;
		plt->room = room;
	}
	plt->v[plt->n] = *slot;
	plt->target[plt->n++] = target;
	return 0;
}

void plt_free(struct plt *plt, bool mapped)
{
	if (!mapped)
		free(plt->v);
	free(plt->target);
	*plt = (struct plt) { 0 };
}

/* Linkers leave the size out in static programs; perf then takes 16. */
static size_t stub_size(const GElf_Shdr *sh, bool perf)
{
	if (sh->sh_entsize == 8 || sh->sh_entsize == 16)
		return sh->sh_entsize;
	return !perf && sh->sh_addralign == 8 ? 8 : 16;
}

/* All that reading stubs takes. */
struct reader {
	struct plt *plt;
	const struct elf *elf;
	const struct machine *m;
	struct slots slots;
	uint64_t got;
	bool perf;		/* it keeps nameless ones too */
};

static int take_stub(struct reader *r, const GElf_Shdr *sh, size_t at,
		     size_t size, const struct slot *slot)
{
	struct plt_slot stub = {
		.addr = sh->sh_addr + at, .size = size, .kind = PLT_UNKNOWN,
		.offset = sh->sh_offset + at,
	};

	if (slot) {
		stub.kind = slot->sym ? PLT_DYNSYM : PLT_IRELATIVE;
		stub.sym = slot->sym;
	}
	return slot || r->perf ? push(r->plt, &stub, slot ? slot->resolver : 0) :
				 0;
}

/* Those of one size. @from: how much of the section is no stub. */
static int read_equal(struct reader *r, const GElf_Shdr *sh,
		      const unsigned char *buf, size_t from)
{
	size_t step = stub_size(sh, r->perf);
	unsigned char code[16];
	int ret = 0;

	for (size_t at = from; !ret && at + step <= sh->sh_size; at += step) {
		const struct stub stub = {
			.code = code, .len = sizeof(code), .got = r->got,
			.addr = sh->sh_addr + at, .class = r->elf->class,
		};
		const struct slot *slot = NULL;
		uint64_t jump;

		memset(code, 0, sizeof(code));
		memcpy(code, buf + at, step);
		if (r->m->read(&stub, &jump))
			slot = slot_at(&r->slots, jump);
		ret = take_stub(r, sh, at, step, slot);
	}
	return ret;
}

/* Where the code says itself where stubs begin, each reaches to the next. */
static int read_stepwise(struct reader *r, const GElf_Shdr *sh,
			 const unsigned char *buf)
{
	enum { LONGEST = 32 };
	const struct slot *slot = NULL;
	size_t begin = 0, n;
	uint64_t jump;
	int ret = 0;

	for (size_t at = 0; !ret; at += n ? n : r->m->step) {
		struct stub stub = {
			.code = buf + at, .len = sh->sh_size - at,
			.addr = sh->sh_addr + at, .class = r->elf->class,
		};
		bool ends = at + r->m->step > sh->sh_size;

		n = ends ? 0 : r->m->read(&stub, &jump);
		if (slot && (n || ends || at - begin >= LONGEST)) {
			ret = take_stub(r, sh, begin, at - begin, slot);
			slot = NULL;
		}
		if (ends)
			break;
		if (n) {
			begin = at;
			slot = slot_at(&r->slots, jump);
		}
	}
	return ret;
}

static int read_stubs(struct reader *r, const GElf_Shdr *sh, size_t from)
{
	unsigned char *buf;
	int ret;

	if (sh->sh_size > MAX_PLT)
		return 0;
	buf = malloc(sh->sh_size ? sh->sh_size : 1);
	if (!buf)
		return -ENOMEM;
	ret = input_read(r->elf->in, sh->sh_offset, buf, sh->sh_size);
	if (!ret)
		ret = r->m->step ? read_stepwise(r, sh, buf) :
				   read_equal(r, sh, buf, from);
	free(buf);
	return ret == -ENOMEM ? ret : 0;
}

/*
 * perf knows nothing of static programs, and has a name for every stub. Where
 * there are as many relocations as there is room for stubs, none is special;
 * what is beside .plt.sec is one thing.
 */
static int read_perf(struct reader *r, const GElf_Shdr *const sh[3])
{
	const GElf_Shdr *rela = elf_section(r->elf, ".rela.plt");
	uint64_t n = rela ? rela->sh_size / sizeof(Elf64_Rela) : 0;
	size_t step;
	bool head;
	int ret = 0;

	if (!sh[0])
		return 0;
	step = stub_size(sh[0], true);
	head = sh[2] || n * step != sh[0]->sh_size;
	if (head) {
		struct plt_slot all = {
			.addr = sh[0]->sh_addr, .kind = PLT_SECTION,
			.size = sh[2] ? sh[0]->sh_size : step,
		};

		ret = push(r->plt, &all, 0);
	}
	if (!ret && !sh[2])
		ret = read_stubs(r, sh[0], head ? step : 0);
	for (int i = 1; i < 3 && !ret; i++)
		if (sh[i])
			ret = read_stubs(r, sh[i], 0);
	return ret;
}

int plt_read(struct plt *plt, const struct elf *elf, uint32_t ndynsym,
	     bool perf)
{
	/* The last is lld's, for what is resolved within the file. */
	static const char *const names[] = {
		".plt", ".plt.got", ".plt.sec", ".iplt",
	};
	const GElf_Shdr *sections[4];
	struct reader r = {
		.plt = plt, .elf = elf, .m = machine_of(elf), .perf = perf,
	};
	int ret;

	/* What a relocatable file has by these names is room for stubs. */
	if (!r.m || elf->section_addr || (perf && r.m->machine != EM_X86_64))
		return 0;
	if (r.m->machine == EM_386)
		r.got = find_got(elf);
	ret = read_slots(&r.slots, elf, r.m, ndynsym);
	for (size_t i = 0; i < 4; i++) {
		const GElf_Shdr *sh = elf_section(elf, names[i]);

		sections[i] = sh && sh->sh_type == SHT_PROGBITS &&
			      sh->sh_flags & SHF_EXECINSTR ? sh : NULL;
	}
	if (!ret && perf && ndynsym)
		ret = read_perf(&r, sections);
	for (size_t i = 0; i < 4 && !ret && !perf; i++) {
		const GElf_Shdr *sh = sections[i];

		if (!sh)
			continue;
		/* The way to the resolver lies around the named stubs. */
		if (!i && sh->sh_size && ndynsym) {
			struct plt_slot all = {
				.addr = sh->sh_addr, .size = sh->sh_size,
				.kind = PLT_SECTION,
			};

			ret = push(plt, &all, 0);
		}
		if (!ret)
			ret = read_stubs(&r, sh, 0);
	}
	free(r.slots.v);
	return ret;
}
