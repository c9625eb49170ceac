#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the debugging kernel notice mistakes, and the VM runner what it says?

set -u
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$here/../results.sh"

# noticed WHAT WORDS
noticed()
{
	check "noticed: $1" grep -qE "$2" "$tmp/err"
}

tap_begin
cp "$here"/faulty/* "$tmp"
check "the faulty module compiles" "$here/make-modules" debug "$tmp"
"$here/run" debug -- bash -c "insmod '$tmp/faulty.ko'; true" >"$tmp/out" 2>"$tmp/err" </dev/null
equal "the run is a failure, though the command was none" "$?" 1
noticed "use after free" 'KASAN: .*use-after-free in faulty_init'
noticed "a shift out of bounds" 'UBSAN: shift-out-of-bounds'
noticed "sleeping in atomic context" 'scheduling while atomic|sleeping function called from invalid context'
noticed "two locks taken in both orders" 'possible circular locking dependency'
noticed "a leak" 'unreferenced object'
[ "$failed" = 0 ] || cat "$tmp/err" >&2
tap_end
