#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who may come and go, and in which order: the module, recorders, events,
# filters, processes, and perf's own recorder.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

part_of_this "$TEST_TOOLS/attach"
part_of_this "$TEST_TOOLS/fuzz"
equal "no hook is left" "$(nr_hooks)" 0

# A filter is there before its events are attached and enabled
filter_judges()
{
	hm 'tick 1'
	"$LOCKHELD_CTL" list --json | grep -q '"evaluated": *[1-9]'
}

# record_in_background EXPRESSION [OPTION...]
record_in_background()
{
	local expression=$1

	shift
	"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -o "$tmp/0.data" \
		--filter "$expression" "$@" > "$tmp/out" 2>&1 &
	recorder=$!
	until_true filter_judges || not_ok "a recorder starts" "$(cat "$tmp/out")"
}

# ---- the module while it is in use ----

record_in_background "$(any_of mutex spinlock)"
at_least "hooks are placed" "$(nr_hooks)" 10
refused "rmmod while recording" 1 "in use" rmmod lockheld
hm_reset
hm 'tick 10; take mutex_lock mutex; tick 20; drop mutex; tick 10'
kill -INT "$recorder"
wait "$recorder"
equal "the recording has not been disturbed" \
      "$("$TEST_TOOLS/samples" -s "$tmp/0.data" | grep -cv =)" 20
equal "the filter has gone" "$(nr_filters)" 0
equal "the hooks have gone" "$(nr_hooks)" 0
check "rmmod afterwards" rmmod lockheld
check "insmod again" load_lockheld

# ---- a recorder that is killed ----

record_in_background 'lock_held(mutex) || lock_held(rwsem)'
hm 'take mutex_lock mutex; tick 20; drop mutex'
kill -KILL "$recorder"
wait "$recorder" 2> /dev/null
check "the filter of a killed recorder goes" until_true filters_are 0
equal "its hooks go" "$(nr_hooks)" 0
check "rmmod after that" unload lockheld
check "insmod after that" load_lockheld

# ---- no hook where none is needed ----

record_in_background \
	'lock_held(mutex@holdmod_mutex) || lock_held(rwsem@holdmod_rwsem:W)'
equal "owner words need no hook" "$(nr_hooks)" 0
"$LOCKHELD_CTL" list > "$tmp/list"
at_least "list says so" "$(grep -c owner "$tmp/list")" 1
equal "and says nothing of hooks" "$(grep -c hook "$tmp/list")" 0
kill -INT "$recorder"
wait "$recorder"
record_in_background "lock_held(mutex@$(hm_address obj4.mutex))"
equal "also by address" "$(nr_hooks)" 0
kill -INT "$recorder"
wait "$recorder"
record_in_background 'lock_held(rwsem:R)'
equal "of rwsems, only readers' functions are hooked" \
      "$(hooked | grep -c '^down_write$\|^down_write_nested$\|^up_write$')" 0
at_least "which are" "$(hooked | grep -c '^down_read\|^up_read')" 4
kill -INT "$recorder"
wait "$recorder"

# ---- filters come and go while others are at work ----

# What is left of other filters' hooks must not be taken for locks. Placing hooks
# takes half a minute where they are kprobes, and on a kernel with kmemleak and
# KASAN.
turns=$(seq "$(fewer 8)")
expect "rwsem while other hooks come and go" "lock_held(rwsem)" \
       'held ~ /rwsem/'
if ! supported rwlock; then
	cannot "rwlock cannot be tracked" "lock_held(rwlock)" inlined
else
	expect "rwlock while other hooks come and go" "lock_held(rwlock)" \
	       'held ~ /rwlock/'
fi
scene "hooks of other families come and go" "
	hm 'repeat 100000; take mutex_lock mutex; drop mutex
	    repeat 5; take mutex_trylock obj0.mutex; drop obj0.mutex
	    take mutex_trylock obj5.mutex; drop obj5.mutex; end
	    take down_read rwsem; tick 1; take spin_lock spinlock
	    drop spinlock; drop rwsem; tick 1
	    take read_lock rwlock; tick 1; take spin_lock spinlock
	    drop spinlock; drop rwlock; sleep 5000; end' &
	worker=\$!
	for i in ${turns//$'\n'/ }; do
		'$LOCKHELD_CTL' record -e cpu-clock -o $tmp/other \
			--filter '$(any_of mutex spinlock)' \
			-- sleep 0.1
	done
	kill \$worker
	wait \$worker
	true"
compared

# ---- children of what is recorded ----

targets=()
expect "children by inheritance" "lock_held(mutex)" 'held ~ /mutex/'
expect "children by inheritance, owner word" "lock_held(mutex@holdmod_mutex)" \
       'held ~ /(^|,)mutex/'
scene "a workload that forks and exits" "
	for i in \$(seq 40); do
		(hm 'tick 2; take mutex_lock mutex; tick 3; drop mutex; tick 2
		     take mutex_lock obj2.mutex; tick 3; drop obj2.mutex') &
		(:) &
		[ \$((i % 10)) != 0 ] || wait
	done
	wait"
compared
targets=(-a)

# ---- perf's own recorder ----

# with_perf NAME SCRIPT CONDITION EXPRESSION: as expect and compared, for an
# event of perf record that gets the filter while it runs
with_perf()
{
	perf record -q -a -e holdmod:tick -c 1 -m 1024 -o "$tmp/all.data" -- \
		sleep 1000 > "$tmp/recorded" 2>&1 &
	recorder=$!
	# Then the events of perf's last CPU are there, too
	until_true pgrep -P "$recorder" sleep
	until_true "$LOCKHELD_CTL" add-filter "$4" --pid "$recorder"
	hm_reset
	hm "$2"
	"$LOCKHELD_CTL" list > "$tmp/list"
	kill -INT "$recorder"
	wait "$recorder"
	expect "$1" "$4" "$3"
	compare_all
	equal "$1: perf script reads it without a complaint" \
	      "$(perf script -i "$tmp/all.data" -F trace 2>&1 > /dev/null |
		 grep -v "^'trace' not valid")" ""
	check "$1: perf report reads it" perf report -i "$tmp/all.data" --stdio
	check "$1: the filter goes with perf's events" until_true filters_are 0
}

script='tick 20; take mutex_lock mutex; tick 30; take down_read obj0.rwsem
	tick 40; drop mutex; tick 50; drop obj0.rwsem; tick 20'
with_perf "perf record, type" "$script" 'held ~ /mutex/' 'lock_held(mutex)'
with_perf "perf record, owner word" "$script" 'held ~ /(^|,)mutex:/' \
	  'lock_held(mutex@holdmod_mutex)'
with_perf "perf record, two families" "$script" \
	  'held ~ /rwsem:R/ && held !~ /mutex/' \
	  'lock_held(rwsem:R) && !lock_held(mutex)'

# del-filter: perf records all again
perf record -q -a -e holdmod:tick -c 1 -m 1024 -o "$tmp/0.data" -- \
	sleep 1000 > "$tmp/recorded" 2>&1 &
recorder=$!
until_true pgrep -P "$recorder" sleep
hm_reset
id=$("$LOCKHELD_CTL" add-filter 'lock_held(mutex)' --pid "$recorder" \
	2> /dev/null)
hm 'tick 10; take mutex_lock mutex; tick 5; drop mutex'
check "del-filter" "$LOCKHELD_CTL" del-filter "$id"
hm 'tick 10; take mutex_lock mutex; tick 5; drop mutex'
kill -INT "$recorder"
wait "$recorder"
equal "samples before and after del-filter" \
      "$("$TEST_TOOLS/samples" -s "$tmp/0.data" | grep -cv =)" 20
finish
