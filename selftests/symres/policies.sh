# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# perf's rules beside ours, and further sources of names. Sourced by run.sh, in
# a folder for fixtures.

# perf's rules, where they differ from ours.
names "perf: the sizeless reach to the next symbol" \
	"exp_asm+0x500 exp_last+0x0 ??" --policy perf -e gap.so 1500 1fa3 1fa4
names "perf: a sizeless name of a sized function counts less" \
	"sized+0x0 ??" --policy perf -e twin.so 1000 1001
printf '.text\nnop\n.type last,@function\nlast: ret\n.section .zpad,"ax"\n.skip 0x3000\n' > last.s
gcc -shared -nostdlib -o last.so last.s
objcopy -N _DYNAMIC last.so
names "perf: the last one reaches to the end of the next page" "last+0x1ffe ??" \
	--policy perf -e last.so 2fff 3000
names "perf: a label inside of a function begins anew" "marker+0x1" \
	--policy perf -e labels.so 1002
names "perf: nesting" "outer+0x4 in1+0x2 outer+0x19 in2+0x2 outer+0x2a ??" \
	--policy perf -e nest.so 1004 1012 1019 1022 102a 103f
names "perf: overlaps" "a+0x7 b+0x0 b+0x7 b+0x8" \
	--policy perf -e overlap.so 1007 1008 100f 1010
names "perf: best of several names" "_foo+0x0" --policy perf -e alias.so \
	"$(value alias.so foo)"
names "perf: version text is part of a name" "f@@V2+0x1" --policy perf -e ver.so \
	"$(printf %x $((0x$(value ver.so f2) + 1)))"
cat > tie.s <<'S'
	.text
	.type f,@function
f:	ret
	.size f,.-f
	.macro both a b
	.globl \a
	.globl \b
	.type \a,@function
	.type \b,@function
\a:
\b:	ret
	.size \a,1
	.size \b,1
	.endm
	both SyS_read sys_read
	both compat_SyS_x compat_sys_x
	both _abc def
	both one three
	both ab12 ab34
S
gcc -shared -nostdlib -o tie.so tie.s
first=$(nm -p tie.so | awk '$3 ~ /^ab/ { print $3; exit }')
names "perf: underscores, length, system calls, then the table's order" \
	"sys_read+0x0 compat_sys_x+0x0 def+0x0 three+0x0 $first+0x0" \
	--policy perf -e tie.so 1001 1002 1003 1004 1005

# Stubs. All of a .plt beside .plt.sec is one thing; nameless ones have a name.
for p in p_ibt p_lazy p_now p_nopie p_gold p_lld; do
	objdump -d $p | sed -n 's/^\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p' > stubs
	# shellcheck disable=SC2046
	names "perf: stubs of $p" "$(awk '{ print $2 "+0x0" }' stubs | paste -sd ' ')" \
		--policy perf -e $p $(awk '{ print $1 }' stubs)
done
printf 'static int ia(int x){return x+1;} static int ib(int x){return x+2;}\nstatic int(*res(void))(int){return __builtin_cpu_supports("avx2")?ib:ia;}\nint fn(int)__attribute__((ifunc("res")));int abs(int);int main(int c,char**v){return fn(c)+abs(c);}\n' > irel.c
gcc -O1 -fno-builtin -Wl,-z,lazy -o p_irel irel.c
gcc -O1 -fno-builtin -static -o p_static irel.c
clang -O1 -fno-builtin -fuse-ld=lld -Wl,-z,lazy -o p_irel_lld irel.c
# The stub that jumps through the slot that the IRELATIVE relocation fills.
irel_stub() {
	python3 - "$1" <<'P'
import re, subprocess, sys
def run(*a):
    return subprocess.run(a, stdout=subprocess.PIPE, text=True).stdout
fn = [l.split()[0] for l in run('nm', sys.argv[1]).splitlines() if l.split()[-1] == 'fn'][0]
slot = [int(l.split()[0], 16) for l in run('readelf', '-rW', sys.argv[1]).splitlines()
        if 'IRELATIV' in l and int(l.split()[3], 16) == int(fn, 16)][0]
at = None
for l in run('objdump', '-d', sys.argv[1]).splitlines():
    m = re.match(r'\s*([0-9a-f]+):.*\bjmp\s.*# ([0-9a-f]+)', l)
    if m and int(m.group(2), 16) == slot:
        at = int(m.group(1), 16)
print('%x' % at)
P
}
for p in p_irel p_irel_lld p_static; do
	equal "the stub of an IFUNC in $p" "fn@plt" \
		"$("$symres" -e $p "$(irel_stub $p)" | sed 's/+0x[0-5]$//')"
done
equal "perf: the stub of an IFUNC" "fn@plt" \
	"$("$symres" --policy perf -e p_irel "$(irel_stub p_irel)" | sed 's/+0x[0-5]$//')"

# .gnu_debugdata: local symbols, compressed.
printf 'static int __attribute__((noinline)) hid(int x){return x+1;}\nint shown(int c){return hid(c);}\n' > mini.c
gcc -O1 -shared -fPIC -Wl,--build-id -o mini_full.so mini.c
objcopy -S --remove-section .gnu_debuglink mini_full.so mini_names
nm mini_full.so | awk '$3 == "hid" { print $3 }' > keep
objcopy --only-keep-debug --keep-symbols=keep mini_full.so mini_names 2>/dev/null ||
	objcopy --only-keep-debug mini_full.so mini_names
xz -k mini_names
strip -s -o mini_bare.so mini_full.so
objcopy --add-section .gnu_debugdata=mini_names.xz mini_bare.so mini.so
hid=$(value mini_full.so hid)
names "mini debug info" "hid+0x1 shown+0x0" -e mini.so \
	"$(printf %x $((0x$hid + 1)))" "$(value mini_full.so shown)"
names "without it" "??" -e mini_bare.so "$hid"
has "mini debug info is told as the source" "$("$symres" --json -e mini.so "$hid")" \
	'"source":"minidebug"'
names "perf: mini debug info" "hid+0x1" --policy perf -e mini.so \
	"$(printf %x $((0x$hid + 1)))"
head -c 200 mini_names.xz > cut.xz
objcopy --add-section .gnu_debugdata=cut.xz mini_bare.so mini_cut.so
names "mini debug info cut short: told, and the rest still counts" \
	"?? symres: mini_cut.so: the debug file .gnu_debugdata was left alone: it is cut short or damaged shown+0x0" \
	-e mini_cut.so "$hid" "$(value mini_full.so shown)"
printf 'no xz' > not.xz
objcopy --add-section .gnu_debugdata=not.xz mini_bare.so mini_not.so
names "mini debug info that is none" "shown+0x0" -e mini_not.so \
	"$(value mini_full.so shown)"
head -c 300000000 /dev/zero | xz -0 > bomb.xz
objcopy --add-section .gnu_debugdata=bomb.xz mini_bare.so mini_bomb.so
equal "mini debug info without measure: left alone, in little memory" "shown+0x0" \
	"$(ulimit -v 1000000; "$symres" -e mini_bomb.so "$(value mini_full.so shown)")"

# Below a root: debug files by build-id, and by link at the real folder's place.
id=$(build_id mini_full.so)
mkdir -p "sysroot/usr/lib/debug/.build-id/${id:0:2}" sysroot/lib
objcopy --only-keep-debug mini_full.so "sysroot/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
cp mini_bare.so sysroot/lib/
names "below a root: debug file by build-id" "hid+0x0" --root sysroot \
	-e /lib/mini_bare.so "$hid"
mkdir -p sysroot/usr/lib/debug/lib
mv "sysroot/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" sysroot/usr/lib/debug/lib/m.debug
cp sysroot/usr/lib/debug/lib/m.debug .
objcopy --add-gnu-debuglink=m.debug mini_bare.so sysroot/lib/linked.so
mv m.debug m.debug.away
names "below a root: debug file by link" "hid+0x0" --root sysroot \
	-e /lib/linked.so "$hid"

# Names as they were written.
cat > names.s <<'S'
	.text
	.macro sym n
	.globl "\n"
	.type "\n",@function
"\n":	ret
	.size "\n",1
	.endm
	sym _ZN3foo3barEv
	sym _ZN3foo3barEv.llvm.123
	sym _ZN12_GLOBAL__N_16singleEi
	sym _ZN4core3fmt5write17h0123456789abcdefE
	sym _RNvC6_123foo3bar
	sym _Zbroken
	sym plain
S
gcc -shared -nostdlib -o names.so names.s
names "demangled: C++, Rust old and new, and what is neither" \
	"foo::bar()+0x0 foo::bar() [clone .llvm.123]+0x0 (anonymous namespace)::single(int)+0x0 core::fmt::write+0x0 123foo::bar+0x0 _Zbroken+0x0 plain+0x0" \
	-C -e names.so 1000 1001 1002 1003 1004 1005 1006
names "stored, without -C" "_ZN3foo3barEv+0x0" -e names.so 1000
printf 'extern int f(int); int main(int c,char**v){return f(c);}\n' > cxx.cc
printf 'int f(int x){return x+1;}\n' > cxxlib.cc
g++ -shared -fPIC -o libcxxlib.so cxxlib.cc
g++ -Wl,-z,lazy -o p_cxx cxx.cc ./libcxxlib.so
stub=$(objdump -d p_cxx | sed -n 's/^\([0-9a-f]*\) <_Z1fi@plt>:$/\1/p')
names "demangled: a stub" "f(int)@plt+0x0" -C -e p_cxx "$stub"
# Which of two is better, perf decides by what it shows.
cat > shown.s <<'S'
	.text
	.globl _Z1fv
	.globl ab
	.type _Z1fv,@function
	.type ab,@function
_Z1fv:
ab:	ret
	.size _Z1fv,1
	.size ab,1
S
gcc -shared -nostdlib -o shown.so shown.s
names "perf: names compared as stored" "ab+0x0" --policy perf -e shown.so 1000
names "perf: names compared as shown" "f()+0x0" --policy perf -C -e shown.so 1000
