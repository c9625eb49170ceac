// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terms of a filter that speak of the sample itself. Any context, NMI
 * included: they take no lock, allocate nothing and fault on nothing.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>

#include "lockheld.h"

u64 lh_term(struct lh_sample *sample, enum lockheld_term term)
{
	struct pid_namespace *ns = sample->root->ns;

	switch (term) {
	case LOCKHELD_TERM_IP:
		return instruction_pointer(sample->regs);
	case LOCKHELD_TERM_PID:
		return task_tgid_nr_ns(current, ns);
	case LOCKHELD_TERM_TID:
		return task_pid_nr_ns(current, ns);
	case LOCKHELD_TERM_CPU:
		return raw_smp_processor_id();
	case LOCKHELD_TERM_TIME:
		return lh_sample_time(sample->event, sample->data);
	case LOCKHELD_TERM_ADDR:
		return lh_sample_addr(sample->data);
	case LOCKHELD_TERM_PERIOD:
		return sample->data->period;
	case LOCKHELD_TERM_UID:
		return from_kuid(&init_user_ns, current_uid());
	case LOCKHELD_TERM_GID:
		return from_kgid(&init_user_ns, current_gid());
	case LOCKHELD_TERM_IRQ:
		return sample->context;
	case LOCKHELD_TERM_DEPTH:
		return lh_depth(sample);
	default:
		return 0;
	}
}

bool lh_comm(struct lh_sample *sample, const u8 comm[16])
{
	return !strncmp(current->comm, (const char *)comm, TASK_COMM_LEN);
}
