// SPDX-License-Identifier: GPL-2.0-only
/* The verbs of lockheld-ctl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "suggest.h"

static int cmd_help(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} verbs[] = {
	{ "check", cmd_check, "what this kernel lets lockheld track, and at what cost" },
	{ "record", cmd_record, "record samples that pass a filter" },
	{ "report", cmd_report, "show what was recorded, by lock" },
	{ "export", cmd_export, "its call chains, for flame graphs and pprof" },
	{ "add-filter", cmd_add_filter, "filter perf events that are already open" },
	{ "del-filter", cmd_del_filter, "take such a filter away" },
	{ "list", cmd_list, "filters in place, their events and counts" },
	{ "stats", cmd_stats, "the module's counters" },
	{ "help", cmd_help, "this text, or that of a verb" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void usage(FILE *to)
{
	size_t i;

	fputs("usage: lockheld-ctl VERB [OPTION...]\n\n"
	      "Samples of perf events, only while a lock is held.\n\n", to);
	for (i = 0; i < COUNT(verbs); i++)
		fprintf(to, "  %-12s%s\n", verbs[i].name, verbs[i].what);
	fputs("\nlockheld-ctl VERB --help tells the options of a verb, "
	      "lockheld-ctl(8) the rest.\n"
	      "Exit status: 0 done, 1 failed, 2 not possible here, 64 wrong usage.\n",
	      to);
}

static int run(const char *verb, int argc, char **argv)
{
	struct suggest near;
	char *hint;
	size_t i;

	for (i = 0; i < COUNT(verbs); i++)
		if (!strcmp(verbs[i].name, verb))
			return verbs[i].run(argc, argv);
	suggest_init(&near, verb);
	for (i = 0; i < COUNT(verbs); i++)
		suggest_offer(&near, verbs[i].name);
	hint = suggest_text(&near);
	ctl_error(CTL_USAGE, "unknown verb '%s'%s", verb,
		  *hint ? hint : " (lockheld-ctl help lists them)");
	free(hint);
	return CTL_USAGE;
}

static int cmd_help(int argc, char **argv)
{
	char help[] = "--help";
	char *args[] = { argc > 1 ? argv[1] : NULL, help, NULL };

	if (argc > 2)
		return ctl_error(CTL_USAGE, "help: one verb at a time");
	if (argc == 2 && strcmp(argv[1], "help") && strcmp(argv[1], "--help"))
		return run(argv[1], 2, args);
	usage(stdout);
	return CTL_DONE;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : NULL;
	int status;

	if (!verb) {
		usage(stderr);
		return CTL_USAGE;
	}
	if (!strcmp(verb, "-h") || !strcmp(verb, "--help")) {
		usage(stdout);
		status = CTL_DONE;
	} else if (!strcmp(verb, "-V") || !strcmp(verb, "--version")) {
		printf("lockheld-ctl %s\n", VERSION);
		status = CTL_DONE;
	} else if (verb[0] == '-') {
		return ctl_error(CTL_USAGE,
				 "unknown option '%s' (the verb comes first: lockheld-ctl VERB [OPTION...])",
				 verb);
	} else {
		status = run(verb, argc - 1, argv + 1);
	}
	/* What could not be written was not said. */
	if ((fflush(stdout) || ferror(stdout)) && !status)
		return ctl_error(CTL_FAILED, "cannot write the output: %s",
				 strerror(errno));
	return status;
}
