# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# From mappings to names. Sourced by run.sh, in a folder for fixtures.

# lld puts code at addresses that are not its offsets in the file.
printf 'int sq(int x){return x*x;} int cube(int x){return x*x*x;}\n' > shift.c
clang -shared -fPIC -O1 -fuse-ld=lld -o shift.so shift.c
cube=$((0x$(value shift.so cube)))
# vaddr minus offset of the executable segment
bias=$(readelf -lW shift.so | sed -n 's/^ *LOAD *\(0x[0-9a-f]*\) *\(0x[0-9a-f]*\) .* R E .*/\1 \2/p' |
	{ read -r off vaddr; echo $((vaddr - off)); })
[ "$bias" != 0 ]
result $? "the fixture's addresses differ from its offsets"
names "offset to address by the segment that holds it" "cube+0x2" \
	-o -e shift.so "$(printf %x $((cube - bias + 2)))"
names "an offset in no segment" \
	"?? symres: 0xfffffff: address is not mapped, shift.so" -v -o -e shift.so fffffff
names "an address in no segment" \
	"?? symres: 0xfffffff: address is not mapped, shift.so" -v -e shift.so fffffff

# Three executable mappings of one file, two of them at offsets of their own.
cat > split.c <<'S'
#include <sys/mman.h>
#include <unistd.h>
__attribute__((aligned(4096), noinline)) int page1(int x) { return x + 1; }
__attribute__((aligned(4096), noinline)) int page2(int x) { return x + 2; }
__attribute__((aligned(4096), noinline)) int page3(int x) { return x + 3; }
int main(void)
{
	mprotect((void *)page2, 4096, 7);
	for (;;) {
		page1(1); page2(2); page3(3);
		usleep(10000);
	}
}
S
gcc -O1 -o split split.c
start ./split
wait_exec "$pid" rwxp
base=$((0x$(grep -m1 /split "/proc/$pid/maps" | cut -d- -f1)))
equal "one file in several executable mappings" 3 \
	"$(grep -c ' r.xp .*/split$' "/proc/$pid/maps")"
for f in page1 page2 page3; do
	names "$f in its own mapping" "$f+0x1" -p "$pid" \
		"$(printf %x $((base + 0x$(value split $f) + 1)))"
done
stack=$((0x$(awk '/\[stack\]/ { sub(/-.*/, "", $1); print $1 }' "/proc/$pid/maps")))
names "the stack has no names" "??" -p "$pid" "$(printf %x $stack)"
names "an address of no mapping" \
	"?? symres: 0x10: address is not mapped" -v -p "$pid" 10

# The vdso, of another process and our own.
vdso=$((0x$(awk '/\[vdso\]/ { sub(/-.*/, "", $1); print $1 }' "/proc/$pid/maps")))
python3 - <<'P'
for l in open('/proc/self/maps'):
    if '[vdso]' in l:
        a, b = [int(x, 16) for x in l.split()[0].split('-')]
        m = open('/proc/self/mem', 'rb')
        m.seek(a)
        open('vdso.so', 'wb').write(m.read(b - a))
P
gettime=$((0x$(readelf -W --dyn-syms vdso.so | awk '$8 ~ /^__vdso_clock_gettime@/ { print $2 }')))
names "the vdso of a process" "__vdso_clock_gettime+0x1" -p "$pid" \
	"$(printf %x $((vdso + gettime + 1)))"
names "the vdso of our own" "__vdso_clock_gettime+0x0" -e '[vdso]' \
	"$(printf %x $gettime)"

# Deleted, and replaced by another program while it runs.
printf '#include <unistd.h>\n__attribute__((noinline))int in_ctr(int x){for(volatile int i=0;i<999;i++)x+=i;return x;}\nint main(){for(;;){in_ctr(1);usleep(999);}}\n' > ic.c
sed 's/in_ctr/on_host/g' ic.c > oh.c
gcc -O1 -o spin ic.c
fn=$((0x$(value spin in_ctr)))
start ./spin
wait_exec "$pid" /spin
base=$((0x$(grep -m1 /spin "/proc/$pid/maps" | cut -d- -f1)))
rm spin
gcc -O1 -o spin oh.c
equal "the fixture: same address, another name" on_host+0x0 \
	"$("$symres" -e spin "$(printf %x $fn)")"
names "a deleted program is read through its process" "in_ctr+0x1" \
	-p "$pid" "$(printf %x $((base + fn + 1)))"
rm spin

# A program that exists in memory only.
gcc -O1 -o spin ic.c
start python3 -c "
import os
f = os.memfd_create('jitcode', 0)
os.write(f, open('./spin', 'rb').read())
os.execv('/proc/self/fd/%d' % f, ['x'])"
wait_exec "$pid" memfd:jitcode
base=$((0x$(grep -m1 memfd:jitcode "/proc/$pid/maps" | cut -d- -f1)))
names "a program in a memfd" "in_ctr+0x0" -p "$pid" \
	"$(printf %x $((base + fn)))"

# In another mount namespace the same path is another file.
mkdir ctr host
gcc -static -O1 -o ctr/spin ic.c
gcc -static -O1 -o host/spin oh.c
if [ "$(id -u)" = 0 ]; then
	start unshare -m sh -c 'mount --bind ctr host &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups ./host/spin'
	wait_exec "$pid" host/spin
	fn=$(value ctr/spin in_ctr)
	names "a container's file, not the host's of the same path" \
		"in_ctr+0x0" -p "$pid" "$fn"
	# What is beside it, behind a link that means something in there only
	mkdir -p ctr/dbg
	cp ctr/spin ctr/dbg/spin.debug
	strip -s -o ctr/spin2 ctr/spin
	(cd ctr/dbg && objcopy --add-gnu-debuglink=spin.debug ../spin2)
	ln -s "$PWD/host/dbg" ctr/.debug
	cp host/spin host/spin2
	start unshare -m sh -c 'mount --bind ctr host && exec ./host/spin2'
	wait_exec "$pid" host/spin2
	names "a container's debug file, behind a link" "in_ctr+0x0" -p "$pid" "$fn"
	start unshare -m sh -c 'mount --bind ctr host &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups ./host/spin'
	wait_exec "$pid" host/spin
	# without the rights that map_files asks for
	equal "a container's file for an ordinary user" "in_ctr+0x0" \
		"$(as_nobody "$symres" -p "$pid" "$fn" 2>&1)"
else
	skip "a container's file" "not run as root"
fi
