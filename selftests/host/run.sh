#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs what the module's files can show without a kernel, under sanitizers.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

compile() {
	clang -std=gnu11 -g -O1 -Wall -Wextra -Werror \
		-fno-sanitize-recover=all \
		-I"$here/include" -include linux/compiler.h \
		-I"$top/kmod" -I"$top/uapi" -I"$here" "$@"
}

compile -fsanitize=address,undefined -o "$build/held_test" \
	"$here/held_test.c" "$top/kmod/held.c"
compile -fsanitize=address,undefined -o "$build/filter_test" \
	"$here/filter_test.c" "$top/kmod/filter.c"
compile -fsanitize=address,undefined -o "$build/memsrc_test" \
	"$here/memsrc_test.c" "$top/kmod/memsrc.c"
compile -fsanitize=fuzzer,address,undefined -o "$build/fuzz_filter" \
	"$here/fuzz_filter.c" "$top/kmod/filter.c"

# One TAP stream of all of them: each is a subtest.
status=0
echo "TAP version 13"
echo "1..4"
nr=0
subtest() {
	name=$1
	shift
	nr=$((nr + 1))
	if "$@" > "$build/log" 2>&1; then
		result=ok
	else
		result="not ok"
		status=1
	fi
	sed 's/^/    /' "$build/log"
	echo "$result $nr - $name"
}

subtest "stacks of held locks" "$build/held_test"
subtest "filter programs" "$build/filter_test"
subtest "what a processor says about memory" "$build/memsrc_test"
subtest "any bytes as a filter program, fuzzed" \
	"$build/fuzz_filter" -artifact_prefix="$build/" -runs=500000 \
	-max_len=4096 -verbosity=0
exit "$status"
