/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What crosses the files of libsymres. */
#ifndef SYMRES_INTERNAL_H
#define SYMRES_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <libelf.h>
#include <gelf.h>

/* Hidden visibility is the rule; the public functions are the exception. */
#pragma GCC visibility push(default)
#include "symres.h"
#pragma GCC visibility pop

/* --- root.c: folders that nothing leads out of --- */

struct stat;

struct root {
	atomic_uint refs;	/* the worker opens files, too */
	int fd;			/* or why it has none, negative */
	char *name;		/* to show */
};

int root_open(struct root **out, int at, const char *dir, const char *name);
struct root *root_get(struct root *r);
void root_put(struct root *r);
int root_file(const struct root *r, const char *path, int flags);
int root_stat(const struct root *r, const char *path, struct stat *st);
bool root_has(const struct root *r, const char *path);
char *root_real(const struct root *r, const char *dir);

/* --- input.c: bytes of a file or of memory, and descriptors kept few --- */

#define INPUT_MAX_OPEN 64

struct input;

struct input_pool {
	struct input *open[INPUT_MAX_OPEN];
	uint64_t tick;
	bool map;		/* files may be mapped */
	uint64_t mapped;	/* bytes of all of them */
};

struct input {
	struct input_pool *pool;
	unsigned char *mem;	/* the bytes themselves, owned; then no file */
	struct input *packed;	/* what they were unpacked from, or will be */
	uint64_t from;		/* of these, what is before that is not kept */
	bool again;		/* they had to be unpacked once more */
	char *path;		/* what to open, and open again */
	struct root *root;	/* NULL: none */
	size_t below;		/* where in the path it is what the root has */
	int fd;			/* -1: closed to make room for others */
	unsigned char *map;	/* NULL: it is not mapped */
	size_t map_size;
	uint32_t reads;		/* since it was opened, until it is mapped */
	volatile sig_atomic_t lost; /* part of what was mapped was not there */
	uint64_t used;		/* tick of the last use */
	uint64_t size;
	uint64_t base;		/* where it begins in the file */
	dev_t dev;
	ino_t ino;
	struct timespec mtime, ctime;
};

int input_open(struct input *in, struct input_pool *pool, struct root *root,
	       const char *path);
void input_from_memory(struct input *in, unsigned char *mem, uint64_t size);
int input_unpack(struct input *in, struct input *packed);
void input_trim(struct input *in, uint64_t from);
void input_forget(struct input *in);
void input_close(struct input *in);
int input_read(struct input *in, uint64_t off, void *buf, size_t len);
const unsigned char *input_view(const struct input *in, uint64_t off,
				uint64_t len);
bool input_lost(const struct input *in);
bool input_sigbus(unsigned char *map, size_t size, const void *addr);
bool pool_sigbus(struct input_pool *pool, const void *addr);
int input_unchanged(struct input *in);
bool input_same(const struct input *a, const struct input *b);

/* --- unpack.c --- */

enum packing { PACKING_NONE, PACKING_XZ, PACKING_GZIP, PACKING_ZSTD };

enum packing packing_of(struct input *in, uint64_t off);
int unpack(struct input *in, uint64_t off, uint64_t len, unsigned char **mem,
	   size_t *size);

/* Memory to use for a while. */
struct room {
	void *mem;
	size_t size;
};

typedef int (*unpack_fn)(void *arg, const void *piece, size_t len);

int unpack_pieces(struct input *in, uint64_t off, uint64_t len,
		  const struct room *room, unpack_fn fn, void *arg);

/* --- elf.c: headers, whatever the class and byte order --- */

/* .opd of 64-bit PowerPC; size 0: there is none. */
struct opd {
	uint64_t addr, size, off;
	uint64_t at;		/* piece now in buf */
	size_t len;
	unsigned char buf[768];
};

struct elf {
	struct input *in;
	int class;
	unsigned int encoding;
	GElf_Ehdr ehdr;
	GElf_Phdr *phdr;
	size_t nphdr;
	GElf_Shdr *shdr;
	size_t nshdr;
	size_t shstrndx;
	bool made_up;		/* sections, from segments */
	char *names;		/* of sections */
	size_t names_size;
	struct opd opd;
	uint64_t *section_addr;	/* of a relocatable file; else NULL */
	size_t nplaced;		/* sections that it has */
};

int elf_open(struct elf *elf, struct input *in);
void elf_free_sections(struct elf *elf);
void elf_close(struct elf *elf);
bool elf_alike(const struct elf *a, const struct elf *b);
bool elf_cut_short(const struct elf *elf);
bool elf_extent_ok(const struct elf *elf, uint64_t off, uint64_t len);
int records_read(struct input *in, int class, unsigned int encoding,
		 Elf_Type type, uint64_t off, void *buf, size_t len);
int elf_read(const struct elf *elf, Elf_Type type, uint64_t off, void *buf,
	     size_t len);
uint32_t elf_u32(const struct elf *elf, const unsigned char *p);
const char *elf_section_name(const struct elf *elf, const GElf_Shdr *sh);
const GElf_Shdr *elf_section(const struct elf *elf, const char *name);
size_t elf_build_id(const struct elf *elf, unsigned char *id);
size_t note_build_id(const unsigned char *buf, size_t len, size_t align,
		     bool swap, unsigned char *id);
bool elf_loads(const struct elf *elf, uint64_t addr, uint64_t *start,
	       uint64_t *size);
bool elf_offset_to_addr(const struct elf *elf, uint64_t off, uint64_t *addr);

/* --- relocatable.c --- */

int elf_place_sections(struct elf *elf);
int elf_cover_sections(struct elf *elf);
void elf_place_like(struct elf *elf, const struct elf *program);

/* --- dynamic.c --- */

int elf_make_up_sections(struct elf *elf);

/* --- opd.c --- */

void opd_find(struct elf *elf);
bool opd_holds(const struct elf *elf, uint64_t addr);
uint64_t opd_code(struct elf *elf, uint64_t addr);

/* --- symtab.c: one symbol table and its names, read in pieces --- */

struct strings {
	struct input *in;
	uint64_t off, size;	/* size ends with the last NUL */
	bool keep_version;	/* "f@@V2" is not f */
	uint64_t at;		/* window now in buf */
	size_t len;
	char buf[256];
	struct strings_cache *cache;	/* while all names are asked for */
};

/* A stretch of names, read at once. */
struct stretch {
	char *buf;
	uint64_t at;
	size_t len, room;
};


struct symtab {
	struct input *in;
	int class;
	unsigned int encoding;
	uint64_t off;
	size_t section;		/* its number */
	uint64_t xindex;	/* table of wide section numbers; 0: none */
	uint32_t count;
	const struct elf *elf;	/* where it is */
	struct elf *code;	/* whose addresses these are */
	uint32_t first;		/* number of its first symbol in the file */
	enum symres_source source;
	struct strings str;
};

int symtab_find(struct symtab *t, const struct elf *elf, uint32_t type,
		enum symres_source source);
int symtab_read(const struct symtab *t, uint32_t from, uint32_t n,
		GElf_Sym *out);

void symtab_prefetch(const struct symtab *t, uint32_t at);
int symtab_read_xindex(const struct symtab *t, const struct elf *elf,
		       uint32_t from, uint32_t n, uint32_t *out);

/* A string that grows, for names of any length. */
struct text {
	char *s;
	size_t room;
};

int text_reserve(struct text *t, size_t room);
void strings_cache(struct strings *str);
void strings_uncache(struct strings *str);
int strings_get(struct strings *str, uint64_t at, struct text *out);
void strings_prefetch(const struct strings *str, uint64_t at);
bool strings_there(const struct strings *str);
const char *strings_in_place(const struct strings *str, uint64_t at,
			     size_t *len);
const char *strings_stretch(struct strings *str, struct stretch *st,
			    uint64_t at, uint64_t last, size_t *len);

/* --- index.c: disjoint ranges, searched --- */

#define INDEX_NONE UINT32_MAX

/* Ranges begin at base + key. */
struct index_chunk {
	uint64_t base;
	uint32_t first, n;
};

struct index {
	uint32_t *key;
	uint32_t *val;		/* narrow: 16 bits each */
	uint32_t n, room;
	bool narrow;
	struct index_chunk *chunk;
	uint32_t nchunk, chunk_room;
	void *map;		/* set: all of it lies there */
	size_t map_size;
};

int index_add(struct index *ix, uint64_t start, uint32_t val);
int index_finish(struct index *ix);
uint32_t index_find(const struct index *ix, uint64_t addr);
uint32_t index_value(const struct index *ix, uint32_t at);
int index_append(struct index *ix, uint32_t key, uint32_t val);
uint32_t index_first(const struct index *ix, uint32_t key);
uint32_t index_next(const struct index *ix, uint32_t at);
uint32_t index_key(const struct index *ix, uint32_t at);
void index_free(struct index *ix);

/* --- from overlapping symbols to disjoint ranges --- */

/* Which symbols may hide which: a higher layer hides a lower one. */
enum layer {
	LAYER_BOUND,		/* names nothing, ends sizeless ones before it */
	LAYER_SIZELESS,
	LAYER_UNTYPED,		/* sized labels, PLT stubs */
	LAYER_TYPED,
	LAYERS,
};

/* Of stubs: above that of any symbol. */
#define RANK_STUB UINT8_MAX

struct range {
	uint64_t start, end;
	uint32_t ref;
	union {
		uint32_t name;	/* where it is in the string table */
		uint32_t hash;	/* of it, once it was weighed */
	};
	uint32_t key;		/* what it is worth, see name_key() */
	uint8_t layer;
	uint8_t rank;		/* among equal ranges the highest wins */
	bool exact_only : 1;	/* sizeless and known to be incomplete */
	bool own_end : 1;	/* it ends where its symbol says */
	bool rival : 1;		/* another one may be named in its place */
};

struct range_list {
	struct range *v;
	size_t n, room;
};

/* Finds out what the names of all rivals in a list are worth. */
typedef int (*weigh_fn)(void *arg, struct range_list *l);

/* Which of two symbols of equal range and rank names it better; > 0: a. */
typedef int (*better_fn)(void *arg, const struct range *a,
			 const struct range *b);

typedef int (*range_compare_fn)(const void *a, const void *b);

/* --- sort.c --- */

/* Something in a list, and what to sort it by. */
struct pair {
	uint32_t key, at;
};

/* What a list should have room for beside its ranges when it is sorted. */
enum { SORT_ROOM = 2 << 10 };

struct pair *pair_sort(struct pair *v, struct pair *spare, size_t n);
int range_sort(struct range_list *l, range_compare_fn compare);

/* --- ranges.c --- */

int range_reserve(struct range_list *l, size_t more);
int range_push(struct range_list *l, const struct range *r);
void range_list_free(struct range_list *l);
int ranges_sweep(struct range_list *l, struct index *ix);
int ranges_to_index(struct range_list *l, struct index *ix, weigh_fn weigh,
		    better_fn better, void *arg);
int compare_names(const char *a, const char *b);
int range_compare_start(const void *a, const void *b);
uint32_t name_key(const char *name, size_t len);

/* --- perf.c: the same by perf's rules --- */

int perf_to_index(struct range_list *l, struct index *ix, weigh_fn weigh,
		  void *arg);

/* --- classify.c --- */

struct focus;

int symbols_collect(struct symtab *t, bool perf, struct focus *focus,
		    struct range_list *l);
int symbol_collect(struct symtab *t, uint32_t at, bool perf,
		   struct range_list *l);

/* --- focus.c: what matters to one address --- */

/* Where the symbols begin that it takes to name one address. */
struct focus {
	uint64_t addr;
	uint64_t below, above;	/* nearest starts; above 0: none */
	bool any_below;
	bool found;		/* all this is known: collect them */
	uint64_t *holder;	/* starts of those that hold it */
	size_t n, room;
	int err;
};

bool focus_passes(const struct focus *focus, const GElf_Sym *sym);
bool focus_takes(struct focus *focus, const struct range *r);

/* --- build.c --- */

struct file;

int collect_symbols(struct file *f, bool perf, struct focus *focus,
		    struct range_list *l);
int index_build(struct file *f, struct symres *s, struct focus *focus);
int index_from_list(struct file *f, struct range_list *l);
int names_collect(struct file *f, struct symres *s, struct range_list *l);
uint32_t name_hash(const char *s, size_t len);

/* --- stub.c --- */

struct stub {
	const unsigned char *code;	/* at least 16 bytes where stubs of a
					 * machine differ in nothing but size */
	size_t len;
	uint64_t addr;
	uint64_t got;		/* the table that code finds by a register */
	int class;
};

/* How stubs of a machine reach their slots, and what fills these. */
struct machine {
	unsigned int machine;
	int class;
	bool addends;		/* of relocations are beside them */
	size_t step;		/* stubs begin at multiples; 0: all are of one
				 * size, which the section has */
	uint32_t jump_slot, glob_dat, irelative;
	/* How much of a stub it took to know its slot; 0: it is none. */
	size_t (*read)(const struct stub *s, uint64_t *slot);
};

const struct machine *machine_of(const struct elf *elf);

/* --- plt.c --- */

enum plt_kind {
	PLT_SECTION,		/* the way to the resolver */
	PLT_DYNSYM,		/* calls symbol number @sym of .dynsym */
	PLT_IRELATIVE,		/* calls what the code at @target chooses; that
				 * is symbol @sym of the file */
	PLT_UNKNOWN,		/* known by its place alone */
};

/* Kept on disk as it is. */
struct plt_slot {
	uint64_t addr, size;
	uint64_t offset;	/* its own, in the file */
	uint32_t sym;
	uint32_t kind;
};

struct plt {
	struct plt_slot *v;	/* in the index's mapping, if it has one */
	uint64_t *target;	/* what they lead to, while an index is made */
	size_t n, room;
};

int plt_read(struct plt *plt, const struct elf *elf, uint32_t ndynsym,
	     bool perf);
void plt_free(struct plt *plt, bool mapped);

/* What illumos and Solaris have beside .dynsym: its local symbols, and both in
 * order of address. */
#define SHT_SUNW_SYMSORT 0x6ffffff1
#define SHT_SUNW_TLSSORT 0x6ffffff2
#define SHT_SUNW_LDYNSYM 0x6ffffff3

#define MAX_TABLES 5

/* --- file.c: an ELF file with everything that names its addresses --- */

struct file {
	struct input in, debug_in, mini_in;
	struct input unpacked;	/* of a compressed file, what elf is read from */
	struct elf elf, debug, mini;
	char *dir;		/* where its companions are looked for */
	struct root *dir_root;	/* and below what; NULL: none */
	enum symres_miss miss;	/* set: nothing in it can be named */
	int err;
	char *left_path;	/* debug file that was left alone; NULL: none */
	enum symres_left left;
	int left_err;
	unsigned char build_id[SYMRES_BUILD_ID_MAX];
	size_t build_id_len;
	struct unpacking *unpacking; /* its mini debug info, by the worker */
	bool mini_bad;		/* its mini debug info is of no use */
	bool prepared;		/* its debug file and kept index were sought */
	bool looked;		/* an index is the best way from now on */
	bool indexed;
	struct symtab tab[MAX_TABLES];
	unsigned int ntab;
	struct symtab *dynsym;
	bool demangle;
	uint32_t number;	/* in the session */
	uint64_t round;		/* of questions, in which it was seen unchanged */
	struct file *next_read;	/* of those that answers were read from */
	uint64_t seg_start, seg_size;	/* segment that was asked for last */
	struct plt plt;
	uint32_t plt_first;
	struct index index;
	struct index names;	/* by their hashes, once one was asked for */
	uint64_t used;		/* tick of its last use */
};

void file_load(struct file *f);
void file_free(struct file *f);
int file_find_tables(struct file *f, struct symres *s, bool wait);
void file_forget_tables(struct file *f);
void file_free_sections(struct file *f);
int file_read_sections(struct file *f);
void file_unload(struct file *f);
void file_renew(struct file *f);
int file_take_kept(struct file *f, struct symres *s);
int file_index(struct file *f, struct symres *s, bool wait);
int file_lookup(struct file *f, struct symres *s, uint64_t addr,
		struct symres_sym *sym);
int file_unchanged(struct file *f);
bool file_is_ready(struct file *f, struct symres *s);
bool file_loads(struct file *f, uint64_t addr);
bool file_changed_meanwhile(struct file *f);

/* The table of symbol @ref of the file; NULL: there is none. */
static inline struct symtab *file_table(struct file *f, uint32_t ref)
{
	unsigned int i = f->ntab;

	while (i-- > 0)
		if (ref >= f->tab[i].first)
			return &f->tab[i];
	return NULL;
}

static inline uint32_t file_flags(const struct file *f)
{
	return f->left ? SYMRES_F_DEBUG_STALE : 0;
}

void symbol_describe(const struct symtab *t, const struct elf *elf,
		     const GElf_Sym *s, struct symres_sym *sym);
int file_symbol(struct file *f, uint32_t ref, struct text *name,
		struct symres_sym *sym);
int file_name(struct file *f, struct symres *s, uint64_t addr,
	      struct symres_sym *sym);

/* --- ask.c --- */

struct asked;

struct asked *asked_new(void);
void asked_free(struct asked *a);

/* --- sorted.c --- */

int sorted_lookup(struct file *f, struct symres *s, uint64_t addr,
		  struct symres_sym *sym);

/* --- budget.c --- */

void budget_keep(struct symres *s, struct file *f);

/* --- debugfile.c --- */

int debugfile_find(struct file *f, struct symres *s);
int debugfile_leave(struct file *f, struct root *root, const char *path,
		    enum symres_left why, int err);
void debugfile_forget(struct file *f);

/* --- debuginfod.c --- */

struct debuginfod;

void debuginfod_free(struct debuginfod *d);
char *debuginfod_path(struct symres *s, const unsigned char *id, size_t len);

/* --- cache.c --- */

char *cache_path(const struct file *f, const struct symres *s);

/* What is kept of a file: indexes, and its mini debug info. */
enum kept { KEPT_ADDRESSES, KEPT_NAMES, KEPT_MINI };

int cache_load(struct file *f, struct symres *s, enum kept what);
void cache_save(struct file *f, struct symres *s, enum kept what);
int cache_unpack_mini(struct file *f, struct symres *s, uint64_t off,
		      uint64_t size, const struct room *room);
int cache_unpack_ahead(struct file *f, struct symres *s, uint64_t off,
		       uint64_t size);
int cache_unpack_end(struct file *f, struct symres *s);
void cache_unpack_drop(struct file *f);

/* --- minidebug.c --- */

int minidebug_open(struct file *f, struct symres *s, bool wait);

/* --- demangle.c --- */

int text_demangle(struct text *name);
int sym_demangle(struct symres *s, struct symres_sym *sym);

/* --- worker.c: a thread beside the caller's --- */

/* The beginning of what is to be worked on; its owner's again once it has ended. */
struct task {
	struct task *next;
	void (*run)(struct task *t);
	bool ended;
};

struct worker {
	pthread_mutex_t lock;	/* of what follows, and of the ends of tasks */
	pthread_cond_t changed;
	struct task *first, **last;
	bool busy, stop;
	/* The caller's alone: */
	pthread_t thread;
	bool begun;
	pid_t pid;		/* where it was begun */
};

int worker_init(struct worker *w);
int worker_add(struct worker *w, struct task *t);
bool worker_is_idle(struct worker *w);
bool worker_wait(struct worker *w, struct task *t);
bool worker_drop(struct worker *w, struct task *t);
void worker_end(struct worker *w);

/* --- session.c --- */

struct kernel;

/* A path that was asked for and the file behind it. */
struct symres_place {
	uint32_t number;	/* in the session, the first is 1 */
	char *path;
	struct file *file;	/* NULL: none, see miss and err */
	enum symres_miss miss;
	int err;
};

struct symres {
	char *debug_dirs;
	struct root *debug_root;	/* these are below it; NULL: none */
	struct root *root;	/* NULL: none */
	char *cache_dir;	/* NULL: indexes are not kept */
	bool perf, demangle, ask_debuginfod;
	bool made_index;	/* of any file */
	bool use_thread;
	struct worker worker;
	struct debuginfod *debuginfod;	/* once it was asked */
	uint32_t worth_focus;	/* symbols that one answer needs no index of */
	uint64_t max_bytes;	/* of all indexes; 0: no limit */
	uint64_t tick;		/* of uses of files */
	struct asked *asked;
	uint64_t round;		/* of questions */
	char *kallsyms;
	struct input_pool pool;
	struct file **file;
	uint32_t files, file_room;
	struct symres_place **place;
	uint32_t places, place_room;
	void *by_path;		/* tsearch tree of them */
	struct kernel *kernel;
	struct text name;
	char *kept_path;	/* told by the last symres_file_info() */
	struct range_list spare; /* for the next index, while many are made */
	struct room loading;	/* a kept file that is mapped to be looked at */
};

int sym_start(struct symres_sym *sym);

static inline int sym_miss(struct symres_sym *sym, enum symres_miss miss,
			   int err)
{
	sym->name = NULL;
	sym->miss = miss;
	sym->err = err;
	return 0;
}

/* What is to be said of its file. */
static inline void sym_mark(struct symres_sym *sym, const struct file *f)
{
	sym->flags |= file_flags(f);
	sym->left_path = f->left_path;
	sym->left = f->left;
	sym->left_err = f->left_err;
}

/* 1, or a miss: an index that lies costs its answer only. */
static inline int symbol_holds(struct symres_sym *sym, uint64_t addr)
{
	sym->offset = addr - sym->addr;
	if (addr >= sym->addr &&
	    (!sym->sym_size || sym->offset < sym->sym_size))
		return 1;
	sym->offset = 0;
	return sym_miss(sym, SYMRES_MISS_NO_SYMBOL, 0);
}

int place_open(struct symres *s, struct symres_place *pl, struct root *root,
	       const char *path, struct root *dir_root, const char *dir);
int place_memory(struct symres *s, struct symres_place *pl, unsigned char *mem,
		 size_t size);
int place_name(struct symres *s, struct symres_place *pl, uint64_t at, bool is_offset,
	       struct symres_sym *sym);
int place_miss_errno(const struct symres_place *pl);
int place_indexed(struct symres *s, struct symres_place *pl);
int place_tell(struct symres *s, struct symres_place *pl, uint32_t ref,
	       uint64_t addr, symres_sym_fn fn, void *arg);
char *path_join(const char *a, const char *b, const char *c);

/* --- jit.c --- */

struct jit;

struct jit *jit_new(void);
void jit_free(struct jit *j);
int jit_parse(struct jit *j, char *text, size_t len);
int jit_refresh(struct jit *j, int proc, const struct root *root);
int jit_find(const struct jit *j, uint64_t pc, struct symres_sym *sym);
const char *jit_path(const struct jit *j);

/* --- maps.c --- */

int vdso_of_self(unsigned char **mem, size_t *size);

/* --- kernel.c --- */

void kernel_free(struct kernel *k);
int read_kernel_build_id(unsigned char *id);

#endif
