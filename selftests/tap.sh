#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the collector notice what it must notice?

set -u
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$here/results.sh"

# counts NAME STATUS TAP WANTED
counts()
{
	equal "$1" "$(printf "%b" "$3" | awk -v status="$2" -f "$here/tap.awk" | paste -sd '|')" "$4"
}

tap_begin
counts "all passed" 0 'TAP version 13\n1..2\nok 1 - a\nok 2 - b\n' "2 0 0"
counts "plan at the end" 0 'ok 1\nok 2\n1..2\n' "2 0 0"
counts "a failure" 1 '1..2\nok 1 - a\nnot ok 2 - b\n' "1 1 0|not ok 2 - b"
counts "what a test says of a failure" 1 '1..2\nnot ok 1 - b\n# is 1\n# no\nok 2\n# yes\n' "1 1 0|not ok 1 - b|  is 1|  no"
counts "and no more than three lines of it" 1 '1..1\nnot ok 1\n# 1\n# 2\n# 3\n# 4\n' "0 1 0|not ok 1|  1|  2|  3"
counts "a failure with exit status 0" 0 '1..1\nnot ok 1 - b\n' "0 1 0|not ok 1 - b"
counts "all passed with exit status 1" 1 '1..1\nok 1\n' "1 1 0|ended with status 1"
counts "a skip" 0 '1..2\nok 1\nok 2 - x # SKIP no such\n' "1 0 1"
counts "all skipped" 4 '1..0 # SKIP not here\n' "0 0 1"
counts "skipped without a word" 4 '' "0 0 1"
counts "nothing printed" 0 '' "0 1 0|printed no result"
counts "no plan" 0 'ok 1\n' "1 1 0|no plan for 1 results"
counts "plan not met" 0 '1..2\nok 1\n' "1 1 0|planned 2 results, got 1"
counts "plan exceeded" 0 '1..1\nok 1\nok 2\n' "2 1 0|planned 1 results, got 2"
counts "killed in the middle" 139 '1..2\nok 1\n' "1 1 0|planned 2 results, got 1"
counts "given up" 1 '1..2\nok 1\nBail out! disk full\nok 2\n' "2 1 0|Bail out! disk full"
counts "subtests count for their test" 0 '1..1\n    1..2\n    ok 1\n    ok 2\nok 1 - sub\n' "2 0 0"
counts "a failed subtest" 1 '1..1\n  1..2\n  ok 1\n  not ok 2 - in\nnot ok 1 - sub\n' "1 1 0|not ok 2 - in"
counts "a test that fails after good subtests" 1 '1..1\n  1..1\n  ok 1\nnot ok 1 - sub\n' "1 1 0|not ok 1 - sub"
counts "a plan of subtests not met" 0 '1..1\n  1..2\n  ok 1\nok 1 - sub\n' "1 1 0|planned 2 results, got 1"
counts "other lines" 0 'okay\n# ok 9\n1..1\nok 1 - a\n' "1 0 0"

# The runner, with a list of its own
mkdir "$tmp/selftests"
cp "$here/run_tests" "$here/in-turn" "$here/tap.awk" "$tmp/selftests"
cat > "$tmp/selftests/good" <<'TEST'
#!/bin/sh
echo 1..2; echo ok 1; echo 'ok 2 # SKIP not here'
TEST
cat > "$tmp/selftests/bad" <<'TEST'
#!/bin/sh
echo 1..1; echo not ok 1 - wrong; exit 1
TEST
cat > "$tmp/selftests/slow" <<'TEST'
#!/bin/sh
echo 1..1; sleep 20; echo ok 1
TEST
cp "$tmp/selftests/good" "$tmp/selftests/also-good"
chmod +x "$tmp/selftests/"{good,also-good,bad,slow}

# sums NAME STATUS LAST-LINE TEST...: of a list of these tests
sums()
{
	local name=$1 status=$2 wanted=$3 got

	shift 3
	printf '%s host 4\n' "$@" > "$tmp/selftests/tests"
	got=$("$tmp/selftests/run_tests" </dev/null 2>&1 | tail -n 1; echo "status ${PIPESTATUS[0]}")
	equal "$name" "$(paste -sd '|' <<< "$got")" "$wanted|status $status"
}

sums "the sum of good tests" 0 "1 passed, 0 failed, 1 skipped" good
sums "the sum with a bad one" 1 "2 passed, 1 failed, 2 skipped" good bad also-good
sums "several in a line" 1 "2 passed, 1 failed, 2 skipped" good,bad,also-good
sums "one of several that takes too long" 1 "2 passed, 1 failed, 2 skipped" good,slow,also-good
sums "a test that stands in two lines runs once" 0 "2 passed, 0 failed, 2 skipped" \
	good,also-good also-good
sums "one that takes too long" 1 "1 passed, 1 failed, 1 skipped" good slow
sums "one that is not there" 1 "1 passed, 1 failed, 1 skipped" good absent

# Kernels: what gets, builds and boots them is replaced, since what is tested is
# which of them are asked for, and that one of them failing does not matter to
# the others
mkdir "$tmp/selftests/vm"
cat > "$tmp/selftests/vm/kernel" <<'TEST'
#!/bin/sh
[ "$1" != broken ]
TEST
cat > "$tmp/selftests/vm/build-modules" <<'TEST'
#!/bin/sh
TEST
cat > "$tmp/selftests/vm/run" <<'TEST'
#!/bin/bash
while [ "$1" != -- ]; do
	export KERNEL=$1
	shift
done
shift
case ${VM-} in
dies) "$@" | sed '/^# status/q'; exit 125 ;;
complains) "$@"; exit 1 ;;
*) exec "$@" ;;
esac
TEST
cat > "$tmp/selftests/kernel" <<'TEST'
#!/bin/sh
echo "1..1"; echo "ok 1"; echo "$KERNEL: $TEST_DIVISOR$LOCKHELD_HOOK" >>"${0%/*}/seen"
TEST
chmod +x "$tmp/selftests/vm/"* "$tmp/selftests/kernel"

# on_kernels NAME STATUS LAST-LINE SEEN LIST ARGUMENT...
on_kernels()
{
	local name=$1 wanted="$3|status $2${4:+|$4}" got

	printf 'kernels %s\n' 'check one two/4' 'slow lame/2' 'more three/8 broken two:ftrace/9' \
		> "$tmp/selftests/tests"
	echo "$5" >> "$tmp/selftests/tests"
	shift 5
	: > "$tmp/selftests/seen"
	got=$("$tmp/selftests/run_tests" "$@" </dev/null 2>&1 | tail -n 1
	      echo "status ${PIPESTATUS[0]}"
	      sort "$tmp/selftests/seen")
	equal "$name" "$(paste -sd '|' <<< "$got")" "$wanted"
}

each='kernel kernels 9'
on_kernels "the usual kernels" 0 "2 passed, 0 failed, 0 skipped" "one: 1|two: 4" "$each"
on_kernels "all kernels, one of which cannot be built" 1 "5 passed, 1 failed, 0 skipped" \
	"lame: 2|one: 1|three: 8|two: 4|two: 9ftrace" "$each" -a
on_kernels "a slow one where it is named" 0 "3 passed, 0 failed, 0 skipped" \
	"lame: 2|one: 1|two: 4" "kernel kernels,lame 9"
on_kernels "which is not twice then" 1 "5 passed, 1 failed, 0 skipped" \
	"lame: 2|one: 1|three: 8|two: 4|two: 9ftrace" "kernel kernels,lame 9" -a
on_kernels "one kernel of those that are not usual" 0 "1 passed, 0 failed, 0 skipped" \
	"three: 8" "$each" -w three
on_kernels "one kernel with one kind of hooks" 0 "1 passed, 0 failed, 0 skipped" \
	"two: 9ftrace" "$each" -w two:ftrace
on_kernels "kernels by name are of their sets, too" 0 "1 passed, 0 failed, 0 skipped" \
	"two: 4" "kernel two,three 9"
on_kernels "other hooks on one kernel" 0 "3 passed, 0 failed, 0 skipped" \
	"one: 1|two: 4|two: 4kprobe" "kernel kernels,two:kprobe 9"
on_kernels "several in one VM" 0 "2 passed, 0 failed, 1 skipped" "two: 4" "kernel,good two 9"
VM=complains on_kernels "a kernel that complains" 1 "2 passed, 1 failed, 1 skipped" "two: 4" \
	"kernel,good two 9"
VM=dies on_kernels "a VM that ends too early" 1 "1 passed, 1 failed, 0 skipped" "two: 4" \
	"kernel,good two 9"
on_kernels "here, as soon as a kernel is there" 0 "1 passed, 0 failed, 1 skipped" "" \
	"good host+one 9"
on_kernels "a kernel that is none" 1 \
	"run_tests: kernel is to run on four, which is no kernel of the list" "" "kernel one,four 9"

: > "$tmp/selftests/tests"
got=$("$tmp/selftests/run_tests" </dev/null 2>&1)
equal "an empty list is a failure" "$? $(tail -n 1 <<< "$got")" "1 0 passed, 0 failed, 0 skipped"
tap_end
