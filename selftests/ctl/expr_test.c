// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expressions and what must become of them, from a table:
 *
 *	{KALLSYMS} [TRACEPOINT] EXPRESSION
 *		= PROGRAM, as show_insn() writes it
 *		t TEXT for the kernel's tracepoint filter
 *		! STATUS COLUMN MESSAGE
 *		^ COLUMNS marked by the caret, "11-14"
 *		n NOTE for the user
 *
 * Both prefixes may be left out. What is not expected must not come out, marks
 * excepted. With "-" as table it shows what becomes of each line of its input.
 * LOCKHELD_CTL_ROOT is a folder with the /sys and /proc of the table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ctl.h"
#include "expr.h"
#include "lockname.h"

/* Bytes of an expression shown as the name of a test. */
#define SHOWN_MAX 120

struct outcome {
	char *program;
	char *filter;
	char *error;
	char *marked;
	char *note;
};

static const char *folder;

static struct tep_event *load_format(struct tep_handle *tep, const char *name)
{
	struct tep_event *event = NULL;
	char text[8192], *path, *body;
	size_t len;
	FILE *f;

	path = ctl_printf("%s/formats/%s", folder, name);
	f = fopen(path, "r");
	if (!f) {
		perror(path);
		exit(1);
	}
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = 0;
	fclose(f);
	free(path);
	/* The kernel's own have no licence in front. */
	body = strstr(text, "name:");
	if (tep_parse_format(tep, &event, body, strlen(body), "test")) {
		fprintf(stderr, "%s: cannot be parsed\n", name);
		exit(1);
	}
	return event;
}

static void show_lock(FILE *to, const struct lockheld_insn *insn)
{
	static const char *const modes[] = { "", ":R", ":W" };

	fputs(insn->op == LOCKHELD_OP_LOCK ? "lock(" : "held_ns(", to);
	switch (insn->arg) {
	case LOCKHELD_SPEC_TYPE:
		fputs(lockname_family(insn->family), to);
		break;
	case LOCKHELD_SPEC_ADDR:
		if (insn->family)
			fprintf(to, "%s@", lockname_family(insn->family));
		fprintf(to, "%#llx+%llu", (unsigned long long)insn->imm,
			(unsigned long long)insn->imm2);
		break;
	case LOCKHELD_SPEC_MMAP_LOCK:
		fputs("mmap_lock", to);
		break;
	case LOCKHELD_SPEC_SIGLOCK:
		fputs("siglock", to);
		break;
	case LOCKHELD_SPEC_RQ_LOCK:
		fprintf(to, "rq_lock %#llx", (unsigned long long)insn->imm);
		break;
	case LOCKHELD_SPEC_ZONE_LOCK:
		fputs("zone_lock", to);
		break;
	case LOCKHELD_SPEC_SLAB:
		if (insn->family)
			fprintf(to, "%s@", lockname_family(insn->family));
		fprintf(to, "&%.*s", LOCKHELD_NAME_MAX,
			(const char *)insn->name);
		break;
	}
	fprintf(to, "%s)", modes[insn->mode]);
}

static void show_insn(FILE *to, const struct lockheld_insn *insn)
{
	static const char *const ops[] = {
		[LOCKHELD_OP_EQ] = "==", [LOCKHELD_OP_NE] = "!=",
		[LOCKHELD_OP_LT] = "<", [LOCKHELD_OP_LE] = "<=",
		[LOCKHELD_OP_GT] = ">", [LOCKHELD_OP_GE] = ">=",
		[LOCKHELD_OP_AND] = "&", [LOCKHELD_OP_LAND] = "&&",
		[LOCKHELD_OP_LOR] = "||", [LOCKHELD_OP_NOT] = "!",
	};
	static const char *const terms[] = {
		[LOCKHELD_TERM_IP] = "ip", [LOCKHELD_TERM_PID] = "pid",
		[LOCKHELD_TERM_TID] = "tid", [LOCKHELD_TERM_CPU] = "cpu",
		[LOCKHELD_TERM_TIME] = "time", [LOCKHELD_TERM_ADDR] = "addr",
		[LOCKHELD_TERM_PERIOD] = "period", [LOCKHELD_TERM_UID] = "uid",
		[LOCKHELD_TERM_GID] = "gid", [LOCKHELD_TERM_IRQ] = "irq",
		[LOCKHELD_TERM_DEPTH] = "depth", [LOCKHELD_TERM_ID] = "id",
		[LOCKHELD_TERM_TXN] = "txn", [LOCKHELD_TERM_WEIGHT] = "weight",
		[LOCKHELD_TERM_WEIGHT1] = "weight1",
		[LOCKHELD_TERM_WEIGHT2] = "weight2",
		[LOCKHELD_TERM_WEIGHT3] = "weight3",
		[LOCKHELD_TERM_PHYS_ADDR] = "phys_addr",
		[LOCKHELD_TERM_CODE_PGSZ] = "code_pgsz",
		[LOCKHELD_TERM_DATA_PGSZ] = "data_pgsz",
		[LOCKHELD_TERM_CGROUP] = "cgroup",
		[LOCKHELD_TERM_MEM_OP] = "mem_op",
		[LOCKHELD_TERM_MEM_LVLNUM] = "mem_lvlnum",
		[LOCKHELD_TERM_MEM_SNOOP] = "mem_snoop",
		[LOCKHELD_TERM_MEM_REMOTE] = "mem_remote",
		[LOCKHELD_TERM_MEM_LOCK] = "mem_lock",
		[LOCKHELD_TERM_MEM_DTLB] = "mem_dtlb",
		[LOCKHELD_TERM_MEM_BLK] = "mem_blk",
		[LOCKHELD_TERM_MEM_HOPS] = "mem_hops",
	};

	switch (insn->op) {
	case LOCKHELD_OP_IMM:
		fprintf(to, "%llu", (unsigned long long)insn->imm);
		break;
	case LOCKHELD_OP_TERM:
		fputs(terms[insn->arg], to);
		break;
	case LOCKHELD_OP_COMM:
		fprintf(to, "comm(%.16s)", (const char *)insn->comm);
		break;
	case LOCKHELD_OP_LOCK:
	case LOCKHELD_OP_HELD_NS:
		show_lock(to, insn);
		break;
	default:
		fputs(ops[insn->op], to);
	}
}

static char *show_program(const struct expr_result *res)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	unsigned int i;

	for (i = 0; i < res->n; i++) {
		if (i)
			fputc(' ', to);
		show_insn(to, &res->insns[i]);
	}
	fclose(to);
	return text;
}

/* Where the marks stand, counted in the line above them. */
static char *show_marks(const char *caret)
{
	const char *line = strrchr(caret, '\n') + 1;
	const char *mark = strchr(line, '^');

	return mark ? ctl_printf("%d-%zu", (int)(mark - line) - 1,
				 strlen(line) - 2) : ctl_strdup("none");
}

/* A table has no lines in its lines. */
static char *one_line(const char *text)
{
	char *line = ctl_strdup(text), *end = line;

	while ((end = strchr(end, '\n')))
		*end = '|';
	return line;
}

static struct outcome run(const char *text)
{
	struct tep_handle *tep = tep_alloc();
	struct expr_opts opts = { 0 };
	char *kallsyms;
	struct outcome out = { 0 };
	struct expr_result res;
	char name[64] = "kallsyms";
	int status;

	if (sscanf(text, "{%63[a-z.]} ", name) == 1)
		text = strchr(text, '}') + 2;
	kallsyms = ctl_printf("%s/%s", folder, name);
	opts.kallsyms = kallsyms;
	opts.root = getenv("LOCKHELD_CTL_ROOT");
	if (sscanf(text, "[%63[a-z_]] ", name) == 1) {
		opts.event = load_format(tep, name);
		text = strchr(text, ']') + 2;
	}
	status = expr_compile(text, &opts, &res);
	if (status) {
		out.error = ctl_printf("%d %u %s", status, res.column,
				       strchr(res.error, ':') + 2);
		if (res.caret)
			out.marked = show_marks(res.caret);
		if (res.n || res.insns || res.tp_filter)
			out.program = ctl_strdup("a result beside an error");
	} else {
		if (res.n)
			out.program = show_program(&res);
		if (res.tp_filter)
			out.filter = ctl_strdup(res.tp_filter);
		if (res.note)
			out.note = one_line(res.note);
		if (res.error || res.caret ||
		    !!res.has_locks != (out.program &&
					(strstr(out.program, "lock(") ||
					 strstr(out.program, "held_ns("))))
			out.error = ctl_strdup("an error beside a result");
	}
	expr_result_free(&res);
	tep_free(tep);
	free(kallsyms);
	return out;
}

static void outcome_free(struct outcome *out)
{
	free(out->program);
	free(out->filter);
	free(out->error);
	free(out->marked);
	free(out->note);
}

static int differs(const char *what, const char *want, const char *got)
{
	if (!want && !got)
		return 0;
	if (want && got && !strcmp(want, got))
		return 0;
	printf("# %s: expected %s\n# %*s       got %s\n", what,
	       want ? want : "nothing", (int)strlen(what), "",
	       got ? got : "nothing");
	return 1;
}

static int number, failed;

/* Marks are compared only where the table has them. */
static void judge(const char *expression, const struct outcome *want)
{
	struct outcome got = run(expression);
	int bad = differs("program", want->program, got.program);

	bad += differs("filter", want->filter, got.filter);
	bad += differs("error", want->error, got.error);
	bad += differs("note", want->note, got.note);
	if (want->marked)
		bad += differs("marks", want->marked, got.marked);
	printf("%sok %d - %.*s%s\n", bad ? "not " : "", ++number, SHOWN_MAX,
	       expression, strlen(expression) > SHOWN_MAX ? "..." : "");
	failed += !!bad;
	outcome_free(&got);
}

static void run_table(FILE *table)
{
	struct outcome want = { 0 };
	char *line = NULL, *expression = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, table)) > 0) {
		char **expect = NULL;

		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		if (!*line || *line == '#')
			continue;
		if (*line != '\t') {
			if (expression)
				judge(expression, &want);
			free(expression);
			outcome_free(&want);
			memset(&want, 0, sizeof(want));
			expression = ctl_strdup(line);
			continue;
		}
		switch (line[1]) {
		case '=':
			expect = &want.program;
			break;
		case 't':
			expect = &want.filter;
			break;
		case '!':
			expect = &want.error;
			break;
		case '^':
			expect = &want.marked;
			break;
		case 'n':
			expect = &want.note;
			break;
		}
		if (!expect || *expect) {
			fprintf(stderr, "bad line in the table: %s\n", line);
			exit(1);
		}
		*expect = ctl_strdup(line + 3);
	}
	if (expression)
		judge(expression, &want);
	free(expression);
	outcome_free(&want);
	free(line);
}

/* What a line of a table cannot hold. */
static void run_long(void)
{
	char *longest = ctl_zalloc(LOCKHELD_TEXT_MAX + 1);
	char *text = ctl_strdup("pid");
	struct outcome want = { 0 }, got;
	char *longer, *deep;
	int i;

	memset(longest, '(', LOCKHELD_TEXT_MAX - 1);
	want.error = "64 4096 the expression ends here: a lock_held(), a term or a number must stand here";
	judge(longest, &want);
	memset(longest, '!', LOCKHELD_TEXT_MAX - 1);
	judge(longest, &want);
	longest[LOCKHELD_TEXT_MAX - 1] = '!';
	want.error = "64 0 4096 bytes are too long, at most 4095 are possible";
	judge(longest, &want);
	free(longest);

	/* 128 terms and 127 joints are 255 instructions, one more is 257. */
	for (i = 1; i < 128; i++) {
		longer = ctl_printf("%s && cpu", text);
		free(text);
		text = longer;
	}
	got = run(text);
	printf("%sok %d - 255 instructions\n",
	       got.program && !got.error ? "" : "not ", ++number);
	failed += !got.program || got.error;
	outcome_free(&got);
	longer = ctl_printf("%s && tid", text);
	want.error = "64 897 the filter is too long: this is beyond 256 instructions";
	judge(longer, &want);
	free(longer);
	free(text);

	/* Each "(" below keeps one more value on the program's stack. */
	deep = ctl_strdup("");
	for (i = 0; i < LOCKHELD_STACK_MAX; i++) {
		longer = ctl_printf("%s%s", deep, i % 2 ? "tid || (" : "pid && (");
		free(deep);
		deep = longer;
	}
	longer = ctl_printf("%scpu%.*s", deep, LOCKHELD_STACK_MAX,
			    "))))))))))))))))))))))))))))))))");
	want.error = "64 257 nested too deeply: put the longest part first";
	judge(longer, &want);
	free(longer);
	free(deep);
}

static void show_all(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 0) {
		struct outcome out;

		line[len - 1] = 0;
		out = run(line);
		printf("%s\n", line);
		if (out.program)
			printf("\t= %s\n", out.program);
		if (out.filter)
			printf("\tt %s\n", out.filter);
		if (out.error)
			printf("\t! %s\n", out.error);
		if (out.marked)
			printf("\t^ %s\n", out.marked);
		if (out.note)
			printf("\tn %s\n", out.note);
		outcome_free(&out);
	}
	free(line);
}

int main(int argc, char **argv)
{
	FILE *table;

	if (argc != 3) {
		fprintf(stderr, "usage: %s FOLDER TABLE|-\n", argv[0]);
		return 1;
	}
	folder = argv[1];
	if (!strcmp(argv[2], "-")) {
		show_all();
		return 0;
	}
	table = fopen(argv[2], "r");
	if (!table) {
		perror(argv[2]);
		return 1;
	}
	puts("TAP version 13");
	run_table(table);
	run_long();
	printf("1..%d\n", number);
	fclose(table);
	return failed ? 1 : 0;
}
