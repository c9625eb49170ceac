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
	uint32_t sym;
};

struct slots {
	struct slot *v;
	size_t n, room;
};

static int slots_push(struct slots *s, uint64_t addr, uint32_t sym)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct slot *v = reallocarray(s->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		s->v = v;
		s->room = room;
	}
	s->v[s->n++] = (struct slot) { addr, sym };
	return 0;
}

static int compare(const void *va, const void *vb)
{
	const struct slot *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* The slots that one relocation section fills with imported functions. */
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

			if ((type == R_X86_64_JUMP_SLOT ||
			     type == R_X86_64_GLOB_DAT) && sym && sym < ndynsym)
				ret = slots_push(s, r[i].r_offset,
						 (uint32_t)sym);
		}
		at += k;
	}
	return ret;
}

static int read_slots(struct slots *s, const struct elf *elf, uint32_t ndynsym)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];
		int ret;

		if (sh->sh_type != SHT_RELA || sh->sh_link >= elf->nshdr ||
		    elf->shdr[sh->sh_link].sh_type != SHT_DYNSYM ||
		    sh->sh_entsize != sizeof(Elf64_Rela) ||
		    !elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
			continue;
		ret = read_relocs(s, elf, sh, ndynsym);
		if (ret == -ENOMEM)
			return ret;
	}
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare);
	return 0;
}

static uint32_t slot_at(const struct slots *s, uint64_t addr)
{
	struct slot key = { .addr = addr };
	struct slot *found = s->n ? bsearch(&key, s->v, s->n, sizeof(*s->v),
					    compare) : NULL;

	return found ? found->sym : 0;
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

static int push(struct plt *plt, uint64_t addr, uint64_t size, uint32_t sym)
{
	if (plt->n == plt->room) {
		size_t room = plt->room ? plt->room * 2 : 64;
		struct plt_slot *v = reallocarray(plt->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		plt->v = v;
		plt->room = room;
	}
	plt->v[plt->n++] = (struct plt_slot) { addr, size, sym };
	return 0;
}

static int read_stubs(struct plt *plt, const struct elf *elf,
		      const GElf_Shdr *sh, const struct slots *slots)
{
	size_t step = sh->sh_entsize == 8 ? 8 : 16;
	unsigned char *buf, p[16];
	int ret;

	if (sh->sh_size > MAX_PLT)
		return 0;
	buf = malloc(sh->sh_size ? sh->sh_size : 1);
	if (!buf)
		return -ENOMEM;
	ret = input_read(elf->in, sh->sh_offset, buf, sh->sh_size);
	for (size_t at = 0; !ret && at + step <= sh->sh_size; at += step) {
		uint64_t slot, addr = sh->sh_addr + at;
		uint32_t sym = 0;

		memset(p, 0, sizeof(p));
		memcpy(p, buf + at, step);
		if (jumps_through(elf, p, addr, &slot))
			sym = slot_at(slots, slot);
		if (sym)
			ret = push(plt, addr, (uint32_t)step, sym);
	}
	free(buf);
	return ret == -ENOMEM ? ret : 0;
}

int plt_read(struct plt *plt, const struct elf *elf, uint32_t ndynsym)
{
	static const char *const names[] = { ".plt", ".plt.got", ".plt.sec" };
	struct slots slots = { 0 };
	int ret;

	if (elf->ehdr.e_machine != EM_X86_64 || elf->class != ELFCLASS64)
		return 0;
	ret = read_slots(&slots, elf, ndynsym);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !ret; i++) {
		const GElf_Shdr *sh = elf_section(elf, names[i]);

		if (!sh || sh->sh_type != SHT_PROGBITS ||
		    !(sh->sh_flags & SHF_EXECINSTR))
			continue;
		/* The way to the resolver lies around the named stubs. */
		if (!i && sh->sh_size)
			ret = push(plt, sh->sh_addr, sh->sh_size, 0);
		if (!ret)
			ret = read_stubs(plt, elf, sh, &slots);
	}
	free(slots.v);
	return ret;
}
