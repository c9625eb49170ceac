// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ELF headers of either class and byte order. libelf translates records; the
 * tables themselves are read and checked here, since a damaged file must cost
 * no more than its own part. What cannot be used is left out, not an error.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* More than any linker writes; bounds what a hostile header makes us hold. */
#define MAX_SECTIONS (1u << 20)
#define MAX_NOTES (1u << 20)
#define MAX_NAMES (16u << 20)

/* Does the file hold all of [off, off + len)? */
bool elf_extent_ok(const struct elf *elf, uint64_t off, uint64_t len)
{
	return off <= elf->in->size && len <= elf->in->size - off;
}

/* Records of this byte order are as they should be. */
enum { NATIVE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
							     ELFDATA2MSB };

/* @len bytes of records of a type, in the byte order of this machine. */
int records_read(struct input *in, int class, unsigned int encoding,
		 Elf_Type type, uint64_t off, void *buf, size_t len)
{
	Elf_Data data = {
		.d_buf = buf, .d_type = type, .d_size = len,
		.d_version = EV_CURRENT,
	};
	int ret = input_read(in, off, buf, len);

	if (ret || encoding == NATIVE)
		return ret;
	if (class == ELFCLASS32)
		ret = elf32_xlatetom(&data, &data, encoding) != NULL;
	else
		ret = elf64_xlatetom(&data, &data, encoding) != NULL;
	return ret ? 0 : -ENOEXEC;
}

int elf_read(const struct elf *elf, Elf_Type type, uint64_t off, void *buf,
	     size_t len)
{
	return records_read(elf->in, elf->class, elf->encoding, type, off, buf,
			    len);
}

uint32_t elf_u32(const struct elf *elf, const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return elf->encoding == ELFDATA2MSB ? be32toh(v) : le32toh(v);
}

static int read_ehdr(struct elf *elf)
{
	Elf32_Ehdr e;
	int ret;

	if (elf->class == ELFCLASS64)
		return elf_read(elf, ELF_T_EHDR, 0, &elf->ehdr,
				sizeof(Elf64_Ehdr));
	ret = elf_read(elf, ELF_T_EHDR, 0, &e, sizeof(e));
	elf->ehdr = (GElf_Ehdr) {
		.e_type = e.e_type, .e_machine = e.e_machine,
		.e_phoff = e.e_phoff, .e_shoff = e.e_shoff,
		.e_phentsize = e.e_phentsize, .e_phnum = e.e_phnum,
		.e_shentsize = e.e_shentsize, .e_shnum = e.e_shnum,
		.e_shstrndx = e.e_shstrndx,
	};
	return ret;
}

static GElf_Shdr wide_shdr(const Elf32_Shdr *s)
{
	return (GElf_Shdr) {
		.sh_name = s->sh_name, .sh_type = s->sh_type,
		.sh_flags = s->sh_flags, .sh_addr = s->sh_addr,
		.sh_offset = s->sh_offset, .sh_size = s->sh_size,
		.sh_link = s->sh_link, .sh_info = s->sh_info,
		.sh_addralign = s->sh_addralign, .sh_entsize = s->sh_entsize,
	};
}

static GElf_Phdr wide_phdr(const Elf32_Phdr *p)
{
	return (GElf_Phdr) {
		.p_type = p->p_type, .p_flags = p->p_flags,
		.p_offset = p->p_offset, .p_vaddr = p->p_vaddr,
		.p_filesz = p->p_filesz, .p_memsz = p->p_memsz,
		.p_align = p->p_align,
	};
}

/* Reads @n section headers; those of 32 bits are widened, the last one first. */
static int read_shdrs(const struct elf *elf, uint64_t off, size_t n,
		      GElf_Shdr *out)
{
	const Elf32_Shdr *in = (const Elf32_Shdr *)out;
	size_t size = elf->class == ELFCLASS64 ? sizeof(*out) : sizeof(*in);
	int ret = elf_read(elf, ELF_T_SHDR, off, out, n * size);

	while (!ret && elf->class == ELFCLASS32 && n--) {
		Elf32_Shdr s = in[n];

		out[n] = wide_shdr(&s);
	}
	return ret;
}

static int read_phdrs(const struct elf *elf, uint64_t off, size_t n,
		      GElf_Phdr *out)
{
	const Elf32_Phdr *in = (const Elf32_Phdr *)out;
	size_t size = elf->class == ELFCLASS64 ? sizeof(*out) : sizeof(*in);
	int ret = elf_read(elf, ELF_T_PHDR, off, out, n * size);

	while (!ret && elf->class == ELFCLASS32 && n--) {
		Elf32_Phdr p = in[n];

		out[n] = wide_phdr(&p);
	}
	return ret;
}

/* Sections are needed while tables are read; segments as long as the file. */
void elf_free_sections(struct elf *elf)
{
	free(elf->shdr);
	elf->shdr = NULL;
	elf->nshdr = 0;
	free(elf->names);
	elf->names = NULL;
	elf->names_size = 0;
}

static int read_sections(struct elf *elf)
{
	uint64_t off = elf->ehdr.e_shoff, n = elf->ehdr.e_shnum;
	size_t size = elf->class == ELFCLASS64 ? sizeof(Elf64_Shdr) :
						 sizeof(Elf32_Shdr);
	GElf_Shdr zero;

	if (!off || elf->ehdr.e_shentsize != size ||
	    read_shdrs(elf, off, 1, &zero))
		return 0;
	/* Numbers too big for the header are kept in section 0. */
	if (!n)
		n = zero.sh_size;
	elf->shstrndx = elf->ehdr.e_shstrndx;
	if (elf->shstrndx == SHN_XINDEX)
		elf->shstrndx = zero.sh_link;
	if (!n || n > MAX_SECTIONS || !elf_extent_ok(elf, off, n * size))
		return 0;
	elf->shdr = calloc(n, sizeof(*elf->shdr));
	if (!elf->shdr)
		return -ENOMEM;
	if (!read_shdrs(elf, off, n, elf->shdr))
		elf->nshdr = n;
	else
		elf_free_sections(elf);
	return 0;
}

static int read_segments(struct elf *elf)
{
	uint64_t off = elf->ehdr.e_phoff, n = elf->ehdr.e_phnum;
	size_t size = elf->class == ELFCLASS64 ? sizeof(Elf64_Phdr) :
						 sizeof(Elf32_Phdr);

	if (n == PN_XNUM && elf->nshdr)
		n = elf->shdr[0].sh_info;
	if (!off || elf->ehdr.e_phentsize != size || n > MAX_SECTIONS ||
	    !elf_extent_ok(elf, off, n * size))
		return 0;
	elf->phdr = calloc(n ? n : 1, sizeof(*elf->phdr));
	if (!elf->phdr)
		return -ENOMEM;
	if (!read_phdrs(elf, off, n, elf->phdr))
		elf->nphdr = n;
	return 0;
}

/* What sections are called, read once; without it they have no names. */
static int read_names(struct elf *elf)
{
	const GElf_Shdr *sh;

	if (elf->shstrndx >= elf->nshdr)
		return 0;
	sh = &elf->shdr[elf->shstrndx];
	if (!sh->sh_size || sh->sh_type == SHT_NOBITS ||
	    sh->sh_size > MAX_NAMES ||
	    !elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
		return 0;
	elf->names = malloc(sh->sh_size + 1);
	if (!elf->names)
		return -ENOMEM;
	if (!input_read(elf->in, sh->sh_offset, elf->names, sh->sh_size))
		elf->names_size = sh->sh_size;
	elf->names[elf->names_size] = 0;
	return 0;
}

static bool has_load(const struct elf *elf)
{
	for (size_t i = 0; i < elf->nphdr; i++)
		if (elf->phdr[i].p_type == PT_LOAD)
			return true;
	return false;
}

/* 0, -ENOEXEC if this is no ELF file, -ENOMEM, or what reading it gave. */
int elf_open(struct elf *elf, struct input *in)
{
	unsigned char ident[EI_NIDENT];
	int ret;

	memset(elf, 0, sizeof(*elf));
	elf->in = in;
	if (in->size < sizeof(ident))
		return -ENOEXEC;
	ret = input_read(in, 0, ident, sizeof(ident));
	if (ret)
		return ret;
	elf->class = ident[EI_CLASS];
	elf->encoding = ident[EI_DATA];
	if (memcmp(ident, ELFMAG, SELFMAG) ||
	    (elf->class != ELFCLASS32 && elf->class != ELFCLASS64) ||
	    (elf->encoding != ELFDATA2LSB && elf->encoding != ELFDATA2MSB) ||
	    read_ehdr(elf))
		return -ENOEXEC;
	ret = read_sections(elf);
	if (!ret)
		ret = read_names(elf);
	if (!ret)
		ret = read_segments(elf);
	if (!ret && elf->ehdr.e_type == ET_REL)
		ret = elf_place_sections(elf);
	else if (!ret && !elf->nshdr)
		ret = elf_make_up_sections(elf);
	else if (!ret && !has_load(elf))
		ret = elf_cover_sections(elf);
	if (ret)
		elf_close(elf);
	else
		opd_find(elf);
	return ret;
}

void elf_close(struct elf *elf)
{
	elf_free_sections(elf);
	free(elf->phdr);
	elf->phdr = NULL;
	elf->nphdr = 0;
	free(elf->section_addr);
	elf->section_addr = NULL;
	elf->nplaced = 0;
}

/* Does the file end before the section headers that it says it has? */
bool elf_cut_short(const struct elf *elf)
{
	uint64_t n = elf->ehdr.e_shnum ? elf->ehdr.e_shnum : 1;

	return elf->ehdr.e_shoff &&
	       !elf_extent_ok(elf, elf->ehdr.e_shoff,
			      n * elf->ehdr.e_shentsize);
}

/* Can one hold the symbols of the other? */
bool elf_alike(const struct elf *a, const struct elf *b)
{
	return a->class == b->class && a->encoding == b->encoding &&
	       a->ehdr.e_machine == b->ehdr.e_machine &&
	       (a->ehdr.e_type == ET_REL) == (b->ehdr.e_type == ET_REL);
}

const char *elf_section_name(const struct elf *elf, const GElf_Shdr *sh)
{
	return sh->sh_name < elf->names_size ? elf->names + sh->sh_name : "";
}

/* A section that holds something, by name. */
const GElf_Shdr *elf_section(const struct elf *elf, const char *name)
{
	for (size_t i = 1; i < elf->nshdr; i++) {
		const GElf_Shdr *sh = &elf->shdr[i];

		/* In a debug file most sections are names without content. */
		if (sh->sh_type != SHT_NOBITS && sh->sh_type != SHT_NULL &&
		    !strcmp(elf_section_name(elf, sh), name) &&
		    elf_extent_ok(elf, sh->sh_offset, sh->sh_size))
			return sh;
	}
	return NULL;
}

/* The build-id among ELF notes; returns its length or 0. */
size_t note_build_id(const unsigned char *buf, size_t len, size_t align,
		     bool swap, unsigned char *id)
{
	size_t at = 0;

	align = align == 8 ? 8 : 4;
	while (len - at >= 12) {
		uint64_t name, desc, next;
		uint32_t h[3];

		memcpy(h, buf + at, sizeof(h));
		if (swap)
			for (size_t i = 0; i < 3; i++)
				h[i] = __builtin_bswap32(h[i]);
		name = at + 12;
		desc = (name + h[0] + align - 1) & ~(uint64_t)(align - 1);
		next = (desc + h[1] + align - 1) & ~(uint64_t)(align - 1);
		if (desc > len || h[1] > len - desc)
			return 0;
		if (h[2] == NT_GNU_BUILD_ID && h[0] == 4 &&
		    !memcmp(buf + name, "GNU", 4) && h[1] &&
		    h[1] <= SYMRES_BUILD_ID_MAX) {
			memcpy(id, buf + desc, h[1]);
			return h[1];
		}
		if (next > len)
			return 0;
		at = next;
	}
	return 0;
}

static size_t build_id_in(const struct elf *elf, uint64_t off, uint64_t len,
			  uint64_t align, unsigned char *id)
{
	bool swap = elf->encoding !=
		    (BYTE_ORDER == BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB);
	unsigned char *buf;
	size_t ret = 0;

	if (len > MAX_NOTES || !elf_extent_ok(elf, off, len))
		return 0;
	buf = malloc(len ? len : 1);
	if (buf && !input_read(elf->in, off, buf, len))
		ret = note_build_id(buf, len, align, swap, id);
	free(buf);
	return ret;
}

/*
 * Sections first: the segments of a separate debug file may point at other
 * data, while its sections say by their type that they are empty.
 */
size_t elf_build_id(const struct elf *elf, unsigned char *id)
{
	size_t len = 0;

	for (size_t i = 1; i < elf->nshdr && !len; i++)
		if (elf->shdr[i].sh_type == SHT_NOTE)
			len = build_id_in(elf, elf->shdr[i].sh_offset,
					  elf->shdr[i].sh_size,
					  elf->shdr[i].sh_addralign, id);
	if (elf->nshdr && !elf->made_up)
		return len;
	for (size_t i = 0; i < elf->nphdr && !len; i++)
		if (elf->phdr[i].p_type == PT_NOTE)
			len = build_id_in(elf, elf->phdr[i].p_offset,
					  elf->phdr[i].p_filesz,
					  elf->phdr[i].p_align, id);
	return len;
}

/* Is an address in memory at all, and in which segment? */
bool elf_loads(const struct elf *elf, uint64_t addr, uint64_t *start,
	       uint64_t *size)
{
	for (size_t i = 0; i < elf->nphdr; i++) {
		const GElf_Phdr *ph = &elf->phdr[i];

		if (ph->p_type == PT_LOAD && addr >= ph->p_vaddr &&
		    addr - ph->p_vaddr < ph->p_memsz) {
			*start = ph->p_vaddr;
			*size = ph->p_memsz;
			return true;
		}
	}
	return false;
}

/*
 * The segment that holds the offset says what address it has: segments may lie
 * further from each other in memory than in the file. Where two share a piece
 * of the file, the executable one is meant.
 */
bool elf_offset_to_addr(const struct elf *elf, uint64_t off, uint64_t *addr)
{
	const GElf_Phdr *best = NULL;

	for (size_t i = 0; i < elf->nphdr; i++) {
		const GElf_Phdr *ph = &elf->phdr[i];

		if (ph->p_type != PT_LOAD || off < ph->p_offset ||
		    off - ph->p_offset >= ph->p_filesz)
			continue;
		if (!best || (!(best->p_flags & PF_X) && ph->p_flags & PF_X))
			best = ph;
	}
	if (best)
		*addr = best->p_vaddr + (off - best->p_offset);
	return best != NULL;
}
