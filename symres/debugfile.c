// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the separate debug file of a stripped one: by build-id below the debug
 * directories, then by .gnu_debuglink beside the file, in .debug/ and below the
 * debug directories, then from a server. One that is not this file's is passed
 * over.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "internal.h"

struct link {
	char name[NAME_MAX + 1];	/* "": none */
	uint32_t crc;
};

static void read_link(const struct elf *elf, struct link *link)
{
	const GElf_Shdr *sh = elf_section(elf, ".gnu_debuglink");
	unsigned char buf[NAME_MAX + 1 + 8] = { 0 };
	size_t len, crc;

	link->name[0] = 0;
	if (!sh || sh->sh_size > sizeof(buf) ||
	    input_read(elf->in, sh->sh_offset, buf, sh->sh_size))
		return;
	len = strnlen((char *)buf, sizeof(buf));
	crc = (len + 1 + 3) & ~(size_t)3;
	/* It names a file; a path would lead out of the places searched. */
	if (!len || len > NAME_MAX || crc + 4 > sh->sh_size ||
	    memchr(buf, '/', len))
		return;
	memcpy(link->name, buf, len + 1);
	link->crc = elf_u32(elf, buf + crc);
}

static bool crc_agrees(struct input *in, uint32_t crc)
{
	enum { STEP = 1 << 16 };
	unsigned char *buf = malloc(STEP);
	uLong sum = crc32(0, NULL, 0);
	bool ok = buf != NULL;

	for (uint64_t at = 0; at < in->size && ok; ) {
		size_t n = in->size - at < STEP ? in->size - at : STEP;

		ok = !input_read(in, at, buf, n);
		if (ok)
			sum = crc32(sum, buf, (uInt)n);
		at += n;
	}
	free(buf);
	return ok && sum == crc;
}

/* Equal build-ids settle it, and spare a checksum over the whole file. */
static enum symres_left belongs(struct file *f, const struct link *link)
{
	unsigned char id[SYMRES_BUILD_ID_MAX];
	size_t len = elf_build_id(&f->debug, id);

	if (!link || (len && f->build_id_len))
		return len == f->build_id_len && !memcmp(id, f->build_id, len) ?
		       SYMRES_LEFT_NONE : SYMRES_LEFT_BUILD_ID;
	return crc_agrees(&f->debug_in, link->crc) ? SYMRES_LEFT_NONE :
						     SYMRES_LEFT_CHECKSUM;
}

static bool has_symtab(const struct elf *elf)
{
	for (size_t i = 1; i < elf->nshdr; i++)
		if (elf->shdr[i].sh_type == SHT_SYMTAB &&
		    elf->shdr[i].sh_size)
			return true;
	return false;
}

/* Why the file that was opened as f->debug is of no use. */
static enum symres_left weigh(struct file *f, const struct link *link)
{
	enum symres_left why;
	struct symtab t;

	if (!elf_alike(&f->debug, &f->elf))
		return SYMRES_LEFT_OTHER_KIND;
	if (elf_cut_short(&f->debug))
		return SYMRES_LEFT_CUT_SHORT;
	why = belongs(f, link);
	if (why || !symtab_find(&t, &f->debug, SHT_SYMTAB, SYMRES_SOURCE_DEBUG))
		return why;
	return has_symtab(&f->debug) ? SYMRES_LEFT_CUT_SHORT :
				       SYMRES_LEFT_NO_SYMBOLS;
}

void debugfile_forget(struct file *f)
{
	free(f->left_path);
	f->left_path = NULL;
	f->left = SYMRES_LEFT_NONE;
	f->left_err = 0;
}

/* The first one that was found is told. */
int debugfile_leave(struct file *f, struct root *root, const char *path,
		    enum symres_left why, int err)
{
	if (f->left)
		return 0;
	f->left_path = path_join(root ? root->name : "",
				 root && *path != '/' ? "/" : "", path);
	if (!f->left_path)
		return -ENOMEM;
	f->left = why;
	f->left_err = err;
	return 0;
}

/* Nothing is there, or what is there is no file. */
static int not_opened(struct file *f, struct root *root, const char *path,
		      int ret)
{
	switch (-ret) {
	case ENOMEM:
		return ret;
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return 0;
	case EISDIR:
	case ENODEV:
		return debugfile_leave(f, root, path, SYMRES_LEFT_NOT_FILE, 0);
	}
	return debugfile_leave(f, root, path, SYMRES_LEFT_UNREADABLE, -ret);
}

/* 1: this is it; 0: it is not; -ENOMEM. */
static int try_path(struct file *f, struct root *root, const char *path,
		    const struct link *link)
{
	int ret = input_open(&f->debug_in, f->in.pool, root, path);
	enum symres_left why;

	if (ret)
		return not_opened(f, root, path, ret);
	if (input_same(&f->in, &f->debug_in)) {
		input_close(&f->debug_in);
		return 0;
	}
	ret = elf_open(&f->debug, &f->debug_in);
	if (ret == -ENOMEM)
		return ret;
	if (!ret)
		why = weigh(f, link);
	else
		why = ret == -ENOEXEC ? SYMRES_LEFT_NOT_ELF :
					SYMRES_LEFT_UNREADABLE;
	if (!why) {
		if (f->debug.section_addr)
			elf_place_like(&f->debug, &f->elf);
		debugfile_forget(f);
		return 1;
	}
	ret = debugfile_leave(f, root, path, why,
			      why == SYMRES_LEFT_UNREADABLE ? -ret : 0);
	elf_close(&f->debug);
	f->debug.in = NULL;
	input_close(&f->debug_in);
	return ret;
}

static int try_join(struct file *f, struct root *root, const char *a,
		    const char *b, const char *c, const struct link *link)
{
	char *path = path_join(a, b, c);
	int ret = path ? try_path(f, root, path, link) : -ENOMEM;

	free(path);
	return ret;
}

static int by_build_id(struct file *f, struct root *root, const char *debug_dir)
{
	char name[sizeof("/.build-id/xx/.debug") + 2 * SYMRES_BUILD_ID_MAX];
	char *at = name + sprintf(name, "/.build-id/%02x/", f->build_id[0]);

	for (size_t i = 1; i < f->build_id_len; i++)
		at += sprintf(at, "%02x", f->build_id[i]);
	strcpy(at, ".debug");
	return try_join(f, root, debug_dir, name, "", NULL);
}

static int beside(struct file *f, const struct link *link)
{
	int ret = try_join(f, f->dir_root, f->dir, "/", link->name, link);

	return ret ? ret : try_join(f, f->dir_root, f->dir, "/.debug/",
				    link->name, link);
}

static int below(struct file *f, struct root *root, const char *debug_dir,
		 const char *real, const struct link *link)
{
	char *dir = path_join(debug_dir, real, "/");
	int ret = dir ? try_join(f, root, dir, link->name, "", link) : -ENOMEM;

	free(dir);
	return ret;
}

/* Calls for each debug directory until one answers. */
static int each_dir(struct file *f, const struct symres *s, const char *real,
		    const struct link *link)
{
	char *copy = strdup(s->debug_dirs), *save = NULL;
	int ret = copy ? 0 : -ENOMEM;

	if (ret)
		return ret;
	for (char *d = strtok_r(copy, ":", &save); d && !ret;
	     d = strtok_r(NULL, ":", &save))
		ret = link ? below(f, s->debug_root, d, real, link) :
			     by_build_id(f, s->debug_root, d);
	free(copy);
	return ret;
}

/* It takes a network: only for names that are nowhere else. */
static int from_server(struct file *f, struct symres *s)
{
	char *path = has_symtab(&f->elf) ? NULL :
		     debuginfod_path(s, f->build_id, f->build_id_len);
	int ret = path ? try_path(f, NULL, path, NULL) : 0;

	free(path);
	return ret;
}

/* Opens f->debug if there is one. 0, or -ENOMEM. */
int debugfile_find(struct file *f, struct symres *s)
{
	struct link link;
	char *real = NULL;
	int ret = 0;

	if (f->in.mem)
		return 0;
	if (f->build_id_len > 1)
		ret = each_dir(f, s, NULL, NULL);
	read_link(&f->elf, &link);
	if (!ret && link.name[0] && f->dir) {
		ret = beside(f, &link);
		if (!ret)
			real = root_real(f->dir_root, f->dir);
		if (real)
			ret = each_dir(f, s, real, &link);
	}
	free(real);
	if (!ret && f->build_id_len > 1)
		ret = from_server(f, s);
	return ret < 0 ? ret : 0;
}
