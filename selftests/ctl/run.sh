#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What lockheld-ctl can show without the module: its language, under sanitizers
# and fuzzed for FUZZ_SECONDS (10), and its verbs where the module is missing.
# Needs: gcc clang flex bison libclang-rt-14-dev python3 pkg-config man-db and
# what lockheld-ctl is built with.

# shellcheck disable=SC2046,SC2086,SC2317 # lists of words; what subtest() calls
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

parts="ast cgroupid compile expr.lex expr.tab lockname lockspec locks names rqlock slabname
	suggest tpfilter util words"
checked="-fsanitize=address,undefined -fno-sanitize-recover=all"
libs="libtraceevent libtracefs libelf libbpf"

# objects COMPILER FLAGS FOLDER: the language, built anew into FOLDER
objects() {
	make -s -C "$top/lockheld-ctl" CC="$1" CFLAGS="-O1 -g -Werror $2" \
		B="$3" $(printf "$3/%s.o " $parts) > "$build/make.log" 2>&1 ||
		{ cat "$build/make.log"; exit 1; }
}

# program COMPILER FLAGS NAME FOLDER SOURCE...
program() {
	local cc=$1 flags=$2 name=$3 folder=$4
	shift 4
	"$cc" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g $flags \
		-I"$top/lockheld-ctl" -I"$top/uapi" \
		-I"$top/selftests/host/include" \
		$(pkg-config --cflags $libs) -o "$build/$name" "$@" \
		"$folder"/*.o "$top/symres/build/libsymres.a" \
		$(pkg-config --libs $libs) -lz -llzma -lzstd -liberty
}

# The /sys and /proc of the table: caches that were merged, and such that were
# not; a hierarchy of control groups without any
kernel_files() {
	local slab=$LOCKHELD_CTL_ROOT/sys/kernel/slab name

	mkdir -p "$slab"/{vm_area_struct,kmalloc-64,"with blank"} \
		"$slab"/a_name_of_thirty-{two_bytes_____x,three_bytes___xy} \
		"$slab/:"{0000192,a-0000040,0000256,0000999} \
		"$LOCKHELD_CTL_ROOT/proc"
	for name in dentry cred_jar zz_alias alias_{a,b,c,d,e}; do
		ln -s :0000192 "$slab/$name"
	done
	for name in twin twin_b twin_c; do
		ln -s :0000256 "$slab/$name"
	done
	ln -s :0000999 "$slab/lost_a"
	ln -s :0000999 "$slab/lost_b"
	ln -s :a-0000040 "$slab/only_alias"
	cat > "$LOCKHELD_CTL_ROOT/proc/slabinfo" <<-TEXT
	slabinfo - version: 2.1
	# name            <active_objs> <num_objs> <objsize> <objperslab>
	cred_jar           2793   2793    192   21    1
	twin                  1      1    256   16    1
	vm_area_struct     1000   1000    208   19    1
	with blank            2      2    208   19    1
	TEXT
	mkdir -p "$LOCKHELD_CTL_ROOT/sys/kernel/btf"
	clang -target bpf -g -c -x c -o "$LOCKHELD_CTL_ROOT/sys/kernel/btf/vmlinux" - <<-C
	struct rq { long nr; char lockless[64]; int __lock; } rq;
	C
	echo "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0" \
		> "$LOCKHELD_CTL_ROOT/proc/mounts"
}

export LOCKHELD_CTL_ROOT=$build/root
kernel_files
make -s -C "$top/symres" > /dev/null
make -s -C "$top/lockheld-ctl" > /dev/null
objects gcc "$checked" "$build/gcc"
objects clang "$checked -fsanitize=fuzzer-no-link" "$build/clang"
program gcc "$checked" expr_test "$build/gcc" "$here/expr_test.c"
program gcc "$checked" tpfilter_test "$build/gcc" "$here/tpfilter_test.c"
program clang "$checked -fsanitize=fuzzer -include linux/compiler.h" \
	fuzz_expr "$build/clang" "$here/fuzz_expr.c" "$here/exprgen.c" \
	"$top/kmod/filter.c"

# The fuzzer begins with the table's expressions and with the longest and deepest
# that can be, and one beyond; the first byte of each is the event.
corpus() {
	local line n=0

	mkdir "$build/corpus"
	grep -v '^[#[:space:]]' "$here/exprs.table" |
	while IFS= read -r line; do
		case $line in
		'[mm_page_alloc] '*) line=1${line#*] } ;;
		'[mixture] '*) line=2${line#*] } ;;
		*) line=0$line ;;
		esac
		printf '%s' "$line" > "$build/corpus/$n"
		n=$((n + 1))
	done
	for n in 127 128; do
		{ printf 0pid; printf ',cpu%.0s' $(seq $n); } > "$build/corpus/long$n"
	done
	for n in 15 16; do
		{ printf 0; printf 'pid||(tid&&(%.0s' $(seq $n); printf 'cpu||uid'
		  printf '))%.0s' $(seq $n); } > "$build/corpus/deep$n"
	done
}

fuzz() {
	corpus
	if LOCKHELD_CTL_TESTS=$here "$build/fuzz_expr" -seed=1 -verbosity=0 \
		-max_total_time="${FUZZ_SECONDS:-10}" -max_len=1000 \
		-print_final_stats=1 -artifact_prefix="$build/" "$build/corpus" \
		> "$build/fuzz.log" 2>&1; then
		grep -a '^expressions:' "$build/fuzz.log"
		# Most of them nonsense: then it would find little
		[ "$(awk '/^expressions:/ { print ($4 > $2 / 20) }' \
			"$build/fuzz.log")" = 1 ]
	else
		tail -n 60 "$build/fuzz.log" | tr -cd '[:print:]\n'
		return 1
	fi
}

# Expressions where files of the kernel's are missing
without_files() {
	local poor=$build/poor none=$build/none

	mkdir "$poor" "$none"
	cp -a "$LOCKHELD_CTL_ROOT/sys" "$poor"
	{
		LOCKHELD_CTL_ROOT=$poor "$build/expr_test" "$here" - <<-'TEXT'
		lock_held(&vm_area_struct)
		lock_held(&dentry)
		TEXT
		LOCKHELD_CTL_ROOT=$none "$build/expr_test" "$here" - <<-'TEXT'
		lock_held(&dentry)
		cgroup == "/a"
		TEXT
	} | grep -v '	^' | tr -d '\t' | diff - <(cat <<-'TEXT'
	lock_held(&vm_area_struct)
	= lock(&vm_area_struct)
	lock_held(&dentry)
	! 2 11 slab cache 'dentry': it is merged with others, and which name the kernel keeps is in /proc/slabinfo: No such file or directory
	lock_held(&dentry)
	! 2 11 slab cache 'dentry': the names of slab caches cannot be read: /proc/slabinfo: No such file or directory
	cgroup == "/a"
	! 2 11 control group '/a': no hierarchy of control groups is mounted, give the group's number
	TEXT
	)
}

manual() {
	[ -z "$(man --warnings -l "$top/lockheld-ctl/man/lockheld-ctl.8" \
		2>&1 >/dev/null | tee /dev/stderr)" ]
}

# One TAP stream of all: each is a subtest. Its exit status 4 is a skip.
failed=0
echo "TAP version 13"
echo "1..7"
nr=0
subtest() {
	local name=$1 status=0
	shift
	nr=$((nr + 1))
	"$@" > "$build/log" 2>&1 || status=$?
	sed 's/^/    /' "$build/log"
	case $status in
	0) echo "ok $nr - $name" ;;
	4) echo "ok $nr - $name # SKIP not possible here" ;;
	*) echo "not ok $nr - $name"; failed=1 ;;
	esac
}

subtest "expressions and what becomes of them" \
	"$build/expr_test" "$here" "$here/exprs.table"
subtest "expressions where files of the kernel's are missing" without_files
subtest "random expressions keep their meaning" \
	python3 "$here/logic.py" "$build/expr_test" "$here"
subtest "what the kernel's own filter makes of its part" "$build/tpfilter_test"
subtest "any text as an expression, fuzzed by grammar" fuzz
subtest "verbs where the module is missing" "$here/missing.sh"
subtest "manual page" manual
exit "$failed"
