#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where a lock is taken: in interrupts on top of a holder, deep in other locks,
# in the task's own memory and signal handling, on a CPU that goes away.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

sleeping=$(usable mutex ww_mutex rwsem rt_mutex percpu_rwsem:W semaphore srcu:R)
spinning=$(usable spinlock raw_spinlock rwlock)

# ---- interrupts on top of a holder ----

# Of the locks that hard interrupts cannot take here there are none
hard_rwlock="take write_lock hard_rwlock" drop_hard_rwlock="drop hard_rwlock"
if [ "$sleeping_spinlocks" ]; then
	hard_rwlock="tick 1" drop_hard_rwlock="tick 1"
fi

# A filter for each of the families, and some of what interrupts take
# shellcheck disable=SC2046 # several words
specs $(usable mutex rwsem spinlock rwlock)
if [ "$spinning" ]; then
	expect_locks "a soft interrupt's own rwlock" \
		     "lock_held($(by_name rwlock holdmod_soft_rwlock):W)" \
		     rwlock "soft_rwlock:W"
	# Where spinlocks sleep, whoever serves soft interrupts holds one
	[ "$sleeping_spinlocks" ] ||
		expect "a spinlock, in soft interrupts" \
		       "lock_held(spinlock) && irq == soft" \
		       "held ~ /$(locks_of spinlock)/ && context == \"soft\""
fi
hard_word=$(word_of "${hard_lock#hard_}")
if supported "$hard_word"; then
	expect_locks "a hard interrupt's own lock" \
		     "lock_held(holdmod_$hard_lock)" spinlock "$hard_lock"
	expect "a lock that spins, in hard interrupts" \
	       "lock_held($hard_word) && irq == hard" \
	       "held ~ /$(locks_of "$hard_word")/ && context == \"hard\""
fi
expect "a mutex, in the task" "lock_held(mutex) && irq == none" \
       'held ~ /mutex:/ && context == "task"'
while read -r lock op; do
	[[ " $sleeping $spinning " = *" $lock "* ]] || continue
	scene "interrupts on top of a holder by $op" "
	hm 'repeat $(fewer 20); tick 1; take $op $lock; tick 2
	    hard; tick 2; take $hard_take $hard_lock; tick 2
	    $hard_rwlock; tick 2; drop $hard_lock
	    tick 2; $drop_hard_rwlock; tick 1; end
	    tick 2
	    soft; tick 2; take spin_lock soft_spinlock; tick 2
	    hard; tick 1; $hard_rwlock; tick 1
	    $drop_hard_rwlock; tick 1; end
	    take write_lock soft_rwlock; tick 1; drop soft_spinlock
	    tick 1; drop soft_rwlock; tick 1; end
	    tick 2; drop $lock; tick 1
	    hard; tick 1; take ${hard_take%_lock}_trylock $hard_lock; tick 1
	    drop $hard_lock; tick 1; end; tick 1
	    take $op obj3.$lock; tick 1; drop obj3.$lock; end'"
done <<< "mutex mutex_lock
rwsem down_read
rwsem down_write
spinlock spin_lock
rwlock read_lock
rwlock write_lock"
compared

# ---- deep ----

# Locks of objects 3 and up, released in another order
deep=""
while read -r kind op; do
	[[ " $sleeping $spinning " = *" $kind"[:\ ]* ]] || continue
	# lockdep lets ww_mutex_lock() fail now and then, to try its callers
	[ "$kind" != ww_mutex ] || [ ! -e /proc/lockdep ] || continue
	case $kind in
	srcu | rwsem) deep="$deep $kind:R" ;;
	rwlock) deep="$deep $kind:W" ;;
	*) deep="$deep $kind" ;;
	esac
	word=$(word_of "$kind")
	script="tick 1"
	for i in $(seq $deepest); do
		script="$script; take $op obj$((2 + i)).$kind; tick 1"
	done
	for i in $(seq $deepest); do
		script="$script; drop obj$((3 + i * 5 % deepest)).$kind; tick 1"
	done
	at=$(by_name "$word" "")
	[[ $kind =~ ^(rt_mutex|semaphore|raw_spinlock|srcu)$ ]] && at=$word@
	expect_locks "$deepest deep, the tenth $kind by address" \
	       "lock_held($at$(hm_address "obj12.$kind"))" "$word" \
	       "obj12[.]$kind"
	scene "$deepest deep by $op" "hm '$script; take $op $kind; tick 1
		drop $kind; tick 1'"
done <<< "mutex mutex_lock
ww_mutex ww_mutex_lock_ctx
rwsem down_read
rt_mutex rt_mutex_lock
semaphore down
srcu srcu_read_lock
spinlock spin_lock
raw_spinlock raw_spin_lock
rwlock write_lock"
# shellcheck disable=SC2086 # several words
specs $deep
expect "depth" "lock_held(mutex) && depth > 10" \
       "held ~ /$(locks_of mutex)/ && depth > 10"
scene "two kinds, two deep" "
	hm 'repeat $(fewer 20); take mutex_lock mutex; tick 1
	    take spin_lock spinlock
	    tick 1; drop spinlock; tick 1; take spin_lock_irq obj0.spinlock
	    tick 1; drop obj0.spinlock; drop mutex; tick 1; end'"
compared

# ---- deeper than can be followed ----

too_deep=$(for i in $(seq 63); do echo "take down semaphores; tick 1;"; done)
release=$(for i in $(seq 63); do echo "drop semaphores;"; done)
expect "64 deep, any of them" "lock_held(semaphore)" 'held ~ /semaphores:/'
expect "64 deep, the last" "lock_held(rwsem)" 'held ~ /rwsem:/'
expect "64 deep, and one more is not seen" "lock_held(mutex)" \
       'held ~ /mutex:/ && depth < 65'
expect "64 deep, their number" "lock_held(semaphore) && depth == 64" \
       'depth >= 64'
scene "64 locks and one more" "
	hm '$too_deep take down_read rwsem; tick 1; take mutex_lock mutex; tick 1
	    drop mutex; tick 1; drop rwsem; tick 1; $release tick 1
	    take mutex_lock mutex; tick 1; drop mutex; tick 1'"
full=$(counter stack_full)
compared
equal "the one more is counted" "$(($(counter stack_full) - full))" 1

# ---- the task's own locks, which have no symbol ----

expect "mmap_lock" "lock_held(mmap_lock)" 'held ~ /mmap_lock/'
expect "mmap_lock, R" "lock_held(mmap_lock:R)" 'held ~ /mmap_lock:R/'
expect "mmap_lock, W" "lock_held(mmap_lock:W)" 'held ~ /mmap_lock:W/'
expect "mmap_lock is an rwsem" "lock_held(rwsem)" 'held ~ /rwsem|mmap_lock/'
if [ "$spinning" ]; then
	expect "siglock" "lock_held(siglock)" 'held ~ /siglock/'
	expect "siglock is a spinlock" "lock_held(spinlock)" \
	       "held ~ /$(locks_of spinlock)/"
fi
for op in down_read down_write; do
	scene "mmap_lock by $op" "
	hm 'repeat $(fewer 20); tick 2; take $op mmap_lock; tick 5
	    drop mmap_lock; take $op rwsem; tick 3; drop rwsem; end'"
done
scene "siglock" "
	hm 'repeat $(fewer 20); tick 2; take spin_lock_irq siglock; tick 5; drop siglock
	    take spin_lock_irqsave spinlock; tick 3; drop spinlock; end'"
compared

# ---- a CPU that goes away while its tasks hold locks, and comes back ----

cpu1=/sys/devices/system/cpu/cpu1/online
hotplug()
{
	local kind op script="" n=0

	# The hooks stay when the CPU comes back
	"$LOCKHELD_CTL" record -a -e cpu-clock -o "$tmp/hooks.data" --filter \
		"lock_held(mutex) || lock_held(rwsem)${spinning:+ || lock_held(spinlock)}" \
		-- sleep 1000 > "$tmp/out" 2>&1 &
	keeper=$!
	until_true filters_are 1
	# shellcheck disable=SC2046 # several words
	specs $(usable mutex ww_mutex rwsem:R rt_mutex percpu_rwsem:W semaphore srcu:R)
	while read -r kind op; do
		[[ " $sleeping " = *" $kind"[:\ ]* ]] || continue
		n=$((n + 1))
		script="$script
		hm 'cpu 1; take $op $kind; tick 1; post 1; await $((n + 1))
		    tick 3; drop $kind; tick 2; take $op obj3.$kind; tick 1
		    drop obj3.$kind' &"
	done <<< "mutex mutex_lock
ww_mutex ww_mutex_lock
rwsem down_read
rt_mutex rt_mutex_lock
percpu_rwsem percpu_down_write
semaphore down
srcu srcu_read_lock"
	scene "holders whose CPU goes away" "
	$script
	hm '$(for i in $(seq $n); do echo "await 1;"; done)'
	hm 'cpu 1; post 20; repeat 1000; take spin_lock spinlock; busy 100; drop spinlock
	    busy 50; end' &
	hm 'await 20'
	echo 0 > $cpu1
	hm '$(for i in $(seq $n); do echo "post $((i + 1));"; done) tick 3'
	wait"
	compared
	echo 1 > $cpu1
	# shellcheck disable=SC2046 # several words
	specs $(usable mutex spinlock)
	scene "the CPU is back" "
	hm 'cpu 1; repeat 10; tick 2; take mutex_lock mutex; tick 2
	    take spin_lock spinlock; tick 2; drop spinlock; drop mutex; tick 1
	    take mutex_lock obj3.mutex; take spin_lock obj3.spinlock; tick 1
	    drop obj3.spinlock; drop obj3.mutex; tick 1; end'"
	compared
	kill -INT "$keeper"
	wait "$keeper"
}

if [ -w "$cpu1" ]; then
	hotplug
else
	skip "a CPU that goes away" "this kernel cannot take a CPU offline"
fi
finish
