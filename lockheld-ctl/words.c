// SPDX-License-Identifier: GPL-2.0-only
/* Words for the values of sample terms: "irq == hard", "mem_op == load". */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ast.h"
#include "cgroupid.h"
#include "ctl.h"
#include "lockname.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Results of snooping that were found later stand above the older ones. */
#define SNOOPX(value) ((value) << 5)

/*
 * What perf calls the values of union perf_mem_data_src. The numbers are the
 * kernel's interface; not all of them are in every system's headers.
 */
static const struct {
	enum lockheld_term term;
	const char *word;
	unsigned int value;
} mem_words[] = {
	{ LOCKHELD_TERM_MEM_OP, "na", 0x01 },
	{ LOCKHELD_TERM_MEM_OP, "load", 0x02 },
	{ LOCKHELD_TERM_MEM_OP, "store", 0x04 },
	{ LOCKHELD_TERM_MEM_OP, "pfetch", 0x08 },
	{ LOCKHELD_TERM_MEM_OP, "exec", 0x10 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "l1", 0x01 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "l2", 0x02 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "l3", 0x03 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "l4", 0x04 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "cxl", 0x09 },
	{ LOCKHELD_TERM_MEM_LVLNUM, "io", 0x0a },
	{ LOCKHELD_TERM_MEM_LVLNUM, "any_cache", 0x0b },
	{ LOCKHELD_TERM_MEM_LVLNUM, "lfb", 0x0c },
	{ LOCKHELD_TERM_MEM_LVLNUM, "ram", 0x0d },
	{ LOCKHELD_TERM_MEM_LVLNUM, "pmem", 0x0e },
	{ LOCKHELD_TERM_MEM_LVLNUM, "na", 0x0f },
	{ LOCKHELD_TERM_MEM_SNOOP, "na", 0x01 },
	{ LOCKHELD_TERM_MEM_SNOOP, "none", 0x02 },
	{ LOCKHELD_TERM_MEM_SNOOP, "hit", 0x04 },
	{ LOCKHELD_TERM_MEM_SNOOP, "miss", 0x08 },
	{ LOCKHELD_TERM_MEM_SNOOP, "hitm", 0x10 },
	{ LOCKHELD_TERM_MEM_SNOOP, "fwd", SNOOPX(0x01) },
	{ LOCKHELD_TERM_MEM_SNOOP, "peer", SNOOPX(0x02) },
	{ LOCKHELD_TERM_MEM_REMOTE, "remote", 0x01 },
	{ LOCKHELD_TERM_MEM_LOCK, "na", 0x01 },
	{ LOCKHELD_TERM_MEM_LOCK, "locked", 0x02 },
	{ LOCKHELD_TERM_MEM_DTLB, "na", 0x01 },
	{ LOCKHELD_TERM_MEM_DTLB, "any_hit", 0x02 },
	{ LOCKHELD_TERM_MEM_DTLB, "any_miss", 0x04 },
	{ LOCKHELD_TERM_MEM_DTLB, "l1_hit", 0x08 | 0x02 },
	{ LOCKHELD_TERM_MEM_DTLB, "l1_miss", 0x08 | 0x04 },
	{ LOCKHELD_TERM_MEM_DTLB, "l2_hit", 0x10 | 0x02 },
	{ LOCKHELD_TERM_MEM_DTLB, "l2_miss", 0x10 | 0x04 },
	{ LOCKHELD_TERM_MEM_DTLB, "walk", 0x20 },
	{ LOCKHELD_TERM_MEM_DTLB, "os", 0x40 },
	{ LOCKHELD_TERM_MEM_DTLB, "fault", 0x40 },
	{ LOCKHELD_TERM_MEM_BLK, "na", 0x01 },
	{ LOCKHELD_TERM_MEM_BLK, "by_data", 0x02 },
	{ LOCKHELD_TERM_MEM_BLK, "by_addr", 0x04 },
	{ LOCKHELD_TERM_MEM_HOPS, "hops0", 0x01 },
	{ LOCKHELD_TERM_MEM_HOPS, "hops1", 0x02 },
	{ LOCKHELD_TERM_MEM_HOPS, "hops2", 0x03 },
	{ LOCKHELD_TERM_MEM_HOPS, "hops3", 0x04 },
};

static bool is_mem_term(int term)
{
	return term >= LOCKHELD_TERM_MEM_OP && term <= LOCKHELD_TERM_MEM_HOPS;
}

bool words_has(int term)
{
	return term == LOCKHELD_TERM_IRQ || term == LOCKHELD_TERM_CGROUP ||
	       is_mem_term(term);
}

bool words_known(const char *word)
{
	size_t i;

	for (i = 0; i < COUNT(mem_words); i++)
		if (!strcasecmp(mem_words[i].word, word))
			return true;
	return lockname_find_context(word) >= 0;
}

/* "a, b and c" */
static char *list_of(enum lockheld_term term)
{
	char *list = ctl_strdup(""), *longer;
	size_t i;

	for (i = 0; i < COUNT(mem_words); i++) {
		bool last = i + 1 == COUNT(mem_words) ||
			    mem_words[i + 1].term != term;

		if (mem_words[i].term != term)
			continue;
		longer = ctl_printf("%s%s%s", list,
				    !*list ? "" : last ? " and " : ", ",
				    mem_words[i].word);
		free(list);
		list = longer;
	}
	return list;
}

static bool mem_word(struct expr *e, int term, struct ast *word)
{
	char *list;
	size_t i;

	for (i = 0; i < COUNT(mem_words); i++) {
		if (mem_words[i].term == (enum lockheld_term)term &&
		    !strcasecmp(mem_words[i].word, word->text)) {
			word->value = mem_words[i].value;
			return true;
		}
	}
	list = list_of(term);
	expr_error(e, CTL_USAGE, word->at,
		   "'%.40s' is no value of this term: there are %s",
		   word->text, list);
	free(list);
	return false;
}

static bool irq_word(struct expr *e, struct ast *word)
{
	int context = lockname_find_context(word->text);

	if (context < 0) {
		expr_error(e, CTL_USAGE, word->at,
			   "'%.40s': 'irq' is one of none, soft, hard and nmi",
			   word->text);
		return false;
	}
	word->value = context;
	return true;
}

static bool cgroup_word(struct expr *e, struct ast *word)
{
	char *error;
	int status = cgroupid_find(e->opts->root, word->text, &word->value,
				   &error);

	if (status) {
		expr_error(e, status, word->at, "control group '%.200s': %s",
			   word->text, error);
		free(error);
	}
	return !status;
}

bool words_resolve(struct expr *e, int term, struct ast *word)
{
	bool ok;

	if (term == LOCKHELD_TERM_IRQ)
		ok = irq_word(e, word);
	else if (term == LOCKHELD_TERM_CGROUP)
		ok = cgroup_word(e, word);
	else
		ok = mem_word(e, term, word);
	if (ok)
		word->kind = AST_NUMBER;
	return ok;
}
