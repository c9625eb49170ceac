// SPDX-License-Identifier: LGPL-2.1-or-later
/* symres lookup: addresses in, names out, one line for each; or the reverse. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

struct lookup {
	const char *file;
	const char *kallsyms;
	const char *section;
	uint64_t section_addr, section_size;
	pid_t pid;
	bool kernel, offsets, verbose, batch, names, all;
	bool found, told_general, named;
	struct format format;
	struct symres *s;
	struct symres_maps *maps;
	enum status status;
	void *told_left;	/* debug files of which that was told */
};

static void failed(struct lookup *l, enum status status)
{
	if (l->status < status)
		l->status = status;
}

/* Misses that concern all addresses alike: the question could not be put. */
static void tell_general(struct lookup *l, const struct symres_sym *sym)
{
	const char *what = l->kallsyms ? l->kallsyms :
			   l->kernel ? "kernel" : sym->module;
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
	case SYMRES_MISS_NO_FILE:
	case SYMRES_MISS_NOT_ELF:
	case SYMRES_MISS_PACKED:
	case SYMRES_MISS_NO_SYMBOLS:
		/* In a process other mappings may do. */
		if (!l->maps)
			break;
		/* fall through */
	default:
		return;
	}
	if (l->told_general)
		return;
	l->told_general = true;
	complain("%s: %s%s%s%s%s", what, symres_miss_str(sym->miss),
		 sym->err ? " (" : "", sym->err ? why_of(sym->err) : "",
		 sym->err ? ")" : "", hint);
	failed(l, status);
}

void tell_left(const char *module, const char *path, enum symres_left why,
	       int err)
{
	complain("%s: the debug file %s was left alone: %s%s%s%s", module, path,
		 symres_left_str(why), err ? " (" : "",
		 err ? strerror(err) : "", err ? ")" : "");
}

void tell_miss(uint64_t addr, const struct symres_sym *sym)
{
	complain("0x%" PRIx64 ": %s%s%s%s%s%s", addr,
		 symres_miss_str(sym->miss),
		 sym->module ? ", " : "", sym->module ? sym->module : "",
		 sym->err ? " (" : "", sym->err ? why_of(sym->err) : "",
		 sym->err ? ")" : "");
}

static void tell(struct lookup *l, uint64_t addr, const struct symres_sym *sym)
{
	if (sym->left && first_time(&l->told_left, sym->left_path))
		tell_left(sym->module, sym->left_path, sym->left, sym->left_err);
	if (!sym->miss)
		return;
	tell_general(l, sym);
	if (l->verbose)
		tell_miss(addr, sym);
}

/* Addresses are told as they are asked for: counted from the section. */
static void print_one(struct lookup *l, uint64_t addr, int ret,
		      const struct symres_sym *sym)
{
	struct symres_sym in_section = *sym;

	l->named |= ret > 0;
	in_section.addr -= l->section_addr;
	print_answer(&l->format, l->file, addr, ret, &in_section);
}

/* One line for each symbol: ADDRESS SIZE NAME, or an object. */
static int print_symbol(const struct symres_sym *sym, void *arg)
{
	struct lookup *l = arg;
	uint64_t addr = sym->addr - l->section_addr;

	if (l->section && addr >= l->section_size)
		return 0;
	l->found = true;
	if (l->format.json) {
		print_one(l, addr, 1, sym);
	} else {
		printf("0x%" PRIx64 " 0x%" PRIx64 " ", addr, sym->sym_size);
		print_text(sym->name);
		putchar('\n');
	}
	return 0;
}

static int print_holder(const struct symres_sym *sym, void *arg)
{
	struct lookup *l = arg;

	print_one(l, sym->module_addr - l->section_addr, 1, sym);
	return 0;
}

static void find_failed(struct lookup *l, long n)
{
	const char *why = strerror((int)-n);

	failed(l, FAILED);
	if (l->told_general)
		return;
	l->told_general = true;
	if (n == -ENOEXEC)
		why = symres_miss_str(SYMRES_MISS_NOT_ELF);
	else if (n == -EBADMSG)
		why = symres_miss_str(SYMRES_MISS_PACKED);
	complain("%s: %s", l->file, why);
}

static int outside(struct symres_sym *sym)
{
	sym->miss = SYMRES_MISS_UNMAPPED;
	return 0;
}

/* Every symbol that holds an address. */
static void find_holders(struct lookup *l, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	long n = 0;
	int ret = 0;

	if (!l->section || addr < l->section_size)
		n = symres_find_address(l->s, l->file, addr + l->section_addr,
					print_holder, l);
	if (n > 0)
		return;
	/* The reason of a miss is told by a look-up. */
	if (l->section && addr >= l->section_size)
		outside(&sym);
	else
		ret = symres_lookup_file(l->s, l->file, addr + l->section_addr,
					 &sym);
	if (ret < 0)
		find_failed(l, ret);
	print_one(l, addr, ret, &sym);
	tell(l, addr, &sym);
}

/*
 * Whatever was asked: a file that cannot name anything is a failure, which is
 * not known before its tables were read. Nobody waits for that whose addresses
 * have names.
 */
static void check_file(struct lookup *l)
{
	struct symres_info info = { .size = sizeof(info) };
	struct symres_sym none = { .size = sizeof(none), .module = l->file };

	if (l->named || l->told_general ||
	    symres_file_info(l->s, l->file, &info))
		return;
	none.miss = info.miss;
	none.err = info.err;
	tell_general(l, &none);
}

static void find_name(struct lookup *l, const char *name)
{
	long n;

	l->found = false;
	n = symres_find_file(l->s, l->file, name, print_symbol, l);
	l->named |= l->found;
	if (!n)
		check_file(l);
	if (n < 0) {
		find_failed(l, n);
	} else if (!l->found && !l->told_general) {
		complain("%s: no symbol is called '%s'", l->file, name);
		failed(l, FAILED);
	}
}

static void lookup_one(struct lookup *l, uint64_t addr)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	int ret;

	if (l->all) {
		find_holders(l, addr);
		return;
	}
	if (l->kernel)
		ret = symres_lookup_kernel(l->s, addr, &sym);
	else if (l->maps)
		ret = symres_lookup_maps(l->maps, addr, &sym);
	else if (l->offsets)
		ret = symres_lookup_offset(l->s, l->file, addr, &sym);
	else if (l->section && addr >= l->section_size)
		ret = outside(&sym);
	else
		ret = symres_lookup_file(l->s, l->file, addr + l->section_addr,
					 &sym);
	print_one(l, addr, ret, &sym);
	if (ret < 0) {
		complain("0x%" PRIx64 ": %s", addr, strerror(-ret));
		failed(l, FAILED);
	} else {
		tell(l, addr, &sym);
	}
}

/* A line that is more than an address, or less, could mean another one. */
static void refuse_line(struct lookup *l, uint64_t number, const char *text,
			size_t len)
{
	enum { SHOWN = 64 };
	static const char why[] = "is not one hexadecimal address";
	char shown[SHOWN * ESCAPED + 1] = "", *to = shown;

	for (size_t i = 0; i < len && i < SHOWN; i++)
		to += escape(text[i], to);
	*to = 0;
	complain("line %" PRIu64 ": '%s%s' %s", number, shown,
		 len > SHOWN ? "..." : "", why);
	failed(l, FAILED);
	print_refused(&l->format, number, why);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void lookup_lines(struct lookup *l)
{
	uint64_t number = 0, addr;
	char *line = NULL, *text;
	size_t room = 0;
	ssize_t len;

	/* Whoever writes addresses may wait for each answer. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	while ((len = getline(&line, &room, stdin)) > 0) {
		number++;
		while (len && is_space(line[len - 1]))
			len--;
		for (text = line; len && is_space(*text); len--)
			text++;
		if (parse_hex(text, (size_t)len, &addr))
			lookup_one(l, addr);
		else
			refuse_line(l, number, text, (size_t)len);
	}
	if (ferror(stdin)) {
		complain("standard input: %s", strerror(errno));
		failed(l, FAILED);
	}
	free(line);
}

static int open_lookup(struct lookup *l, struct symres_opts *opts)
{
	int ret = open_session(&l->s, opts);

	if (ret || !l->pid)
		return ret;
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

/* Where addresses are counted from. */
static void open_section(struct lookup *l)
{
	int ret = symres_section(l->s, l->file, l->section, &l->section_addr,
				 &l->section_size);

	if (ret == -ENODATA) {
		complain("%s: no section is called '%s'", l->file, l->section);
		failed(l, FAILED);
	} else if (ret) {
		find_failed(l, ret);
	}
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

static int check(const struct lookup *l, const struct symres_opts *opts,
		 int argc, char **argv)
{
	uint64_t addr;

	if (!l->file && !l->pid && !l->kernel && !l->batch && optind < argc &&
	    !parse_address(argv[optind], &addr))
		return refuse("'%s': a command comes first, an address after -e FILE, -p PID or -k",
			      argv[optind]);
	if ((l->file != NULL) + (l->pid != 0) + l->kernel + l->batch != 1)
		return refuse("%s", "say one of -e FILE, -p PID, -k and --batch");
	if (l->format.offset && !l->batch)
		return refuse("%s", "--offset-in-symbol needs --batch");
	if (l->batch && optind < argc)
		return refuse("'%s': --batch reads standard input", argv[optind]);
	if (l->batch && l->format.address)
		return refuse("%s", "-a is not for --batch");
	if (opts->root && !l->file && !l->batch)
		return refuse("%s", "--root needs -e FILE or --batch");
	if (l->offsets && (!l->file || l->names))
		return refuse("%s", "-o needs -e FILE and addresses");
	if (l->all && (!l->file || l->offsets || l->names))
		return refuse("%s", "--all needs -e FILE and addresses");
	if (l->section && (!l->file || l->offsets))
		return refuse("%s", "-j needs -e FILE and no -o");
	if (l->names && !l->file)
		return refuse("%s", "-n needs -e FILE");
	if (l->kallsyms && !l->kernel)
		return refuse("%s", "--kallsyms needs -k");
	for (int i = optind; i < argc && !l->names; i++)
		if (!parse_address(argv[i], &addr))
			return refuse("'%s' is not a hexadecimal address",
				      argv[i]);
	return DONE;
}

static void run(struct lookup *l, const char *name, int argc, char **argv)
{
	uint64_t addr;

	if (l->names) {
		find_name(l, name);
		for (int i = optind; i < argc; i++)
			find_name(l, argv[i]);
	} else if (l->batch) {
		failed(l, lookup_batch(l->s, &l->format, l->verbose));
	} else if (optind == argc) {
		lookup_lines(l);
	} else {
		for (int i = optind; i < argc; i++)
			if (parse_address(argv[i], &addr))
				lookup_one(l, addr);
	}
	if (l->file)
		check_file(l);
}

int cmd_lookup(int argc, char **argv)
{
	enum { OPT_KALLSYMS = OPT_OWN, OPT_BATCH, OPT_OFFSET, OPT_ALL };
	static const struct option options[] = {
		{ "offsets", no_argument, NULL, 'o' },
		{ "section", required_argument, NULL, 'j' },
		{ "name", required_argument, NULL, 'n' },
		{ "addresses", no_argument, NULL, 'a' },
		{ "functions", no_argument, NULL, 'f' },
		{ "inlines", no_argument, NULL, 'i' },
		{ "pretty-print", no_argument, NULL, 'i' },
		{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
		{ "batch", no_argument, NULL, OPT_BATCH },
		{ "offset-in-symbol", no_argument, NULL, OPT_OFFSET },
		{ "all", no_argument, NULL, OPT_ALL },
		{ "json", no_argument, NULL, OPT_JSON },
		SESSION_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct symres_opts opts = SESSION_DEFAULTS;
	struct lookup l = { 0 };
	const char *name = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, "ae:fhij:kn:op:vCV", options,
				NULL)) != -1)
		switch (c) {
		case 'e':
			l.file = optarg;
			break;
		case 'j':
			l.section = optarg;
			break;
		case 'o':
			l.offsets = true;
			break;
		case 'n':
			if (name)
				return refuse("%s", "-n once; more names may follow");
			name = optarg;
			l.names = true;
			break;
		case 'a':
			l.format.address = true;
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
			l.kallsyms = optarg;
			break;
		case OPT_BATCH:
			l.batch = true;
			break;
		case OPT_OFFSET:
			l.format.offset = true;
			break;
		case OPT_ALL:
			l.all = true;
			break;
		case OPT_JSON:
			l.format.json = true;
			break;
		case 'v':
			l.verbose = true;
			break;
		case 'f':
		case 'i':
			break;
		default:
			switch (session_option(c, &opts)) {
			case ANSWERED:
				return DONE;
			case WRONG:
				return USAGE;
			default:
				break;
			}
		}
	ret = check(&l, &opts, argc, argv);
	if (ret)
		return ret;
	l.format.offset |= !l.batch;
	opts.kallsyms = l.kallsyms;
	l.status = open_lookup(&l, &opts);
	if (!l.status && l.section)
		open_section(&l);
	if (!l.status)
		run(&l, name, argc, argv);
	symres_maps_close(l.maps);
	close_session(l.s);
	forget_told(l.told_left);
	return l.status;
}
