#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of selftests/vm/run itself: does it notice what it must notice?

set -u
run=$(dirname "$(realpath "$0")")/run
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# run keeps its files below it, so its QEMU can be told from others
export TMPDIR=$tmp
count=0
failures=0

# is NAME WANTED GOT
is()
{
	count=$((count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $count - $1"
	else
		failures=$((failures + 1))
		echo "not ok $count - $1"
		echo "# wanted '$2', got '$3'"
		tail -n 20 "$tmp/err" | sed 's/^/# /'
	fi
}

# vm ARGUMENT...: sets status; out and err are files
vm()
{
	"$run" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# Says whether a QEMU of this test still runs
left_over()
{
	local i

	for i in $(seq 50); do
		grep -lz "path=$tmp/" /proc/[0-9]*/cmdline >/dev/null 2>&1 || { echo none; return; }
		sleep 0.1
	done
	echo "still there after $i tries"
}

echo "TAP version 13"

mkdir "$tmp/share dir"
cd "$tmp" || exit 1
# shellcheck disable=SC2016 # for the shell in the VM
vm --share "$tmp/share dir" --cpus 3 6.1 -- bash -c \
	'echo "out $0"; echo err >/dev/stderr; pwd; nproc; touch /usr/written
	 echo kept >"$TMPDIR/x" 2>/dev/null; echo kept >"share dir/result"; ls /lib/modules; exit 7' 'a  "b"'
is "the status is the command's" 7 "$status"
is "arguments, folder and CPUs arrive" "out a  \"b\"|$tmp|3" "$(head -n 3 "$tmp/out" | paste -sd '|')"
is "standard error stays apart" err "$(cat "$tmp/err")"
is "the shared folder keeps what was written" kept "$(cat "$tmp/share dir/result")"
is "nothing else does" no "$([ -e /usr/written ] && echo yes || echo no)"
is "the kernel's modules are there" "$("$(dirname "$run")/kernel" 6.1 --release)" "$(tail -n 1 "$tmp/out")"

vm 6.1 -- bash -c 'echo "WARNING: a test" >/dev/kmsg'
is "a complaint in the log is a failure" 1 "$status"
is "the complaint is shown" 1 "$(grep -c 'first complaint:.*WARNING: a test' "$tmp/err")"

vm --log "$tmp/kernel.log" 6.1 -- bash -c 'echo c >/proc/sysrq-trigger; sleep 10'
is "a crash is a failure" 125 "$status"
is "the crash is shown" 1 "$(grep -c 'first complaint:' "$tmp/err")"
is "the log is kept" yes "$(grep -q 'sysrq: Trigger a crash' "$tmp/kernel.log" && echo yes)"

vm 6.1 -- bash -c 'echo b >/proc/sysrq-trigger; sleep 10'
is "silence is a failure" 125 "$status"

vm --timeout 15 6.1 -- sleep 100
is "time over" 124 "$status"
is "no QEMU is left" none "$(left_over)"

"$run" 6.1 -- sleep 100 >"$tmp/out" 2>"$tmp/err" </dev/null &
pid=$!
sleep 5
kill "$pid"
wait "$pid"
is "ended by a signal" 143 "$?"
is "and no QEMU is left" none "$(left_over)"

vm no-such -- true
is "an unknown kernel is wrong usage" 64 "$status"
is "and said in one line that names the others" 1 "$(grep -c "no kernel 'no-such'.*6\.1 debug" "$tmp/err")"
vm 6.1 true
is "so is a command without --" 64 "$status"
vm --cpus many 6.1 -- true
is "so is a number that is none" 64 "$status"

echo "1..$count"
[ "$failures" = 0 ]
