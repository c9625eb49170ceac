// SPDX-License-Identifier: GPL-2.0-only
/*
 * The language of scripts: statements on lines of their own or between ";".
 *
 *	take FUNCTION LOCK	call the lock function
 *	fail FUNCTION LOCK	call it, it must not succeed
 *	drop LOCK		release
 *	downgrade LOCK		write to read
 *	wait FUNCTION LOCK	call the function, which waits for readers
 *	leave LOCK		from now on, others may release it
 *	release LOCK		release what another one, or this one, has left
 *	tick N			fire N trace events
 *	busy US			stay on the CPU, ticked by the timer
 *	sleep US		sleep
 *	cpu N			go to that CPU and stay there
 *	post N / await N	up and down on counter N, shared by all scripts
 *	blocked LOCK N		until N scripts sleep while they take the lock
 *	wanted LOCK N		until N scripts are taking the lock
 *	alloc FLAGS N		allocate and free N pages with these GFP flags
 *	scenario N		number for the ticks that follow
 *	timer US		tick actors on all CPUs from a timer; 0 stops
 *	switch 1|0		tick actors at sched_switch, or no more
 *	repeat N ... end	N times; stops at a signal
 *	soft ... end		in a tasklet on top of this task
 *	hard ... end		in a hard interrupt on top of this task
 *
 * A FUNCTION is a name of ops.c, a LOCK one of locks.c.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "holdmod.h"

#define MAX_STEPS	512
#define MAX_NESTING	6
#define MAX_POST	31

/* What follows the verb: o lock function, l lock, n number, p counter. */
static const struct {
	const char *name;
	const char *args;
} verbs[HM_V_COUNT] = {
	[HM_V_TAKE]	 = { "take", "ol" },
	[HM_V_FAIL]	 = { "fail", "ol" },
	[HM_V_DROP]	 = { "drop", "l" },
	[HM_V_DOWNGRADE] = { "downgrade", "l" },
	[HM_V_WAIT]	 = { "wait", "ol" },
	[HM_V_LEAVE]	 = { "leave", "l" },
	[HM_V_RELEASE]	 = { "release", "l" },
	[HM_V_TICK]	 = { "tick", "n" },
	[HM_V_BUSY]	 = { "busy", "n" },
	[HM_V_SLEEP]	 = { "sleep", "n" },
	[HM_V_CPU]	 = { "cpu", "n" },
	[HM_V_POST]	 = { "post", "p" },
	[HM_V_AWAIT]	 = { "await", "p" },
	[HM_V_BLOCKED]	 = { "blocked", "ln" },
	[HM_V_WANTED]	 = { "wanted", "ln" },
	[HM_V_ALLOC]	 = { "alloc", "nm" },
	[HM_V_SCENARIO]	 = { "scenario", "n" },
	[HM_V_TIMER]	 = { "timer", "n" },
	[HM_V_SWITCH]	 = { "switch", "n" },
	[HM_V_REPEAT]	 = { "repeat", "n" },
	[HM_V_SOFT]	 = { "soft", "" },
	[HM_V_HARD]	 = { "hard", "" },
	[HM_V_END]	 = { "end", "" },
};

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " \t");
	} while (word && !*word);
	return word;
}

static int parse_arg(struct hm_step *step, char kind, char *word)
{
	switch (kind) {
	case 'o':
		step->op = hm_op_find(word);
		if (!step->op)
			return -EINVAL;
		return !(step->op->flags & HM_WAITS) == (step->verb == HM_V_WAIT) ?
		       -EINVAL : 0;
	case 'l':
		step->lock = hm_lock_find(word);
		if (!step->lock)
			return -EINVAL;
		if (step->op && step->op->family != step->lock->family)
			return -EINVAL;
		return 0;
	case 'm':
		return kstrtou64(word, 0, &step->arg2);
	default:
		if (kstrtou64(word, 0, &step->arg))
			return -EINVAL;
		return kind == 'p' && step->arg > MAX_POST ? -EINVAL : 0;
	}
}

static int parse_step(struct hm_step *step, char *verb, char *rest)
{
	const char *args;
	char *word;
	unsigned int i;

	for (i = 0; i < HM_V_COUNT && strcmp(verbs[i].name, verb); i++)
		;
	if (i == HM_V_COUNT) {
		pr_notice("holdmod: unknown verb \"%s\"\n", verb);
		return -EINVAL;
	}
	step->verb = i;
	for (args = verbs[i].args; *args; args++) {
		word = next_word(&rest);
		if (!word || parse_arg(step, *args, word)) {
			pr_notice("holdmod: \"%s\" cannot take \"%s\"\n", verb,
				  word ?: "");
			return -EINVAL;
		}
	}
	word = next_word(&rest);
	if (word) {
		pr_notice("holdmod: \"%s\" is too much for \"%s\"\n", word,
			  verb);
		return -EINVAL;
	}
	return 0;
}

static bool opens_block(enum hm_verb verb)
{
	return verb == HM_V_REPEAT || verb == HM_V_SOFT || verb == HM_V_HARD;
}

/* Returns the script, or an error; writes to text. */
struct hm_script *hm_parse(char *text)
{
	unsigned int open[MAX_NESTING];
	unsigned int depth = 0;
	struct hm_script *script;
	char *line;
	char *verb;
	int err = -EINVAL;

	script = kzalloc(struct_size(script, steps, MAX_STEPS), GFP_KERNEL);
	if (!script)
		return ERR_PTR(-ENOMEM);
	while ((line = strsep(&text, ";\n"))) {
		struct hm_step *step = &script->steps[script->nr];

		verb = next_word(&line);
		if (!verb)
			continue;
		if (script->nr == MAX_STEPS)
			goto refuse;
		err = parse_step(step, verb, line);
		if (err)
			goto refuse;
		err = -EINVAL;
		if (opens_block(step->verb)) {
			if (depth == MAX_NESTING)
				goto refuse;
			open[depth++] = script->nr;
		} else if (step->verb == HM_V_END) {
			if (!depth)
				goto refuse;
			script->steps[open[--depth]].end = script->nr;
		}
		script->nr++;
	}
	if (depth)
		goto refuse;
	return script;
refuse:
	kfree(script);
	return ERR_PTR(err);
}
