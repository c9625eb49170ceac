// SPDX-License-Identifier: LGPL-2.1-or-later
/* The command symres: its verbs, and what they have in common. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static const char usage_text[] =
"usage: symres [lookup] [-afov] [-j SECTION] -e FILE [ADDRESS...]\n"
"       symres [lookup] [-v] [-j SECTION] -e FILE -n NAME...\n"
"       symres [lookup] [-afv] -p PID [ADDRESS...]\n"
"       symres [lookup] [-afv] -k [--kallsyms FILE] [ADDRESS...]\n"
"       symres [lookup] [-v] --batch [--offset-in-symbol] [--root DIR]\n"
"       symres index FILE...\n"
"       symres info [--json] FILE...\n"
"       symres cache [--prune SIZE] [--json]\n"
"       symres sort [-o OUT] [--dynsort NAME] [--nodynsort NAME] FILE\n"
"Prints NAME+0xOFFSET, or ?? where no name is known, for each address.\n"
"Addresses are hexadecimal, 0x or not; without any, lines of standard input.\n"
"  -e FILE          addresses of an ELF file, as in its symbol table\n"
"  -o, --offsets    ADDRESS is an offset in FILE\n"
"  -j, --section SECTION\n"
"                   addresses count from the beginning of a section of FILE\n"
"  -n, --name NAME  the addresses of all symbols of that name\n"
"  -p PID           addresses of a process that runs\n"
"  -k               addresses of the kernel\n"
"  --kallsyms FILE  kernel symbols to use, in place of /proc/kallsyms\n"
"  -a, --addresses  print each address before its name\n"
"  --all            with -e, all symbols that hold each address\n"
"  --batch          read lines PATH<tab>ADDRESS, or PATH<tab>OFFSET<tab>ADDRESS\n"
"                   whose OFFSET is not used; print names alone\n"
"  --offset-in-symbol\n"
"                   with --batch, NAME+0xOFFSET\n"
"  --json           all that is known, an object on each line\n"
"  -v               say on standard error why an address has no name\n"
"  -f, -i, --pretty-print\n"
"                   accepted for addr2line's users: names are always printed,\n"
"                   on one line each, and inlined functions are not known\n"
"index makes the indexes of files, info tells what they hold, cache lists those\n"
"that are kept or removes the oldest (--prune), sort adds sections to an ELF\n"
"file that spare it an index. These apply to lookup, index and info:\n"
"  --debug-dir DIRS where separate debug files are, in place of\n"
"                   /usr/lib/debug; several with colons between them\n"
"  --no-debuginfod  ask no server that DEBUGINFOD_URLS names for debug files\n"
"  --root DIR       files, and debug files by default, are below DIR\n"
"  --policy honest  rather no name than a wrong one; the default\n"
"  --policy perf    the names that perf's rules give\n"
"  --cache DIR      where indexes of files are kept, in place of\n"
"                   $XDG_CACHE_HOME/symres or ~/.cache/symres; '': nowhere\n"
"  --max-bytes SIZE what all indexes may take of memory; K, M or G may follow\n"
"  -C, --demangle   C++ and Rust names as they were written\n"
"  -h, --help       this text\n"
"  -V, --version    the version\n";

/* One line, whatever names and paths hold. */
void complain(const char *fmt, ...)
{
	char *text, *out, *to;
	va_list ap;
	int len;

	fflush(stdout);
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		text = NULL;
	to = out = text ? malloc((size_t)len * ESCAPED + 1) : NULL;
	for (int i = 0; to && i < len; i++)
		to += escape(text[i], to);
	if (to)
		*to = 0;
	fprintf(stderr, "symres: %s\n", out ? out : strerror(ENOMEM));
	free(out);
	free(text);
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

/* A number of bytes; K, M and G are 1024 times as much each. */
bool parse_size(const char *s, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*size = strtoull(s, &end, 10);
	if (errno || end == s || *s == '-')
		return false;
	if (!*end)
		return true;
	unit = end[1] ? NULL : strchr(units, *end);
	for (; unit && unit >= units; unit--) {
		if (*size > UINT64_MAX / 1024)
			return false;
		*size *= 1024;
	}
	return unit != NULL;
}

int refuse(const char *fmt, const char *what)
{
	complain(fmt, what);
	fputs("Try 'symres --help'.\n", stderr);
	return USAGE;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Was that not said before? */
bool first_time(void **told, const char *text)
{
	char *copy;

	if (tfind(text, told, compare))
		return false;
	copy = strdup(text);
	if (copy && !tsearch(copy, told, compare))
		free(copy);
	return true;
}

void forget_told(void *told)
{
	tdestroy(told, free);
}

/* As XDG has it: an absolute path counts, everything else does not. */
char *default_cache(void)
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

/* Takes @c with optarg if it is an option of all verbs that open files. */
enum option_is session_option(int c, struct symres_opts *opts)
{
	switch (c) {
	case OPT_DEBUG_DIR:
		opts->debug_dirs = optarg;
		return TAKEN;
	case OPT_ROOT:
		opts->root = optarg;
		return TAKEN;
	case OPT_POLICY:
		opts->policy = strcmp(optarg, "perf") ? SYMRES_POLICY_HONEST :
							SYMRES_POLICY_PERF;
		if (!strcmp(optarg, "perf") || !strcmp(optarg, "honest"))
			return TAKEN;
		refuse("'%s' is not a policy: honest or perf", optarg);
		return WRONG;
	case OPT_CACHE:
		opts->cache_dir = optarg;
		return TAKEN;
	case OPT_MAX_BYTES:
		if (parse_size(optarg, &opts->max_bytes) && opts->max_bytes)
			return TAKEN;
		refuse("'%s' is not a number of bytes", optarg);
		return WRONG;
	case OPT_NO_DEBUGINFOD:
		opts->debuginfod = 0;
		return TAKEN;
	case 'C':
		opts->demangle = 1;
		return TAKEN;
	case 'h':
		fputs(usage_text, stdout);
		return ANSWERED;
	case 'V':
		printf("symres %s\n", symres_version());
		return ANSWERED;
	case '?':
		fputs("Try 'symres --help'.\n", stderr);
		return WRONG;
	}
	return OTHER;
}

/* Said once here, and not by each file below it. */
static bool is_root(const char *dir)
{
	int fd = *dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : 0;

	if (fd < 0)
		complain("%s: %s; --root wants a folder", dir, strerror(errno));
	else if (fd)
		close(fd);
	return fd >= 0;
}

/* The session that runs. */
static struct symres *running;

/* What it does not know is as fatal as ever. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0 && info->si_code != BUS_MCEERR_AO &&
	    symres_sigbus(running, info->si_addr))
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Indexes are kept in the usual place unless the options say otherwise. */
int open_session(struct symres **s, struct symres_opts *opts)
{
	const struct sigaction bus = {
		.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO,
	};
	char *dir;
	int ret;

	*s = NULL;
	if (opts->root && !is_root(opts->root))
		return FAILED;
	dir = opts->cache_dir ? NULL : default_cache();
	if (!opts->cache_dir)
		opts->cache_dir = dir;
	opts->use_thread = 1;
	opts->map_files = !sigaction(SIGBUS, &bus, NULL);
	ret = symres_open(s, opts);
	free(dir);
	if (ret)
		complain("%s", strerror(-ret));
	running = *s;
	return ret ? FAILED : DONE;
}

void close_session(struct symres *s)
{
	running = NULL;
	symres_close(s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {
		{ "lookup", cmd_lookup }, { "index", cmd_index },
		{ "info", cmd_info }, { "cache", cmd_cache },
		{ "sort", cmd_sort },
	};
	int status = -1;

	/* Whoever reads errors of getopt need not know where the program is. */
	if (argc)
		argv[0] = "symres";
	/* A limit on file sizes costs an index, not the answers. */
	signal(SIGXFSZ, SIG_IGN);
	/* What an index is made from goes back as soon as it is made. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			argv[1] = argv[0];
			status = verbs[i].run(argc - 1, argv + 1);
			break;
		}
	if (status < 0)
		status = cmd_lookup(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		complain("standard output: %s", strerror(errno));
		if (status == DONE)
			status = FAILED;
	}
	return status;
}
