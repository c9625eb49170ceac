#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lockheld-ctl's recorder and report with the module: the locks that holdmod
# held are named, counted and timed; perf reads the recording without a word.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

# 8 ticks with two locks, or with one where spinlocks cannot be tracked
besides=spinlock take="take spin_lock spinlock; take read_lock rwlock"
drop="drop rwlock; drop spinlock" alone=0
if ! supported spinlock; then
	besides=semaphore take="take down semaphore" drop="drop semaphore"
	alone=8
fi
hold='take mutex_lock mutex; busy 3000; tick 40; drop mutex
      take mutex_trylock mutex; tick 10; drop mutex
      take down_read obj3.rwsem; tick 20; drop obj3.rwsem
      take down_read obj4.rwsem; tick 5; drop obj4.rwsem
      '"$take; tick 8; $drop; tick 100"

# record EXPRESSION OPTION... -- COMMAND...: into $tmp/r.data
record()
{
	local expression=$1

	shift
	"$LOCKHELD_CTL" record -e holdmod:tick -c 1 --filter "$expression" \
		-o "$tmp/r.data" "$@" > "$tmp/out" 2> "$tmp/err"
}

# The number before a word of the recorder's last line
said()
{
	sed -n "s/.*[ ;]\([0-9]*\) $1.*/\1/p" "$tmp/err"
}

# value EXPRESSION: of Python; knows the "report", its first "event" and the "rows"
value()
{
	"$LOCKHELD_CTL" report -i "$tmp/r.data" --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
event = report["events"][0]
rows = {(r.get("lock"), r.get("type"), r.get("mode")): r for r in event["rows"]}
print(eval(sys.argv[1]))' "$1"
}

mutex='rows["holdmod_mutex", "mutex", "W"]'
objects='rows["&holdmod_obj", "rwsem", "R"]'

check "a recording" record \
	"lock_held(mutex) || lock_held(rwsem) || lock_held($besides)" -a -- \
	bash -c "hm '$hold'"
equal "samples" "$(said samples)" 83
equal "passed" "$(said passed)" 83
equal "dropped" "$(said dropped)" 100
equal "lost" "$(said lost)" 0

perf script -i "$tmp/r.data" > "$tmp/script" 2> "$tmp/perf.err"
equal "perf script says nothing" "$(cat "$tmp/perf.err")" ""
equal "and lists the samples" "$(grep -c 'holdmod:tick' "$tmp/script")" 83
perf report --stdio -i "$tmp/r.data" > /dev/null 2> "$tmp/perf.err"
equal "perf report says nothing" "$(cat "$tmp/perf.err")" ""

# ---- the report ----

equal "samples of a global lock" "$(value "${mutex}['samples']")" 50
equal "all of them matched" "$(value "${mutex}['matched']")" 50
equal "where it was taken, and how often" \
      "$(value "[(s['name'], s['samples']) for s in ${mutex}['taken_in']]")" \
      "[('take_mutex_lock', 40), ('take_mutex_trylock', 10)]"
at_least "held for the 3 ms that it was busy (ns)" \
	 "$(value "${mutex}['held_max_ns']")" 3000000
at_least "also on average (us)" \
	 "$(value "${mutex}['held_sum_ns'] // 50000")" 2400
equal "locks in slab objects are one row" \
      "$(value "(${objects}['samples'], len(${objects}['addresses']))")" "(25, 2)"
equal "a lock held besides" \
      "$(value "[(r['samples'], r['matched']) for r in event['rows'] if r.get('lock') == 'holdmod_$besides']")" \
      "[(8, 8)]"
equal "the filter and its counts" \
      "$(value "(event['filter']['passed'], event['filter']['dropped'])")" \
      "($(said passed), 100)"
"$LOCKHELD_CTL" report -i "$tmp/r.data" > "$tmp/with"
check "the names are in the recording" unload holdmod
"$LOCKHELD_CTL" report -i "$tmp/r.data" > "$tmp/without"
equal "and the report does not change" "$(diff "$tmp/with" "$tmp/without")" ""
check "holdmod comes back" insmod "$HOLDMOD_KO"

# ---- per command, per process ----

# One child after the other: a trylock in there would fail on the other's lock
check "a command and its children" record 'lock_held(mutex)' -- \
	bash -c "hm '$hold'; bash -c \"hm '$hold'\" & wait; bash -c \"hm '$hold'\" & wait"
equal "all their samples" "$(said samples)" 150
equal "nothing else was evaluated" "$(said evaluated)" 549

mkfifo "$tmp/go"
bash -c "read -r line < '$tmp/go'; hm '$hold'; bash -c \"hm '$hold'\"" &
target=$!
"$LOCKHELD_CTL" record -e holdmod:tick -c 1 --filter 'lock_held(mutex)' \
	-o "$tmp/r.data" -p "$target" > "$tmp/out" 2> "$tmp/err" &
recorder=$!
# what ran before is in the file only when the events have been enabled
tracked()
{
	perf script --show-task-events -i "$tmp/r.data" 2> /dev/null |
		grep -q "PERF_RECORD_COMM: bash:$target/"
}
until_true tracked
echo > "$tmp/go"
wait "$recorder"
equal "a running process and its child" "$(said samples)" 100

"$LOCKHELD_CTL" export -i "$tmp/r.data" --locks > "$tmp/folded"
equal "its call chains begin with the lock" \
      "$(awk '/^\[mutex:W holdmod_mutex\];/ { n += $NF } END { print n }' "$tmp/folded")" \
      100

# ---- fields of the tracepoint, split between kernel and module ----

check "an expression with fields of the tracepoint" record \
	'nheld == 1 && lock_held(mutex)' -a -- bash -c "hm '$hold'"
equal "its samples" "$(said samples)" 50
equal "the kernel dropped those with another number of locks" \
      "$(said dropped)" $((25 + alone))

# ---- several events ----

"$LOCKHELD_CTL" record -e holdmod:tick -c 1 --filter 'lock_held(mutex)' \
	-e minor-faults --filter 'lock_held(mmap_lock:R)' -a \
	-o "$tmp/r.data" -- bash -c "hm '$hold'" 2> "$tmp/err"
equal "each event has its filter and its counts" \
      "$(value "[e['filter']['text'] for e in report['events'] if 'filter' in e]")" \
      "['lock_held(mutex)', 'lock_held(mmap_lock:R)']"
equal "the recorder adds them up" "$(said passed)" \
      "$(value "sum(e['filter']['passed'] for e in report['events'] if 'filter' in e)")"

# ---- no sample ----

check "a filter that nothing passes" record 'lock_held(rwsem@holdmod_rwsem:W)' -a -- \
	bash -c "hm '$hold'"
equal "no samples" "$(said samples)" 0
"$LOCKHELD_CTL" report -i "$tmp/r.data" > "$tmp/report"
check "the report says why that may be" \
	grep -q '^# No sample passed the filter' "$tmp/report"
finish
