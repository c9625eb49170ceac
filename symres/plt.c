// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stubs that jump to imported functions. Linkers differ in the sections, the
 * headers and the sizes of stubs; what they have in common is the jump through
 * a slot that a relocation fills. So each stub is read, and named by the slot it
 * jumps through. x86-64 only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_PLT (16u << 20)

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

/* The slots that one relocation section fills with addresses of functions. */
static int read_relocs(struct slots *s, const struct elf *elf,
		       const GElf_Shdr *sh, uint32_t ndynsym)
{
	uint64_t n = sh->sh_size / sizeof(Elf64_Rela);
	Elf64_Rela r[256];
	int ret = 0;

	for (uint64_t at = 0; at < n && !ret; ) {
		size_t k = n - at < 256 ? (size_t)(n - at) : 256;

		ret = elf_read(elf, ELF_T_RELA,
			       sh->sh_offset + at * sizeof(*r), r,
			       k * sizeof(*r));
		for (size_t i = 0; i < k && !ret; i++) {
			uint64_t sym = ELF64_R_SYM(r[i].r_info);
			uint32_t type = ELF64_R_TYPE(r[i].r_info);
			struct slot slot = { .addr = r[i].r_offset };

			if (type == R_X86_64_IRELATIVE)
				slot.resolver = (uint64_t)r[i].r_addend;
			else if ((type == R_X86_64_JUMP_SLOT ||
				  type == R_X86_64_GLOB_DAT) && sym < ndynsym)
				slot.sym = (uint32_t)sym;
			if (slot.sym || slot.resolver)
				ret = slots_push(s, &slot);
		}
		at += k;
	}
	return ret;
}

static int read_slots(struct slots *s, const struct elf *elf, uint32_t ndynsym)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];
		bool dynamic = sh->sh_link < elf->nshdr &&
			elf->shdr[sh->sh_link].sh_type == SHT_DYNSYM;
		int ret;

		/* A static program has slots too, but no .dynsym. */
		if (sh->sh_type != SHT_RELA || !(sh->sh_flags & SHF_ALLOC) ||
		    sh->sh_entsize != sizeof(Elf64_Rela) ||
		    !elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
			continue;
		ret = read_relocs(s, elf, sh, dynamic ? ndynsym : 0);
		if (ret == -ENOMEM)
			return ret;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare);
	return 0;
}

static const struct slot *slot_at(const struct slots *s, uint64_t addr)
{
	struct slot key = { .addr = addr };

	return s->n ? bsearch(&key, s->v, s->n, sizeof(*s->v), compare) : NULL;
}

static size_t skip(const unsigned char *p, size_t at, const char *op,
		   size_t len)
{
	return memcmp(p + at, op, len) ? at : at + len;
}

/* The slot that one stub of 16 bytes (8 in some sections) jumps through. */
static bool jumps_through(const struct elf *elf, const unsigned char *p,
			  uint64_t addr, uint64_t *slot)
{
	size_t at = skip(p, 0, "\xf3\x0f\x1e\xfa", 4);	/* endbr64 */

	at = skip(p, at, "\xf2", 1);			/* bnd */
	if (memcmp(p + at, "\xff\x25", 2))		/* jmp *slot(%rip) */
		return false;
	*slot = addr + at + 6 + (uint64_t)(int32_t)elf_u32(elf, p + at + 2);
	return true;
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

/* @from: how much of the section is no stub; perf keeps nameless ones too. */
static int read_stubs(struct plt *plt, const struct elf *elf,
		      const GElf_Shdr *sh, const struct slots *slots,
		      size_t from, bool perf)
{
	size_t step = stub_size(sh, perf);
	unsigned char *buf, p[16];
	int ret;

	if (sh->sh_size > MAX_PLT)
		return 0;
	buf = malloc(sh->sh_size ? sh->sh_size : 1);
	if (!buf)
		return -ENOMEM;
	ret = input_read(elf->in, sh->sh_offset, buf, sh->sh_size);
	for (size_t at = from; !ret && at + step <= sh->sh_size; at += step) {
		uint64_t jump, addr = sh->sh_addr + at;
		const struct slot *slot = NULL;
		struct plt_slot stub = {
			.addr = addr, .size = step, .kind = PLT_UNKNOWN,
			.offset = sh->sh_offset + at,
		};

		memset(p, 0, sizeof(p));
		memcpy(p, buf + at, step);
		if (jumps_through(elf, p, addr, &jump))
			slot = slot_at(slots, jump);
		if (slot) {
			stub.kind = slot->sym ? PLT_DYNSYM : PLT_IRELATIVE;
			stub.sym = slot->sym;
		}
		if (slot || perf)
			ret = push(plt, &stub, slot ? slot->resolver : 0);
	}
	free(buf);
	return ret == -ENOMEM ? ret : 0;
}

/*
 * perf knows nothing of static programs, and has a name for every stub. Where
 * there are as many relocations as there is room for stubs, none is special;
 * what is beside .plt.sec is one thing.
 */
static int read_perf(struct plt *plt, const struct elf *elf,
		     const GElf_Shdr *const sh[3], const struct slots *slots)
{
	const GElf_Shdr *rela = elf_section(elf, ".rela.plt");
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

		ret = push(plt, &all, 0);
	}
	if (!ret && !sh[2])
		ret = read_stubs(plt, elf, sh[0], slots, head ? step : 0, true);
	for (int i = 1; i < 3 && !ret; i++)
		if (sh[i])
			ret = read_stubs(plt, elf, sh[i], slots, 0, true);
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
	struct slots slots = { 0 };
	int ret;

	if (elf->ehdr.e_machine != EM_X86_64 || elf->class != ELFCLASS64)
		return 0;
	ret = read_slots(&slots, elf, ndynsym);
	for (size_t i = 0; i < 4; i++) {
		const GElf_Shdr *sh = elf_section(elf, names[i]);

		sections[i] = sh && sh->sh_type == SHT_PROGBITS &&
			      sh->sh_flags & SHF_EXECINSTR ? sh : NULL;
	}
	if (!ret && perf && ndynsym)
		ret = read_perf(plt, elf, sections, &slots);
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
			ret = read_stubs(plt, elf, sh, &slots, 0, false);
	}
	free(slots.v);
	return ret;
}
