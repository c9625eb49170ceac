#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What has gone wrong for others (docs/field-cases.md has the whole list): crowds,
# floods, full tables, readers that stop, locks held before or left behind, a lock
# whose module goes away.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

# ---- L4: 500 threads blocked in one mutex ----

crowd=$(fewer 500)
turn="scenario \$scene; take mutex_lock mutex; tick 1; drop mutex; tick 1"
expect "a crowd, by type" "lock_held(mutex)" 'held ~ /(^|,)mutex:/'
expect "a crowd, by symbol" "lock_held($(by_name mutex holdmod_mutex))" \
       'held ~ /(^|,)mutex:/'
scene "$crowd threads blocked in one mutex" "
	hm 'take mutex_lock mutex; post 1; blocked mutex $crowd; tick 5
	    drop mutex; tick 5' &
	scripts=()
	for i in \$(seq $crowd); do scripts+=(\"$turn\"); done
	'$TEST_TOOLS/threads' \"\${scripts[@]}\"
	wait"
compared
equal "all of them had it" "$(hm_count taken mutex_lock)" $((crowd + 1))

# ---- L5: interrupts that take many locks while hooks run ----

flood='
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.setblocking(False)
while True:
    try:
        s.sendto(b"x" * 1400, s.getsockname())
    except BlockingIOError:
        pass
'
# shellcheck disable=SC2046 # several words
specs $(usable mutex spinlock rwlock rwsem:R)
scene "a flood of packets" "
	python3 -c '$flood' &
	flood=\$!
	hm 'cpu 0; repeat $(fewer 300); take spin_lock spinlock; tick 1; drop spinlock
	    tick 1; take mutex_lock mutex; take read_lock rwlock; tick 1
	    drop rwlock; tick 1; drop mutex; take write_lock rwlock
	    tick 1; drop rwlock; take down_read rwsem; tick 1; drop rwsem
	    take spin_lock_bh obj3.spinlock; tick 1; drop obj3.spinlock
	    take mutex_lock obj3.mutex; tick 1; drop obj3.mutex
	    take read_lock obj3.rwlock; tick 1; drop obj3.rwlock
	    take down_read obj3.rwsem; tick 1; drop obj3.rwsem
	    end'
	kill \$flood
	wait \$flood
	true"
compared

# ---- preempted between the hook of a lock that spins and the lock ----

# Where the kernel can be told to preempt itself, it is
preempts=/sys/kernel/debug/sched/preempt
modes=$(cat "$preempts" 2> /dev/null)
[[ $modes != *full* ]] || echo full > "$preempts"
waker='
import os, time
os.sched_setaffinity(0, {0})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
while True:
    time.sleep(0.0001)
'
# spins WORD VERB NAME
spins()
{
	local before

	before=$(counter repaired)
	expect "a task that is often preempted, $1" "lock_held($1)" \
	       "held ~ /$(locks_of "$1" W)/"
	scene "a task that is often preempted" "
		python3 -c '$waker' &
		waker=\$!
		hm 'cpu 0; repeat $(fewer 1000); take $2 $3; tick 1; drop $3; tick 1; end
		    repeat $(fewer 200000); take $2 $3; drop $3; end'
		kill \$waker
		wait \$waker
		true"
	compared
	equal "no hold was lost by that, $1" "$(counter repaired)" "$before"
}

if supported raw-spinlock; then
	spins raw-spinlock raw_spin_lock raw_spinlock
elif [ ! "$sleeping_spinlocks" ] && supported spinlock; then
	spins spinlock spin_lock spinlock
else
	cannot "a lock that spins" "lock_held(raw-spinlock)" \
	       "${reasons[raw-spinlock:W]}"
fi
[[ ! $modes =~ \((.*)\) ]] || echo "${BASH_REMATCH[1]}" > "$preempts"

# ---- L6: held when the recording starts ----

hm 'scenario 99; take mutex_lock mutex; take down_read rwsem; await 2; tick 5
    drop rwsem; tick 3; drop mutex; scenario 98; tick 5
    take mutex_lock mutex; take down_read rwsem; tick 5; drop rwsem; drop mutex
    tick 5' &
until_true grep -q "^taken down_read [1-9]" "$hm_dir/counts"
expect "held before, by owner word" "lock_held(mutex@holdmod_mutex)" \
       'held ~ /(^|,)mutex:/'
expect "held before, by hooks" "lock_held(rwsem:R)" \
       'scenario == 98 && held ~ /rwsem:/'
scene "locks held when the recording starts" "
	hm 'post 2'
	until grep -q '^dropped mutex_lock 2' '$hm_dir/counts'; do
		sleep 0.1
	done"
compared
wait

# ---- L13: a table that is full says so, and works again afterwards ----

check "lockheld is unloaded for a small table" unload lockheld
check "it is loaded with one" load_lockheld max_sleepers=4
sleepers=()
for i in $(seq 0 15); do
	sleepers+=("scenario 1; take down obj$i.semaphore; post 1; await 2; tick 1; drop obj$i.semaphore; tick 1")
done
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -o "$tmp/full.data" \
	--filter 'lock_held(semaphore)' -- bash -c "
	'$TEST_TOOLS/threads' \"\$@\" &
	hm '$(for i in $(seq 16); do echo "await 1;"; done)'
	hm '$(for i in $(seq 16); do echo "post 2;"; done)'
	wait" - "${sleepers[@]}" > "$tmp/out" 2>&1
at_least "locks of sleepers that are lost are counted" "$(counter records_full)" 1
seen=$("$TEST_TOOLS/samples" -s "$tmp/full.data" | grep -cv =)
at_least "some of 16 sleepers are followed" "$seen" 1
at_least "the others are those that were counted" \
	 $((seen + $(counter records_full))) 16
check "the recorder says so" grep -q records_full "$tmp/out"
expect "a table that was full works" "lock_held(semaphore)" 'held ~ /semaphores?:/'
expect "also for others" "lock_held(mutex)" 'held ~ /mutex:/'
scene "after the table was full" "
	hm 'repeat 20; take down semaphore; tick 1; sleep 100; tick 1
	    drop semaphore; tick 1; take mutex_lock mutex; sleep 100; tick 1
	    drop mutex; tick 1; end'"
compared
check "lockheld is unloaded" unload lockheld
check "it is loaded as before" load_lockheld

# ---- L16, L17: a reader that stops reading ----

# What is lost is told with the next sample that there is room for, and counts
# perf's records of processes, too.
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -m 8 -o "$tmp/slow.data" \
	--filter 'lock_held(mutex)' -- bash -c "
	touch '$tmp/started'
	until [ -e '$tmp/stopped' ]; do sleep 0.1; done
	hm 'cpu 0; repeat 100; take mutex_lock mutex; tick 100; drop mutex; end'
	touch '$tmp/ticked'; until [ -e '$tmp/goes_on' ]; do sleep 0.1; done
	sleep 1; hm 'cpu 0; take mutex_lock mutex; tick 1; drop mutex'" \
	> "$tmp/out" 2>&1 &
recorder=$!
until_true test -e "$tmp/started"
kill -STOP "$recorder"
touch "$tmp/stopped"
check "what is recorded goes on when the recorder stops" \
      until_true test -e "$tmp/ticked"
kill -CONT "$recorder"
touch "$tmp/goes_on"
wait "$recorder"
said=$("$TEST_TOOLS/samples" "$tmp/slow.data" | tail -n 1)
lost=${said#*lost=} got=${said#samples=}
got=${got% *}
at_least "samples are lost when it does not read" "$lost" 1
at_least "every one of them is counted" "$((got + lost))" 10001
check "the filter has passed them" grep -q "10001 passed" "$tmp/out"
check "the recorder says how many are lost" grep -q "$lost lost" "$tmp/out"

# ---- L20, L21: names of locks ----

twice=$(awk '$2 ~ /^[bBdD]$/ && NF == 3 && $3 ~ /^[a-z_]*$/ { n[$3]++ }
	     END { for (i in n) if (n[i] == 2) { print i; exit } }' /proc/kallsyms)
refused "a name that two variables have" 64 "2 symbols have that name" \
	"$LOCKHELD_CTL" record -a -e holdmod:tick -o "$tmp/no.data" \
	--filter "lock_held($twice)" -- true
refused "a name that is nearly right" 64 "did you mean 'holdmod_mutex'" \
	"$LOCKHELD_CTL" record -a -e holdmod:tick -o "$tmp/no.data" \
	--filter "lock_held(holdmod_mutx)" -- true
restrict=$(cat /proc/sys/kernel/kptr_restrict)
echo 2 > /proc/sys/kernel/kptr_restrict
refused "a name while addresses are hidden" 2 "kptr_restrict" \
	"$LOCKHELD_CTL" record -a -e holdmod:tick -o "$tmp/no.data" \
	--filter "lock_held(holdmod_mutex)" -- true
echo "$restrict" > /proc/sys/kernel/kptr_restrict

# ---- L27: a holder that sleeps gives no samples of CPU time ----

"$LOCKHELD_CTL" record -e cpu-clock -F 1000 -o "$tmp/sleep.data" \
	--filter 'lock_held(mutex)' -- bash -c \
	"hm 'take mutex_lock mutex; sleep 500000; drop mutex'" > "$tmp/out" 2>&1
slept=$("$TEST_TOOLS/samples" "$tmp/sleep.data" | grep -c ' time=')
equal "no more than a few samples of half a second asleep" \
      "$((slept < 50))" 1
"$LOCKHELD_CTL" report -i "$tmp/sleep.data" > "$tmp/report" 2>&1
check "the report says why" grep -q sleep "$tmp/report"

# ---- L32: rights ----

chmod 711 "$tmp"
cp "$LOCKHELD_CTL" "$tmp/ctl"
refused "nobody" 2 "CAP_PERFMON" setpriv --reuid 65534 --regid 65534 \
	--clear-groups "$tmp/ctl" check
refused "root of a user namespace" 2 "initial user namespace" \
	unshare -Ur "$tmp/ctl" check
refused "nobody adds a filter" 2 "CAP_PERFMON" setpriv --reuid 65534 \
	--regid 65534 --clear-groups "$tmp/ctl" add-filter 'lock_held(mutex)' \
	--fd 1

# ---- a lock whose module goes away ----

# filter_says KEY: of the only filter there is
filter_says()
{
	"$LOCKHELD_CTL" list --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
found = found["filters"] if isinstance(found, dict) else found
print(found[0][sys.argv[1]])' "$1"
}

is_gone()
{
	[ "$(filter_says gone)" = True ]
}

"$LOCKHELD_CTL" record -a -e page-faults -c 1 -o "$tmp/gone.data" --filter \
	"!lock_held($(by_name mutex holdmod_mutex))" -- sleep 1000 > "$tmp/out" 2>&1 &
recorder=$!
passes()
{
	[ "$(filter_says passed)" -gt 0 ]
}
check "a filter that passes nearly all" until_true passes
equal "it is not gone" "$(filter_says gone)" False
check "the module of its lock is unloaded" unload holdmod
check "the filter is gone" until_true is_gone
before=$(filter_says passed)
"$TEST_TOOLS/faults" 0x10000000 16
equal "it passes nothing any more" "$(filter_says passed)" "$before"
check "the module of its lock comes back" insmod "$HOLDMOD_KO"
"$TEST_TOOLS/faults" 0x10000000 16
equal "and it still passes nothing" "$(filter_says passed)" "$before"
kill -INT "$recorder"
wait "$recorder"
check "the recorder says which module" grep -q "module 'holdmod'" "$tmp/out"
"$LOCKHELD_CTL" record -a -e page-faults -c 1 -o "$tmp/gone.data" --filter \
	'!lock_held(mutex)' -- sleep 1000 > "$tmp/out" 2>&1 &
recorder=$!
check "a filter on a type" until_true passes
check "some module is unloaded" unload holdmod
equal "it does not matter to the filter" "$(filter_says gone)" False
kill -INT "$recorder"
wait "$recorder"
check "holdmod comes back" insmod "$HOLDMOD_KO"
finish
