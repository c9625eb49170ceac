#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Without the module every verb that needs it says so in one line, with exit
# status 2, and leaves nothing behind; wrong usage is 64 all the same.

set -u
here=$(cd "$(dirname "$0")" && pwd)
ctl=$here/../../lockheld-ctl/lockheld-ctl
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/work"
cd "$tmp/work" || exit 1

echo "TAP version 13"
nr=0
failed=0

# expect STATUS PATTERN ARGUMENT...: one line on stderr that PATTERN matches
expect() {
	local want=$1 pattern=$2 status=0 problem=
	shift 2
	"$ctl" "$@" > "$tmp/out" 2> "$tmp/err" || status=$?
	nr=$((nr + 1))
	[ "$status" = "$want" ] || problem="exit status $status, not $want"
	# The caret below an expression is no line of its own.
	[ "$(grep -c '^lockheld-ctl: ' "$tmp/err")" = 1 ] &&
		[ "$(grep -vc '^  ' "$tmp/err")" = 1 ] ||
		problem="$problem; not one line"
	grep -q -- "$pattern" "$tmp/err" || problem="$problem; other words"
	[ ! -s "$tmp/out" ] || problem="$problem; output"
	[ -z "$(ls -A)" ] || problem="$problem; left $(ls -A)"
	if [ -z "$problem" ]; then
		echo "ok $nr - ${*//[[:cntrl:]]/ }"
	else
		echo "not ok $nr - ${*//[[:cntrl:]]/ }"
		echo "# $problem"
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		failed=1
	fi
}

if [ -d /sys/module/lockheld ]; then
	echo "1..0 # SKIP the module is loaded"
	exit 4
fi

missing='the module is not loaded: .*insmod'
expect 2 "$missing" check
expect 2 "$missing" check --json
expect 2 "$missing" list
expect 2 "$missing" stats --json
expect 2 "$missing" add-filter 'lock_held(mutex)' --pid $$
expect 2 "$missing" add-filter 'lock_held(mutex)' --fd 0
expect 2 "$missing" del-filter 1
expect 2 "$missing" del-filter --all
expect 2 "$missing" record -a -e cpu-clock --filter 'lock_held(mutex)' -- true
expect 64 "unknown verb 'chekc': did you mean 'check'" chekc
expect 64 "unknown option '--jsno'" list --jsno
expect 64 "unexpected 'x'" list x
expect 64 'one --pid' add-filter 'lock_held(mutex)'
expect 64 'one --pid' add-filter 'lock_held(mutex)' --pid 1 --fd 1
expect 64 'quotation marks' add-filter 'pid == 1' '||' --pid 1
expect 64 'an expression is missing' add-filter --pid 1
expect 64 "'x' is not a process id" add-filter pid --pid x
expect 64 "'-1' is not a descriptor" add-filter pid --fd -1
expect 64 "missing after '--fd'" add-filter pid --fd
expect 64 "did you mean 'mutex'" add-filter 'lock_held(mutx)' --pid 1
expect 64 'record -e TRACEPOINT' add-filter 'gfp_flags & 1' --pid 1
expect 64 'the numbers of filters' del-filter
expect 64 'the numbers of filters' del-filter 1 --all
expect 64 "'0' is not the number" del-filter 0
expect 64 'one verb at a time' help list check
expect 64 "unknown verb 'x'" help x
expect 64 "unknown verb 'x y'" $'x\ny'
echo "1..$nr"
exit $failed
