// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which slot a stub jumps through, by its instructions. Linkers differ in what
 * else they put into stubs; the way to the slot is the same everywhere.
 */
#include <endian.h>
#include <string.h>

#include "internal.h"

static size_t skip(const struct stub *s, size_t at, const char *op, size_t len)
{
	return memcmp(s->code + at, op, len) ? at : at + len;
}

static uint32_t word(const struct stub *s, size_t at)
{
	uint32_t v = 0;

	/* Zeros are no instruction that is looked for. */
	if (at + sizeof(v) <= s->len)
		memcpy(&v, s->code + at, sizeof(v));
	return le32toh(v);
}

/* Stubs of x86 have 16 bytes, or 8 in some sections and zeros behind them. */
static size_t x86_64(const struct stub *s, uint64_t *slot)
{
	size_t at = skip(s, 0, "\xf3\x0f\x1e\xfa", 4);	/* endbr64 */

	at = skip(s, at, "\xf2", 1);			/* bnd */
	if (memcmp(s->code + at, "\xff\x25", 2))	/* jmp *slot(%rip) */
		return 0;
	*slot = s->addr + at + 6 + (uint64_t)(int32_t)word(s, at + 2);
	return at + 6;
}

static size_t i386(const struct stub *s, uint64_t *slot)
{
	size_t at = skip(s, 0, "\xf3\x0f\x1e\xfb", 4);	/* endbr32 */

	at = skip(s, at, "\xf2", 1);			/* bnd */
	if (!memcmp(s->code + at, "\xff\x25", 2))	/* jmp *slot */
		*slot = word(s, at + 2);
	else if (!memcmp(s->code + at, "\xff\xa3", 2))	/* jmp *slot(%ebx) */
		*slot = (uint32_t)(s->got + word(s, at + 2));
	else
		return 0;
	return at + 6;
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static size_t aarch64(const struct stub *s, uint64_t *slot)
{
	size_t at = word(s, 0) == 0xd503245f ? 4 : 0;	/* bti c */
	uint32_t adrp = word(s, at), ldr = word(s, at + 4);
	uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	if ((adrp & 0x9f00001f) != 0x90000010 ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	pages -= (pages & 1 << 20) << 1;
	*slot = ((s->addr + at) & ~(uint64_t)0xfff) + (pages << 12) +
		(ldr >> 10 & 0xfff) * 8;
	return at + 8;
}

/* The second operand of ARM: 8 bits, rotated. */
static uint32_t arm_operand(uint32_t op)
{
	uint32_t v = op & 0xff, by = (op >> 8 & 0xf) * 2;

	return by ? v >> by | v << (32 - by) : v;
}

/*
 * add ip, pc, #a; once or twice: add ip, ip, #b; ldr pc, [ip, #c]!
 * or ldr ip, 1f; add ip, ip, pc; ldr pc, [ip]; 1: the distance
 */
static size_t arm(const struct stub *s, uint64_t *slot)
{
	size_t at = word(s, 0) == 0x46c04778 ? 4 : 0;	/* bx pc; nop (Thumb) */
	uint32_t to = (uint32_t)s->addr + (uint32_t)at + 8;

	if (word(s, at) == 0xe59fc004 && word(s, at + 4) == 0xe08cc00f &&
	    word(s, at + 8) == 0xe59cf000 && s->len >= at + 16) {
		*slot = (uint32_t)(to + 4 + word(s, at + 12));
		return at + 16;
	}
	if ((word(s, at) & 0xfffff000) != 0xe28fc000)
		return 0;
	to += arm_operand(word(s, at));
	for (at += 4; (word(s, at) & 0xfffff000) == 0xe28cc000; at += 4)
		to += arm_operand(word(s, at));
	if ((word(s, at) & 0xfffff000) != 0xe5bcf000)
		return 0;
	*slot = (uint32_t)(to + (word(s, at) & 0xfff));
	return at + 4;
}

/* auipc t3, page; ld or lw t3, offset(t3) */
static size_t riscv(const struct stub *s, uint64_t *slot)
{
	size_t at = (word(s, 0) & 0xfff) == 0x17 ? 4 : 0;	/* lpad */
	uint32_t auipc = word(s, at), load = word(s, at + 4);
	uint32_t op = s->class == ELFCLASS64 ? 0xe3e03 : 0xe2e03;

	if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != op)
		return 0;
	*slot = s->addr + at + (uint64_t)(int32_t)(auipc & 0xfffff000) +
		(uint64_t)((int32_t)load >> 20);
	if (s->class == ELFCLASS32)
		*slot = (uint32_t)*slot;
	return at + 8;
}

const struct machine *machine_of(const struct elf *elf)
{
	static const struct machine known[] = {
		{ EM_X86_64, ELFCLASS64, true, 0, R_X86_64_JUMP_SLOT,
		  R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, x86_64 },
		{ EM_386, ELFCLASS32, false, 0, R_386_JMP_SLOT, R_386_GLOB_DAT,
		  R_386_IRELATIVE, i386 },
		{ EM_AARCH64, ELFCLASS64, true, 4, R_AARCH64_JUMP_SLOT,
		  R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, aarch64 },
		{ EM_ARM, ELFCLASS32, false, 4, R_ARM_JUMP_SLOT,
		  R_ARM_GLOB_DAT, R_ARM_IRELATIVE, arm },
		{ EM_RISCV, ELFCLASS64, true, 4, R_RISCV_JUMP_SLOT, R_RISCV_64,
		  R_RISCV_IRELATIVE, riscv },
		{ EM_RISCV, ELFCLASS32, true, 4, R_RISCV_JUMP_SLOT, R_RISCV_32,
		  R_RISCV_IRELATIVE, riscv },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (elf->ehdr.e_machine == known[i].machine &&
		    elf->class == known[i].class &&
		    /* Of the others' big-endian code there is more than one
		     * kind, or none. */
		    (elf->encoding == ELFDATA2LSB ||
		     elf->ehdr.e_machine == EM_AARCH64))
			return &known[i];
	return NULL;
}
