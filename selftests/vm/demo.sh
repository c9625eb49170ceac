#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job, end to end: a compiler at work in a VM, recorded and reported by
# the locks it held. "make demo" builds the tools and calls this.

set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
kernel=${1:-6.1}

# In the VM; the folder is shared with this machine
if [ "${2-}" = in-vm ]; then
	ctl=lockheld-ctl/lockheld-ctl
	out=build/demo

	# show COMMAND...: prints it as one would type it, and runs it
	show()
	{
		local word line='#'

		for word; do
			[[ $word != *[\ \|\(]* ]] || word="'$word'"
			line+=" $word"
		done
		printf '\n%s\n' "$line"
		"$@"
	}

	show uname -r
	show insmod "build/$kernel/kmod/lockheld.ko"
	show "$ctl" check
	show "$ctl" record -a -g -e kmem:mm_page_alloc -e cpu-clock \
		--filter 'lock_held(mmap_lock) || lock_held(mutex)' -o $out/perf.data \
		-- gcc -O2 -Isymres/include -D_GNU_SOURCE -c -o $out/index.o symres/index.c
	show "$ctl" report -i $out/perf.data > $out/report
	head -n 60 $out/report
	echo "[$(wc -l < $out/report) lines; all of it: $out/report, and the recording: $out/perf.data]"
	show rmmod lockheld
	exit
fi

step()
{
	printf '== %s\n' "$*" >&2
}

step "kernel $kernel for the VM (fetched once)"
"$here/kernel" "$kernel" >/dev/null
step "the module for it"
"$here/build-modules" "$kernel" >/dev/null
mkdir -p build/demo
step "booting it; the rest happens in the VM, emulated where KVM does not work"
exec "$here/run" --share build/demo "$kernel" -- "$here/demo.sh" "$kernel" in-vm
