// SPDX-License-Identifier: LGPL-2.1-or-later
/* The command symres: addresses in, names out, one line for each. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>

#include "cmd.h"

struct lookup {
	const char *file;
	pid_t pid;
	bool kernel, offsets, verbose, batch;
	struct format format;
	struct symres *s;
	struct symres_maps *maps;
	enum status status;
	bool told_stale;
};

static const char usage_text[] =
"usage: symres [lookup] [-fov] -e FILE [ADDRESS...]\n"
"       symres [lookup] [-fv] -p PID [ADDRESS...]\n"
"       symres [lookup] [-fv] -k [--kallsyms FILE] [ADDRESS...]\n"
"       symres [lookup] --batch [--offset-in-symbol]\n"
"Prints NAME+0xOFFSET, or ?? where no name is known, for each address.\n"
"Addresses are hexadecimal, 0x or not; without any, lines of standard input.\n"
"  -e FILE          addresses of an ELF file, as in its symbol table\n"
"  -o, --offsets    ADDRESS is an offset in FILE\n"
"  -p PID           addresses of a process that runs\n"
"  -k               addresses of the kernel\n"
"  --kallsyms FILE  kernel symbols to use, in place of /proc/kallsyms\n"
"  --debug-dir DIRS where separate debug files are, in place of\n"
"                   /usr/lib/debug; several with colons between them\n"
"  --batch          read lines PATH<tab>ADDRESS, or PATH<tab>OFFSET<tab>ADDRESS\n"
"                   whose OFFSET is not used; print names alone\n"
"  --offset-in-symbol\n"
"                   with --batch, NAME+0xOFFSET\n"
"  --root DIR       files, and debug files by default, are below DIR\n"
"  --policy honest  rather no name than a wrong one; the default\n"
"  --policy perf    the names that perf's rules give\n"
"  --cache DIR      where indexes of files are kept, in place of\n"
"                   $XDG_CACHE_HOME/symres or ~/.cache/symres; '': nowhere\n"
"  -C, --demangle   C++ and Rust names as they were written\n"
"  --json           all that is known, an object on each line\n"
"  -v               say on standard error why an address has no name\n"
"  -f               print names; always so, accepted for addr2line's users\n"
"  -h, --help       this text\n"
"  -V, --version    the version\n";

void complain(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("symres: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void failed(struct lookup *l, enum status status)
{
	if (l->status < status)
		l->status = status;
}

/* Each digit one more than it says, 0 for what is none. */
static const unsigned char digits[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
	['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static size_t hex_prefix(const char *s, size_t len)
{
	return len > 2 && s[0] == '0' && (s[1] | 0x20) == 'x' ? 2 : 0;
}

bool is_hex(const char *s, size_t len)
{
	size_t i = hex_prefix(s, len);

	while (i < len && digits[(unsigned char)s[i]])
		i++;
	return len && i == len;
}

bool parse_hex(const char *s, size_t len, uint64_t *v)
{
	uint64_t n = 0;
	size_t i = hex_prefix(s, len);

	/* No number of 64 bits has more digits that count. */
	while (len - i > 16 && s[i] == '0')
		i++;
	if (!len || len - i > 16)
		return false;
	for (; i < len; i++) {
		unsigned int digit = digits[(unsigned char)s[i]];

		if (!digit)
			return false;
		n = n << 4 | (digit - 1);
	}
	*v = n;
	return true;
}

bool parse_address(const char *s, uint64_t *addr)
{
	return parse_hex(s, strlen(s), addr);
}

/* Misses that concern all addresses alike: the question could not be put. */
static void tell_general(struct lookup *l, const struct symres_sym *sym)
{
	const char *what = l->kernel ? "kernel" : sym->module;
	enum status status = FAILED;
	const char *hint = "";

	switch (sym->miss) {
	case SYMRES_MISS_NO_KALLSYMS:
		hint = sym->err == EBADMSG ?
			"; --kallsyms wants a copy of /proc/kallsyms" : "";
		break;
	case SYMRES_MISS_HIDDEN:
		hint = "; run as root or set kernel.kptr_restrict to 0";
		status = NOT_HERE;
		break;
	case SYMRES_MISS_RELOCATABLE:
		hint = "; name the linked file";
		break;
	case SYMRES_MISS_NO_FILE:
	case SYMRES_MISS_NOT_ELF:
	case SYMRES_MISS_NO_SYMBOLS:
		/* In a process other mappings may do. */
		if (!l->maps)
			break;
		/* fall through */
	default:
		return;
	}
	if (l->status)
		return;
	complain("%s: %s%s%s%s%s", what, symres_miss_str(sym->miss),
		 sym->err ? " (" : "", sym->err ? strerror(sym->err) : "",
		 sym->err ? ")" : "", hint);
	failed(l, status);
}

static void tell(struct lookup *l, uint64_t addr, const struct symres_sym *sym)
{
	if (sym->flags & SYMRES_F_DEBUG_STALE && !l->told_stale) {
		complain("%s: a debug file was left alone: it is of another build",
			 sym->module);
		l->told_stale = true;
	}
	if (!sym->miss)
		return;
	tell_general(l, sym);
	if (l->verbose)
		complain("0x%" PRIx64 ": %s%s%s%s%s%s", addr,
			 symres_miss_str(sym->miss),
			 sym->module ? ", " : "", sym->module ? sym->module : "",
			 sym->err ? " (" : "",
			 sym->err ? strerror(sym->err) : "",
			 sym->err ? ")" : "");
}

static void lookup_one(struct lookup *l, const char *text)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	uint64_t addr;
	int ret;

	if (!parse_address(text, &addr)) {
		complain("'%s' is not a hexadecimal address", text);
		failed(l, FAILED);
		puts("??");
		return;
	}
	if (l->kernel)
		ret = symres_lookup_kernel(l->s, addr, &sym);
	else if (l->maps)
		ret = symres_lookup_maps(l->maps, addr, &sym);
	else if (l->offsets)
		ret = symres_lookup_offset(l->s, l->file, addr, &sym);
	else
		ret = symres_lookup_file(l->s, l->file, addr, &sym);
	print_answer(&l->format, l->file, addr, ret, &sym);
	if (ret < 0) {
		complain("0x%" PRIx64 ": %s", addr, strerror(-ret));
		failed(l, FAILED);
	} else {
		tell(l, addr, &sym);
	}
}

static void lookup_lines(struct lookup *l)
{
	char *line = NULL, *word;
	size_t room = 0;

	/* Whoever writes addresses may wait for each answer. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	while (getline(&line, &room, stdin) > 0) {
		word = line + strspn(line, " \t");
		word[strcspn(word, " \t\r\n")] = 0;
		lookup_one(l, word);
	}
	if (ferror(stdin)) {
		complain("standard input: %s", strerror(errno));
		failed(l, FAILED);
	}
	free(line);
}

static int open_session(struct lookup *l, const struct symres_opts *opts)
{
	int ret = symres_open(&l->s, opts);

	if (ret) {
		complain("%s", strerror(-ret));
		return FAILED;
	}
	if (!l->pid)
		return DONE;
	ret = symres_maps_open(l->s, l->pid, &l->maps);
	if (!ret)
		return DONE;
	if (ret == -ESRCH)
		complain("process %d: there is none", (int)l->pid);
	else if (ret == -EACCES || ret == -EPERM)
		complain("process %d: its mappings may not be read; run as its user or as root",
			 (int)l->pid);
	else
		complain("process %d: %s", (int)l->pid, strerror(-ret));
	return ret == -EACCES || ret == -EPERM ? NOT_HERE : FAILED;
}

static int refuse(const char *fmt, const char *what)
{
	complain(fmt, what);
	fputs("Try 'symres --help'.\n", stderr);
	return USAGE;
}

static bool parse_pid(const char *s, pid_t *pid)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	*pid = (pid_t)v;
	return !errno && end != s && !*end && v > 0 && v == *pid;
}

/* As XDG has it: an absolute path counts, everything else does not. */
static char *default_cache(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *middle = "";
	char *dir;

	if (!base || *base != '/') {
		base = getenv("HOME");
		middle = "/.cache";
	}
	if (!base || *base != '/' ||
	    asprintf(&dir, "%s%s/symres", base, middle) < 0)
		return NULL;
	return dir;
}

static bool parse_policy(const char *s, uint32_t *policy)
{
	*policy = strcmp(s, "perf") ? SYMRES_POLICY_HONEST : SYMRES_POLICY_PERF;
	return !strcmp(s, "perf") || !strcmp(s, "honest");
}

static int cmd_lookup(int argc, char **argv)
{
	enum { OPT_KALLSYMS = 256, OPT_DEBUG_DIR, OPT_BATCH, OPT_OFFSET,
	       OPT_ROOT, OPT_POLICY, OPT_JSON, OPT_CACHE };
	static const struct option options[] = {
		{ "offsets", no_argument, NULL, 'o' },
		{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
		{ "debug-dir", required_argument, NULL, OPT_DEBUG_DIR },
		{ "batch", no_argument, NULL, OPT_BATCH },
		{ "offset-in-symbol", no_argument, NULL, OPT_OFFSET },
		{ "root", required_argument, NULL, OPT_ROOT },
		{ "policy", required_argument, NULL, OPT_POLICY },
		{ "demangle", no_argument, NULL, 'C' },
		{ "cache", required_argument, NULL, OPT_CACHE },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct symres_opts opts = { .size = sizeof(opts) };
	struct lookup l = { 0 };
	const char *cache = NULL;
	char *dir;
	uint64_t addr;
	int c;

	while ((c = getopt_long(argc, argv, "e:op:kvfChV", options, NULL)) != -1)
		switch (c) {
		case 'e':
			l.file = optarg;
			break;
		case 'o':
			l.offsets = true;
			break;
		case 'p':
			if (!parse_pid(optarg, &l.pid))
				return refuse("'%s' is not a process number",
					      optarg);
			break;
		case 'k':
			l.kernel = true;
			break;
		case OPT_KALLSYMS:
			opts.kallsyms = optarg;
			break;
		case OPT_DEBUG_DIR:
			opts.debug_dirs = optarg;
			break;
		case OPT_BATCH:
			l.batch = true;
			break;
		case OPT_OFFSET:
			l.format.offset = true;
			break;
		case OPT_ROOT:
			opts.root = optarg;
			break;
		case OPT_POLICY:
			if (!parse_policy(optarg, &opts.policy))
				return refuse("'%s' is not a policy: honest or perf",
					      optarg);
			break;
		case OPT_CACHE:
			cache = optarg;
			break;
		case OPT_JSON:
			l.format.json = true;
			break;
		case 'C':
			opts.demangle = 1;
			break;
		case 'v':
			l.verbose = true;
			break;
		case 'f':
			break;
		case 'h':
			fputs(usage_text, stdout);
			return DONE;
		case 'V':
			printf("symres %s\n", symres_version());
			return DONE;
		default:
			fputs("Try 'symres --help'.\n", stderr);
			return USAGE;
		}
	if ((l.file != NULL) + (l.pid != 0) + l.kernel + l.batch != 1)
		return refuse("%s", "say one of -e FILE, -p PID, -k and --batch");
	if (l.format.offset && !l.batch)
		return refuse("%s", "--offset-in-symbol needs --batch");
	if (l.batch && optind < argc)
		return refuse("'%s': --batch reads standard input", argv[optind]);
	if (opts.root && !l.file && !l.batch)
		return refuse("%s", "--root needs -e FILE or --batch");
	l.format.offset |= !l.batch;
	if (l.offsets && !l.file)
		return refuse("%s", "-o needs -e FILE");
	if (opts.kallsyms && !l.kernel)
		return refuse("%s", "--kallsyms needs -k");
	for (int i = optind; i < argc; i++)
		if (!parse_address(argv[i], &addr))
			return refuse("'%s' is not a hexadecimal address",
				      argv[i]);
	dir = cache ? NULL : default_cache();
	opts.cache_dir = cache ? cache : dir;
	l.status = open_session(&l, &opts);
	free(dir);
	if (!l.status) {
		for (int i = optind; i < argc; i++)
			lookup_one(&l, argv[i]);
		if (l.batch)
			failed(&l, lookup_batch(l.s, &l.format));
		else if (optind == argc)
			lookup_lines(&l);
	}
	symres_maps_close(l.maps);
	symres_close(l.s);
	if (fflush(stdout) || ferror(stdout)) {
		complain("standard output: %s", strerror(errno));
		failed(&l, FAILED);
	}
	return l.status;
}

int main(int argc, char **argv)
{
	/* A limit on file sizes costs an index, not the answers. */
	signal(SIGXFSZ, SIG_IGN);
	/* What an index is made from goes back as soon as it is made. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (argc > 1 && !strcmp(argv[1], "lookup")) {
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	return cmd_lookup(argc, argv);
}
