// SPDX-License-Identifier: GPL-2.0-only
/*
 * Held locks by BPF: what returns from an acquiring function puts the lock into
 * a hash map, what enters a releasing one takes it out.
 *
 * A map takes a spinlock of its own, whose functions are hooked as well; a flag
 * for each CPU keeps the kernel from waiting for itself there. What happens on
 * the CPU while the flag is set is not seen, and that is the price of it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "funcs.h"

#define MAX_CPUS 64

struct key {
	__u64 lock;
	__u32 tid;
	__u32 pad;
};

struct held {
	__u64 since;
	__u64 family;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, struct held);
} locks SEC(".maps");

enum { mutex, rwsem, spinlock, rwlock };

int busy[MAX_CPUS];

static __always_inline int *enter(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	int *flag;

	if (cpu >= MAX_CPUS)
		return NULL;
	flag = &busy[cpu];
	if (*flag)
		return NULL;
	*flag = 1;
	return flag;
}

static __always_inline int acquired(__u64 lock, int family)
{
	struct key key = { .lock = lock };
	struct held held = { .family = family };
	int *flag = enter();

	if (!flag)
		return 0;
	key.tid = (__u32)bpf_get_current_pid_tgid();
	held.since = bpf_ktime_get_ns();
	bpf_map_update_elem(&locks, &key, &held, BPF_ANY);
	*flag = 0;
	return 0;
}

static __always_inline int released(__u64 lock)
{
	struct key key = { .lock = lock };
	int *flag = enter();

	if (!flag)
		return 0;
	key.tid = (__u32)bpf_get_current_pid_tgid();
	bpf_map_delete_elem(&locks, &key);
	*flag = 0;
	return 0;
}

/* Behind the arguments stands what was returned; all these have one. */
#define VOID(family, func)						\
SEC("fexit/" #func) int family##__##func(__u64 *ctx)			\
{ return acquired(ctx[0], family); }
#define ZERO(family, func)						\
SEC("fexit/" #func) int family##__##func(__u64 *ctx)			\
{ return (int)ctx[1] ? 0 : acquired(ctx[0], family); }
#define NONZERO(family, func)						\
SEC("fexit/" #func) int family##__##func(__u64 *ctx)			\
{ return (int)ctx[1] ? acquired(ctx[0], family) : 0; }
#define RELEASE(family, func)						\
SEC("fentry/" #func) int family##__##func(__u64 *ctx)			\
{ return released(ctx[0]); }

LOCK_FUNCTIONS(VOID, ZERO, NONZERO, RELEASE)

char gpl[] SEC("license") = "GPL";
