#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is not simply "taken, released": waiting, failing, being killed, other
# tasks and CPUs, interrupts on top, nesting, migration, downgrading.

. "$(dirname "$0")/lib.sh"
setup

# While a task waits for a lock that sleeps, it takes spinlocks now and then,
# and at sched_switch it holds that of its run queue. A task that spins for a
# spinlock is known by the function in which it does so, out of which a kernel
# with lock debugging calls others.
unknowable='source == "timer" && wants ~ /mutex|rwsem/'
spinning=0
if grep -q ' do_raw_spin_lock$' /proc/kallsyms; then
	spinning='source == "timer" && wants ~ /spinlock/'
fi
expect_spinlock="source == \"switch\" ? 1 : \
	$unknowable || $spinning ? \"any\" : held ~ /spinlock:/"

# Filters of each kind for each family: by type, and by symbol
all_families()
{
	expect "mutex by type" "lock_held(mutex)" 'held ~ /mutex:/'
	expect "mutex by symbol" "lock_held(holdmod_mutex)" \
	       'held ~ /(^|,)mutex:/'
	expect "rwsem by type" "lock_held(rwsem)" 'held ~ /rwsem:/'
	expect "rwsem by type, R" "lock_held(rwsem:R)" 'held ~ /rwsem:R/'
	expect "rwsem by symbol, W" "lock_held(holdmod_rwsem:W)" \
	       'held ~ /(^|,)rwsem:W/'
	expect "rwsem by symbol" "lock_held(holdmod_rwsem)" \
	       'held ~ /(^|,)rwsem:/'
	expect "spinlock by type" "lock_held(spinlock)" "$expect_spinlock"
	expect "spinlock by symbol" "lock_held(holdmod_spinlock)" \
	       "$spinning ? \"any\" : held ~ /(^|,)spinlock:/"
	expect "rwlock by type" "lock_held(rwlock)" 'held ~ /rwlock:/'
	expect "rwlock by symbol, R" "lock_held(holdmod_rwlock:R)" \
	       'held ~ /(^|,)rwlock:R/'
}

# ---- waiting ----

# waiting LOCK HOLD TAKE: one task holds the lock with the function HOLD,
# another waits for it with TAKE and gets it in the end. The holder is busy at
# first, so that the other spins, and sleeps then if the lock can sleep. The
# timer and sched_switch tick them all the while.
waiting()
{
	local sleep="blocked $1 1; sleep 2000"

	case $1 in spinlock | rwlock) sleep="" ;; esac
	scene "$3 waits while another task holds it by $2" "
	hm 'timer 200; switch 1'
	for i in 1 2 3 4; do
		hm 'cpu 0; await 9; take $2 $1; post 1; wanted $1 1; busy 3000
		    $sleep; drop $1; tick 2' &
		hm 'cpu 1; post 9; await 1; tick 2; take $3 $1; busy 1000
		    tick 2; drop $1; tick 2' &
		wait
	done
	hm 'timer 0; switch 0'"
}

all_families
waiting mutex mutex_lock mutex_lock
waiting mutex mutex_trylock mutex_lock_killable
waiting mutex mutex_lock mutex_lock_io
waiting rwsem down_write down_read
waiting rwsem down_read down_write
waiting rwsem down_write down_write_killable
waiting spinlock spin_lock spin_lock
waiting spinlock spin_lock_bh spin_lock_bh
waiting rwlock write_lock read_lock
waiting rwlock read_lock write_lock
scene "a reader waits behind a writer that waits for a reader" "
	hm 'switch 1'
	hm 'take down_read rwsem; post 1; blocked rwsem 1; post 2
	    blocked rwsem 2; tick 2; drop rwsem' &
	hm 'await 1; take down_write rwsem; tick 2; drop rwsem' &
	hm 'await 2; tick 1; take down_read rwsem; tick 2; drop rwsem
	    tick 1' &
	wait
	hm 'switch 0'"
compared
at_least "ticks of tasks that waited" "$(hm_count ticks waiting)" 100
for wanted in mutex:W rwsem:R rwsem:W spinlock:W rwlock:R rwlock:W; do
	at_least "some of them for $wanted" \
		 "$(awk -v w="$wanted" '$8 == w' "$tmp/ticks" | wc -l)" 1
done

# ---- attempts that fail ----

# gives_up LOCK HOLD TAKE SIGNAL AGAIN: the waiting task gets a signal. It stays
# while the holder lets go and takes the lock again with the function AGAIN.
gives_up()
{
	scene "$3 ends with SIG$4" "
	hm 'take $2 $1; tick 10; post 1; blocked $1 1; post 2; await 3
	    tick 10; drop $1; tick 10; take $5 $1; post 4; await 5; tick 10
	    drop $1' &
	holder=\$!
	hm 'await 1; tick 10; fail $3 $1; tick 50; post 3; await 4; tick 50
	    post 5; take $3 obj0.$1; tick 10; drop obj0.$1' &
	waiter=\$!
	hm 'await 2'
	kill -$4 \$waiter
	wait \$waiter \$holder
	true"
}

# fails LOCK HOLD TRY: a trylock, and afterwards one that succeeds
fails()
{
	scene "$3 fails while another task holds it by $2" "
	hm 'cpu 0; await 9; repeat 20; take $2 $1; post 1; tick 2; await 2
	    tick 2; drop $1; tick 1; post 3; await 4; end' &
	hm 'cpu 1; post 9; repeat 20; await 1; tick 2; fail $3 $1; tick 5
	    post 2; await 3; take $3 $1; tick 3; drop $1; tick 2
	    post 4; end' &
	wait"
}

all_families
gives_up mutex mutex_lock mutex_lock_killable KILL mutex_lock
gives_up mutex mutex_lock mutex_lock_interruptible TERM mutex_trylock
gives_up rwsem down_write down_read_killable KILL down_read
gives_up rwsem down_write down_read_interruptible TERM down_read
gives_up rwsem down_read down_write_killable KILL down_read
tries="mutex:mutex_lock:mutex_trylock
       rwsem:down_write:down_read_trylock rwsem:down_read:down_write_trylock
       spinlock:spin_lock:spin_trylock spinlock:spin_lock:spin_trylock_bh
       rwlock:write_lock:read_trylock rwlock:read_lock:write_trylock"
for spec in $tries; do
	IFS=: read -r lock hold try <<< "$spec"
	fails "$lock" "$hold" "$try"
done
scene "a counter that does not become 0" "
	hm 'repeat 20; fail atomic_dec_not_mutex_lock mutex; tick 5
	    fail atomic_dec_not_lock spinlock; tick 5; end'"
compared
for op in mutex_lock_killable mutex_lock_interruptible down_read_killable \
	  down_read_interruptible down_write_killable; do
	equal "$op has failed once" "$(hm_count failed $op)" 1
done
for spec in $tries; do
	equal "${spec##*:} has failed 20 times" \
	      "$(hm_count failed "${spec##*:}")" 20
done

# ---- modes, other locks, downgrading ----

expect_none "another mutex is held" "lock_held(holdmod_mutex)"
expect "held for writing" "lock_held(rwsem:W)" 'held ~ /rwsem:W/'
expect "held for reading" "lock_held(rwsem:R)" 'held ~ /rwsem:R/'
expect "by address, R" "lock_held($(hm_address obj1.rwsem):R)" \
       'held ~ /obj1.rwsem:R/'
expect "by address, W" "lock_held_exclusive($(hm_address obj1.rwsem))" \
       'held ~ /obj1.rwsem:W/'
expect "by symbol, R" "lock_held_shared(holdmod_rwsem)" \
       'held ~ /(^|,)rwsem:R/'
expect "by symbol, W" "lock_held(holdmod:holdmod_rwsem:W)" \
       'held ~ /(^|,)rwsem:W/'
expect "either of two" "lock_held_read(rwsem) || lock_held_write(mutex)" \
       'held ~ /rwsem:R/ || held ~ /mutex/'
expect "one and not the other" "lock_held(mutex) && !lock_held(rwsem)" \
       'held ~ /mutex/ && held !~ /rwsem/'
expect "a comma is an and" "lock_held(mutex), lock_held(rwsem:R)" \
       'held ~ /mutex/ && held ~ /rwsem:R/'
scene "two kinds and modes" "
	hm 'take mutex_lock obj0.mutex; tick 10; take down_read obj1.rwsem
	    tick 10; drop obj0.mutex; tick 10; drop obj1.rwsem; tick 10
	    take down_write obj1.rwsem; tick 10; drop obj1.rwsem'"
for lock in rwsem obj1.rwsem; do
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

all_families
for spec in mutex:mutex_lock rwsem:down_read rwlock:read_lock \
	    spinlock:spin_lock; do
	IFS=: read -r lock op <<< "$spec"
	scene "another task on another CPU while one holds by $op" "
	hm 'timer 200'
	hm 'cpu 0; await 9; take $op $lock; post 1; busy 5000; await 2
	    drop $lock' &
	hm 'cpu 1; post 9; await 1; busy 3000; tick 100; post 2' &
	wait
	hm 'timer 0'"
done
for spec in mutex:mutex_lock rwsem:down_write rwsem:down_read; do
	IFS=: read -r lock op <<< "$spec"
	scene "another task on the same CPU while one holds by $op" "
	hm 'switch 1'
	hm 'cpu 0; take $op $lock; post 1; await 2; tick 10; sleep 1000
	    drop $lock; post 3' &
	hm 'cpu 0; await 1; repeat 20; tick 5; sleep 100; end; post 2
	    await 3; tick 5' &
	wait"
	scene "a holder by $op goes to another CPU" "
	hm 'repeat 20; cpu 0; take $op $lock; tick 2; cpu 1; tick 2; sleep 100
	    cpu 0; tick 2; cpu 1; tick 2; drop $lock; tick 2; end' &
	hm 'repeat 20; tick 2; sleep 200; end' &
	wait
	hm 'switch 0'"
	scene "two threads, of which one holds by $op" "
	'$TEST_TOOLS/threads' \
		\"scenario \$scene; take $op $lock; post 1; tick 20; await 2
		  tick 20; drop $lock; post 3; tick 20\" \
		\"scenario \$scene; await 1; tick 50; post 2; await 3
		  tick 20\""
done
scene "several readers, not first in last out" "
	for i in 1 2 3 4; do
		hm \"take down_read rwsem; tick 5; post 1; await \$((10 + i))
		    tick 5; drop rwsem; tick 5; post 2; await 3; tick 5\" &
	done
	hm 'await 1; await 1; await 1; await 1; post 13; await 2; post 11
	    await 2; tick 5; post 14; await 2; post 12; await 2; post 3; post 3
	    post 3; post 3'
	wait"
scene "a task takes a lock twice for reading" "
	hm 'repeat 20; take down_read rwsem; tick 1
	    take down_read_trylock rwsem; tick 1; drop rwsem; tick 1
	    take down_read_trylock rwsem; tick 1; drop rwsem; tick 1; drop rwsem
	    tick 1; end'
	hm 'repeat 20; take read_lock rwlock; tick 1
	    take read_trylock rwlock; tick 1; drop rwlock; tick 1
	    take read_trylock rwlock; tick 1; drop rwlock; tick 1; drop rwlock
	    tick 1; end'"
compared

# ---- interrupts on top of a holder ----

all_families
expect "a hard interrupt's own spinlock" "lock_held(holdmod_hard_spinlock)" \
       'held ~ /hard_spinlock/'
expect "a soft interrupt's own rwlock" "lock_held(holdmod_soft_rwlock:W)" \
       'held ~ /soft_rwlock:W/'
expect "a mutex, in the task" "lock_held(mutex) && irq == none" \
       'held ~ /mutex:/ && context == "task"'
expect "an rwlock, in hard interrupts" "lock_held(rwlock) && irq == hard" \
       'held ~ /rwlock:/ && context == "hard"'
expect "a spinlock, in soft interrupts" "lock_held(spinlock) && irq == soft" \
       'held ~ /spinlock:/ && context == "soft"'
for spec in mutex:mutex_lock rwsem:down_read rwsem:down_write \
	    spinlock:spin_lock rwlock:read_lock; do
	IFS=: read -r lock op <<< "$spec"
	scene "interrupts on top of a holder by $op" "
	hm 'repeat 20; tick 1; take $op $lock; tick 2
	    hard; tick 2; take spin_lock hard_spinlock; tick 2
	    take write_lock hard_rwlock; tick 2; drop hard_spinlock
	    tick 2; drop hard_rwlock; tick 1; end
	    tick 2
	    soft; tick 2; take spin_lock soft_spinlock; tick 2
	    hard; tick 1; take read_lock hard_rwlock; tick 1
	    drop hard_rwlock; tick 1; end
	    take write_lock soft_rwlock; tick 1; drop soft_spinlock
	    tick 1; drop soft_rwlock; tick 1; end
	    tick 2; drop $lock; tick 1
	    hard; tick 1; take spin_trylock hard_spinlock; tick 1
	    drop hard_spinlock; tick 1; end; tick 1; end'"
done
compared

# ---- nesting ----

order_of_release="3 0 15 7 1 14 8 2 13 4 12 5 9 11 6 10"
for spec in mutex:mutex_lock rwsem:down_read spinlock:spin_lock \
	    rwlock:write_lock; do
	IFS=: read -r lock op <<< "$spec"
	script="tick 2"
	for i in $(seq 0 15); do
		script="$script; take $op obj$i.$lock; tick 2"
	done
	for i in $order_of_release; do
		script="$script; drop obj$i.$lock; tick 2"
	done
	expect "16 deep, $lock by type" "lock_held($lock)" "held ~ /$lock/"
	for i in 0 10; do
		expect "16 deep, $lock $i by address" \
		       "lock_held($(hm_address "obj$i.$lock"))" \
		       "held ~ /obj${i}[.]$lock/"
	done
	expect "16 deep, $lock, the last four" \
	       "lock_held($lock) && depth > 12" \
	       "held ~ /$lock/ && depth > 12"
	scene "16 deep by $op" "hm 'repeat 5; $script; end'"
done
scene "two kinds, two deep" "
	hm 'repeat 20; take mutex_lock mutex; tick 1; take spin_lock spinlock
	    tick 1; drop spinlock; tick 1; take spin_lock_irq obj0.spinlock
	    tick 1; drop obj0.spinlock; drop mutex; tick 1; end'"
compared

# ---- the task's own locks, which have no symbol ----

expect "mmap_lock" "lock_held(mmap_lock)" 'held ~ /mmap_lock/'
expect "mmap_lock, R" "lock_held(mmap_lock:R)" 'held ~ /mmap_lock:R/'
expect "mmap_lock, W" "lock_held(mmap_lock:W)" 'held ~ /mmap_lock:W/'
expect "mmap_lock is an rwsem" "lock_held(rwsem)" 'held ~ /rwsem|mmap_lock/'
expect "siglock" "lock_held(siglock)" 'held ~ /siglock/'
expect "siglock is a spinlock" "lock_held(spinlock)" \
       'held ~ /spinlock|siglock/'
for op in down_read down_write; do
	scene "mmap_lock by $op" "
	hm 'repeat 20; tick 2; take $op mmap_lock; tick 5
	    drop mmap_lock; take $op rwsem; tick 3; drop rwsem; end'"
done
scene "siglock" "
	hm 'repeat 20; tick 2; take spin_lock_irq siglock; tick 5; drop siglock
	    take spin_lock_irqsave spinlock; tick 3; drop spinlock; end'"
compared
finish
