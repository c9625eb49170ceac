#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of selftests/vm/run itself: does it notice what it must notice?

set -u
here=$(dirname "$(realpath "$0")")
run=$here/run
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$here/../results.sh"
# run keeps its files below it, so its QEMU can be told from others
export TMPDIR=$tmp

# is NAME IS SHOULD: with what the last VM said, if not
is()
{
	equal "$@"
	[ "$2" = "$3" ] || diag "$(tail -n 20 "$tmp/err")"
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

# suite_users WANTED: waits for some or none to run in the root of a suite with
# files of this test there
suite_users()
{
	local i now root

	for i in $(seq 100); do
		now=none
		for root in /proc/[0-9]*/root; do
			if [ -d "$root$tmp/endless" ] && [[ $(readlink "$root") = */suites/*/root ]]; then
				now=some
			fi
		done
		[ "$now" != "$1" ] || break
		sleep 0.1
	done
	echo "$now"
}

tap_begin

mkdir "$tmp/share dir"
cd "$tmp" || exit 1
# shellcheck disable=SC2016 # for the shell in the VM
vm --share "$tmp/share dir" --cpus 3 6.1 -- bash -c \
	'echo "out $0"; echo err >/dev/stderr; pwd; nproc; touch /usr/written
	 echo kept >"$TMPDIR/x" 2>/dev/null; echo kept >"share dir/result"; ls /lib/modules; exit 7' 'a  "b"'
is "the status is the command's" "$status" 7
is "arguments, folder and CPUs arrive" "$(head -n 3 "$tmp/out" | paste -sd '|')" "out a  \"b\"|$tmp|3"
is "standard error stays apart" "$(cat "$tmp/err")" err
is "the shared folder keeps what was written" "$(cat "$tmp/share dir/result")" kept
is "nothing else does" "$([ -e /usr/written ] && echo yes || echo no)" no
is "the kernel's modules are there" "$(tail -n 1 "$tmp/out")" "$("$here/kernel" 6.1 --release)"

vm 6.1 -- bash -c 'echo "WARNING: a test" >/dev/kmsg'
is "a complaint in the log is a failure" "$status" 1
is "the complaint is shown" "$(grep -c 'first complaint:.*WARNING: a test' "$tmp/err")" 1

vm --append sysctl.kernel.tainted=512 6.1 -- echo run
is "a kernel that is tainted from the start is started again, once" "$status $(grep -c \
	'starting it again' "$tmp/err")" "125 1"
is "and nothing is run in it" "$(cat "$tmp/out")" ""

vm --log "$tmp/kernel.log" 6.1 -- bash -c 'echo c >/proc/sysrq-trigger; sleep 10'
is "a crash is a failure" "$status" 125
is "the crash is shown" "$(grep -c 'first complaint:' "$tmp/err")" 1
is "the log is kept" "$(grep -q 'sysrq: Trigger a crash' "$tmp/kernel.log" && echo yes)" yes

vm 6.1 -- bash -c 'echo b >/proc/sysrq-trigger; sleep 10'
is "silence is a failure" "$status" 125

vm --timeout 15 6.1 -- sleep 100
is "time over" "$status" 124
is "no QEMU is left" "$(left_over)" none

"$run" 6.1 -- sleep 100 >"$tmp/out" 2>"$tmp/err" </dev/null &
pid=$!
sleep 5
kill "$pid"
wait "$pid"
is "ended by a signal" "$?" 143
is "and no QEMU is left" "$(left_over)" none

# A build with another suite's compiler, which lasts until it is ended
mkdir "$tmp/endless"
echo '$(shell sleep 1000)' > "$tmp/endless/Kbuild"
"$here/make-modules" 7.3 "$tmp/endless" >"$tmp/out" 2>"$tmp/err" </dev/null &
pid=$!
is "a suite's root is entered" "$(suite_users some)" some
kill "$pid"
wait "$pid"
is "nothing is left in it when the build is ended" "$(suite_users none)" none
is "nor mounted on it" "$(grep -c '/suites/' /proc/self/mountinfo)" 0

vm no-such -- true
is "an unknown kernel is wrong usage" "$status" 64
is "and said in one line that names the others" "$(grep -c "no kernel 'no-such'.*6\.1 .*debug" "$tmp/err")" 1
vm 6.1 true
is "so is a command without --" "$status" 64
vm --cpus many 6.1 -- true
is "so is a number that is none" "$status" 64
tap_end
