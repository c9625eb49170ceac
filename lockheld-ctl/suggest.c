// SPDX-License-Identifier: GPL-2.0-only
/* Which known words a misspelt one may have meant: those few edits away. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "suggest.h"

#define WORD_MAX 64

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/*
 * Edits (insert, delete, replace, swap two neighbours) from one word to the
 * other; only three rows of the usual table are ever looked at.
 */
static unsigned int distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int rows[3][WORD_MAX + 1];
	size_t i, j;

	for (j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3];
		unsigned int *above = rows[(i + 2) % 3];
		unsigned int *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= nb; j++) {
			row[j] = above[j - 1] + (differ(a[i - 1], b[j - 1]));
			row[j] = min(row[j], above[j] + 1);
			row[j] = min(row[j], row[j - 1] + 1);
			if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) &&
			    !differ(a[i - 2], b[j - 1]))
				row[j] = min(row[j], above2[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

void suggest_init(struct suggest *s, const char *word)
{
	size_t len = strlen(word);

	memset(s, 0, sizeof(*s));
	s->word = word;
	if (len <= WORD_MAX)
		s->limit = len < 3 ? 1 : len / 3;
}

void suggest_offer(struct suggest *s, const char *known)
{
	size_t a = strlen(s->word);
	size_t b = strlen(known);
	unsigned int i, d;

	if (b > WORD_MAX || (a > b ? a - b : b - a) > s->limit)
		return;
	d = distance(s->word, a, known, b);
	if (d > s->limit)
		return;
	for (i = 0; i < s->n; i++)
		if (!strcmp(s->best[i].word, known))
			return;
	for (i = 0; i < s->n && s->best[i].distance <= d; i++)
		;
	if (i == SUGGEST_MAX)
		return;
	if (s->n == SUGGEST_MAX)
		free(s->best[--s->n].word);
	memmove(&s->best[i + 1], &s->best[i], (s->n - i) * sizeof(s->best[0]));
	s->best[i].distance = d;
	s->best[i].word = ctl_strdup(known);
	s->n++;
	/* Only as good as the best: "mutex" wants no "mutex_mutex" beside it. */
	while (s->best[s->n - 1].distance > s->best[0].distance + 1)
		free(s->best[--s->n].word);
}

char *suggest_text(struct suggest *s)
{
	char *text = ctl_strdup(s->n ? ": did you mean " : "");
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		const char *join = !i ? "" : i + 1 < s->n ? ", " : " or ";
		char *longer = ctl_printf("%s%s'%s'%s", text, join,
					  s->best[i].word,
					  i + 1 == s->n ? "?" : "");

		free(text);
		text = longer;
		free(s->best[i].word);
	}
	s->n = 0;
	return text;
}
