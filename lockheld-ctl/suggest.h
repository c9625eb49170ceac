/* SPDX-License-Identifier: GPL-2.0-only */
/* Which known words a misspelt one may have meant. */
#ifndef LOCKHELD_CTL_SUGGEST_H
#define LOCKHELD_CTL_SUGGEST_H

#define SUGGEST_MAX 3

struct suggest {
	const char *word;
	unsigned int limit;	/* edits beyond which nothing is offered */
	unsigned int n;
	struct {
		unsigned int distance;
		char *word;
	} best[SUGGEST_MAX];
};

void suggest_init(struct suggest *s, const char *word);
void suggest_offer(struct suggest *s, const char *known);

/* ": did you mean 'a' or 'b'?", or "" when nothing came near. Ends @s; the text
 * is the caller's to free. */
char *suggest_text(struct suggest *s);

#endif
