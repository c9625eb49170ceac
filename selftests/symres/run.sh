#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests of symres against files made here and now. TAP on standard output; exit
# status 0: all passed, 1: not. Needs: gcc clang lld binutils libclang-rt-14-dev
# llvm libelf-dev zlib1g-dev liblzma-dev libzstd-dev libdebuginfod-dev libiberty-dev xz-utils
# zstd debuginfod pkg-config python3 man-db.
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
src=$here/../../symres
# shellcheck disable=SC2034 # for sanitized.sh
fuzz_seconds=${FUZZ_SECONDS:-3} fuzz_seed=${FUZZ_SEED:-1}
tmp=$(mktemp -d)
unset DEBUGINFOD_URLS
export XDG_CACHE_HOME=$tmp/cache
chmod 755 "$tmp"	# some tests are run as nobody
started=()
cleanup() {
	local p
	for p in "${started[@]}"; do
		kill "$p" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

count=0
failures=0

# result STATUS NAME [WHAT WENT WRONG]
result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failures=$((failures + 1))
		echo "not ok $count - $2"
		[ -z "${3-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# equal NAME WANTED GOT
equal() {
	if [ "$2" = "$3" ]; then
		result 0 "$1"
	else
		result 1 "$1" "wanted: $2
got:    $3"
	fi
}

# names NAME "WANTED..." SYMRES-ARGUMENT...: the answers, on one line
names() {
	local name=$1 wanted=$2
	shift 2
	equal "$name" "$wanted" "$("$symres" "$@" 2>&1 | paste -sd ' ')"
}

# has NAME TEXT PART: TEXT holds PART
has() {
	case $2 in
	*"$3"*) result 0 "$1" ;;
	*) result 1 "$1" "wanted: ...$3...
got:    $2" ;;
	esac
}

# Programs of ours print "ok NAME" and "not ok NAME"; number them with the rest.
relay() {
	local line seen=0
	while IFS= read -r line; do
		case $line in
		"ok "*) result 0 "${line#ok }"; seen=1 ;;
		"not ok "*) result 1 "${line#not ok }"; seen=1 ;;
		*) echo "# $line" ;;
		esac
	done
	[ $seen = 1 ] || result 1 "$1 ran no test"
}

# must NAME COMMAND...: it succeeds; its output is shown if it does not
must() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		result 0 "$name"
	else
		result 1 "$name" "$(printf '%s' "$out" | tail -n 40)"
	fi
}

# An address of a symbol in hexadecimal: value FILE NAME [NM-OPTION]
value() {
	nm ${3:+"$3"} "$1" | awk -v n="$2" '$3 == n { print $1; exit }'
}

# In the background, ended at the end: start COMMAND...; its number is in $pid
start() {
	"$@" >/dev/null 2>&1 &
	pid=$!
	started+=("$pid")
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Until the process runs the program and no longer the shell that began it.
wait_exec() {
	local tries=100
	until grep -q "$2" "/proc/$1/maps" 2>/dev/null; do
		[ $((tries -= 1)) -gt 0 ] || return
		sleep .05
	done
}

for tool in gcc clang ld.lld objcopy strip objdump readelf nm python3 pkg-config man make; do
	command -v "$tool" >/dev/null || {
		echo "Bail out! $tool is missing; see the packages named in selftests/symres/run.sh"
		exit 1
	}
done

echo "TAP version 13"
cp -r "$src" "$tmp/symres-src"
make -s -C "$tmp/symres-src" clean
must "builds without a warning" make -s -C "$tmp/symres-src" CFLAGS='-O2 -g -Werror'
symres=$tmp/symres-src/build/symres
[ -x "$symres" ] || {
	echo "1..$count"
	exit 1
}
mkdir "$tmp/fx"
cd "$tmp/fx" || exit 1
for part in symbols debugfiles debuginfod mappings jit kernel command batch policies formats plt modules cache kept oracle library package sanitized; do
	echo "# $part"
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done
echo "1..$count"
echo "# $((count - failures)) passed, $failures failed"
[ $failures = 0 ]
