#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the debugging kernel notice mistakes, and the VM runner what it says?

set -u
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0
failures=0

# result STATUS NAME
result()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failures=$((failures + 1))
		echo "not ok $count - $2"
	fi
}

noticed()
{
	grep -qE "$2" "$tmp/err"
	result $? "noticed: $1"
}

echo "TAP version 13"
cp "$here"/faulty/* "$tmp"
make -C "$("$here/kernel" debug --kdir)" M="$tmp" modules >"$tmp/log" 2>&1 </dev/null
result $? "the faulty module compiles" || cat "$tmp/log" >&2
"$here/run" debug -- bash -c "insmod '$tmp/faulty.ko'; true" >"$tmp/out" 2>"$tmp/err" </dev/null
[ $? = 1 ]
result $? "the run is a failure, though the command was none"
noticed "use after free" 'KASAN: .*use-after-free in faulty_init'
noticed "a shift out of bounds" 'UBSAN: shift-out-of-bounds'
noticed "sleeping in atomic context" 'scheduling while atomic|sleeping function called from invalid context'
noticed "two locks taken in both orders" 'possible circular locking dependency'
noticed "a leak" 'unreferenced object'
[ "$failures" = 0 ] || cat "$tmp/err" >&2
echo "1..$count"
[ "$failures" = 0 ]
