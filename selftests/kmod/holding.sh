#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What holders do: go to sleep and to other CPUs, take a lock twice, let others
# release it, lose their CPU; and locks that others hold at the same time.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

sleeping=$(usable mutex ww_mutex rwsem rt_mutex percpu_rwsem:W semaphore srcu:R)
spinning=$(usable spinlock raw_spinlock rwlock rcu:R)

# The plainest ways to take locks of KINDS that can be tracked, "KIND MODE TAKE"
ways()
{
	local kind mode take

	while read -r kind mode take; do
		[[ " $1 " = *" $kind"[:\ ]* ]] &&
			supported "$(word_of "$kind")" "$mode" &&
			echo "$kind $mode $take"
	done <<< "mutex W mutex_lock
ww_mutex W ww_mutex_lock
rwsem R down_read
rwsem W down_write
rt_mutex W rt_mutex_lock
percpu_rwsem W percpu_down_write
semaphore W down
srcu R srcu_read_lock
spinlock W spin_lock
raw_spinlock W raw_spin_lock
rwlock R read_lock
rwlock W write_lock
rcu R rcu_read_lock"
}

# Kinds of which objects have one each
in_object()
{
	[ "$1" != rcu ]
}

# ---- modes, and other locks of the same kind ----

# shellcheck disable=SC2086 # several words
specs $sleeping $spinning
if [ "$spinning" = "${spinning/rwlock/}" ]; then
	cannot "by slab cache, some of whose locks cannot be tracked" \
	       "lock_held(&holdmod_obj)" inlined
else
	# Raw spinlocks have to be asked for where spinlocks are others
	kinds=${sleeping_spinlocks:+'([^r]|r[^a])'}
	expect "by slab cache" "lock_held(&holdmod_obj)" \
	       "held ~ /obj[0-9]+[.]$kinds/"
	expect "by the other slab cache" "lock_held(&holdmod_other)" \
	       "held ~ /other[.]$kinds/"
	expect "by slab cache, R" "lock_held(&holdmod_obj:R)" \
	       'held ~ /obj[0-9]+[.][a-z_]*:R/'
fi
expect "one and not the other" "lock_held(mutex) && !lock_held(rwsem)" \
       "held ~ /$(locks_of mutex)/ && held !~ /$(locks_of rwsem)/"
while read -r kind mode take; do
	in_object "$kind" || scene "sections by $take" "
	hm 'repeat 5; tick 2; take $take $kind; tick 3; drop $kind; tick 1
	    end'"
	in_object "$kind" || continue
	scene "three locks by $take" "
	hm 'repeat 5; tick 2; take $take $kind; tick 3; drop $kind; tick 1
	    take $take obj3.$kind; tick 3; drop obj3.$kind; tick 1
	    take $take other.$kind; tick 3; drop other.$kind; tick 1
	    end'"
done < <(ways "$sleeping $spinning")
scene "two kinds and modes" "
	hm 'take mutex_lock obj0.mutex; tick 10; take down_read obj3.rwsem
	    tick 10; drop obj0.mutex; tick 10; drop obj3.rwsem; tick 10
	    take down_write obj3.rwsem; tick 10; drop obj3.rwsem'"
for lock in rwsem obj3.rwsem; do
	scene "$lock is downgraded" "
	hm 'timer 200; switch 1'
	hm 'repeat 10; take down_write $lock; tick 3; downgrade $lock; tick 3
	    drop $lock; tick 3; end'
	hm 'cpu 0; await 9; take down_write $lock; post 1; wanted $lock 1
	    busy 3000; downgrade $lock; busy 3000; drop $lock' &
	hm 'cpu 1; post 9; await 1; take down_read $lock; tick 3; busy 3000
	    drop $lock; tick 3' &
	wait
	hm 'timer 0; switch 0'"
done
compared

# ---- tasks and CPUs ----

# shellcheck disable=SC2086 # several words
specs $sleeping $spinning
while read -r kind mode take; do
	object=obj3.$kind
	in_object "$kind" || object=$kind
	scene "another task on another CPU while one holds by $take" "
	hm 'timer 200'
	hm 'cpu 0; await 9; take $take $kind; post 1; busy 4000; await 2
	    drop $kind; take $take $object; tick 1; drop $object' &
	hm 'cpu 1; post 9; await 1; busy 3000; tick 50; post 2' &
	wait
	hm 'timer 0'"
done < <(ways "$sleeping $spinning")
while read -r kind mode take; do
	scene "another task on the same CPU while one holds by $take" "
	hm 'switch 1'
	hm 'cpu 0; take $take $kind; post 1; await 2; tick 10; sleep 1000
	    drop $kind; post 3' &
	hm 'cpu 0; await 1; repeat 10; tick 5; sleep 100; end; post 2
	    await 3; tick 5' &
	wait"
	scene "a holder by $take goes to another CPU" "
	hm 'repeat 10; cpu 0; take $take $kind; tick 2; cpu 1; tick 2
	    sleep 100; cpu 0; tick 2; cpu 1; tick 2; drop $kind; tick 2
	    end' &
	hm 'repeat 10; tick 2; sleep 200; end' &
	wait
	hm 'switch 0'"
	scene "two threads, of which one holds by $take" "
	'$TEST_TOOLS/threads' \
		\"scenario \$scene; take $take $kind; post 1; tick 20; await 2
		  tick 20; drop $kind; post 3; tick 20\" \
		\"scenario \$scene; await 1; tick 50; post 2; await 3
		  tick 20\""
done < <(ways "$sleeping")
for op in down_read srcu_read_lock; do
	kind=rwsem
	[ $op = down_read ] || kind=srcu
	scene "several readers by $op, not first in last out" "
	for i in 1 2 3 4; do
		hm \"take $op $kind; tick 5; post 1; await \$((10 + i))
		    tick 5; drop $kind; tick 5; post 2; await 3; tick 5\" &
	done
	hm 'await 1; await 1; await 1; await 1; post 13; await 2; post 11
	    await 2; tick 5; post 14; await 2; post 12; await 2; post 3; post 3
	    post 3; post 3'
	wait"
done
compared

# ---- the same lock twice ----

# shellcheck disable=SC2046 # several words
specs $(usable rwsem:R semaphore srcu:R rwlock:R rcu:R)
expect "a semaphore that counts" "lock_held(semaphore@holdmod_semaphores)" \
       'held ~ /semaphores:/'
while read -r kind take again; do
	object=obj3.$kind
	in_object "$kind" || object=$kind
	[ "$kind" != semaphores ] || object=obj3.semaphore
	scene "a task takes $kind twice by $take and $again" "
	hm 'repeat 10; take $take $kind; tick 1; take $again $kind; tick 1
	    drop $kind; tick 1; take $again $kind; tick 1; drop $kind; tick 1
	    drop $kind; tick 1; take $take $object; tick 1; drop $object
	    end'"
done <<< "rwsem down_read down_read_trylock
rwlock read_lock read_trylock
srcu srcu_read_lock srcu_read_lock
srcu srcu_read_lock srcu_down_read
rcu rcu_read_lock rcu_read_lock
semaphores down down
semaphores down_trylock down_timeout"
scene "the semaphore that does not count" "
	hm 'take down semaphore; tick 1; drop semaphore; tick 1'"
scene "two tasks hold a semaphore that counts" "
	hm 'take down semaphores; tick 3; post 1; await 2; tick 3
	    drop semaphores; tick 3; post 3' &
	hm 'await 1; take down semaphores; tick 3; post 2; await 3; tick 3
	    drop semaphores; tick 3' &
	wait"
compared

# ---- released by another task ----

unowned="rwsem down_read_non_owner
percpu_rwsem percpu_down_write
semaphore down
semaphore down_trylock
srcu srcu_down_read"
# shellcheck disable=SC2046 # several words
specs $(usable rwsem:R percpu_rwsem:W semaphore srcu:R)
while read -r kind take; do
	scene "what was taken by $take is released by another task" "
	hm 'switch 1'
	hm 'tick 1; take $take $kind; leave $kind; tick 5; post 1; await 2
	    tick 5; sleep 1000; tick 5; post 3' &
	hm 'await 1; tick 5; release $kind; tick 5; post 2; await 3; tick 5
	    take $take $kind; tick 5; drop $kind; tick 5' &
	wait
	hm 'switch 0'"
	scene "what was taken by $take is left by a task that ends" "
	(hm 'tick 1; take $take $kind; leave $kind; tick 5')
	hm 'tick 5; release $kind; tick 5; take $take $kind; tick 5; drop $kind
	    take $take obj3.$kind; tick 5; drop obj3.$kind; tick 5'"
	scene "what was taken by $take is released by a third CPU's task" "
	hm 'cpu 0; take $take $kind; leave $kind; tick 5; post 1; await 2
	    cpu 1; tick 5' &
	hm 'cpu 1; await 1; tick 5; release $kind; tick 5; post 2' &
	wait"
done <<< "$unowned"
scene "readers release for each other" "
	hm 'take down_read rwsem; tick 2
	    take down_read_non_owner obj3.rwsem; leave obj3.rwsem
	    tick 2; post 1; await 2; tick 2; drop rwsem; tick 2' &
	hm 'take down_read rwsem; tick 2; await 1; release obj3.rwsem; tick 2
	    drop rwsem; tick 2; post 2' &
	wait"
compared
finish
