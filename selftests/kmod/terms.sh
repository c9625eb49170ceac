#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The sample terms of filters, each with ticks for which it is true and ticks
# for which it is not.

. "$(dirname "$0")/lib.sh"
setup

# Two threads whose ids are known before the recorders start. They wait for a
# line on the pipe, then run a script of holdmod each.
mkfifo "$tmp/go"
"$TEST_TOOLS/threads" -w "cpu 0; tick 5; take mutex_lock obj0.mutex; tick 20
	drop obj0.mutex; scenario 1; tick 5" \
	"cpu 1; tick 5; take down_read obj1.rwsem; tick 20; drop obj1.rwsem
	tick 5" < "$tmp/go" > "$tmp/tids" &
threads=$!
exec 8> "$tmp/go"
until [ "$(wc -l < "$tmp/tids")" = 2 ]; do sleep 0.1; done
# The threads tell their numbers in any order, but have them in theirs
{ read -r tid1; read -r tid2; } < <(sort -n "$tmp/tids")

exec 9> "$hm_dir/run"
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
# Until something is enabled perf's groups are not told apart; where nothing can
# be they get a hierarchy of their own
if ! echo +pids 2> /dev/null > "$groups/cgroup.subtree_control"; then
	groups=$tmp/groups
	mkdir "$groups"
	mount -t cgroup -o perf_event perf_event "$groups"
fi
mkdir -p "$groups/lockheld"
cgroup=$(stat -c %i "$groups/lockheld")
tick_start=$(awk '$3 == "hm_tick" { print "0x" $1 }' /proc/kallsyms)
tick_end=$(awk '$4 == "[holdmod]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms |
	   sort | awk -v start="${tick_start#0x}" '
		   $1 > start { print "0x" $1; exit }')

expect "pid" "pid == $threads" "tid == $tid1 || tid == $tid2"
expect "another pid" "pid != $threads" "tid != $tid1 && tid != $tid2"
expect "tid" "tid == $tid1" "tid == $tid1"
expect "tid that is not the pid" "pid == $threads && tid != $tid1" \
       "tid == $tid2"
expect "pid and lock" "pid == $threads && lock_held(mutex)" \
       "tid == $tid1 && held ~ /mutex/"
expect "cpu" "cpu == 0" "cpu == 0"
expect "not cpu" "cpu > 0" "cpu > 0"
expect "cpu and lock" "cpu == 1 && lock_held(rwsem:R)" \
       "cpu == 1 && held ~ /rwsem:R/"
expect "an address of 0" "addr == 0" 1
expect_none "an address that is not 0" "addr != 0"
expect "a period of 1" "period == 1" 1
expect_none "a longer period" "period > 1"
expect "uid" "uid == 1234" "scenario == 77"
expect "not that uid" "uid != 1234" "scenario != 77"
expect "gid" "gid >= 2345 && gid <= 2345" "scenario == 77"
expect "comm" 'comm == "holder"' "scenario == 78"
expect "not that comm" 'comm != "holder" && lock_held(mutex)' \
       "scenario != 78 && held ~ /mutex/"
expect "ip" "ip >= $tick_start && ip < $tick_end" 1
expect_none "another ip" "ip < $tick_start || ip >= $tick_end"
expect "irq == none" "irq == none" 'context == "task"'
expect "irq == hard" "irq == hard" 'context == "hard"'
expect "irq != soft" "irq != soft" 'context != "soft"'
expect "depth 0" "depth == 0 || depth == 0 && lock_held(rwsem)" 'depth == 0'
# With PREEMPT_RT a softirq holds a lock of its own
two='held ~ /mutex/ && depth >= 2'
! grep -q PREEMPT_RT /proc/version || two="context == \"soft\" ? \"any\" : $two"
expect "depth of two families" "lock_held(mutex) && depth >= 2" "$two"
expect "cgroup by path" 'cgroup == "/lockheld"' "scenario == 79"
expect "cgroup by number" "cgroup == $cgroup" "scenario == 79"
expect "another cgroup" 'cgroup != "/lockheld" && lock_held(mutex)' \
       "scenario != 79 && held ~ /mutex/"
expect "no weight" "weight == 0 && weight1 == 0 && weight2 == 0 &&
       weight3 == 0 && txn == 0" 1
expect_none "a weight" "weight || weight1 || weight2 || weight3 || txn"
expect "no access to memory" "mem_op == 0 && mem_lvl == 0 && mem_snoop == 0 &&
       mem_remote == 0 && mem_lock == 0 && mem_dtlb == 0 && mem_blk == 0 &&
       mem_hops == 0" 1
expect_none "some access to memory" "mem_op == load || mem_lvl == l1 ||
       mem_lock == locked || mem_dtlb & walk"
expect "no data address, no page" "data_pgsz == 0 && phys_addr == 0" 1
expect "the code's page" "code_pgsz == 4096 || code_pgsz == 2097152" 1
expect "all of it" "!(cpu == 0 || lock_held(mutex)) && irq == none" \
       'cpu != 0 && held !~ /mutex/ && context == "task"'
scene "all terms" "
	echo >&8
	hm 'tick 5; take mutex_lock mutex; tick 5
	    hard; tick 3; end; soft; tick 3; end
	    take down_write rwsem; tick 5; drop mutex; tick 5; drop rwsem
	    tick 5'
	setpriv --reuid 1234 --regid 2345 --clear-groups \
		bash -c \"echo 'scenario 77; tick 10; take mutex_lock mutex;' \
			       'tick 10; drop mutex; tick 10' >&9\"
	bash -c \"echo \\$\\$ > $groups/lockheld/cgroup.procs
		hm 'scenario 79; tick 10; take mutex_lock mutex; tick 10
		    drop mutex; tick 10'\"
	cp /bin/bash '$tmp/holder'
	'$tmp/holder' -c \"hm 'scenario 78; take mutex_lock mutex; tick 10
			       drop mutex; tick 10'\""
compared
exec 8>&- 9>&-
check "the threads have run" wait "$threads"

# A moment of the samples' clock, late enough for a recorder to be at work
begin=$SECONDS
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -o "$tmp/0.data" \
	--filter 'lock_held(mutex@holdmod_mutex)' -- true > "$tmp/out" 2>&1
lead=$(((SECONDS - begin + 2) * 3))
hm 'take mutex_lock mutex; drop mutex'
moment=$(($(awk 'END { print $6 }' "$hm_dir/holds") + lead * 1000000000))
expect "before a time" "time < $moment" "time < $moment"
# by its owner word: hooks may take long to be placed
expect "after a time, with a lock" \
       "time >= $moment && lock_held(mutex@holdmod_mutex)" \
       "time >= $moment && held ~ /mutex/"
scene "time" "
	until hm 'tick 5; take mutex_lock mutex; tick 5; drop mutex' &&
	      [ \$(awk 'END { print \$6 }' $hm_dir/holds) -gt $moment ]; do
		sleep 0.5
	done
	hm 'tick 10; take mutex_lock mutex; tick 10; drop mutex'"
compared

# How long a lock has been held
expect "held long" "held_ns(mutex) > 200ms" "scenario == 82"
expect "held shortly" "held_ns(mutex) > 0 && held_ns(mutex) <= 200ms" \
       "scenario == 81 && held ~ /mutex/"
expect "not held, so for no time" "held_ns(mutex) == 0" "held !~ /mutex/"
expect "held long, by symbol" "held_ns(mutex@holdmod_mutex) > 200000us" \
       "scenario == 82"
expect "read for long" "held_ns(rwsem:R) >= 200ms" "scenario == 84"
expect "read shortly" "lock_held(rwsem:R) && held_ns(rwsem:R) < 200ms" \
       "scenario == 83 && held ~ /rwsem:R/"
expect_none "written for long" "held_ns(rwsem:W) > 200ms"
expect "written at all" "held_ns(rwsem:W)" "held ~ /rwsem:W/"
expect "held since different times" "held_ns(mutex) > held_ns(rwsem)" \
       "scenario == 82 || scenario == 81 && held ~ /mutex/"
scene "held times" "
	hm 'scenario 81; tick 5; take mutex_lock mutex; tick 5
	    sleep 300000; scenario 82; tick 5; drop mutex
	    scenario 81; tick 5; take mutex_lock mutex; tick 5; drop mutex
	    scenario 83; tick 5; take down_read rwsem; tick 5; sleep 300000
	    scenario 84; tick 5; drop rwsem; scenario 83; take down_write rwsem
	    tick 5; drop rwsem; take down_read rwsem; tick 5; drop rwsem
	    tick 5'"
compared

# A period that is longer: every tenth tick, and the filter sees only those
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 10 -o "$tmp/period.data" \
	--filter 'period == 10 && lock_held(mutex)' -- bash -c \
	"hm 'cpu 0; tick 100; take mutex_lock mutex; tick 100; drop mutex'" \
	> "$tmp/out" 2>&1
equal "every tenth tick with the lock held" \
      "$("$TEST_TOOLS/samples" "$tmp/period.data" | tail -n 1)" \
      "samples=10 lost=0"

# The data address of page faults
"$LOCKHELD_CTL" record -e page-faults -c 1 -o "$tmp/addr.data" \
	--filter "addr >= 0x10000000 && addr < 0x10008000" -- \
	"$TEST_TOOLS/faults" 0x10000000 16 > "$tmp/out" 2>&1
equal "page faults at addresses" "$("$TEST_TOOLS/samples" "$tmp/addr.data" |
	tail -n 1)" "samples=8 lost=0"

# Pages of data, and the ids of events
part_of_this "$TEST_TOOLS/pages"

# What the kernel's own filter of tracepoints takes, and what is left to the
# module, in one expression: pages allocated with leave to reclaim (0x400) and
# without it, under the lock and not
"$LOCKHELD_CTL" record -e kmem:mm_page_alloc -c 1 -o "$tmp/alloc.data" \
	--filter 'gfp_flags & 0x400 && lock_held(mutex@holdmod_mutex)' -- bash -c \
	"hm 'alloc 0xcc0 50; take mutex_lock mutex; alloc 0xcc0 70
	     alloc 0x800 30; drop mutex; alloc 0xcc0 20'" > "$tmp/out" 2>&1
equal "page allocations that may reclaim under the lock" \
      "$("$TEST_TOOLS/samples" "$tmp/alloc.data" | tail -n 1)" \
      "samples=70 lost=0"
equal "perf shows the tracepoint's own fields of each" \
      "$(perf script -F trace -i "$tmp/alloc.data" 2> /dev/null |
	 grep -c 'order=0 .*gfp_flags=GFP_KERNEL$')" 70
"$LOCKHELD_CTL" record -e kmem:mm_page_alloc -c 1 -o "$tmp/alloc.data" \
	--filter 'gfp_flags & 0x400 && lock_held(mutex)' -- bash -c \
	"hm 'alloc 0xcc0 50; take mutex_lock mutex; alloc 0xcc0 70
	     alloc 0x800 30; drop mutex; alloc 0xcc0 20'" > "$tmp/out" 2>&1
address=$(hm_address mutex)
equal "the same with the type" \
      "$("$TEST_TOOLS/samples" "$tmp/alloc.data" |
	 grep -c "locks=[^ ]*$address/1/2/0/1/")" 70
rmdir "$groups/lockheld"
[ "$groups" != "$tmp/groups" ] || umount "$groups"
finish
