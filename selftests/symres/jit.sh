# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Code that a process compiled itself. Sourced by run.sh, in a folder for
# fixtures.

cat > jitprog.c <<'S'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void *sleeper(void *p) { pause(); return p; }
int main(void)
{
	pthread_t t;
	void *p = mmap((void *)0x7e0000000000, 0x10000, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	pthread_create(&t, NULL, sleeper, NULL);
	return p == MAP_FAILED ? 1 : pause();
}
S
gcc -O1 -o jitprog jitprog.c -lpthread
jit_map() {
	printf '7e0000000000 100 jit_old\n0x7e0000000040 20 jit_mid\n7e0000000000 80 jit_new with spaces\n7e0000000040 20 jit_latest\n7e0000000040 zz bad\n7e0000000f00 ffffffffffffffff jit_huge\n7e0000000050 0 jit_zero\nnonsense\n7e0000000200 10 \n-1 10 negative\n -ffff81fffffffd80 10 jit_minus\n7e0000000300 10 jit_last\n7e0000000400 10 jit_being_wri'
}
start ./jitprog
jit=$pid
wait_exec "$jit" 7e0000000000
names "no map: memory of no file" \
	"?? symres: 0x7e0000000044: memory of no file" -v -p "$jit" 7e0000000044
jit_map > "/tmp/perf-$jit.map"
names "a later line wins where it covers, spaces belong to the name" \
	"jit_new with spaces+0x10 jit_latest+0x4 jit_latest+0x1f jit_new with spaces+0x60 jit_old+0x80 ??" \
	-p "$jit" 7e0000000010 7e0000000044 7e000000005f 7e0000000060 7e0000000080 7e0000000100
names "lines that say nothing: no size, past the end, no name, bad numbers" \
	"?? ?? ?? ?? jit_last+0x0" -p "$jit" 7e0000000f00 7e0000001000 7e0000000200 7e0000000280 7e0000000300
names "a line that is still being written" "??" -p "$jit" 7e0000000400
has "the source is told" "$("$symres" --json -p "$jit" 7e0000000300)" '"source":"jit"'
mkfifo ask6 answer6
"$symres" -p "$jit" < ask6 > answer6 &
exec 8> ask6 9< answer6
echo 7e0000000400 >&8
read -r -t 10 line <&9
echo tten >> "/tmp/perf-$jit.map"
echo 7e0000000400 >&8
read -r -t 10 line2 <&9
exec 8>&- 9<&-
wait $!
equal "a map that grows is read again" "?? jit_being_written+0x0" "$line $line2"
echo '7e0000000600 10 _ZN3foo3barEv' >> "/tmp/perf-$jit.map"
names "as it was written" "foo::bar()+0x4" -C -p "$jit" 7e0000000604
tid=$(find "/proc/$jit/task" -maxdepth 1 -mindepth 1 -printf '%f\n' | grep -vx "$jit")
names "by a thread's number: the map of its process" "jit_last+0x0" -p "$tid" 7e0000000300
chmod 666 "/tmp/perf-$jit.map"
names "a map that anybody may write" "??" -p "$jit" 7e0000000300
rm "/tmp/perf-$jit.map"
ln -s "$PWD/elsewhere.map" "/tmp/perf-$jit.map"
jit_map > elsewhere.map
names "a symbolic link" "??" -p "$jit" 7e0000000300
rm "/tmp/perf-$jit.map"
mkfifo "/tmp/perf-$jit.map"
names "a pipe" "??" -p "$jit" 7e0000000300
rm "/tmp/perf-$jit.map"
if [ "$(id -u)" = 0 ]; then
	jit_map > "/tmp/perf-$jit.map"
	chown 65534 "/tmp/perf-$jit.map"
	names "another user's" "??" -p "$jit" 7e0000000300
	rm "/tmp/perf-$jit.map"
	# In a container it has another number, and its /tmp is another folder.
	mkdir -p ctr_tmp
	start unshare -p -f -m --mount-proc sh -c "mount --bind $PWD/ctr_tmp /tmp && exec ./jitprog"
	tries=100
	until inner=$(awk '{ print $1 }' "/proc/$pid/task/$pid/children") && [ -n "$inner" ] &&
		grep -q 7e0000000000 "/proc/$inner/maps" 2>/dev/null; do
		[ $((tries -= 1)) -gt 0 ] || break
		sleep .05
	done
	started+=("$inner")
	jit_map > ctr_tmp/perf-1.map
	names "a container's map, by the number the process has there" "jit_last+0x0" \
		-p "$inner" 7e0000000300
else
	skip "another user's" "not run as root"
	skip "a container's map" "not run as root"
fi
