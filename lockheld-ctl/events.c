// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "ctl.h"
#include "events.h"
#include "suggest.h"

static const struct known {
	const char *name;
	const char *alias;
	__u32 type;
	__u64 config;
} known[] = {
#define HW(name, alias, config) \
	{ name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config }
#define SW(name, alias, config) \
	{ name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config }
	HW("cycles", "cpu-cycles", CPU_CYCLES),
	HW("instructions", NULL, INSTRUCTIONS),
	HW("cache-references", NULL, CACHE_REFERENCES),
	HW("cache-misses", NULL, CACHE_MISSES),
	HW("branches", "branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", NULL, BRANCH_MISSES),
	HW("bus-cycles", NULL, BUS_CYCLES),
	HW("stalled-cycles-frontend", "idle-cycles-frontend",
	   STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", "idle-cycles-backend",
	   STALLED_CYCLES_BACKEND),
	HW("ref-cycles", NULL, REF_CPU_CYCLES),
	SW("cpu-clock", NULL, CPU_CLOCK),
	SW("task-clock", NULL, TASK_CLOCK),
	SW("page-faults", "faults", PAGE_FAULTS),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ),
	SW("context-switches", "cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS),
	SW("emulation-faults", NULL, EMULATION_FAULTS),
#undef HW
#undef SW
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Words of cache events, each at the place of its number in the kernel. */
static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const struct {
	const char *name;
	__u64 op, result;
} cache_ops[] = {
	{ "loads", PERF_COUNT_HW_CACHE_OP_READ,
	  PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "load-misses", PERF_COUNT_HW_CACHE_OP_READ,
	  PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE,
	  PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "store-misses", PERF_COUNT_HW_CACHE_OP_WRITE,
	  PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH,
	  PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH,
	  PERF_COUNT_HW_CACHE_RESULT_MISS },
};

static bool find_known(const char *word, struct perf_event_attr *attr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(word, known[i].name) &&
		    (!known[i].alias || strcmp(word, known[i].alias)))
			continue;
		attr->type = known[i].type;
		attr->config = known[i].config;
		return true;
	}
	return false;
}

static bool find_cache(const char *word, struct perf_event_attr *attr)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		size_t len = strlen(caches[i]);

		if (strncmp(word, caches[i], len) || word[len] != '-')
			continue;
		for (j = 0; j < ARRAY_SIZE(cache_ops); j++) {
			if (strcmp(word + len + 1, cache_ops[j].name))
				continue;
			attr->type = PERF_TYPE_HW_CACHE;
			attr->config = i | cache_ops[j].op << 8 |
				       cache_ops[j].result << 16;
			return true;
		}
	}
	return false;
}

static int unknown_event(const char *name, const char *word)
{
	struct suggest s;
	char *text;
	size_t i, j;

	suggest_init(&s, word);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		suggest_offer(&s, known[i].name);
		if (known[i].alias)
			suggest_offer(&s, known[i].alias);
	}
	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		for (j = 0; j < ARRAY_SIZE(cache_ops); j++) {
			char *full = ctl_printf("%s-%s", caches[i],
						cache_ops[j].name);

			suggest_offer(&s, full);
			free(full);
		}
	}
	text = suggest_text(&s);
	ctl_error(CTL_USAGE, "-e %s: no such event%s", name,
		  *text ? text : " (tracepoints are written SYSTEM:NAME)");
	free(text);
	return CTL_USAGE;
}

/* u, k, h: only there; p, up to three times: more exact addresses. */
static int modifiers(const char *name, const char *text,
		     struct perf_event_attr *attr)
{
	bool user = false, kernel = false, hv = false;

	for (; *text; text++) {
		if (*text == 'u')
			user = true;
		else if (*text == 'k')
			kernel = true;
		else if (*text == 'h')
			hv = true;
		else if (*text == 'p' && attr->precise_ip < 3)
			attr->precise_ip++;
		else
			return ctl_error(CTL_USAGE,
					 "-e %s: modifier '%c' is none of u (user), k (kernel), h (hypervisor), p (precise)",
					 name, *text);
	}
	if (user || kernel || hv) {
		attr->exclude_user = !user;
		attr->exclude_kernel = !kernel;
		attr->exclude_hv = !hv;
	}
	return CTL_DONE;
}

static bool in_list(char **list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return true;
	return false;
}

static void free_list(char **list)
{
	if (list)
		tracefs_list_free(list);
}

/* @list: what there is instead of the system or event that was asked for. */
static int unknown_tracepoint(const char *name, const char *word,
			      const char *what, char **list)
{
	struct suggest s;
	char *text;
	char **p;

	suggest_init(&s, word);
	for (p = list; p && *p; p++)
		suggest_offer(&s, *p);
	text = suggest_text(&s);
	ctl_error(CTL_USAGE, "-e %s: no tracepoint %s '%s' on this kernel%s",
		  name, what, word, text);
	free(text);
	free_list(list);
	return CTL_USAGE;
}

static int find_tracepoint(struct events *events, struct event *e)
{
	const char *dir = tracefs_tracing_dir();
	char *format;
	char **list;
	int size;

	if (!dir)
		return ctl_error(CTL_IMPOSSIBLE,
				 "-e %s: tracefs cannot be reached: mount -t tracefs nodev /sys/kernel/tracing, as root",
				 e->name);
	if (!events->tep) {
		events->tep = tep_alloc();
		if (!events->tep)
			return ctl_error(CTL_FAILED, "out of memory");
		tep_set_loglevel(TEP_LOG_NONE);
		tep_set_long_size(events->tep, sizeof(long));
	}
	format = tracefs_event_file_read(NULL, e->tp_system, e->tp_name,
					 "format", &size);
	if (!format) {
		list = tracefs_event_systems(dir);
		if (!list)
			return ctl_error(CTL_IMPOSSIBLE,
					 "-e %s: tracefs cannot be read: run as root",
					 e->name);
		if (!in_list(list, e->tp_system))
			return unknown_tracepoint(e->name, e->tp_system,
						  "system", list);
		free_list(list);
		return unknown_tracepoint(e->name, e->tp_name, "event",
			tracefs_system_events(dir, e->tp_system));
	}
	/* A print format it does not know is nothing to us: look it up. */
	tep_parse_event(events->tep, format, (unsigned long)size, e->tp_system);
	free(format);
	e->tp = tep_find_event_by_name(events->tep, e->tp_system, e->tp_name);
	if (!e->tp)
		return ctl_error(CTL_FAILED,
				 "-e %s: the tracepoint's format cannot be read",
				 e->name);
	e->attr.type = PERF_TYPE_TRACEPOINT;
	e->attr.config = (__u64)e->tp->id;
	return CTL_DONE;
}

static int parse(struct events *events, struct event *e)
{
	char *word = ctl_strdup(e->name);
	char *colon = strchr(word, ':');
	char *mods;
	int status;

	if (colon)
		*colon++ = '\0';
	if (find_known(word, &e->attr) || find_cache(word, &e->attr)) {
		status = modifiers(e->name, colon ? colon : "", &e->attr);
	} else if (!colon || !*word || !*colon) {
		status = unknown_event(e->name, word);
	} else {
		mods = strchr(colon, ':');
		if (mods)
			*mods++ = '\0';
		e->tp_system = ctl_strdup(word);
		e->tp_name = ctl_strdup(colon);
		status = find_tracepoint(events, e);
		if (!status)
			status = modifiers(e->name, mods ? mods : "", &e->attr);
	}
	free(word);
	return status;
}

int events_add(struct events *events, const char *list)
{
	char *copy = ctl_strdup(list);
	char *rest = copy, *name;
	int status = CTL_DONE;

	while (!status && (name = strsep(&rest, ","))) {
		struct event *e;

		events->all = ctl_realloc(events->all, events->n + 1,
					  sizeof(*events->all));
		e = &events->all[events->n++];
		memset(e, 0, sizeof(*e));
		e->name = ctl_strdup(name);
		e->attr.size = sizeof(e->attr);
		status = parse(events, e);
	}
	free(copy);
	return status;
}

void events_free(struct events *events)
{
	size_t i;

	for (i = 0; i < events->n; i++) {
		free(events->all[i].name);
		free(events->all[i].tp_system);
		free(events->all[i].tp_name);
	}
	free(events->all);
	if (events->tep)
		tep_free(events->tep);
	memset(events, 0, sizeof(*events));
}
