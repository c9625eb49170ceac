/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libsymres: from an address to the symbol that holds it.
 *
 * It names addresses in ELF files, in mappings of live or ended processes and
 * in the kernel, and opens only the files that are asked about. It prefers a
 * miss to a wrong name: every miss says why.
 *
 * Units      Addresses, offsets and sizes are bytes in uint64_t.
 * Results    A look-up returns 1 (named), 0 (a miss, sym->miss tells why) or a
 *            negative errno: the call itself could not be carried out, and
 *            *sym is not filled in. -EINVAL: a null pointer, or a struct size
 *            that this library does not know; -ENOMEM: out of memory.
 *            Whatever is wrong with a file is a miss, never an error.
 * Ownership  The strings and build-ids in a result belong to the handle. They
 *            stay valid until the next call with that handle. What the caller
 *            passes in is copied where it is kept, unless said otherwise.
 * Files      A path is opened at its first look-up and then stands for that
 *            file as long as the handle is open. If the file changes
 *            meanwhile, its look-ups become misses.
 * Threads    There is no global state. Different handles may be used by
 *            different threads at the same time; one handle by one thread at
 *            a time.
 * Silence    The library never prints, never ends the process, installs no
 *            signal handler and starts no thread that the options do not allow.
 * Growth     Structs begin with their size, which the caller sets; later
 *            versions only append members, and a zero in them means what this
 *            version does. Before 1.0 the soname is libsymres.so.0 and no
 *            promise is made.
 */
#ifndef SYMRES_H
#define SYMRES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SYMRES_VERSION "0.1.0"

/* The version of the library that runs, in the form of SYMRES_VERSION. */
const char *symres_version(void);

/* A session: the files it has opened and what it knows about them. */
struct symres;

struct symres_opts {
	size_t size;		/* sizeof(struct symres_opts) */
	const char *debug_dirs;	/* colon-separated roots of separate debug
				 * files; NULL: /usr/lib/debug; "": none */
	const char *kallsyms;	/* kernel symbols, read at the first kernel
				 * look-up; NULL: /proc/kallsyms */
	const char *root;	/* folder below which paths given to
				 * symres_lookup_file() and the like are, and
				 * then debug_dirs by default; links and ".."
				 * mean what they would if it were the root
				 * directory; NULL: none */
	const char *cache_dir;	/* folder in which indexes of ELF files are kept
				 * and found again; made if need be; NULL: none */
	uint32_t policy;	/* enum symres_policy, for ELF files */
	uint32_t demangle;	/* not 0: give C++ and Rust names as they were
				 * written */
	uint64_t max_bytes;	/* what the indexes of all files together may
				 * take; those asked about least recently are
				 * given up, but not the one in use; 0: no
				 * limit */
	uint32_t debuginfod;	/* not 0: where no debug file is found for a
				 * stripped file, ask the servers named in the
				 * environment variable DEBUGINFOD_URLS, and wait
				 * for them as DEBUGINFOD_TIMEOUT says */
	uint32_t map_files;	/* not 0: map files of which more than the
				 * headers is read, which halves the time where
				 * many addresses are named; only for programs
				 * whose handler of SIGBUS calls symres_sigbus() */
	uint32_t use_thread;	/* not 0: for questions put by symres_ask(),
				 * another thread decompresses mini debug info
				 * into cache_dir while indexes are made (not with
				 * max_bytes), and demangles names while others are
				 * read; it is there until symres_close() returns,
				 * blocks the signals that are sent, and is not
				 * begun under RLIMIT_AS; a child after fork() has
				 * none, and goes on without */
};

enum symres_policy {
	SYMRES_POLICY_HONEST,	/* rather a miss than a wrong name */
	SYMRES_POLICY_PERF,	/* what perf's rules say, to compare: a symbol
				 * without size reaches to the next one, and
				 * ELF version text is part of a name */
};

/*
 * symres_open() - start a session
 * @opts: NULL for the defaults
 *
 * Reads nothing yet. Returns 0, -EINVAL or -ENOMEM.
 */
int symres_open(struct symres **out, const struct symres_opts *opts);

/* Frees everything; NULL is allowed. */
void symres_close(struct symres *s);

/*
 * symres_sigbus() - a file was cut short under its mapping
 * @addr: si_addr of the signal
 *
 * To be called by the handler of SIGBUS of a program that sets map_files, or
 * whose kept indexes others may cut short, in the thread in which a call of the
 * library was interrupted, with its handle; not for signals that were sent
 * (si_code is not above 0). 1: it was in a mapping of this handle, the handler
 * may return, and the file counts as changed. 0: it was not, or no memory is
 * left.
 */
int symres_sigbus(struct symres *s, const void *addr);

/* Where a name was found. */
enum symres_source {
	SYMRES_SOURCE_NONE,
	SYMRES_SOURCE_SYMTAB,	/* the file's .symtab */
	SYMRES_SOURCE_DYNSYM,	/* the file's .dynsym */
	SYMRES_SOURCE_DEBUG,	/* .symtab of a separate debug file */
	SYMRES_SOURCE_PLT,	/* a stub that jumps to an imported function */
	SYMRES_SOURCE_KALLSYMS,
	SYMRES_SOURCE_MINI,	/* .symtab in the file's .gnu_debugdata */
	SYMRES_SOURCE_LDYNSYM,	/* the file's .SUNW_ldynsym */
	SYMRES_SOURCE_JIT,	/* /tmp/perf-PID.map of a process */
};

/* What the symbol is. */
enum symres_kind {
	SYMRES_KIND_UNKNOWN,	/* a label without a type */
	SYMRES_KIND_FUNC,
	SYMRES_KIND_DATA,
	SYMRES_KIND_ABS,	/* in kallsyms: a number, such as the offset of
				 * a per-CPU variable, and not an address */
};

/* Why an address has no name. */
enum symres_miss {
	SYMRES_MISS_NONE,	/* it has one */
	SYMRES_MISS_UNMAPPED,	/* outside of every mapping or segment */
	SYMRES_MISS_ANON,	/* memory that comes from no file */
	SYMRES_MISS_NO_FILE,	/* the file cannot be read; sym->err */
	SYMRES_MISS_DELETED,	/* the file was deleted, and nothing proves that
				 * the one now at its path is the same */
	SYMRES_MISS_BUILD_ID,	/* the file has not the build-id recorded */
	SYMRES_MISS_NOT_ELF,	/* not an ELF file, or one too damaged to use */
	SYMRES_MISS_PACKED,	/* compressed, but damaged or too big to unpack */
	SYMRES_MISS_CHANGED,	/* the file changed while it was in use */
	SYMRES_MISS_NO_SYMBOLS,	/* no usable symbol table anywhere */
	SYMRES_MISS_NO_SYMBOL,	/* a table, but no symbol there */
	SYMRES_MISS_NO_KALLSYMS,/* kernel symbols cannot be read; sym->err */
	SYMRES_MISS_HIDDEN,	/* kernel addresses are hidden (all zero) */
};

/* A short English phrase for a reason; never NULL. */
const char *symres_miss_str(enum symres_miss miss);

/* A short word for a source, "symtab" for example; never NULL. */
const char *symres_source_str(enum symres_source source);

/* No recorded size holds the address: the range was inferred from what comes
 * next. Always so in kallsyms, except at a symbol's very first byte. */
#define SYMRES_F_APPROX		(1u << 0)
/* A separate debug file was found and left alone, and no other one was found:
 * the members left_* tell which and why. Also set on misses. */
#define SYMRES_F_DEBUG_STALE	(1u << 1)

/* Why a separate debug file was left alone. */
enum symres_left {
	SYMRES_LEFT_NONE,	/* none was */
	SYMRES_LEFT_UNREADABLE,	/* it cannot be read; left_err */
	SYMRES_LEFT_NOT_FILE,	/* a folder, a pipe or a device */
	SYMRES_LEFT_NOT_ELF,
	SYMRES_LEFT_CUT_SHORT,	/* its end, or its symbol table's, is missing */
	SYMRES_LEFT_OTHER_KIND,	/* of another machine or kind of file */
	SYMRES_LEFT_BUILD_ID,	/* it has not the file's build-id */
	SYMRES_LEFT_CHECKSUM,	/* it has not the checksum of the debug link */
	SYMRES_LEFT_NO_SYMBOLS,	/* it has no symbol table */
};

/* A short English phrase for it; never NULL. */
const char *symres_left_str(enum symres_left why);

struct symres_sym {
	size_t size;		/* sizeof(struct symres_sym), set by the caller;
				 * all else is set by the library */
	const char *name;	/* as stored, without ELF version text (@V1);
				 * "NAME@plt" for a stub; NULL: a miss */
	const char *module;	/* path of the file as given, without " (deleted)"
				 * when that is the kernel's mark; "[vdso]";
				 * "[kernel]" or "[ext4]" in the kernel;
				 * NULL: not known */
	uint64_t module_addr;	/* the address in the module's own terms: what
				 * readelf or addr2line would want; in the
				 * kernel the address itself. 0 if the module is
				 * not known */
	uint64_t addr;		/* where the symbol begins, in the same terms */
	uint64_t offset;	/* module_addr - addr */
	uint64_t sym_size;	/* size recorded for the symbol; 0: none was */
	const unsigned char *build_id; /* of the module; NULL: has none or not
				 * known */
	size_t build_id_len;
	uint32_t source;	/* enum symres_source */
	uint32_t kind;		/* enum symres_kind */
	uint32_t flags;		/* SYMRES_F_* */
	uint32_t miss;		/* enum symres_miss */
	int err;		/* positive errno behind the miss; 0: none */
	const char *left_path;	/* with SYMRES_F_DEBUG_STALE, the debug file, or
				 * the name of its section, .gnu_debugdata */
	uint32_t left;		/* enum symres_left */
	int left_err;		/* positive errno behind it; 0: none */
};

/*
 * symres_lookup_file() - name an address of an ELF file
 * @path: the file, which may be compressed by xz, gzip or zstd as a whole, or
 *        "[vdso]" for the calling process's own
 * @vaddr: address as in the file's symbol table
 */
int symres_lookup_file(struct symres *s, const char *path, uint64_t vaddr,
		       struct symres_sym *sym);

/*
 * symres_section() - where a section of an ELF file is
 * @name: ".init.text"; of several so called the first that is loaded is meant
 * @addr: set to its address, in the terms of symres_lookup_file()
 * @bytes: set to its size
 *
 * A relocatable file (an object file, a kernel module) has no addresses of its
 * own, so this library gives its sections some: .text is at 0, the other code
 * follows, then the data.
 * Returns 0, -ENODATA if there is none such, or an errno like
 * symres_find_file().
 */
int symres_section(struct symres *s, const char *path, const char *name,
		   uint64_t *addr, uint64_t *bytes);

/* The same for an offset in the file, which its PT_LOAD segments turn into an
 * address. */
int symres_lookup_offset(struct symres *s, const char *path, uint64_t offset,
			 struct symres_sym *sym);

/* Called for each symbol found. A return value other than 0 ends the walk.
 * @sym and its strings are valid during the call only; do not use the handle
 * in it. */
typedef int (*symres_sym_fn)(const struct symres_sym *sym, void *arg);

/*
 * symres_find_file() - all symbols of a name in an ELF file, by address
 * @path: as for symres_lookup_file()
 * @name: as look-ups of this session give it
 *
 * The first time an index of all names is made, and kept like the one of
 * addresses. Of several symbols of that name at one address one is told.
 * Returns how many were handed to @fn, the first non-zero value @fn returned,
 * or a negative errno: -ENOEXEC if it is no ELF file, -EBADMSG if it cannot be
 * unpacked, or what opening it gave. An @fn that stops the walk had better return a negative value of its own.
 */
long symres_find_file(struct symres *s, const char *path, const char *name,
		      symres_sym_fn fn, void *arg);

/*
 * symres_find_address() - all symbols that hold an address of an ELF file
 *
 * The innermost first: aliases, functions folded into one, and what is around
 * them; a symbol without size holds its first byte. One of them is what
 * symres_lookup_file() answers, with its other names if it has no size. Returns
 * like symres_find_file().
 */
long symres_find_address(struct symres *s, const char *path, uint64_t vaddr,
			 symres_sym_fn fn, void *arg);

/* A path of the session and what is behind it; it lives as long. */
struct symres_place;

/*
 * symres_place() - the place of a path
 * @path: as for symres_lookup_file()
 *
 * Opens it, so that many questions about it need not compare paths. Whatever is
 * wrong with the file is told by the answers. Returns 0, -EINVAL or -ENOMEM.
 */
int symres_place(struct symres *s, const char *path, struct symres_place **out);

/*
 * symres_ask() - ask for one of many addresses
 * @s: the session; not NULL
 * @place: from this session; not NULL
 * @vaddr: address as in the file's symbol table
 *
 * Ask for many and then take all their answers: what has to be read of a file
 * is then read at once. Files are checked for changes when the first answer is
 * taken.
 * Returns 1; 0 if this one was taken but no more can be before the answers are;
 * -EBUSY if not all answers were taken, or -ENOMEM.
 */
int symres_ask(struct symres *s, struct symres_place *place, uint64_t vaddr);

/* The members are those of struct symres_sym, but for the last. */
struct symres_answer {
	const char *name;	/* NULL: a miss */
	uint64_t addr;
	uint64_t sym_size;
	uint32_t flags;
	uint8_t source;
	uint8_t kind;
	uint8_t miss;
	int err;
	uint32_t name_len;	/* bytes in name; 0: a miss */
};

/*
 * symres_answer() - the next answer, in the order of the questions
 * @s: the session; not NULL
 * @vaddr: what was asked; not NULL
 *
 * Returns the answer, valid until the next call with that handle, or NULL when
 * all are taken.
 */
const struct symres_answer *symres_answer(struct symres *s, uint64_t *vaddr);

/* A mapping as it was recorded, in a PERF_RECORD_MMAP2 for example. Nothing in
 * /proc is consulted, so the process may long be gone. */
struct symres_map {
	size_t size;		/* sizeof(struct symres_map) */
	uint64_t start;		/* first address */
	uint64_t end;		/* first address behind it */
	uint64_t pgoff;		/* offset in the file of start, in bytes */
	const char *path;	/* as recorded; "[vdso]" needs a build-id, see
				 * symres_build_id(); NULL or "": anonymous */
	const unsigned char *build_id; /* recorded build-id; NULL: none was.
				 * Then the file at the path is believed,
				 * unless the path ends in " (deleted)" */
	size_t build_id_len;	/* trailing zero bytes do not count */
};

/*
 * symres_lookup_map() - name an address of a recorded mapping
 * @pc: address in the process; outside of [start, end) it is a miss
 *
 * For a return address of a call chain pass the address less one: the call
 * itself may be the last instruction of its function.
 */
int symres_lookup_map(struct symres *s, const struct symres_map *map,
		      uint64_t pc, struct symres_sym *sym);

/* The mappings of a process that runs, read once. Files are reached through
 * the process itself where the caller may, so it may live in a container and
 * its files may be deleted. */
struct symres_maps;

/*
 * symres_maps_open() - read a process's mappings
 *
 * Returns 0, -ESRCH, -EACCES or what else reading /proc gives. Close it before
 * the session.
 */
int symres_maps_open(struct symres *s, pid_t pid, struct symres_maps **out);
void symres_maps_close(struct symres_maps *maps);
int symres_lookup_maps(struct symres_maps *maps, uint64_t pc,
		       struct symres_sym *sym);

/*
 * symres_kallsyms() - take kernel symbols from memory
 * @text: as in /proc/kallsyms; copied as far as needed
 *
 * In place of the file named in the options. Returns 0, -EINVAL, or -EBUSY
 * after the first kernel look-up.
 */
int symres_kallsyms(struct symres *s, const char *text, size_t len);

/* Name a kernel address, code or data. */
int symres_lookup_kernel(struct symres *s, uint64_t addr,
			 struct symres_sym *sym);

/*
 * symres_find_kernel() - all kernel symbols of a name, in order of address
 * @name: "name", "module:name", or "vmlinux:name" for the kernel's own;
 *        NULL: every symbol
 *
 * Names are compared as a whole. Returns how many were handed to @fn, the first
 * non-zero value @fn returned, or a negative errno: -EPERM if the addresses
 * are hidden, or what reading the symbols gave (-ENOENT, -EACCES...). An @fn
 * that stops the walk had better return a negative value of its own.
 */
long symres_find_kernel(struct symres *s, const char *name, symres_sym_fn fn,
			void *arg);

struct symres_module {
	size_t size;		/* sizeof(struct symres_module) of the library */
	const char *name;	/* "ext4" */
	uint64_t start;		/* its first symbol */
	uint64_t end;		/* behind its last symbol, as far as known */
	uint64_t symbols;	/* how many it has */
};

typedef int (*symres_module_fn)(const struct symres_module *mod, void *arg);

/* The modules that the kernel symbols name, in order of address. Returns like
 * symres_find_kernel(). */
long symres_kernel_modules(struct symres *s, symres_module_fn fn, void *arg);

#define SYMRES_TABLES_MAX 5

/* What there is to name the addresses of a file with. */
struct symres_info {
	size_t size;		/* sizeof(struct symres_info), set by the caller */
	uint64_t ranges;	/* in the index of its addresses */
	uint64_t bytes;		/* of the index; names are not in it */
	uint32_t range_bytes;	/* of them, for each range */
	uint32_t tables;
	struct {
		uint32_t source;	/* enum symres_source */
		uint32_t symbols;	/* in the table, of any kind */
	} table[SYMRES_TABLES_MAX];
	uint64_t stubs;
	const char *debug_path;	/* its separate debug file; NULL: none */
	const char *kept_path;	/* where the index is kept; NULL: nowhere */
	uint64_t kept_bytes;	/* size of that file */
	const unsigned char *build_id; /* NULL: has none */
	size_t build_id_len;
	uint32_t miss;		/* enum symres_miss: why there is no index */
	int err;		/* positive errno behind the miss; 0: none */
	const char *left_path;	/* debug file that was left alone; NULL: none,
				 * or another one is in use */
	uint32_t left;		/* enum symres_left */
	int left_err;		/* positive errno behind it; 0: none */
};

/*
 * symres_file_info() - make or find the index of a file, and describe it
 *
 * Returns 1, 0 if the file has none, with the reason in info->miss, or a
 * negative errno. What info points to stays valid until the next call with that
 * handle.
 */
int symres_file_info(struct symres *s, const char *path,
		     struct symres_info *info);

#define SYMRES_BUILD_ID_MAX 64

/*
 * symres_build_id() - the build-id of a file
 * @path: an ELF file, "[vdso]" or "[kernel]", the last two those in use now
 * @id: room for SYMRES_BUILD_ID_MAX bytes
 *
 * Returns its length in bytes, or a negative errno: -ENODATA if it has none,
 * -ENOEXEC if it is no ELF file, or what opening it gave.
 */
int symres_build_id(struct symres *s, const char *path, unsigned char *id);

#ifdef __cplusplus
}
#endif
#endif
