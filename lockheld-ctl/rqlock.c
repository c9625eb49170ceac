// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "ctl.h"
#include "rqlock.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

static bool find_lock(const struct btf *btf, __u64 *offset)
{
	int id = btf__find_by_name_kind(btf, "rq", BTF_KIND_STRUCT);
	const struct btf_type *rq = id < 0 ? NULL : btf__type_by_id(btf, id);
	const struct btf_member *m = rq ? btf_members(rq) : NULL;
	__u32 i, n = rq ? btf_vlen(rq) : 0;

	for (i = 0; i < n; i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		/* the second before 5.14 */
		if (!name || (strcmp(name, "__lock") && strcmp(name, "lock")))
			continue;
		*offset = btf_member_bit_offset(rq, i) / 8;
		return true;
	}
	return false;
}

int rqlock_offset(const char *root, __u64 *offset, char **error)
{
	char *path = ctl_printf("%s%s", root ? root : "", BTF_PATH);
	struct btf *btf;
	int status = CTL_DONE;

	libbpf_set_print(NULL);
	btf = btf__parse(path, NULL);
	*error = NULL;
	if (libbpf_get_error(btf)) {
		*error = ctl_printf("%s, which tells where the lock is, cannot be read (%s; CONFIG_DEBUG_INFO_BTF)",
				    path, strerror(-libbpf_get_error(btf)));
		status = CTL_IMPOSSIBLE;
	} else {
		if (!find_lock(btf, offset)) {
			*error = ctl_printf("%s says nothing of a lock in there",
					    path);
			status = CTL_IMPOSSIBLE;
		}
		btf__free(btf);
	}
	free(path);
	return status;
}
