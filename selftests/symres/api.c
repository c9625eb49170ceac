// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's interface, on files that mappings.sh made in this folder. Prints
 * "ok NAME" or "not ok NAME: LINE".
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <symres.h>

#include "check.h"

#define report(name) report_of("api.c", name)

static long anonymous_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

static struct symres *session(void)
{
	struct symres *s = NULL;

	if (symres_open(&s, NULL))
		exit(1);
	return s;
}

static bool is(const struct symres_sym *sym, const char *name, uint64_t offset)
{
	return sym->name && !strcmp(sym->name, name) && sym->offset == offset &&
	       sym->miss == SYMRES_MISS_NONE &&
	       sym->module_addr == sym->addr + offset;
}

/* What a recorder would have seen: the executable segment, mapped by pages. */
static struct symres_map map_of(const char *path, uint64_t base,
				uint64_t *vaddr_to_pc)
{
	struct symres_map map = { .size = sizeof(map), .path = path };
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0 && read(fd, &eh, sizeof(eh)) == sizeof(eh));
	for (int i = 0; i < eh.e_phnum; i++) {
		CHECK(pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff +
			    (uint64_t)i * sizeof(ph))) == sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			break;
	}
	close(fd);
	map.pgoff = ph.p_offset & ~0xfffULL;
	map.start = base + (ph.p_vaddr & ~0xfffULL);
	map.end = (base + ph.p_vaddr + ph.p_filesz + 0xfff) & ~0xfffULL;
	*vaddr_to_pc = base;
	return map;
}

/* The address of a function, found through the library by its file. */
static uint64_t find_in(struct symres *s, const char *path, const char *name)
{
	struct symres_sym sym = { .size = sizeof(sym) };

	for (uint64_t addr = 0; addr < 0x8000; addr++)
		if (symres_lookup_file(s, path, addr, &sym) > 0 &&
		    !strcmp(sym.name, name))
			return addr;
	CHECK(!"symbol exists");
	return 0;
}

static void test_recorded(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();
	uint64_t base, fn = find_in(s, "spin", "in_ctr"), cube;
	struct symres_map map = map_of("spin", 0x555500000000, &base);

	CHECK(symres_lookup_map(s, &map, base + fn + 2, &sym) == 1);
	CHECK(is(&sym, "in_ctr", 2) && sym.module_addr == fn + 2);
	CHECK(sym.source == SYMRES_SOURCE_SYMTAB && sym.sym_size > 2);
	CHECK(sym.kind == SYMRES_KIND_FUNC && !sym.flags);
	CHECK(!strcmp(sym.module, "spin") && sym.build_id_len == 20);
	/* the same program at another address */
	map = map_of("spin", 0x7f0012345000, &base);
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	CHECK(is(&sym, "in_ctr", 0));
	CHECK(symres_lookup_map(s, &map, map.end, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_UNMAPPED);
	CHECK(symres_lookup_map(s, &map, map.start - 1, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_UNMAPPED);
	/* addresses in the file differ from offsets in it */
	cube = find_in(s, "shift.so", "cube");
	map = map_of("shift.so", 0x7f0023456000, &base);
	CHECK(symres_lookup_map(s, &map, base + cube + 1, &sym) == 1);
	CHECK(is(&sym, "cube", 1));
	symres_close(s);
	report("recorded mappings");
}

static void test_build_id(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	unsigned char id[SYMRES_BUILD_ID_MAX] = { 0 }, other[SYMRES_BUILD_ID_MAX];
	struct symres *s = session();
	uint64_t base, fn = find_in(s, "spin", "in_ctr");
	struct symres_map map = map_of("spin", 0x555500000000, &base);

	map.build_id = id;
	map.build_id_len = 20;
	CHECK(symres_build_id(s, "spin", id) == 20);
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	CHECK(is(&sym, "in_ctr", 0));
	CHECK(!memcmp(sym.build_id, id, 20));
	/* zeros behind it are a recorder's padding; all zeros are none */
	map.build_id_len = 32;
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	map.build_id_len = 8;
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_BUILD_ID && !sym.name);
	CHECK(!strcmp(sym.module, "spin"));
	CHECK(symres_build_id(s, "spin_other", other) == 20);
	map.build_id = other;
	map.build_id_len = 20;
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_BUILD_ID && !sym.name);
	memset(other, 0, sizeof(other));
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	CHECK(symres_build_id(s, "nowhere", id) == -ENOENT);
	CHECK(symres_build_id(s, "nest.s", id) == -ENOEXEC);
	symres_close(s);
	report("recorded build-ids");
}

static void test_deleted(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	unsigned char id[SYMRES_BUILD_ID_MAX];
	struct symres *s = session();
	uint64_t base, fn = find_in(s, "spin", "in_ctr");
	struct symres_map map = map_of("spin", 0x555500000000, &base);

	map.path = "spin (deleted)";
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_DELETED && !strcmp(sym.module, "spin"));
	/* the same build is there again */
	map.build_id = id;
	map.build_id_len = 20;
	CHECK(symres_build_id(s, "spin", id) == 20);
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	CHECK(is(&sym, "in_ctr", 0) && !strcmp(sym.module, "spin"));
	CHECK(symres_build_id(s, "spin_other", id) == 20);
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_BUILD_ID);
	map.path = "gone (deleted)";
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_DELETED && !strcmp(sym.module, "gone"));
	/* a file may really be called so */
	CHECK(!link("spin", "app (deleted)"));
	map.path = "app (deleted)";
	map.build_id = NULL;
	CHECK(symres_lookup_map(s, &map, base + fn, &sym) == 1);
	CHECK(is(&sym, "in_ctr", 0) && !strcmp(sym.module, "app (deleted)"));
	symres_close(s);
	report("recorded as deleted");
}

static void test_anonymous(void)
{
	static const char *const paths[] = {
		NULL, "", "[heap]", "[stack]", "[anon:x]", "[vsyscall]",
		"//anon", "anon_inode:[perf_event]",
	};
	struct symres_map map = {
		.size = sizeof(map), .start = 0x1000, .end = 0x2000,
	};
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		map.path = paths[i];
		CHECK(symres_lookup_map(s, &map, 0x1010, &sym) == 0);
		CHECK(sym.miss == SYMRES_MISS_ANON);
	}
	map.path = "/nowhere/at/all";
	CHECK(symres_lookup_map(s, &map, 0x1010, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_NO_FILE && sym.err == ENOENT);
	CHECK(!strcmp(sym.module, map.path));
	symres_close(s);
	report("mappings of no file");
}

static void test_vdso(void)
{
	unsigned char id[SYMRES_BUILD_ID_MAX] = { 0 };
	struct symres_map map = {
		.size = sizeof(map), .start = 0x7ffff7fc1000,
		.end = 0x7ffff7fc3000, .path = "[vdso]",
		.pgoff = 0x7ffff7fc1000,
	};
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();
	uint64_t fn = find_in(s, "[vdso]", "__vdso_clock_gettime");
	int len;

	CHECK(symres_lookup_map(s, &map, map.start + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_NO_FILE);
	len = symres_build_id(s, "[vdso]", id);
	CHECK(len > 0);
	map.build_id = id;
	map.build_id_len = (size_t)len;
	CHECK(symres_lookup_map(s, &map, map.start + fn, &sym) == 1);
	CHECK(is(&sym, "__vdso_clock_gettime", 0));
	CHECK(!strcmp(sym.module, "[vdso]"));
	CHECK(sym.source == SYMRES_SOURCE_DYNSYM);
	id[0] ^= 1;
	CHECK(symres_lookup_map(s, &map, map.start + fn, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_BUILD_ID);
	symres_close(s);
	report("the vdso of a recording");
}

static void copy_file(const char *from, const char *to)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "cp %s %s", from, to);
	CHECK(!system(cmd));
}

static void test_changed(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	unsigned char id[SYMRES_BUILD_ID_MAX];
	struct symres *s = session();

	/* cut short while it is in use; mapped.c has those that are mapped */
	copy_file("nest.so", "change1");
	CHECK(symres_lookup_file(s, "change1", 0x1004, &sym) == 1);
	CHECK(!truncate("change1", 100));
	CHECK(symres_lookup_file(s, "change1", 0x1012, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_CHANGED);
	/* replaced, by way of a new file: the old one is still open */
	copy_file("nest.so", "change2");
	CHECK(symres_lookup_file(s, "change2", 0x1004, &sym) == 1);
	copy_file("overlap.so", "change3");
	CHECK(!rename("change3", "change2"));
	CHECK(symres_lookup_file(s, "change2", 0x1012, &sym) == 1);
	CHECK(is(&sym, "in1", 2));
	/* written over, after its names were read and before */
	copy_file("nest.so", "change4");
	copy_file("nest.so", "change5");
	CHECK(symres_lookup_file(s, "change4", 0x1004, &sym) == 1);
	CHECK(symres_build_id(s, "change5", id) == 20);
	copy_file("overlap.so", "change4");
	copy_file("nest.s", "change5");
	CHECK(symres_lookup_file(s, "change4", 0x1004, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_CHANGED);
	CHECK(symres_lookup_file(s, "change5", 0x1004, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_CHANGED);
	symres_close(s);
	report("files that change while in use");
}

static void test_one_file(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();
	int before = open("/dev/null", O_RDONLY), after;

	close(before);
	CHECK(!link("nest.so", "second"));
	CHECK(!symlink("nest.so", "third"));
	CHECK(symres_lookup_file(s, "nest.so", 0x1012, &sym) == 1);
	CHECK(symres_lookup_file(s, "second", 0x1012, &sym) == 1);
	CHECK(is(&sym, "in1", 2) && !strcmp(sym.module, "second"));
	CHECK(symres_lookup_file(s, "third", 0x1012, &sym) == 1);
	CHECK(is(&sym, "in1", 2) && !strcmp(sym.module, "third"));
	after = open("/dev/null", O_RDONLY);
	CHECK(after == before + 1);
	close(after);
	symres_close(s);
	report("several names of one file");
}

static void test_many_files(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct rlimit few = { 100, 100 };
	struct symres *s = session();
	char name[32];

	/* more than there are descriptors for, and each one twice */
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		copy_file(i & 1 ? "nest.so" : "overlap.so", name);
	}
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "many%d", i % 200);
		CHECK(symres_lookup_file(s, name, 0x1012, &sym) == 1);
		CHECK(is(&sym, i & 1 ? "in1" : "b", i & 1 ? 2 : 10));
	}
	/* closed to make room, replaced before it is opened again */
	CHECK(!rename("many1", "many0"));
	CHECK(symres_lookup_file(s, "many0", 0x1012, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_CHANGED);
	symres_close(s);
	report("more files than open descriptors");
}

static void test_sources(void)
{
	struct symres_opts opts = { .size = sizeof(opts), .debug_dirs = "root" };
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();

	CHECK(symres_lookup_file(s, "gap.so", 0x1000, &sym) == 1);
	CHECK(sym.source == SYMRES_SOURCE_DYNSYM);
	CHECK(sym.flags == SYMRES_F_APPROX && sym.sym_size == 0);
	CHECK(symres_lookup_file(s, "data.so", find_in(s, "data.so", "counter"),
				 &sym) == 1);
	CHECK(sym.kind == SYMRES_KIND_DATA && sym.sym_size == 16);
	CHECK(symres_lookup_file(s, "p_lazy", find_in(s, "p_lazy", "puts@plt"),
				 &sym) == 1);
	CHECK(sym.source == SYMRES_SOURCE_PLT && sym.kind == SYMRES_KIND_FUNC);
	CHECK(symres_lookup_file(s, "sizeless.so", 0x100a, &sym) == 1);
	CHECK(sym.kind == SYMRES_KIND_UNKNOWN && sym.flags == SYMRES_F_APPROX);
	CHECK(symres_lookup_file(s, "dyn_s", find_in(s, "dyn_s", "hid"),
				 &sym) == 1);
	CHECK(sym.source == SYMRES_SOURCE_DEBUG);
	symres_close(s);
	/* root/ has another build's file by now: see debugfiles.sh */
	CHECK(!symres_open(&s, &opts));
	CHECK(symres_lookup_file(s, "app_s", 0x1000, &sym) >= 0);
	CHECK(sym.flags & SYMRES_F_DEBUG_STALE);
	symres_close(s);
	report("what results say of themselves");
}

struct found {
	int n;
	uint64_t addr[8];
	uint32_t kind[8];
	char module[8][16];
};

static int collect(const struct symres_sym *sym, void *arg)
{
	struct found *f = arg;

	if (f->n < 8) {
		f->addr[f->n] = sym->addr;
		f->kind[f->n] = sym->kind;
		snprintf(f->module[f->n], sizeof(f->module[0]), "%s",
			 sym->module);
	}
	f->n++;
	return f->n == 100 ? -ECANCELED : 0;
}

static int collect_module(const struct symres_module *mod, void *arg)
{
	struct found *f = arg;

	if (f->n < 8) {
		f->addr[f->n] = mod->start;
		f->kind[f->n] = (uint32_t)mod->symbols;
		snprintf(f->module[f->n], sizeof(f->module[0]), "%s",
			 mod->name);
	}
	CHECK(mod->end > mod->start);
	f->n++;
	return 0;
}

static const char kallsyms[] =
	"0000000000000000 A fixed\n"
	"0000000000014000 A pcpu_lock\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff82002000 D cgroup_mutex\n"
	"ffffffff82002020 d s_lock\n"
	"nonsense\n"
	"ffffffffc0200000 t init_it\t[two]\n"
	"ffffffffc0200400 d s_lock\t[two]\n"
	"ffffffffc0100000 t go\t[one]\n"
	"ffffffffc0100040 t s_lock\t[one]";

static void test_kernel(void)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();
	struct found f = { 0 };

	CHECK(symres_kallsyms(s, kallsyms, strlen(kallsyms)) == 0);
	CHECK(symres_kallsyms(s, kallsyms, strlen(kallsyms)) == -EBUSY);
	CHECK(symres_lookup_kernel(s, 0xffffffff82002000, &sym) == 1);
	CHECK(is(&sym, "cgroup_mutex", 0) && sym.kind == SYMRES_KIND_DATA);
	CHECK(!strcmp(sym.module, "[kernel]") && !sym.flags);
	CHECK(sym.source == SYMRES_SOURCE_KALLSYMS);
	CHECK(symres_lookup_kernel(s, 0xffffffffc0200404, &sym) == 1);
	CHECK(is(&sym, "s_lock", 4) && !strcmp(sym.module, "[two]"));
	CHECK(sym.flags == SYMRES_F_APPROX);
	CHECK(symres_lookup_kernel(s, 0x14000, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_NO_SYMBOL);

	CHECK(symres_find_kernel(s, "s_lock", collect, &f) == 3 && f.n == 3);
	CHECK(f.addr[0] == 0xffffffff82002020 && f.kind[0] == SYMRES_KIND_DATA);
	CHECK(f.addr[1] == 0xffffffffc0100040 && f.kind[1] == SYMRES_KIND_FUNC);
	CHECK(!strcmp(f.module[1], "[one]") && !strcmp(f.module[2], "[two]"));
	f.n = 0;
	CHECK(symres_find_kernel(s, "two:s_lock", collect, &f) == 1);
	CHECK(f.addr[0] == 0xffffffffc0200400);
	CHECK(symres_find_kernel(s, "vmlinux:s_lock", collect, &f) == 1);
	CHECK(f.addr[1] == 0xffffffff82002020);
	CHECK(symres_find_kernel(s, "tw:s_lock", collect, &f) == 0);
	CHECK(symres_find_kernel(s, "s_loc", collect, &f) == 0);
	f.n = 0;
	CHECK(symres_find_kernel(s, "pcpu_lock", collect, &f) == 1);
	CHECK(f.kind[0] == SYMRES_KIND_ABS && f.addr[0] == 0x14000);
	f.n = 0;
	CHECK(symres_find_kernel(s, NULL, collect, &f) == 9 && f.n == 9);
	f.n = 99;
	CHECK(symres_find_kernel(s, NULL, collect, &f) == -ECANCELED);
	f.n = 0;
	CHECK(symres_kernel_modules(s, collect_module, &f) == 2);
	CHECK(!strcmp(f.module[0], "one") && !strcmp(f.module[1], "two"));
	CHECK(f.addr[0] == 0xffffffffc0100000 && f.kind[0] == 2);
	symres_close(s);
	report("kernel symbols from memory, by name and address");
}

static void test_hidden(void)
{
	static const char zeros[] = "0000000000000000 T _stext\n"
				    "0000000000000000 t a\t[m]\n";
	struct symres_opts opts = { .size = sizeof(opts), .kallsyms = "nowhere" };
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s = session();
	struct found f = { 0 };

	CHECK(symres_kallsyms(s, zeros, strlen(zeros)) == 0);
	CHECK(symres_lookup_kernel(s, 0xffffffff81000000, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_HIDDEN);
	CHECK(symres_lookup_kernel(s, 0, &sym) == 0 && !sym.name);
	CHECK(symres_find_kernel(s, "a", collect, &f) == -EPERM);
	CHECK(symres_kernel_modules(s, collect_module, &f) == -EPERM);
	CHECK(f.n == 0);
	symres_close(s);
	CHECK(!symres_open(&s, &opts));
	CHECK(symres_lookup_kernel(s, 1, &sym) == 0);
	CHECK(sym.miss == SYMRES_MISS_NO_KALLSYMS && sym.err == ENOENT);
	CHECK(symres_find_kernel(s, "a", collect, &f) == -ENOENT);
	symres_close(s);
	report("hidden and missing kernel symbols");
}

static void test_misuse(void)
{
	struct symres_opts opts = { .size = 1 };
	struct symres_sym sym = { .size = sizeof(sym) }, unsized = { 0 };
	struct symres_map map = { .size = 0, .path = "spin" };
	struct symres_maps *maps;
	struct symres *s;

	CHECK(symres_open(&s, &opts) == -EINVAL);
	CHECK(symres_open(NULL, NULL) == -EINVAL);
	s = session();
	CHECK(symres_lookup_file(s, "spin", 0, &unsized) == -EINVAL);
	CHECK(symres_lookup_file(s, NULL, 0, &sym) == -EINVAL);
	CHECK(symres_lookup_file(NULL, "spin", 0, &sym) == -EINVAL);
	CHECK(symres_lookup_map(s, &map, 0, &sym) == -EINVAL);
	CHECK(symres_lookup_maps(NULL, 0, &sym) == -EINVAL);
	CHECK(symres_lookup_kernel(s, 0, NULL) == -EINVAL);
	CHECK(symres_maps_open(s, 0, &maps) == -EINVAL);
	CHECK(symres_maps_open(s, 0x7fffffff, &maps) == -ESRCH);
	CHECK(!strcmp(symres_miss_str((enum symres_miss)999),
		      "unknown reason"));
	CHECK(!strcmp(symres_source_str((enum symres_source)999), "unknown"));
	for (int i = 0; i <= SYMRES_MISS_HIDDEN; i++)
		CHECK(strlen(symres_miss_str((enum symres_miss)i)) > 3);
	for (int i = 0; i <= SYMRES_SOURCE_KALLSYMS; i++)
		CHECK(strlen(symres_source_str((enum symres_source)i)) > 2);
	symres_close(s);
	symres_close(NULL);
	symres_maps_close(NULL);
	report("wrong calls are refused");
}

/* Asked together, in an order of no order: the answers of single look-ups. */
static void test_asked(const struct symres_opts *opts, const char *name)
{
	static const char *const files[] = {
		"nest.so", "sizeless.so", "p_ibt", "ver.so", "mini.so",
		"nowhere", "many.so", "p_irel", "gap.so", "nest.s",
	};
	enum { FILES = sizeof(files) / sizeof(*files), ASKED = 30000 };
	struct symres_place *place[FILES];
	struct symres *s = NULL, *single = NULL;
	uint32_t r = 1, from = 1, rounds = 0;
	long named = 0;

	CHECK(!symres_open(&s, opts) && !symres_open(&single, opts));
	for (int i = 0; i < FILES && !bad_line; i++)
		CHECK(!symres_place(s, files[i], &place[i]));
	for (int i = 0; i < ASKED && !bad_line; rounds++) {
		const struct symres_answer *is;
		uint64_t addr;
		int ret = 1, n = i;

		for (; n < ASKED && ret == 1; n++) {
			r = r * 1664525 + 1013904223;
			/* Early addresses are asked often. */
			ret = symres_ask(s, place[r >> 8 & 7 ? (r >> 8) % FILES : 6],
					 0x1000 + (r >> 16) % (n % 7 ? 600 : 40000));
			CHECK(ret == 0 || ret == 1);
		}
		for (; i < n && !bad_line; i++) {
			struct symres_sym sym = { .size = sizeof(sym) };
			uint32_t at;
			int want;

			from = from * 1664525 + 1013904223;
			at = from >> 8 & 7 ? (from >> 8) % FILES : 6;
			is = symres_answer(s, &addr);
			CHECK(is && addr == 0x1000 + (from >> 16) %
			      (uint32_t)(i % 7 ? 600 : 40000));
			if (bad_line)
				break;
			want = symres_lookup_file(single, files[at], addr, &sym);
			CHECK(want == (is->name != NULL));
			CHECK(is->miss == sym.miss && is->flags == sym.flags &&
			      is->err == sym.err);
			if (want <= 0 || bad_line)
				continue;
			named++;
			CHECK(!strcmp(is->name, sym.name));
			CHECK(is->addr == sym.addr && is->kind == sym.kind &&
			      is->sym_size == sym.sym_size &&
			      is->source == sym.source);
		}
		CHECK(i == n);
	}
	CHECK(rounds > 1 && named > ASKED / 20);
	symres_close(s);
	symres_close(single);
	report(name);
}

/* Of indexes that lie in memory, with a budget for one and without. */
static void test_budget(void)
{
	static const char *const files[] = {
		"many.so", "wide.so", "nest.so", "many2.so", "wide2.so",
	};
	enum { FILES = sizeof(files) / sizeof(*files) };
	struct symres_opts opts = { .size = sizeof(opts), .cache_dir = NULL };
	long grown[2];

	for (int turn = 0; turn < 2; turn++) {
		struct symres_sym sym = { .size = sizeof(sym) };
		struct symres *s = NULL;
		long before;

		opts.max_bytes = turn ? 1000000 : 0;
		CHECK(!symres_open(&s, &opts));
		before = anonymous_kib();
		for (int i = 0; i < 3 * FILES; i++)
			for (uint64_t a = 0x1000; a < 0x1100; a += 0x40)
				CHECK(symres_lookup_file(s, files[i % FILES], a,
							 &sym) >= 0);
		grown[turn] = anonymous_kib() - before;
		symres_close(s);
	}
	/* 66,000 and 200,000 ranges, twice, are 3.7 MB; the biggest alone 1.6. */
	CHECK(grown[0] > 3000 && grown[1] < 2300 && grown[1] > 500);
	if (bad_line)
		printf("# %ld KiB without a budget, %ld with one\n", grown[0],
		       grown[1]);
	report("a budget bounds what indexes take");
}

static void test_asking(void)
{
	struct symres_opts perf = {
		.size = sizeof(perf), .policy = SYMRES_POLICY_PERF,
		.demangle = 1, .cache_dir = "asked_store",
	};
	const struct symres_answer *is;
	struct symres *s = session();
	struct symres_place *place;
	uint64_t addr;

	test_asked(NULL, "many asked at once");
	test_asked(&perf, "many asked at once: perf's rules, demangled, kept");
	CHECK(!symres_answer(s, &addr));
	CHECK(!symres_place(s, "nest.so", &place));
	CHECK(symres_ask(s, place, 0x1010) == 1);
	CHECK(symres_ask(s, place, 0x103f) == 1);
	is = symres_answer(s, &addr);
	CHECK(is && !strcmp(is->name, "in1") && addr == 0x1010);
	CHECK(symres_ask(s, place, 0x1000) == -EBUSY);
	is = symres_answer(s, &addr);
	CHECK(is && !is->name && is->miss == SYMRES_MISS_NO_SYMBOL);
	CHECK(!symres_answer(s, &addr));
	CHECK(symres_ask(s, place, 0x1000) == 1);
	is = symres_answer(s, &addr);
	CHECK(is && !strcmp(is->name, "outer"));
	symres_close(s);
	report("answers are taken before more is asked");
}

static int remember_address(const struct symres_sym *sym, void *arg)
{
	*(uint64_t *)arg = sym->addr;
	return 0;
}

/* Which function of wide.so is the nth question: some are asked again. */
static int nth_asked(int n)
{
	return n % 3 ? n : n / 2;
}

/* More names in one queue than are kept: each is right when it is taken. */
static void test_long_queue(void)
{
	const struct symres_answer *is;
	struct symres *s = session();
	struct symres_place *place;
	uint64_t first = 0, addr;
	int asked = 0, named = 0, ret = 1;
	char want[64];

	CHECK(symres_find_file(s, "wide.so", "wide_function_number_0",
			       remember_address, &first) == 1);
	CHECK(!symres_place(s, "wide.so", &place));
	/* A queue is long where the same is asked often. */
	for (int i = 0; i < 20000 && !bad_line; i++) {
		ret = symres_ask(s, place, first + (uint64_t)(i % 7));
		CHECK(ret >= 0);
		while (!ret && (is = symres_answer(s, &addr)))
			named += is->name != NULL;
	}
	while ((is = symres_answer(s, &addr)))
		named += is->name != NULL;
	CHECK(named == 20000);
	do {
		ret = symres_ask(s, place, first + (uint64_t)nth_asked(asked));
	} while (++asked < 150000 && ret == 1);
	CHECK(ret == 0 && asked > 50000);
	for (int i = 0; i < asked && !bad_line; i++) {
		is = symres_answer(s, &addr);
		CHECK(is && addr == first + (uint64_t)nth_asked(i));
		sprintf(want, "wide_function_number_%d", nth_asked(i));
		CHECK(is && is->name && !strcmp(is->name, want));
		CHECK(is && is->name_len == strlen(want));
	}
	CHECK(!symres_answer(s, &addr));
	symres_close(s);
	report("more names in a queue than are kept");
}

static int count(const struct symres_sym *sym, void *arg)
{
	(void)sym;
	(void)arg;
	return 0;
}

/* The same file plain and compressed; modules.sh made both. */
static void test_sections(void)
{
	static const char *const files[] = { "mod.o", "packed.xz" };
	struct symres *s = session();
	struct symres_sym sym = { .size = sizeof(sym) };
	unsigned char id[SYMRES_BUILD_ID_MAX];
	uint64_t addr, size;

	for (size_t i = 0; i < 2; i++) {
		CHECK(!symres_section(s, files[i], ".text", &addr, &size));
		CHECK(!addr && size == 7);
		CHECK(symres_lookup_file(s, files[i], 4, &sym) == 1 &&
		      is(&sym, "outer", 3));
		/* Once there is an index, too. */
		CHECK(!symres_section(s, files[i], ".init.text", &addr, &size));
		CHECK(addr >= 7 && addr % 64 == 0 && size == 6);
		CHECK(symres_lookup_file(s, files[i], addr + 3, &sym) == 1 &&
		      is(&sym, "begin", 0) && sym.module_addr == addr + 3);
		CHECK(symres_section(s, files[i], ".comment.of.ours", &addr,
				     &size) == -ENODATA);
		CHECK(symres_build_id(s, files[i], id) == -ENODATA);
	}
	CHECK(!symres_lookup_file(s, "bare.o", 4, &sym) &&
	      sym.miss == SYMRES_MISS_NO_SYMBOLS);
	size = 0;
	CHECK(!symres_section(s, "bare.o", ".text", &addr, &size) && size == 7);
	CHECK(symres_section(s, "nowhere.o", ".text", &addr, &size) == -ENOENT);
	CHECK(symres_section(s, "nest.s", ".text", &addr, &size) == -ENOEXEC);
	CHECK(symres_section(s, "bad.ko", ".text", &addr, &size) == -EBADMSG);
	CHECK(symres_build_id(s, "bad.ko", id) == -EBADMSG);
	CHECK(!symres_lookup_file(s, "bad.ko", 4, &sym) &&
	      sym.miss == SYMRES_MISS_PACKED);
	CHECK(symres_section(s, "mod.o", NULL, &addr, &size) == -EINVAL);
	symres_close(s);
	report("sections, of compressed files too");
}

/* debuginfod.sh left a folder that serves what f_s lacks. */
static void test_unasked(void)
{
	struct symres_opts opts = { .size = sizeof(opts), .debug_dirs = "" };
	char here[4096], text[4200];
	struct symres *s = session();

	CHECK(getcwd(here, sizeof(here)));
	snprintf(text, sizeof(text), "file://%s/dbgd/wrong", here);
	setenv("DEBUGINFOD_URLS", text, 1);
	snprintf(text, sizeof(text), "%s/dbgd/api", here);
	setenv("DEBUGINFOD_CACHE_PATH", text, 1);
	CHECK(!symres_find_file(s, "dbgd/f_s", "far_away", count, NULL));
	CHECK(access("dbgd/api", F_OK));
	symres_close(s);
	opts.debuginfod = 1;
	CHECK(!symres_open(&s, &opts));
	CHECK(symres_find_file(s, "dbgd/f_s", "far_away", count, NULL) == 1);
	symres_close(s);
	unsetenv("DEBUGINFOD_URLS");
	report("no server is asked unless the option says so");
}

int main(void)
{
	/* What is given back is to be seen as such. */
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	test_recorded();
	test_build_id();
	test_deleted();
	test_anonymous();
	test_vdso();
	test_changed();
	test_one_file();
	test_many_files();
	test_sources();
	test_asking();
	test_long_queue();
	test_budget();
	test_sections();
	test_unasked();
	test_kernel();
	test_hidden();
	test_misuse();
	return 0;
}
