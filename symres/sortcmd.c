// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * symres sort: adds to an ELF file what the linkers of Solaris and illumos give
 * theirs, lists of its symbols in order of address. They go behind everything
 * else, with a new section header table, so nothing that is loaded moves.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "cmd.h"

#define SHT_SUNW_SYMSORT 0x6ffffff1
#define SHT_SUNW_TLSSORT 0x6ffffff2
#define SHT_SUNW_LDYNSYM 0x6ffffff3
#define MAX_ADDED 4

/* Names that the rules do not decide about. */
struct names {
	const char **v;
	size_t n;
};

struct entry {
	uint64_t value;
	uint32_t number;
	unsigned char bind, type;
	uint16_t shndx;
	bool asked;		/* by --dynsort, or always included */
	bool dropped;
};

struct list {
	struct entry *v;
	size_t n, room;
};

/* A section to add. */
struct added {
	const char *name;
	uint32_t type, link;
	struct list list;
	uint64_t off;
};

struct job {
	const char *path;
	Elf *elf;
	GElf_Ehdr ehdr;
	size_t nshdr, shstrndx;
	GElf_Shdr *shdr;	/* with room for MAX_ADDED more */
	struct names dynsort, nodynsort;
	bool *found;		/* which of both were seen */
	struct added added[MAX_ADDED];
	size_t n;
};

static int broken(const struct job *j, const char *what)
{
	complain("%s: %s", j->path, what);
	return FAILED;
}

static bool is_among(struct names *l, const char *name, bool *found)
{
	bool is = false;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], name)) {
			found[i] = true;
			is = true;
		}
	return is;
}

/* The names that these linkers list whatever they are. */
static bool is_special(const char *name)
{
	static const char *const names[] = {
		"_DYNAMIC", "_end", "_fini", "_GLOBAL_OFFSET_TABLE_", "_init",
		"_PROCEDURE_LINKAGE_TABLE_", "_start",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int push(struct list *l, const struct entry *e)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 256;
		struct entry *v = reallocarray(l->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = *e;
	return 0;
}

/* By address; then as the tables have them, so the result can be repeated. */
static int compare(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Of a weak and a global symbol for the same thing the weak one stays. */
static bool has_weak_twin(const struct list *l, size_t from, size_t to,
			  size_t at)
{
	const struct entry *e = &l->v[at];

	if (e->bind != STB_GLOBAL || e->asked)
		return false;
	for (size_t i = from; i < to; i++)
		if (l->v[i].bind == STB_WEAK && l->v[i].shndx == e->shndx &&
		    l->v[i].type == e->type)
			return true;
	return false;
}

static void sort_list(struct list *l)
{
	size_t out = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), compare);
	for (size_t i = 0, j; i < l->n; i = j) {
		for (j = i + 1; j < l->n && l->v[j].value == l->v[i].value; j++)
			;
		/* Decide about all of them before the first is moved. */
		for (size_t k = i; k < j; k++)
			l->v[k].dropped = has_weak_twin(l, i, j, k);
		for (size_t k = i; k < j; k++)
			if (!l->v[k].dropped)
				l->v[out++] = l->v[k];
	}
	l->n = out;
}

/* Adds the symbols of section @at, numbered from @first, to both lists. */
static int read_table(struct job *j, size_t at, uint32_t first,
		      struct list *plain, struct list *tls, uint32_t *count)
{
	Elf_Scn *scn = elf_getscn(j->elf, at);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const GElf_Shdr *sh = &j->shdr[at];
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	int ret = 0;

	*count = (uint32_t)n;
	for (size_t i = 1; i < n && !ret; i++) {
		GElf_Sym sym;
		const char *name;
		struct entry e = { .number = first + (uint32_t)i };

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(j->elf, sh->sh_link, sym.st_name);
		e.type = GELF_ST_TYPE(sym.st_info);
		e.bind = GELF_ST_BIND(sym.st_info);
		e.value = sym.st_value;
		e.shndx = sym.st_shndx;
		if (!name || !*name || sym.st_shndx == SHN_UNDEF ||
		    (e.type != STT_FUNC && e.type != STT_OBJECT &&
		     e.type != STT_COMMON && e.type != STT_TLS &&
		     e.type != STT_GNU_IFUNC))
			continue;
		e.asked = is_among(&j->dynsort, name, j->found) ||
			  is_special(name);
		if (is_among(&j->nodynsort, name, j->found + j->dynsort.n) ||
		    (!e.asked && !sym.st_size))
			continue;
		ret = push(e.type == STT_TLS ? tls : plain, &e);
	}
	return ret;
}

static size_t section_of_type(const struct job *j, uint32_t type)
{
	for (size_t i = 1; i < j->nshdr; i++)
		if (j->shdr[i].sh_type == type)
			return i;
	return 0;
}

static int add_pair(struct job *j, const char *plain_name, const char *tls_name,
		    size_t first, size_t second)
{
	struct list plain = { 0 }, tls = { 0 };
	uint32_t n = 0, m;
	int ret = read_table(j, first, 0, &plain, &tls, &n);

	if (!ret && second)
		ret = read_table(j, second, n, &plain, &tls, &m);
	sort_list(&plain);
	sort_list(&tls);
	if (!ret && plain.n)
		j->added[j->n++] = (struct added) {
			.name = plain_name, .type = SHT_SUNW_SYMSORT,
			.link = (uint32_t)first, .list = plain,
		};
	else
		free(plain.v);
	if (!ret && tls.n)
		j->added[j->n++] = (struct added) {
			.name = tls_name, .type = SHT_SUNW_TLSSORT,
			.link = (uint32_t)first, .list = tls,
		};
	else
		free(tls.v);
	return ret;
}

static int read_file(struct job *j)
{
	size_t local, dynsym, symtab;
	int ret = 0;

	if (elf_kind(j->elf) != ELF_K_ELF || !gelf_getehdr(j->elf, &j->ehdr))
		return broken(j, "not a usable ELF file");
	if (j->ehdr.e_type == ET_REL)
		return broken(j, "object file without addresses; name the linked file");
	if (elf_getshdrnum(j->elf, &j->nshdr) || !j->nshdr ||
	    elf_getshdrstrndx(j->elf, &j->shstrndx) || !j->shstrndx)
		return broken(j, "no section headers");
	j->shdr = calloc(j->nshdr + MAX_ADDED, sizeof(*j->shdr));
	if (!j->shdr)
		return broken(j, strerror(ENOMEM));
	for (size_t i = 0; i < j->nshdr; i++)
		if (!gelf_getshdr(elf_getscn(j->elf, i), &j->shdr[i]))
			return broken(j, "not a usable ELF file");
	if (section_of_type(j, SHT_SUNW_SYMSORT) ||
	    section_of_type(j, SHT_SUNW_TLSSORT))
		return broken(j, "has sort sections already");
	local = section_of_type(j, SHT_SUNW_LDYNSYM);
	dynsym = section_of_type(j, SHT_DYNSYM);
	symtab = section_of_type(j, SHT_SYMTAB);
	if (local || dynsym)
		ret = add_pair(j, ".SUNW_dynsymsort", ".SUNW_dyntlssort",
			       local ? local : dynsym, local ? dynsym : 0);
	if (!ret && symtab)
		ret = add_pair(j, ".SUNW_symtabsort", ".SUNW_symtlssort",
			       symtab, 0);
	if (ret)
		return broken(j, strerror(-ret));
	if (!j->n)
		return broken(j, "no symbol to sort");
	for (size_t i = 0; i < j->dynsort.n + j->nodynsort.n; i++)
		if (!j->found[i]) {
			complain("%s: no function or variable is called '%s'",
				 j->path, i < j->dynsort.n ? j->dynsort.v[i] :
				 j->nodynsort.v[i - j->dynsort.n]);
			return FAILED;
		}
	return DONE;
}

static int write_at(int fd, const void *buf, size_t len, uint64_t off)
{
	const char *from = buf;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Records of a type in the file's byte order, to @off. */
static int write_records(struct job *j, int fd, Elf_Type type, void *buf,
			 size_t len, uint64_t off)
{
	Elf_Data data = {
		.d_buf = buf, .d_size = len, .d_type = type,
		.d_version = EV_CURRENT,
	};

	if (!gelf_xlatetof(j->elf, &data, &data, j->ehdr.e_ident[EI_DATA]))
		return -EINVAL;
	return write_at(fd, buf, len, off);
}

static int write_lists(struct job *j, int fd, uint64_t *end)
{
	int ret = 0;

	for (size_t i = 0; i < j->n && !ret; i++) {
		struct added *a = &j->added[i];
		uint32_t *v = reallocarray(NULL, a->list.n, sizeof(*v));

		if (!v)
			return -ENOMEM;
		for (size_t k = 0; k < a->list.n; k++)
			v[k] = a->list.v[k].number;
		*end = (*end + 7) & ~(uint64_t)7;
		a->off = *end;
		ret = write_records(j, fd, ELF_T_WORD, v,
				    a->list.n * sizeof(*v), a->off);
		*end += a->list.n * sizeof(*v);
		free(v);
	}
	return ret;
}

/* All the old names, since sections may share them, and the new ones. */
static int write_names(struct job *j, int fd, uint64_t *end)
{
	GElf_Shdr *sh = &j->shdr[j->shstrndx];
	Elf_Data *old = elf_getdata(elf_getscn(j->elf, j->shstrndx), NULL);
	uint64_t at = *end;
	int ret = old ? write_at(fd, old->d_buf, old->d_size, at) : -ENOEXEC;

	*end += old ? old->d_size : 0;
	for (size_t i = 0; i < j->n && !ret; i++) {
		const struct added *a = &j->added[i];

		j->shdr[j->nshdr + i] = (GElf_Shdr) {
			.sh_name = (uint32_t)(*end - at), .sh_type = a->type,
			.sh_link = a->link, .sh_offset = a->off,
			.sh_size = a->list.n * sizeof(uint32_t),
			.sh_entsize = sizeof(uint32_t),
			.sh_addralign = sizeof(uint32_t),
		};
		ret = write_at(fd, a->name, strlen(a->name) + 1, *end);
		*end += strlen(a->name) + 1;
	}
	sh->sh_offset = at;
	sh->sh_size = *end - at;
	return ret;
}

/* The headers as this class has them; those of 32 bits are made from the wide. */
static int write_section_headers(struct job *j, int fd, uint64_t off)
{
	size_t n = j->nshdr + j->n;
	Elf32_Shdr *v;
	int ret;

	if (gelf_getclass(j->elf) == ELFCLASS64)
		return write_records(j, fd, ELF_T_SHDR, j->shdr,
				     n * sizeof(*j->shdr), off);
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (Elf32_Shdr) {
			.sh_name = j->shdr[i].sh_name,
			.sh_type = j->shdr[i].sh_type,
			.sh_flags = (Elf32_Word)j->shdr[i].sh_flags,
			.sh_addr = (Elf32_Addr)j->shdr[i].sh_addr,
			.sh_offset = (Elf32_Off)j->shdr[i].sh_offset,
			.sh_size = (Elf32_Word)j->shdr[i].sh_size,
			.sh_link = j->shdr[i].sh_link,
			.sh_info = j->shdr[i].sh_info,
			.sh_addralign = (Elf32_Word)j->shdr[i].sh_addralign,
			.sh_entsize = (Elf32_Word)j->shdr[i].sh_entsize,
		};
	ret = write_records(j, fd, ELF_T_SHDR, v, n * sizeof(*v), off);
	free(v);
	return ret;
}

static int write_header(struct job *j, int fd, uint64_t table)
{
	size_t n = j->nshdr + j->n;
	Elf64_Ehdr wide = j->ehdr;
	Elf32_Ehdr *narrow = elf32_getehdr(j->elf);

	if (n >= SHN_LORESERVE)
		j->shdr[0].sh_size = n;
	wide.e_shoff = table;
	wide.e_shnum = n < SHN_LORESERVE ? (Elf64_Half)n : 0;
	if (gelf_getclass(j->elf) == ELFCLASS64)
		return write_records(j, fd, ELF_T_EHDR, &wide, sizeof(wide), 0);
	if (!narrow || table > UINT32_MAX)
		return -EFBIG;
	narrow->e_shoff = (Elf32_Off)table;
	narrow->e_shnum = wide.e_shnum;
	return write_records(j, fd, ELF_T_EHDR, narrow, sizeof(*narrow), 0);
}

static int copy(int from, int to, uint64_t *size)
{
	enum { STEP = 1 << 16 };
	char *buf = malloc(STEP);
	int ret = buf ? 0 : -ENOMEM;

	*size = 0;
	while (!ret) {
		ssize_t n = pread(from, buf, STEP, (off_t)*size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : 0;
			break;
		}
		ret = write_at(to, buf, (size_t)n, *size);
		*size += (uint64_t)n;
	}
	free(buf);
	return ret;
}

static int write_file(struct job *j, int from, int fd)
{
	uint64_t end, table;
	int ret = copy(from, fd, &end);

	if (!ret)
		ret = write_lists(j, fd, &end);
	if (!ret)
		ret = write_names(j, fd, &end);
	table = (end + 7) & ~(uint64_t)7;
	/* The header first: it may change the first of the section headers. */
	if (!ret)
		ret = write_header(j, fd, table);
	return ret ? ret : write_section_headers(j, fd, table);
}

/* What is being written, for whoever interrupts that; "": nothing. */
static const char *volatile unfinished;

static void on_end(int sig)
{
	unlink(unfinished);
	/* It has its usual effect when this returns. */
	raise(sig);
}

/* Only what would end the command: others may ignore these. */
static void catch_ends(const char *temp)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
	const struct sigaction catch = {
		.sa_handler = on_end, .sa_flags = SA_RESETHAND,
	};
	struct sigaction now;

	unfinished = temp;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &now) &&
		    now.sa_handler == SIG_DFL)
			sigaction(ends[i], &catch, NULL);
}

/* Under another name first: what fails leaves @path as it was. */
static int replace(struct job *j, int from, const char *path)
{
	/* What a link leads to is meant; NULL: there is nothing yet. */
	char *real = realpath(path, NULL), *temp;
	const char *out = real ? real : path;
	struct stat st;
	int fd, ret;

	if (real && !stat(real, &st) && !S_ISREG(st.st_mode))
		ret = -EINVAL;
	else
		ret = asprintf(&temp, "%s.XXXXXX", out) < 0 ? -ENOMEM : 0;
	if (ret) {
		complain("%s: %s", path, ret == -EINVAL ? "not a file" :
							  strerror(-ret));
		free(real);
		return FAILED;
	}
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd >= 0)
		catch_ends(temp);
	ret = fd < 0 || fstat(from, &st) ? -errno : write_file(j, from, fd);
	/* Who may not give it away keeps it. The mode last: this takes of it. */
	if (!ret && fchown(fd, st.st_uid, st.st_gid) && errno != EPERM)
		ret = -errno;
	if (!ret && fchmod(fd, st.st_mode & 07777))
		ret = -errno;
	if (!ret && rename(temp, out))
		ret = -errno;
	if (ret)
		complain("%s: %s", path, strerror(-ret));
	if (ret && fd >= 0)
		unlink(temp);
	unfinished = "";
	if (fd >= 0)
		close(fd);
	free(temp);
	free(real);
	return ret ? FAILED : DONE;
}

static int sort_file(struct job *j, const char *out)
{
	int fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int status;

	if (fd < 0 || fstat(fd, &st))
		return broken(j, strerror(errno));
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return broken(j, "not a file");
	}
	j->found = calloc(j->dynsort.n + j->nodynsort.n + 1, sizeof(*j->found));
	elf_version(EV_CURRENT);
	j->elf = j->found ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	status = j->elf ? read_file(j) : broken(j, "not a usable ELF file");
	if (!status)
		status = replace(j, fd, out ? out : j->path);
	for (size_t i = 0; i < j->n && !status; i++)
		printf("%s: %zu symbols\n", j->added[i].name,
		       j->added[i].list.n);
	for (size_t i = 0; i < j->n; i++)
		free(j->added[i].list.v);
	free(j->shdr);
	free(j->found);
	elf_end(j->elf);
	close(fd);
	return status;
}

int cmd_sort(int argc, char **argv)
{
	enum { OPT_DYNSORT = OPT_OWN, OPT_NODYNSORT };
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "dynsort", required_argument, NULL, OPT_DYNSORT },
		{ "nodynsort", required_argument, NULL, OPT_NODYNSORT },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct job j = { 0 };
	const char *out = NULL;
	int c, status = DONE;

	j.dynsort.v = calloc((size_t)argc, sizeof(char *));
	j.nodynsort.v = calloc((size_t)argc, sizeof(char *));
	if (!j.dynsort.v || !j.nodynsort.v)
		status = FAILED;
	while (!status &&
	       (c = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
		switch (c) {
		case 'o':
			out = optarg;
			break;
		case OPT_DYNSORT:
			j.dynsort.v[j.dynsort.n++] = optarg;
			break;
		case OPT_NODYNSORT:
			j.nodynsort.v[j.nodynsort.n++] = optarg;
			break;
		default:
			status = session_option(c, NULL) == ANSWERED ? -1 :
								       USAGE;
		}
	if (!status && argc - optind != 1)
		status = refuse("%s", "sort takes one file");
	if (!status) {
		j.path = argv[optind];
		status = sort_file(&j, out);
	}
	free(j.dynsort.v);
	free(j.nodynsort.v);
	return status < 0 ? DONE : status;
}
