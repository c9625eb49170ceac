#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The verbs with the module: run as root where lockheld.ko can be loaded, such
# as in selftests/vm/run. LOCKHELD_KO, HOLDMOD_KO and LOCKHELD_CTL say where the
# two modules and the program are.
# Needs: perf python3.

# shellcheck disable=SC2016,SC2317 # text for inner shells, and functions that wait_until() calls
set -u
here=$(dirname "$(realpath "$0")")
ko=${LOCKHELD_KO:-$here/../../kmod/lockheld.ko}
holdmod=${HOLDMOD_KO:-$here/../holdmod/holdmod.ko}
ctl=${LOCKHELD_CTL:-$here/../../lockheld-ctl/lockheld-ctl}
tmp=$(mktemp -d)
started=()
cleanup() {
	local pid

	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap cleanup EXIT

echo "TAP version 13"
nr=0
failed=0

# result PROBLEM NAME: it passed if there is no problem
result() {
	nr=$((nr + 1))
	if [ -z "$1" ]; then
		echo "ok $nr - $2"
	else
		failed=1
		echo "not ok $nr - $2"
		printf '%s\n' "$1" | sed 's/^/# /'
	fi
}

equal() {
	local problem=
	[ "$2" = "$3" ] || problem="is '$2', should be '$3'"
	result "$problem" "$1"
}

# expect STATUS PATTERN ARGUMENT...: what is said, on stdout or stderr
expect() {
	local want=$1 pattern=$2 status=0 problem=
	shift 2
	"$ctl" "$@" > "$tmp/out" 2>&1 || status=$?
	[ "$status" = "$want" ] || problem="exit status $status, not $want"
	grep -q -- "$pattern" "$tmp/out" || problem="$problem; other words"
	[ "$want" = 0 ] || [ "$(grep -vc '^  ' "$tmp/out")" = 1 ] ||
		problem="$problem; not one line"
	[ -z "$problem" ] || problem="$problem
$(cat "$tmp/out")"
	result "$problem" "lockheld-ctl $*"
}

nr_filters() {
	"$ctl" list --json | grep -c '"id":'
}

# field NAME: of the first filter, 0 if there is none
field() {
	"$ctl" list --json | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p; \$a 0" | head -1
}

wait_until() {
	local i

	for ((i = 0; i < 100; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

if [ "$(id -u)" != 0 ] || ! insmod "$ko" 2>"$tmp/why"; then
	echo "1..0 # SKIP the module cannot be loaded: $(cat "$tmp/why")"
	exit 4
fi

# ---- what can be asked ----

"$ctl" check > "$tmp/check"
equal "check succeeds" $? 0
equal "check says which kernel this is" \
	"$(grep -c "^lockheld .* on $(uname -r), hooks by" "$tmp/check")" 1
"$ctl" check --json > "$tmp/json"
equal "check --json has every kind of lock and its modes" "$(python3 -c '
import json, sys
print(*(l["family"] + l["mode"] for l in json.load(sys.stdin)["locks"]))' \
	< "$tmp/json" | tr " " "\n" | sort | paste -sd " ")" \
	"$(printf '%s\n' mutexW percpu-rwsem{R,W} raw-spinlockW \
		rcu{R,W} rcu-trace{R,W} rt-mutexW rwlock{R,W} rwsem{R,W} \
		semaphoreW spinlockW srcu{R,W} | sort | paste -sd " ")"
equal "with a cost, or with a reason why not" "$(python3 -c '
import json, sys
cost = { "owner": "sample", "task": "sample", "hook": "lock" }
for l in json.load(sys.stdin)["locks"]:
    if l.get("cost") != cost.get(l["mechanism"]): print(l)
    if (l["mechanism"] == "none") != bool(l.get("reason")): print(l)' \
	< "$tmp/json")" ""
equal "the table says the same" "$(awk '/^FAMILY/ { on = 1; next } !NF { on = 0 }
	on { print $1, $2, $3 }' "$tmp/check" | sort)" "$(python3 -c '
import json, sys
for l in json.load(sys.stdin)["locks"]:
    print(l["family"], l["mode"], l["mechanism"])' < "$tmp/json" | sort)"
# possible FAMILY MODE
possible() {
	! grep -q "^$1  *$2  *none " "$tmp/check"
}
"$ctl" stats --json | python3 -m json.tool > "$tmp/stats"
equal "stats --json is JSON" $? 0
equal "stats shows the same counters" \
	"$("$ctl" stats | awk '{ print $1 }' | sort)" \
	"$(grep -o '"[a-z_]*"' "$tmp/stats" | tr -d '"' | sort)"
expect 0 '^no filters' list

# ---- events of other processes ----

export ctl
hold() {
	python3 "$here/perfhold.py" "$@"
}

hold ssd bash -c '"$ctl" add-filter "lock_held(mutex)" --pid $HOLDER &&
	"$ctl" list --json' > "$tmp/out" 2> "$tmp/err"
equal "add-filter --pid prints the number" "$(head -1 "$tmp/out")" 1
equal "add-filter --pid counts duplicates once" \
	"$(grep -c 'on 2 events of process' "$tmp/err")" 1
equal "list knows the events" "$(grep -c '"events": 2,' "$tmp/out")" 1
equal "list knows the lock" "$(grep -c '"family": "mutex"' "$tmp/out")" 1
gone() {
	[ "$(nr_filters)" = 0 ]
}
wait_until gone
equal "a filter goes with its events" "$(nr_filters)" 0

hold sc bash -c '"$ctl" add-filter pid --pid $HOLDER' > "$tmp/out" 2> "$tmp/err"
equal "an event that only counts is left out" \
	"$(grep -c 'on 1 event of process .* (1 more never sample)' "$tmp/err")" 1
hold c bash -c '"$ctl" add-filter pid --pid $HOLDER' > "$tmp/out" 2> "$tmp/err"
equal "events that only count are refused alone" "$?" 1
equal "and that is said" "$(grep -c 'never takes a sample' "$tmp/err")" 1
wait_until gone

# The second of two events has a filter: then the first gets none either.
hold ss bash -c '"$ctl" add-filter "pid == 1" --fd ${EVENTS#* } &&
	! "$ctl" add-filter "pid == 2" --pid $HOLDER && "$ctl" list --json' \
	> "$tmp/out" 2> "$tmp/err"
equal "add-filter is all or nothing" $? 0
equal "the first filter is left alone" \
	"$(grep -c '"filter": "pid == 1"' "$tmp/out")" 1
equal "the second one is gone" "$(grep -c '"filter":' "$tmp/out")" 1
equal "and why is said" "$(grep -c 'has a filter already' "$tmp/err")" 1
wait_until gone

hold s bash -c '"$ctl" add-filter "lock_held(mutex@cgroup_mutex)" --fd $EVENTS &&
	"$ctl" list' > "$tmp/out" 2> "$tmp/err"
equal "a lock by symbol is read by its owner" \
	"$(grep -c 'mutex, .* by owner' "$tmp/out")" 1
hold s bash -c '"$ctl" add-filter "lock_held(mutex)" --fd $EVENTS > /dev/null &&
	"$ctl" list --json' 2> /dev/null | python3 -m json.tool > /dev/null
equal "list --json is JSON" "${PIPESTATUS[*]}" "0 0"
wait_until gone
hold s bash -c '"$ctl" add-filter pid --fd $EVENTS && "$ctl" del-filter --all &&
	"$ctl" list && "$ctl" add-filter pid --fd $EVENTS' > "$tmp/out" 2>&1
equal "del-filter lets go of the event" "$?" 0
wait_until gone

# ---- Debian's perf ----

sh -c 'while :; do :; done' &
spinner=$!
started+=("$spinner")
mkfifo "$tmp/control"
# It waits for "enable", so that no sample can be older than the filter
perf record -q -a -e cpu-clock -F 500 -D -1 --control "fifo:$tmp/control" \
	-o "$tmp/perf.data" -- sleep 60 > "$tmp/perf.log" 2>&1 &
perf=$!
started+=("$perf")
exec 9<>"$tmp/control"
perf_is_ready() {
	"$ctl" add-filter "pid == $spinner" --pid "$perf" > "$tmp/id" 2> "$tmp/err"
}
wait_until perf_is_ready
equal "perf record gets a filter" $? 0
echo enable >&9
seen() {
	[ "$(field passed)" -gt 100 ] && [ "$(field dropped)" -gt 10 ]
}
wait_until seen
equal "samples pass and are dropped" $? 0
expect 0 "pid == $spinner" list
kill -INT "$perf"
wait "$perf"
perf script -i "$tmp/perf.data" -F pid 2> "$tmp/err" | sort | uniq -c \
	> "$tmp/pids"
equal "perf's file holds matching samples only" \
	"$(awk '{ print $2 }' "$tmp/pids")" "$spinner"
kill "$spinner"
wait_until gone
equal "the filter is gone with perf" "$(nr_filters)" 0

# ---- slab caches ----

# Where some kind of lock cannot be tracked, one must be named
kind=""
if ! possible spinlock W; then
	kind=mutex@
	hold s bash -c '"$ctl" add-filter "lock_held(&dentry)" --fd $EVENTS' \
		> "$tmp/out" 2> "$tmp/err"
	equal "a cache with locks that cannot be tracked is refused" $? 2
	equal "and that is said" "$(grep -c 'inlined' "$tmp/err")" 1
fi
export kind

# A cache with several names, and of them one that is not its own
name=$(cd /sys/kernel/slab && for name in [!:]*; do
		[ ! -L "$name" ] || echo "$(readlink "$name") $name"
	done | awk -v own="$(awk '{ print $1 }' /proc/slabinfo)" '
	BEGIN { n = split(own, names); for (i in names) is_own[names[i]] = 1 }
	{ names_of[$1]++ }
	!($2 in is_own) { other[$1] = $2 }
	END { for (id in other) if (names_of[id] > 1) { print other[id]; exit } }')
if [ -n "$name" ]; then
	id=$(readlink "/sys/kernel/slab/$name")
	own=$(find /sys/kernel/slab -lname "$id" -printf '%f\n' |
		grep -xFf <(awk '{ print $1 }' /proc/slabinfo))
	hold s bash -c '"$ctl" add-filter "lock_held($kind&\"$0\")" --fd $EVENTS' \
		"$name" > "$tmp/out" 2> "$tmp/err"
	equal "a name of a merged cache is accepted" $? 0
	equal "the others and the cache's own name are told" "$(grep -c \
		"^lockheld-ctl: the slab cache of $name is that of .*(the kernel calls it $own)" \
		"$tmp/err")" 1
	wait_until gone
else
	echo "ok $((++nr)) - merged slab caches # SKIP none here"
fi
hold s bash -c '"$ctl" add-filter "lock_held($kind&dentry)" --fd $EVENTS' \
	> "$tmp/out" 2>&1
equal "locks in the objects of a cache" $? 0
wait_until gone
expect 64 "no such slab cache: did you mean 'dentry'" \
	add-filter 'lock_held(&dentri)' --fd 1

# ---- a filter that somebody else deletes ----

deleted_meanwhile()
{
	"$ctl" record -a -e cpu-clock -F 100 -o "$tmp/deleted.data" \
		--filter 'lock_held(mutex)' -- bash -c '
		until "$ctl" list | grep -q mutex; do sleep 0.1; done
		"$ctl" del-filter --all > /dev/null; sleep 0.5' 2> "$tmp/err"
	"$ctl" report -i "$tmp/deleted.data" > "$tmp/report"
}
deleted_meanwhile
equal "who records is told at once, and again at the end" \
	"$(grep -c 'warning:.*was deleted.*now on every sample\|warning:.*was deleted at some moment' "$tmp/err")" 2
equal "no counts are made up" "$(grep -c 'deleted, so that it is not known' "$tmp/err")" 1
equal "nor in the report" "$(grep -c '^# It was deleted while' "$tmp/report")" 1

# ---- a lock that goes with its module ----

if insmod "$holdmod" 2> "$tmp/why"; then
	export tmp
	"$ctl" record -a -e cpu-clock -F 100 -o "$tmp/gone.data" \
		--filter 'lock_held(mutex@holdmod_mutex)' -- bash -c '
		sleep 1; "$ctl" list --json > "$tmp/before"; rmmod holdmod
		sleep 1; "$ctl" list --json > "$tmp/after"
		"$ctl" list > "$tmp/list"' 2> "$tmp/err"
	equal "a recording outlives the module of its lock" $? 0
	equal "list does not say it is gone before" \
		"$(grep -c '"gone": false' "$tmp/before")" 1
	equal "list says so afterwards" \
		"$(grep -c '"gone": true' "$tmp/after")" 1
	equal "list says so in words" \
		"$(grep -c 'passes nothing: its lock' "$tmp/list")" 1
	equal "record says so at once" "$(grep -c \
		"passes nothing from now on: module 'holdmod'" "$tmp/err")" 1
	equal "record says so at the end" "$(tail -n 2 "$tmp/err" |
		grep -c 'passed nothing from some moment on')" 1
else
	result "$(cat "$tmp/why")" "holdmod can be loaded"
fi

# ---- what cannot be ----

expect 1 'there is no process' add-filter pid --pid 4194304
expect 1 'has no perf event open' add-filter pid --pid $$
expect 1 'descriptor 33 is not open' add-filter pid --fd 33
expect 1 'not a perf event' add-filter pid --fd 1
expect 1 'there is no filter 4000' del-filter 4000
expect 2 "column 18: 'percpu-rwsem:R': .*inlined" \
	add-filter 'pid || lock_held(percpu-rwsem:R)' --fd 1
equal "what the module refuses is marked" "$(tail -n 1 "$tmp/out")" \
	"$(printf '%19s^%s' '' '~~~~~~~~~~~~~')"
# Where a mutex can be told by looking at it
if hold s bash -c '"$ctl" add-filter "lock_held(cgroup_mutex)" --fd $EVENTS &&
	"$ctl" list' 2> /dev/null | grep -q ' mutex, .* by owner'; then
	expect 64 "'cgroup_mutex': .*readers" \
		add-filter 'lock_held_read(cgroup_mutex)' --fd 1
fi
wait_until gone
if possible raw-spinlock W; then
	hold s bash -c '"$ctl" add-filter "lock_held(raw-spinlock)" --fd $EVENTS' \
		> "$tmp/out" 2>&1
	equal "raw spinlocks are a kind of their own here" $? 0
else
	expect 2 "'raw-spinlock': .*" \
		add-filter 'lock_held(raw-spinlock)' --fd 1
fi
wait_until gone
expect 64 'no lock at this address' \
	add-filter 'lock_held(0xffffffffffffff00)' --fd 1
expect 64 "did you mean 'cgroup_mutex'" \
	add-filter 'lock_held(cgroup_mutx)' --fd 1
equal "nothing is left behind" "$(nr_filters)" 0

# as NOBODY ARGUMENT...: the same without rights
weak() {
	local want=$1 pattern=$2
	shift 2
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		--bounding-set=-all "$ctl" "$@" > "$tmp/out" 2>&1
	equal "without rights: $* (status)" $? "$want"
	equal "without rights: $* (words)" "$(grep -c -- "$pattern" "$tmp/out")" 1
}
weak 2 'CAP_PERFMON' check
weak 2 'CAP_PERFMON' list
weak 2 'CAP_PERFMON' stats
weak 2 'CAP_PERFMON' del-filter --all
weak 2 'CAP_SYS_PTRACE' add-filter pid --pid 1
weak 2 'CAP_PERFMON' add-filter pid --fd 1
weak 2 'CAP_SYSLOG' add-filter 'lock_held(cgroup_mutex)' --fd 1
unshare -Ur "$ctl" list > "$tmp/out" 2>&1
equal "root of a user namespace only (status)" $? 2
equal "root of a user namespace only (words)" \
	"$(grep -c 'initial user namespace' "$tmp/out")" 1

rmmod lockheld
equal "the module can be unloaded" $? 0
expect 2 'the module is not loaded' list
echo "1..$nr"
exit $failed
