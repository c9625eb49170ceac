// SPDX-License-Identifier: LGPL-2.1-or-later
/* symres index, info and cache: the indexes of files and where they are kept. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"


static uint64_t symbols_of(const struct symres_info *info)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < info->tables; i++)
		n += info->table[i].symbols;
	return n;
}

static void print_info_json(const char *path, const struct symres_info *info,
			    const char *policy)
{
	fputs("{\"path\":", stdout);
	json_string(path);
	printf(",\"policy\":\"%s\",\"ranges\":%" PRIu64 ",\"bytes\":%" PRIu64
	       ",\"symbols\":%" PRIu64 ",\"stubs\":%" PRIu64 ",\"tables\":[",
	       policy, info->ranges, info->bytes, symbols_of(info),
	       info->stubs);
	for (uint32_t i = 0; i < info->tables; i++)
		printf("%s{\"source\":\"%s\",\"symbols\":%" PRIu32 "}",
		       i ? "," : "", symres_source_str(info->table[i].source),
		       info->table[i].symbols);
	putchar(']');
	if (info->debug_path) {
		fputs(",\"debug\":", stdout);
		json_string(info->debug_path);
	}
	if (info->left)
		json_left(info->left_path, info->left, info->left_err);
	if (info->kept_path) {
		fputs(",\"kept\":", stdout);
		json_string(info->kept_path);
		printf(",\"kept_bytes\":%" PRIu64, info->kept_bytes);
	}
	if (info->build_id) {
		fputs(",\"build_id\":\"", stdout);
		for (size_t i = 0; i < info->build_id_len; i++)
			printf("%02x", info->build_id[i]);
		putchar('"');
	}
	puts("}");
}

static void print_info(const char *path, const struct symres_info *info,
		       const char *policy)
{
	uint64_t symbols = symbols_of(info);

	print_text(path);
	printf(": %" PRIu64 " ranges in %" PRIu64 " bytes, policy %s\n",
	       info->ranges, info->bytes, policy);
	printf("  bytes: %.2f for each range, %.2f for each symbol\n",
	       info->ranges ? (double)info->bytes / (double)info->ranges : 0.0,
	       symbols ? (double)info->bytes / (double)symbols : 0.0);
	for (uint32_t i = 0; i < info->tables; i++)
		printf("  %s: %" PRIu32 " symbols\n",
		       symres_source_str(info->table[i].source),
		       info->table[i].symbols);
	if (info->stubs)
		printf("  plt: %" PRIu64 " stubs\n", info->stubs);
	if (info->build_id) {
		fputs("  build-id: ", stdout);
		for (size_t i = 0; i < info->build_id_len; i++)
			printf("%02x", info->build_id[i]);
		putchar('\n');
	}
	if (info->debug_path) {
		fputs("  debug file: ", stdout);
		print_text(info->debug_path);
		putchar('\n');
	}
	fputs("  kept: ", stdout);
	print_text(info->kept_path ? info->kept_path : "nowhere");
	if (info->kept_path)
		printf(", %" PRIu64 " bytes", info->kept_bytes);
	putchar('\n');
}

/* All files in turn; one that has no index costs its own part only. */
static int each_file(int argc, char **argv, bool tell)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		SESSION_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct symres_opts opts = SESSION_DEFAULTS;
	struct symres_info info = { .size = sizeof(info) };
	struct symres *s;
	bool json = false;
	int c, status;

	while ((c = getopt_long(argc, argv, "ChV", options, NULL)) != -1)
		switch (session_option(c, &opts)) {
		case ANSWERED:
			return DONE;
		case WRONG:
			return USAGE;
		case OTHER:
			json = true;
			break;
		case TAKEN:
			break;
		}
	if (optind == argc)
		return refuse("%s", "which file?");
	if (json && !tell)
		return refuse("%s", "--json is for info");
	status = open_session(&s, &opts);
	for (int i = optind; i < argc && s; i++) {
		const char *policy = opts.policy == SYMRES_POLICY_PERF ?
				     "perf" : "honest";
		int ret = symres_file_info(s, argv[i], &info);

		if (ret >= 0 && info.left)
			tell_left(argv[i], info.left_path, info.left,
				  info.left_err);
		if (ret <= 0) {
			complain("%s: %s%s%s", argv[i], ret < 0 ?
				 strerror(-ret) : symres_miss_str(info.miss),
				 info.err ? ": " : "",
				 info.err ? why_of(info.err) : "");
			status = FAILED;
		} else if (tell && json) {
			print_info_json(argv[i], &info, policy);
		} else if (tell) {
			print_info(argv[i], &info, policy);
		} else if (!info.kept_path) {
			complain("%s: the index could not be kept; see --cache",
				 argv[i]);
			status = FAILED;
		}
	}
	close_session(s);
	return status;
}

int cmd_index(int argc, char **argv)
{
	return each_file(argc, argv, false);
}

int cmd_info(int argc, char **argv)
{
	return each_file(argc, argv, true);
}

struct entry {
	char *name;
	uint64_t size;
	time_t used;
};

struct entries {
	struct entry *v;
	size_t n, room;
	uint64_t sum;
};

/*
 * BUILD-ID-SIZE-TIME-WHAT.FORMAT, and a dot and six characters if it was not
 * completed: nothing else in the folder is ours.
 */
static bool is_index(const char *name)
{
	enum { RANDOM = 6 };
	const char *what = strrchr(name, '-');
	size_t id = strspn(name, "0123456789abcdef.");

	if (!what || name[id] != '-' || !id || what == name + id)
		return false;
	what++;
	what += strspn(what, "hpm") ? 1 : 0;
	what += strspn(what, "dn");
	if (*what != '.')
		return false;
	what++;
	what += strspn(what, "0123456789");
	return !*what || (*what == '.' && strlen(what + 1) == RANDOM);
}

static int add_entry(struct entries *l, const char *name, const struct stat *st)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct entry *v = reallocarray(l->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->n].name = strdup(name);
	if (!l->v[l->n].name)
		return -ENOMEM;
	l->v[l->n].size = (uint64_t)st->st_size;
	l->v[l->n].used = st->st_atime > st->st_mtime ? st->st_atime :
							st->st_mtime;
	l->sum += l->v[l->n++].size;
	return 0;
}

static int read_entries(const char *dir, struct entries *l)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	int ret = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (!ret && (e = readdir(d)))
		if (is_index(e->d_name) &&
		    !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			ret = add_entry(l, e->d_name, &st);
	closedir(d);
	return ret;
}

/* The one used least recently first. */
static int compare(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->used != b->used)
		return a->used < b->used ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void print_entry(const struct entry *e, bool json)
{
	char when[32] = "";
	struct tm tm;

	if (localtime_r(&e->used, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	if (!json) {
		printf("%10" PRIu64 "  %s  %s\n", e->size, when, e->name);
		return;
	}
	fputs("{\"name\":", stdout);
	json_string(e->name);
	printf(",\"bytes\":%" PRIu64 ",\"used\":%lld}\n", e->size,
	       (long long)e->used);
}

/* Removes the oldest until what is left fits. */
static int prune(const char *dir, struct entries *l, uint64_t most, bool json)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = DONE;
	uint64_t left = l->sum;
	size_t gone = 0;

	for (size_t i = 0; i < l->n; i++) {
		/* An empty one was not completed. */
		if (left <= most && l->v[i].size)
			continue;
		if (unlinkat(fd, l->v[i].name, 0) && errno != ENOENT) {
			complain("%s/%s: %s", dir, l->v[i].name,
				 strerror(errno));
			status = FAILED;
			continue;
		}
		left -= l->v[i].size;
		gone++;
	}
	if (fd >= 0)
		close(fd);
	printf(json ? "{\"removed\":%zu,\"kept\":%zu,\"bytes\":%" PRIu64 "}\n" :
		      "%zu removed, %zu kept, %" PRIu64 " bytes\n",
	       gone, l->n - gone, left);
	return status;
}

int cmd_cache(int argc, char **argv)
{
	enum { OPT_PRUNE = OPT_OWN };
	static const struct option options[] = {
		{ "prune", required_argument, NULL, OPT_PRUNE },
		{ "json", no_argument, NULL, OPT_JSON },
		SESSION_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct symres_opts opts = { .size = sizeof(opts) };
	const char *limit = NULL;
	struct entries l = { 0 };
	bool json = false;
	uint64_t most = 0;
	char *own = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		if (c == OPT_PRUNE)
			limit = optarg;
		else if (c == OPT_JSON)
			json = true;
		else if (c == OPT_CACHE)
			opts.cache_dir = optarg;
		else if (c != 'h' && c != 'V')
			return refuse("%s", "cache has the options --cache, --prune and --json");
		else
			return session_option(c, &opts) == ANSWERED ? DONE :
								      USAGE;
	}
	if (optind < argc)
		return refuse("'%s': cache reads no arguments", argv[optind]);
	if (limit && !parse_size(limit, &most))
		return refuse("'%s' is not a number of bytes", limit);
	if (!opts.cache_dir)
		opts.cache_dir = own = default_cache();
	if (!opts.cache_dir || !*opts.cache_dir)
		return refuse("%s", "no folder for indexes: name one with --cache");
	ret = read_entries(opts.cache_dir, &l);
	if (ret) {
		complain("%s: %s", opts.cache_dir, strerror(-ret));
		ret = FAILED;
	} else {
		if (l.n)
			qsort(l.v, l.n, sizeof(*l.v), compare);
		if (limit) {
			ret = prune(opts.cache_dir, &l, most, json);
		} else {
			for (size_t i = 0; i < l.n; i++)
				print_entry(&l.v[i], json);
			if (!json) {
				printf("%10" PRIu64 "  in %zu files, ",
				       l.sum, l.n);
				print_text(opts.cache_dir);
				putchar('\n');
			}
		}
	}
	for (size_t i = 0; i < l.n; i++)
		free(l.v[i].name);
	free(l.v);
	free(own);
	return ret;
}
