#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A thousand attach and detach cycles, and the module loaded and unloaded many
# times, all while tasks take locks, fault pages in, fork and exit. What the
# kernel's log says about it is part of the result, which the VM looks after.

. "$(dirname "$0")/lib.sh"

setup
. "$here/families.sh"

# Hooks take a second to be placed, and on a kernel with kmemleak and KASAN half
# a minute. Where things are to be done fewer times this is where the time goes.
# With KASAN the module is loaded a hundred times, mostly without hooks.
cycles=$(fewer "$(fewer 1000)") hooks=$(fewer "$(fewer 20)")
loads=$(fewer "$(fewer 50)") without=0
[ ! -e /sys/kernel/debug/kmemleak ] || hooks=3 loads=100 without=19

part_of_this "$TEST_TOOLS/storm" "$cycles" "$hooks"
equal "no filter is left" "$(nr_filters)" 0
equal "no hook is left" "$(nr_hooks)" 0
check "lockheld is unloaded" unload lockheld

# Loads, records for a moment and unloads
load_and_unload()
{
	load_lockheld || return
	"$LOCKHELD_CTL" record -a -e page-faults -c 1 -o "$tmp/0.data" \
		--filter "$1" -- sleep 0.02 || return
	unload lockheld
}

# Nice, as that of storm is: it fills the CPUs, and nobody waits for it
for i in 1 2 3 4; do
	nice bash -c "hm 'repeat 1000000000; take mutex_lock mutex
		take down_write rwsem; busy 20; drop rwsem; take spin_lock spinlock
		drop spinlock; drop mutex; take read_lock rwlock; drop rwlock
		take rt_mutex_lock rt_mutex; take down semaphore
		take srcu_read_lock srcu; sleep 100; drop srcu
		drop semaphore; drop rt_mutex; end'" 2> /dev/null &
done
lockers=$(jobs -p)
expressions=('lock_held(mutex)' "$(any_of rwsem rwlock)"
	     'lock_held(mutex@holdmod_mutex)' "$(any_of srcu spinlock)"
	     'lock_held(mmap_lock) && depth > 0'
	     "$(any_of rt-mutex percpu-rwsem semaphore rcu rcu-trace raw-spinlock)")
bad=""
for ((i = 0; i < loads; i++)); do
	# The one that needs no hooks, but for every so many turns
	((i % (without + 1))) && e=2 || e=$((i / (without + 1) % 6))
	load_and_unload "${expressions[e]}" > "$tmp/out" 2>&1 ||
		bad="turn $i: $(cat "$tmp/out")"
done
equal "loaded and unloaded $loads times" "$bad" ""
at_least "the load has run all the time" "$(jobs -r | wc -l)" 4
# shellcheck disable=SC2086 # several numbers
kill $lockers
wait
check "insmod once more" load_lockheld
finish
