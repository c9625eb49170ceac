#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What can be said about the sources without running them.

set -u
here=$(dirname "$(realpath "$0")")
cd "$here/../.." || exit 1
count=0
failures=0

# clean NAME COMMAND...: the command must succeed and print nothing
clean()
{
	local name=$1 said status=ok

	shift
	said=$("$@" 2>&1 </dev/null) && [ -z "$said" ] || status="not ok"
	count=$((count + 1))
	echo "$status $count - $name"
	[ "$status" = ok ] && return
	failures=$((failures + 1))
	head -n 40 <<< "${said:-failed without a word}" | sed 's/^/# /'
}

# What git has, or would take
files()
{
	git ls-files -co --exclude-standard "$@" | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

scripts()
{
	files | xargs grep -lE -m 1 '^#!/bin/(ba)?sh|^# shellcheck shell='
}

# The licence of each folder, in the first lines of every file that can have a
# comment: what imitates a file of the kernel's cannot
licences()
{
	local file wanted

	files Kbuild Makefile kmod uapi lockheld-ctl symres selftests .ci |
	grep -vE '^selftests/ctl/(kallsyms|formats/)' | while read -r file; do
		case $file in
		symres/*) wanted=LGPL-2.1-or-later ;;
		uapi/*) wanted='GPL-2.0-only WITH Linux-syscall-note' ;;
		*) wanted=GPL-2.0-only ;;
		esac
		head -n 3 "$file" |
			grep -qE "SPDX-License-Identifier: $wanted( \*/| -->)?\$" ||
			echo "$file: not marked as $wanted"
	done
}

# Kernels differ by what they offer (distributions carry backports), and all
# that is known about it stands in one place
version_tests()
{
	files 'kmod/*.[ch]' 'selftests/*.[ch]' 'uapi/*.h' | grep -vx kmod/compat.h |
		xargs grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' /dev/null
	return 0
}

manual_pages()
{
	local page

	files | grep -E '\.[1-8]$' | while read -r page; do
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null |
			sed "s#^#$page: #"
	done
}

# Userspace without a warning, by both compilers, in a copy
compiled_by()
{
	local copy status=0

	copy=$(mktemp -d)
	files uapi symres lockheld-ctl | xargs cp --parents -t "$copy"
	{
		make -C "$copy/symres" CC="$1" CFLAGS='-O2 -g -Werror' &&
		make -C "$copy/lockheld-ctl" CC="$1" CFLAGS='-O2 -g -Werror'
	} >"$copy/log" 2>&1 || { status=1; grep -vE '^ ' "$copy/log"; }
	rm -rf "$copy"
	return "$status"
}

# sparse complains about the kernel's own headers, too
sparse()
{
	local copy kdir dir

	kdir=$(selftests/vm/kernel 6.1 --kdir) || return
	copy=$(mktemp -d)
	files Kbuild kmod uapi selftests/holdmod | xargs cp --parents -t "$copy"
	# holdmod takes locks in one function and drops them in another
	for dir in "$copy" "$copy/selftests/holdmod -Wno-context"; do
		make -C "$kdir" M="${dir% *}" C=2 CF="-D__CHECK_ENDIAN__ ${dir#"${dir% *}"}" modules
	done >"$copy/log" 2>&1 || cat "$copy/log"
	grep -E "^($copy/|\.\./)?.*(warning|error):" "$copy/log" | grep -F "$copy" |
		sed "s#$copy/##"
	rm -rf "$copy"
}

echo "TAP version 13"
clean "every file carries its licence" licences
clean "kernel versions are tested in kmod/compat.h only" version_tests
# What a script that is sourced by another takes from that, and leaves to it
# (SC2154, SC2034), cannot be seen here.
# shellcheck disable=SC2046 # names without spaces
clean "shellcheck" shellcheck -x -P SCRIPTDIR -S warning -e SC2154,SC2034 $(scripts)
clean "manual pages" manual_pages
clean "userspace compiles with gcc" compiled_by gcc
clean "userspace compiles with clang" compiled_by clang
clean "sparse" sparse
# shellcheck disable=SC2046
clean "spelling" codespell -q 3 -L te,pevent,pevents,chekc $(files | grep -v '^selftests/.*/kallsyms')
echo "1..$count"
[ "$failures" = 0 ]
