#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RCU, SRCU and Tasks Trace RCU: true and false exactly as read sections are
# entered and left and grace periods waited for, also when readers are preempted.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

# Readers are preempted in the middle of their sections only by a kernel that
# may be: some have to be told
preemption=/sys/kernel/debug/sched/preempt
[ ! -w $preemption ] || echo full > $preemption

ops_of()
{
	awk -v kind="$1" -v what="$2" '$2 == kind && $4 == what { print $1 }' \
		"$hm_dir/ops"
}

# Some of what can be asked of a kind; what cannot be tracked is refused
ask()
{
	specs "$@"
	[ "${1%:*}" = rcu ] || return 0
	expect "in no RCU read section" "!lock_held(rcu:R)" \
	       "$(unclear rcu) ? \"any\" : held !~ /$(locks_of rcu R)/"
}

# ---- read sections ----

# sections KIND TAKE
sections()
{
	scene "sections by $2" "
	hm 'repeat 20; tick 2; take $2 $1; tick 3; drop $1; tick 2; end'"
	scene "sections by $2 that nest" "
	hm 'repeat 10; take $2 $1; tick 1; take $2 $1; tick 1; take $2 $1
	    tick 1; drop $1; tick 1; drop $1; tick 1; drop $1; tick 2; end'"
	scene "$deepest sections by $2, one in the other" "
	hm '$(printf "take $2 $1; tick 1; %.0s" $(seq "$deepest"))
	    $(printf "drop $1; tick 1; %.0s" $(seq "$deepest"))'"
	scene "sections by $2 with interrupts on top" "
	hm 'repeat 10; hard; tick 1; end; take $2 $1; hard; tick 2; end; soft
	    tick 2; end; drop $1; hard; tick 1; end; end'"
	scene "two tasks on one CPU, one in sections by $2" "
	hm 'switch 1; timer 500'
	hm 'cpu 0; repeat 4; take $2 $1; busy 15000; tick 1; drop $1; tick 1
	    busy 1000; end' &
	hm 'cpu 0; repeat 30; tick 1; busy 2000; end' &
	wait
	hm 'switch 0; timer 0'"
	[ "$1" = rcu ] || scene "a reader by $2 that sleeps" "
	hm 'switch 1'
	hm 'repeat 5; take $2 $1; tick 1; sleep 200; tick 1; drop $1; end'
	hm 'switch 0'"
}

# Ticks of readers that are switched out; the log is that of the last comparison
switched_out()
{
	at_least "$1: ticks of readers that are switched out" \
		 "$(awk -v r="^$1:R" '$6 == "switch" && $9 ~ r' "$tmp/ticks" |
		    wc -l)" 1
}

for kind in rcu srcu rcu_trace; do
	if ! supported "$(word_of $kind)" R; then
		by_type "$(word_of $kind)" R
		continue
	fi
	ask $kind:R
	for op in $(ops_of $kind takes); do
		case $op in
		*_nmisafe) sections srcu_nmi "$op" ;;
		*) sections $kind "$op" ;;
		esac
	done
	scene "another lock" "
	hm 'take mutex_lock mutex; tick 5; drop mutex'"
	[ $kind != srcu ] || scene "a domain in an object, and a second one" "
	hm 'repeat 5; take srcu_read_lock obj3.srcu; tick 2; drop obj3.srcu
	    take srcu_read_lock srcu2; tick 2; drop srcu2; end'"
	compared
	switched_out $kind
done
if supported srcu R; then
	specs srcu:R
	scene "a reader sleeps, and goes to another CPU" "
	hm 'switch 1'
	hm 'repeat 5; cpu 0; take srcu_read_lock srcu; tick 2; sleep 300; tick 1
	    cpu 1; tick 2; sleep 300; drop srcu; tick 2
	    take srcu_down_read obj3.srcu; tick 2; drop obj3.srcu; end' &
	hm 'cpu 0; repeat 20; tick 1; sleep 100; end' &
	wait
	hm 'switch 0'"
	compared
fi

# ---- waiting for readers ----

# reader_of KIND: how to be one, for a script
reader_of()
{
	case $1 in
	rcu) echo "take rcu_read_lock rcu" ;;
	rcu_trace) echo "take rcu_read_lock_trace rcu_trace" ;;
	*) echo "take srcu_read_lock $1" ;;
	esac
}

# waits_for KIND OP: one task reads for a while, another one waits for it
waits_for()
{
	scene "$2 while there is a reader" "
	hm 'switch 1'
	hm 'cpu 0; await 9; $(reader_of "$1"); tick 2; post 1; busy 30000
	    drop $1; tick 2' &
	hm 'cpu 1; post 9; await 1; tick 2; wait $2 $1; tick 2' &
	wait
	hm 'switch 0'"
}

for kind in rcu srcu rcu_trace; do
	word=$(word_of $kind)
	if ! supported "$word" W; then
		by_type "$word" W
		continue
	fi
	if supported "$word" R; then
		ask $kind
	else
		expect_locks "$kind by type, W" "lock_held($word:W)" "$word" \
			     "$(locks_of "$word" W)"
	fi
	if [ $kind = srcu ]; then
		expect_locks "the second domain" \
			     "lock_held(srcu@holdmod_srcu2:W)" srcu "srcu2:W"
		scene "two domains, and nobody waits for readers of the first" "
		hm 'switch 1'
		hm 'take srcu_read_lock srcu; post 1; post 1; await 2; tick 1
		    drop srcu; tick 2' &
		hm 'await 1; take srcu_read_lock srcu2; post 3; sleep 20000
		    drop srcu2' &
		hm 'await 1; await 3; wait synchronize_srcu srcu2; tick 2
		    post 2' &
		wait
		hm 'switch 0'"
	fi
	for op in $(ops_of $kind waits); do
		waits_for $kind "$op"
	done
	# The reader of an object's domain, for the filter on its address
	[ $kind != srcu ] || scene "a domain in an object" "
	hm 'switch 1'
	hm 'take srcu_read_lock obj3.srcu; tick 2; post 1; sleep 20000
	    drop obj3.srcu' &
	hm 'await 1; wait synchronize_srcu obj3.srcu; tick 2' &
	wait
	hm 'switch 0'"
	compared
	for op in $(ops_of $kind waits); do
		at_least "$op was called" "$(hm_count taken "$op")" 1
	done
	at_least "$kind: ticks of tasks that wait for readers" \
		 "$(awk -v w="^$kind:W" '$6 == "switch" && $9 ~ w' \
		    "$tmp/ticks" | wc -l)" "$(ops_of $kind waits | wc -l)"
done

# ---- perf's own read sections are not the task's ----

# faults_with EXPRESSION: of 16 page faults, which perf counts in an RCU read
# section of its own
faults_with()
{
	"$LOCKHELD_CTL" record -e page-faults -c 1 -o "$tmp/faults.data" \
		--filter "$1 && addr >= 0x10000000 && addr < 0x10010000" -- \
		"$TEST_TOOLS/faults" 0x10000000 16 > "$tmp/out" 2>&1 ||
		cat "$tmp/out"
	"$TEST_TOOLS/samples" "$tmp/faults.data" | tail -n 1
}

if supported rcu R; then
	equal "page faults in no RCU read section" \
	      "$(faults_with '!lock_held(rcu:R)')" "samples=16 lost=0"
	equal "page faults in one" \
	      "$(faults_with 'lock_held(rcu:R)')" "samples=0 lost=0"
fi
finish
