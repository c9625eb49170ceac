// SPDX-License-Identifier: LGPL-2.1-or-later
/* Look-ups among kernel symbols, which are read at the first of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kallsyms.h"

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	free(k->sym);
	free(k->names);
	free(k->mod);
	free(k->shown.s);
	index_free(&k->index);
	free(k);
}

static int load(struct symres *s, FILE *f)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int ret = k ? 0 : -ENOMEM;

	if (!ret && f)
		ret = kallsyms_parse(k, f);
	if (ret) {
		kernel_free(k);
		return ret;
	}
	s->kernel = k;
	return 0;
}

static int load_file(struct symres *s)
{
	FILE *f;
	int ret, err;

	if (s->kernel)
		return 0;
	f = fopen(s->kallsyms, "re");
	err = errno;
	ret = load(s, f);
	if (f) {
		fclose(f);
	} else if (!ret) {
		s->kernel->miss = SYMRES_MISS_NO_KALLSYMS;
		s->kernel->err = err;
	}
	return ret;
}

int symres_kallsyms(struct symres *s, const char *text, size_t len)
{
	FILE *f;
	int ret;

	if (!s || !text || !len)
		return -EINVAL;
	if (s->kernel)
		return -EBUSY;
	f = fmemopen((void *)text, len, "r");
	if (!f)
		return -ENOMEM;
	ret = load(s, f);
	fclose(f);
	return ret;
}

static int show_module(struct kernel *k, uint16_t mod, const char **out)
{
	const char *name = mod == KALLSYMS_CORE ? "kernel" : name_of(k, k->mod[mod].name);
	int ret = text_reserve(&k->shown, strlen(name) + sizeof("[]"));

	if (!ret) {
		sprintf(k->shown.s, "[%s]", name);
		*out = k->shown.s;
	}
	return ret;
}

static int fill(struct kernel *k, const struct ksym *s, uint64_t addr,
		struct symres_sym *sym)
{
	sym->name = name_of(k, s->name);
	sym->module_addr = addr;
	sym->addr = s->addr;
	sym->offset = addr - s->addr;
	sym->source = SYMRES_SOURCE_KALLSYMS;
	sym->kind = kallsyms_kind(s);
	sym->flags = sym->offset ? SYMRES_F_APPROX : 0;
	return show_module(k, s->mod, &sym->module);
}

int symres_lookup_kernel(struct symres *s, uint64_t addr,
			 struct symres_sym *sym)
{
	struct kernel *k;
	uint32_t at;
	int ret = s ? sym_start(sym) : -EINVAL;

	if (!ret)
		ret = load_file(s);
	if (ret)
		return ret;
	k = s->kernel;
	sym->module_addr = addr;
	if (k->miss)
		return sym_miss(sym, k->miss, k->err);
	at = index_find(&k->index, addr);
	if (at == INDEX_NONE)
		return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
	ret = fill(k, &k->sym[at], addr, sym);
	if (!ret)
		ret = sym_demangle(s, sym);
	return ret ? ret : 1;
}

/* What stands in the way of answering at all, as a negative errno. */
static int usable(const struct kernel *k)
{
	if (k->miss == SYMRES_MISS_HIDDEN)
		return -EPERM;
	return k->miss ? -k->err : 0;
}

/* For those that go through the symbols: they are read, and of use. */
static int open_kernel(struct symres *s, struct kernel **k)
{
	int ret = s ? load_file(s) : -EINVAL;

	if (ret)
		return ret;
	*k = s->kernel;
	return usable(*k);
}

long symres_find_kernel(struct symres *s, const char *name, symres_sym_fn fn,
			void *arg)
{
	const char *colon = name ? strchr(name, ':') : NULL;
	size_t mod_len = colon ? (size_t)(colon - name) : 0;
	struct kernel *k;
	long n = 0;
	int ret = fn ? open_kernel(s, &k) : -EINVAL;

	if (ret)
		return ret;
	for (uint32_t i = 0; i < k->n; i++) {
		struct symres_sym sym = { .size = sizeof(sym) };
		const char *mod = name_of(k, k->mod[k->sym[i].mod].name);

		if (name && strcmp(name_of(k, k->sym[i].name),
				   colon ? colon + 1 : name))
			continue;
		if (colon && (strncmp(mod, name, mod_len) || mod[mod_len]))
			continue;
		ret = fill(k, &k->sym[i], k->sym[i].addr, &sym);
		if (!ret)
			ret = fn(&sym, arg);
		if (ret)
			return ret;
		n++;
	}
	return n;
}

static int compare_modules(const void *va, const void *vb)
{
	const struct symres_module *a = va, *b = vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

long symres_kernel_modules(struct symres *s, symres_module_fn fn, void *arg)
{
	struct symres_module *v;
	struct kernel *k;
	long n = 0;
	int ret = fn ? open_kernel(s, &k) : -EINVAL;

	if (ret)
		return ret;
	v = calloc(k->nmod, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (uint32_t i = KALLSYMS_CORE + 1; i < k->nmod; i++)
		if (k->mod[i].count)
			v[n++] = (struct symres_module) {
				.size = sizeof(*v),
				.name = name_of(k, k->mod[i].name),
				.start = k->mod[i].start,
				.end = k->mod[i].end,
				.symbols = k->mod[i].count,
			};
	qsort(v, (size_t)n, sizeof(*v), compare_modules);
	for (long i = 0; i < n && !ret; i++)
		ret = fn(&v[i], arg);
	free(v);
	return ret ? ret : n;
}

int read_kernel_build_id(unsigned char *id)
{
	unsigned char buf[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	size_t len;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, sizeof(buf));
	close(fd);
	if (n < 0)
		return -EIO;
	len = note_build_id(buf, (size_t)n, 4, false, id);
	return len ? (int)len : -ENODATA;
}
