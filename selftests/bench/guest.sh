#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh PART...: measures, in a VM whose time is counted in instructions.
# Prints lines of five words with tabs between them:
#
#	WHAT  BACKEND  FILTER  OPERATION  INSTRUCTIONS
#
# WHAT is pair, dropped, passed, work or scale; INSTRUCTIONS are those of one operation,
# or of a whole workload. What has nothing loaded is the BACKEND "bare".

set -euo pipefail
here=$(dirname "$(realpath "$0")")
: "${BENCH_OUT:?the folder of what has been built}"
: "${LOCKHELD_KO:=$BENCH_OUT/lockheld.ko}"
: "${LOCKHELD_CTL:=$BENCH_OUT/lockheld-ctl}"
benchmod=/sys/kernel/debug/benchmod
times=1000

emit()
{
	local IFS=$'\t'

	echo "$*"
}

# measure WHAT BACKEND FILTER OPERATION[:CPUS]...
measure()
{
	local what=$1 backend=$2 filter=$3 op cpus insns

	shift 3
	for op; do
		cpus=1
		[[ $op = *:* ]] && cpus=${op#*:}
		echo "${op%:*} $times $cpus" > $benchmod/run
		read -r insns < $benchmod/run
		emit "$what" "$backend" "$filter" "$op" "$((insns / times / cpus))"
	done
}

# start COMMAND...: a helper, which says "ready" when it is; sets helper
start()
{
	local from line

	exec {from}< <(exec "$@" </dev/null)
	helper=$!
	while read -r line <&"$from"; do
		[ "$line" = ready ] && break
	done
	exec {from}<&-
	[ "$line" = ready ]
}

# stop HELPER
stop()
{
	kill "$1"
	while kill -0 "$1" 2>/dev/null; do
		sleep 0.1
	done
}

# with_filter EXPRESSION COMMAND...
with_filter()
{
	local id

	id=$("$LOCKHELD_CTL" add-filter "$1" --pid "$events_pid")
	shift
	"$@"
	"$LOCKHELD_CTL" del-filter "${id##* }" >/dev/null
}

load()
{
	insmod "$LOCKHELD_KO" hook="$1"
}

unload()
{
	rmmod lockheld
}

mutex="mutex mutex_killable mutex_try mutex_nested4 mutex_nested16"
rwsem_r="rwsem_read rwsem_read_try"
rwsem_w="rwsem_write rwsem_write_try"
spinlock="spinlock spinlock_irqsave spinlock_try spinlock_nested4 spinlock_nested16"
rwlock_r="rwlock_read rwlock_read_irqsave"
rwlock_w="rwlock_write rwlock_write_irqsave"
others="rt_mutex percpu_rwsem_write semaphore srcu_read rcu_read"
hits="mutex_hit rwsem_read_hit rwsem_write_hit spinlock_hit"
all="$mutex $rwsem_r $rwsem_w rwsem_downgrade $spinlock $rwlock_r $rwlock_w $others $hits"
samples_mutex="sample_mutex1 sample_mutex4 sample_mutex16"
raws_mutex="raw_mutex1 raw_mutex4 raw_mutex16"

# shellcheck disable=SC2086 # lists of words
pairs_of()
{
	local backend=$1 one=benchmod:benchmod

	load "$backend"
	measure pair "$backend" none empty $all
	while IFS=';' read -r filter ops; do
		[ -n "$filter" ] || continue
		with_filter "$filter" measure pair "$backend" "$filter" $ops
	done <<-LIST
		lock_held(mutex);$mutex
		lock_held(rwsem);$rwsem_r $rwsem_w rwsem_downgrade
		lock_held(rwsem:R);$rwsem_r $rwsem_w rwsem_downgrade
		lock_held(spinlock);$spinlock
		lock_held(rwlock);$rwlock_r $rwlock_w
		lock_held(rt-mutex);rt_mutex
		lock_held(percpu-rwsem:W);percpu_rwsem_write
		lock_held(semaphore);semaphore
		lock_held(srcu:R);srcu_read
		lock_held(${one}_mutex);mutex_hit mutex
		lock_held(${one}_rwsem:W);rwsem_write_hit rwsem_write
		lock_held(${one}_rwsem:R);rwsem_read_hit rwsem_read
		lock_held(${one}_spinlock);spinlock_hit spinlock spinlock_irqsave
		lock_held(rcu:R);rcu_read
		lock_held(mmap_lock:W);rwsem_write
		held_ns(mutex) > 1;$mutex
		held_ns(spinlock) > 1;$spinlock
		held_ns(${one}_mutex) > 1;mutex_hit mutex
		held_ns(${one}_spinlock) > 1;spinlock_hit spinlock
	LIST
	unload
}

# What perf's own handler does is measured without the module. The list says
# which samples a filter drops and which it passes.
# shellcheck disable=SC2086 # lists of words
samples_of()
{
	local backend=$1 one=benchmod:benchmod filter drops passes

	load "$backend"
	while IFS=';' read -r filter drops passes; do
		with_filter "$filter" measure_samples "$filter"
	done <<-LIST
		cpu == 1000;sample_none
		cpu < 1000;;sample_none raw_none
		lock_held(mutex);sample_none;$samples_mutex $raws_mutex
		lock_held(spinlock);sample_none;sample_spinlock1 raw_spinlock1
		lock_held(mutex) || lock_held(spinlock);sample_none;sample_mutex1 raw_mutex1
		lock_held(mutex) && lock_held(rwsem);sample_none $samples_mutex
		lock_held(${one}_mutex);sample_none
		lock_held(${one}_spinlock);sample_none
		lock_held(${one}_rwsem:R);sample_none
		lock_held(rcu:R);sample_none
		lock_held(mmap_lock);sample_none
		held_ns(mutex) > 1s;sample_none sample_mutex1
	LIST
	unload
}

# shellcheck disable=SC2086 # lists of words
measure_samples()
{
	measure dropped "$backend" "$1" $drops
	measure passed "$backend" "$1" $passes
}

# shellcheck disable=SC2086 # lists of words
part_pairs()
{
	local backend

	measure pair bare none empty $all
	for backend in ftrace kprobe; do
		pairs_of $backend
	done
}

# shellcheck disable=SC2086 # lists of words
part_samples()
{
	measure passed bare none sample_empty sample_none $samples_mutex \
		sample_spinlock1 raw_none $raws_mutex raw_spinlock1
	samples_of ftrace
}

start_lockbpf()
{
	start "$BENCH_OUT/lockbpf" "$BENCH_OUT/lockbpf.bpf.o" "$@"
}

start_bpftrace()
{
	start bpftrace "$here/peers/locks.bt"
}

# shellcheck disable=SC2086 # lists of words
part_peers()
{
	local how

	measure pair bare none empty $mutex $rwsem_r $rwsem_w $spinlock $rwlock_r $rwlock_w
	for how in ftrace kprobe kretprobe; do
		insmod "$BENCH_OUT/probemod.ko" how=$how families=mutex
		measure pair "bare $how" mutex $mutex
		rmmod probemod
		insmod "$BENCH_OUT/probemod.ko" how=$how families=spinlock
		measure pair "bare $how" spinlock $spinlock
		rmmod probemod
	done
	start_bpftrace
	measure pair bpftrace mutex mutex mutex_nested4 mutex_nested16
	stop "$helper"
	start_lockbpf mutex
	measure pair BPF mutex $mutex
	stop "$helper"
	start_lockbpf spinlock
	measure pair BPF spinlock $spinlock
	stop "$helper"
	start_lockbpf mutex rwsem spinlock rwlock
	measure pair BPF all $mutex $spinlock
	stop "$helper"
}

# workloads BACKEND FILTER
workloads()
{
	emit work "$1" "$2" fault "$("$BENCH_OUT/work" fault 4096)"
	emit work "$1" "$2" files "$(cd /dev/shm && "$BENCH_OUT/work" files 1000)"
	emit work "$1" "$2" switch "$("$BENCH_OUT/work" switch 1000)"
	emit work "$1" "$2" messaging "$(messaging)"
}

# perf tells seconds with three digits behind the point
messaging()
{
	perf bench -f simple sched messaging -g 1 -l 50 | sed 's/\.//; s/^0*//; s/$/000000/'
}

part_work()
{
	local backend

	workloads bare none
	for backend in ftrace kprobe; do
		load $backend
		if [ $backend = ftrace ]; then
			workloads $backend none
			with_filter 'lock_held(benchmod:benchmod_mutex)' \
				workloads $backend "one mutex (owner word)"
			with_filter 'lock_held(rcu:R)' workloads $backend rcu:R
			with_filter 'lock_held(benchmod:benchmod_spinlock)' \
				workloads $backend "one spinlock"
			with_filter 'lock_held(mutex)' workloads $backend mutex
		fi
		with_filter 'depth > 0' workloads $backend all
		unload
	done
	insmod "$BENCH_OUT/probemod.ko" how=kretprobe families=mutex,rwsem,spinlock,rwlock
	workloads "bare kretprobe" all
	rmmod probemod
	start_bpftrace
	workloads bpftrace mutex
	stop "$helper"
	start_lockbpf mutex rwsem spinlock rwlock
	workloads BPF all
	stop "$helper"
}

# Every CPU has locks of its own and works at the same time
scale_on()
{
	local cpus=$1 op ops=() filter

	for op in mutex spinlock rwsem_read mutex_nested4; do
		ops+=("$op:$cpus")
	done
	measure scale bare "none, CPUs: $cpus" "${ops[@]}"
	load ftrace
	for filter in 'lock_held(mutex)' 'lock_held(spinlock)' 'depth > 0'; do
		with_filter "$filter" measure scale ftrace "$filter, CPUs: $cpus" "${ops[@]}"
	done
	unload
}

# As many CPUs as there are, half of them, and so on
part_scale()
{
	local n cpu most

	most=$(nproc)
	for ((n = most; n > 0; n /= 2)); do
		for ((cpu = n; cpu < 2 * n && cpu < most; cpu++)); do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
		done
		scale_on $n
	done
}

in_tasks()
{
	measure scale "$1" "$2" mutex spinlock
	emit scale "$1" "$2" switch "$(($("$BENCH_OUT/work" switch 1000) / 1000))"
}

# As many tasks as $1, some of which sleep with a lock
with_tasks()
{
	local n=$1

	in_tasks bare "none, tasks: $n"
	load ftrace
	with_filter 'depth > 0' tracked_tasks "$n"
	unload
}

tracked_tasks()
{
	local holders=$(($1 < 500 ? $1 : 500))

	start "$BENCH_OUT/work" tasks "$1" $holders
	in_tasks ftrace "depth > 0, tasks: $1, with a mutex: $holders"
	stop "$helper"
}

part_tasks()
{
	local n

	for n in 10 1000 ${BENCH_TASKS-30000}; do
		with_tasks "$n"
	done
}

# The filters differ, so that each has its own program and its own event
part_filters()
{
	local n=0 most pids=() pid

	load ftrace
	for most in 1 8 64; do
		while [ $((++n)) -lt $most ]; do
			start "$BENCH_OUT/events"
			pids+=("$helper")
			"$LOCKHELD_CTL" add-filter "lock_held(mutex) && cpu != $n" \
				--pid "$helper" >/dev/null
		done
		with_filter 'lock_held(mutex)' measure scale ftrace "lock_held(mutex), filters: $most" \
			mutex sample_none sample_mutex1
	done
	for pid in "${pids[@]}"; do
		stop "$pid"
	done
	# A filter goes when the last of its events does
	until rmmod lockheld 2>/dev/null; do
		sleep 0.2
	done
}

insmod "$BENCH_OUT/benchmod.ko"
start "$BENCH_OUT/events" $benchmod/event
events_pid=$helper
for part; do
	"part_$part"
done
stop "$events_pid"
rmmod benchmod
