#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh PART...: measures, in a VM whose time is counted in instructions.
# Prints lines of five words with tabs between them:
#
#	WHAT  BACKEND  FILTER  OPERATION  INSTRUCTIONS
#
# WHAT is pair, sample, work or scale; INSTRUCTIONS are those of one operation,
# or of a whole workload. What has nothing loaded is the BACKEND "bare".

set -euo pipefail
here=$(dirname "$(realpath "$0")")
: "${BENCH_OUT:?the folder of what has been built}"
: "${LOCKHELD_KO:?}"
ctl=$here/../../lockheld-ctl/lockheld-ctl
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

start_events()
{
	coproc EVENTS { exec "$BENCH_OUT/events" $benchmod/event; }
	events_pid=$!
	read -r _ <&"${EVENTS[0]}"
}

stop_events()
{
	local in=${EVENTS[1]}

	exec {in}>&-
	wait "$events_pid"
}

# with_filter EXPRESSION COMMAND...
with_filter()
{
	local id

	id=$("$ctl" add-filter "$1" --pid "$events_pid")
	shift
	"$@"
	"$ctl" del-filter "${id##* }" >/dev/null
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
samples="sample_none sample_mutex1 sample_mutex4 sample_mutex16 sample_spinlock1"
raws="raw_none raw_mutex1 raw_mutex4 raw_mutex16 raw_spinlock1"

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

# What perf's own handler does is measured without the module
# shellcheck disable=SC2086 # lists of words
samples_of()
{
	local backend=$1 one=benchmod:benchmod

	load "$backend"
	while IFS=';' read -r filter ops; do
		[ -n "$filter" ] || continue
		with_filter "$filter" measure sample "$backend" "$filter" $ops
	done <<-LIST
		cpu == 1000;sample_none
		cpu < 1000;sample_none raw_none
		lock_held(mutex);$samples $raws
		lock_held(spinlock);$samples raw_spinlock1
		lock_held(mutex) || lock_held(spinlock);sample_none $raws
		lock_held(rwsem);$samples
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
	measure sample bare none sample_empty $samples $raws
	samples_of ftrace
}

insmod "$BENCH_OUT/benchmod.ko"
start_events
for part; do
	"part_$part"
done
stop_events
rmmod benchmod
