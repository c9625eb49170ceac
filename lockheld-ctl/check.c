// SPDX-License-Identifier: GPL-2.0-only
/* lockheld-ctl check: what the module can track on this kernel. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "ctl.h"
#include "json.h"
#include "lockname.h"
#include "nl.h"
#include "query.h"

static const char usage[] =
	"usage: lockheld-ctl check [--json]\n\n"
	"Lists for each kind of lock how the module can know that it is held, and\n"
	"what that costs, or why it cannot.\n\n"
	"  --json      for programs\n"
	"  -h, --help  this text\n\n"
	"Exit status 2 if nothing can be tracked.\n";

static const char by_owner[] =
	"\nA mutex, an rt-mutex or the writer of an rwsem that is given by its name or\n"
	"address, or as mmap_lock:W, is known by its owner word: read at each sample,\n"
	"nothing when locks are taken.\n";

static const char *release(void)
{
	static struct utsname uts;

	return uname(&uts) ? "?" : uts.release;
}

static int family_width(const struct lhnl_cap *caps, size_t n)
{
	size_t i, len, width = strlen("FAMILY");

	for (i = 0; i < n; i++) {
		len = strlen(lockname_family(caps[i].family));
		width = len > width ? len : width;
	}
	return (int)width;
}

static void print_table(const struct lhnl_cap *caps, size_t n)
{
	int width = family_width(caps, n);
	size_t i;

	printf("lockheld %s on %s, hooks by %s: %s\n\n",
	       n && caps[0].version ? caps[0].version : "?", release(),
	       n && caps[0].backend ? caps[0].backend : "?",
	       n && caps[0].backend_reason ? caps[0].backend_reason : "?");
	printf("%-*s  %-4s  %-9s  %s\n", width, "FAMILY", "MODE", "MECHANISM",
	       "COST, OR WHY NOT");
	for (i = 0; i < n; i++) {
		const char *what = caps[i].reason;

		if (caps[i].mechanism != LOCKHELD_MECH_NONE)
			what = lockname_cost(caps[i].mechanism);
		printf("%-*s  %-4s  %-9s  %s\n", width,
		       lockname_family(caps[i].family),
		       lockname_mode(caps[i].mode),
		       lockname_mechanism(caps[i].mechanism),
		       what ? what : "not possible, the module does not say why");
	}
	fputs(by_owner, stdout);
}

static void print_json(const struct lhnl_cap *caps, size_t n)
{
	struct json j = { 0 };
	size_t i;

	json_open(&j, NULL, '{');
	json_string(&j, "version",
		    n && caps[0].version ? caps[0].version : "");
	json_string(&j, "kernel", release());
	json_open(&j, "locks", '[');
	for (i = 0; i < n; i++) {
		json_open(&j, NULL, '{');
		json_string(&j, "family", lockname_family(caps[i].family));
		json_string(&j, "mode", lockname_mode(caps[i].mode));
		json_string(&j, "mechanism",
			    lockname_mechanism(caps[i].mechanism));
		if (caps[i].backend)
			json_string(&j, "backend", caps[i].backend);
		if (caps[i].backend_reason)
			json_string(&j, "backend_reason",
				    caps[i].backend_reason);
		if (caps[i].mechanism != LOCKHELD_MECH_NONE)
			json_string(&j, "cost",
				    lockname_cost_class(caps[i].mechanism));
		if (caps[i].reason)
			json_string(&j, "reason", caps[i].reason);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

int cmd_check(int argc, char **argv)
{
	struct lhnl_cap *caps;
	bool json = false, any = false;
	struct lhnl *nl;
	int status;
	size_t i, n;

	status = query_begin(argc, argv, usage, &json, &nl);
	if (status >= 0)
		return status;
	status = lhnl_caps(nl, &caps, &n);
	if (status)
		return query_end(nl, status);
	if (json)
		print_json(caps, n);
	else
		print_table(caps, n);
	for (i = 0; i < n; i++)
		any |= caps[i].mechanism != LOCKHELD_MECH_NONE;
	lhnl_caps_free(caps, n);
	query_end(nl, CTL_DONE);
	return any ? CTL_DONE : CTL_IMPOSSIBLE;
}
