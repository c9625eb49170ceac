# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2016
# Which symbol holds an address. Sourced by run.sh, in a folder for fixtures.

# Hidden code behind a sizeless export; gdb, eu-addr2line and llvm-symbolizer
# all stretch exp_asm over it.
cat > gap.s <<'S'
	.text
	.globl exp_asm
	.type exp_asm,@function
exp_asm: nop; ret
	.type hidden1,@function
hidden1: .rept 4000; nop; .endr; ret
	.size hidden1,.-hidden1
	.globl exp_last
	.type exp_last,@function
exp_last: ret
	.size exp_last,.-exp_last
S
gcc -shared -nostdlib -o gap_full.so gap.s
strip -s -o gap.so gap_full.so
names "sizeless .dynsym entry answers for its own address only" \
	"exp_asm+0x0 ?? ?? exp_last+0x0 ??" -e gap.so 1000 1001 0x1500 1fa3 1fa4
names "the same code with .symtab" \
	"exp_asm+0x1 hidden1+0x4fe" -e gap_full.so 1001 1500

cat > sizeless.s <<'S'
	.text
	.globl sized
	.type sized,@function
sized: nop; nop; ret
	.size sized,.-sized
	.globl nosize
	.type nosize,@function
nosize: nop; nop; nop; nop; ret
	.globl notype_label
notype_label: nop; nop; nop; ret
	.p2align 4
	.globl after
	.type after,@function
after: ret
	.size after,.-after
inner_lbl: nop
	.section .text.other,"ax",@progbits
	.globl othersec
	.type othersec,@function
othersec: ret
S
gcc -shared -nostdlib -o sizeless.so sizeless.s
names "sizeless and untyped symbols end at the next of any kind" \
	"sized+0x1 nosize+0x0 nosize+0x3 notype_label+0x0 notype_label+0x2 after+0x0 inner_lbl+0x0 othersec+0x0 ??" \
	-e sizeless.so 1001 1003 1006 1008 100a 1010 1011 1012 1013

# A sizeless name of a sized function does not outlive it.
cat > twin.s <<'S'
	.text
	.globl sized
	.type sized,@function
	.globl twin
	.type twin,@function
sized:
twin:	ret
	.size sized,.-sized
	.rept 8; nop; .endr
S
gcc -shared -nostdlib -o twin.so twin.s
names "a sizeless name of a sized function ends with it" "sized+0x0 ??" \
	-e twin.so 1000 1001

# A label inside of a sized function is no function; nor are .L labels any.
cat > labels.s <<'S'
	.text
	.type f,@function
f: nop
marker: nop
	ret
	.size f,.-f
g:	nop
.Lkept: ret
	.hidden note
note:	nop
S
gcc -shared -nostdlib -Wa,-L -o labels.so labels.s
names "labels name only what no typed symbol covers" "f+0x1 g+0x1 ??" \
	-e labels.so 1001 1004 1005

# Data is no different: tables of assemblers have neither size nor type.
cat > datalabels.s <<'S'
	.text
	ret
	.data
	.p2align 12
first:	.quad 1, 2
	.type obj,@object
	.size obj,8
obj:	.quad 3
	.globl table
table:	.quad 4, 5
.Lkept_data: .quad 6
	.type nosize_obj,@object
nosize_obj: .quad 7, 8
	.size sized_label,8
sized_label: .quad 9
	.quad 10
	.hidden hid_label
hid_label: .quad 11
	.section .rodata,"a"
	.p2align 12
strings: .asciz "ab"
	.section .tdata,"awT",@progbits
	.globl tls_label
tls_label: .quad 1
	.bss
	.p2align 12
	.zero 8
buffer:	.zero 64
S
gcc -shared -nostdlib -Wa,-L -Wl,-z,separate-code -o datalabels.so datalabels.s
first=$((0x$(value datalabels.so first)))
at_data() {
	for i in "$@"; do
		printf '%x ' $((first + i))
	done
}
# shellcheck disable=SC2046
names "labels in data answer like those in code" \
	"first+0x0 first+0xf obj+0x0 table+0x0 table+0xf table+0x17 nosize_obj+0x8 sized_label+0x7 ?? ??" \
	-e datalabels.so $(at_data 0 15 16 24 39 47 56 71 72 80)
names "labels in constants and in zeros" "strings+0x1 ?? buffer+0x3f" -e datalabels.so \
	"$(printf %x $((0x$(value datalabels.so strings) + 1)))" \
	"$(printf %x $((0x$(value datalabels.so buffer) - 1)))" \
	"$(printf %x $((0x$(value datalabels.so buffer) + 63)))"
has "a label that answers is approximate" \
	"$("$symres" --json -e datalabels.so "$(printf %x $((first + 31)))")" \
	'"name":"table","start":"0x'"$(printf %x $((first + 24)))"'","offset":"0x7","size":"0x0","source":"symtab","kind":"label","approximate":true'
strip -s -o datalabels_s.so datalabels.so
# shellcheck disable=SC2046
names "a label of .dynsym alone answers for its own address" "?? table+0x0 ??" \
	-e datalabels_s.so $(at_data 0 24 25)
# shellcheck disable=SC2046
names "perf's rules take labels to the next one" "first+0xf table+0xf .Lkept_data+0x0 sized_label+0x7" \
	--policy perf -e datalabels.so $(at_data 15 39 40 71)
names "labels of compilers are not found by name" \
	"symres: datalabels.so: no symbol is called '.Lkept_data'" -e datalabels.so -n .Lkept_data

# Compilers' labels have no say: what is before them goes on. Those that have a
# type, or were given a size, are symbols like others.
cat > dotl.s <<'S'
	.text
g:	nop
.Lgone: nop
	.size .Lsized,1
.Lsized: nop
	.type .Lfunc,@function
.Lfunc:	nop
	.size .Lfunc,.-.Lfunc
L1:	nop
S
gcc -shared -nostdlib -Wa,-L -o dotl.so dotl.s
names ".L labels name and end nothing, unless they have a type" \
	"g+0x0 g+0x1 g+0x2 .Lfunc+0x0 L1+0x0" -e dotl.so 1000 1001 1002 1003 1004

# A label at the end of a section names nothing in the next one.
cat > ends.s <<'S'
	.section seca,"ax"
	.type f,@function
f:	nop
	.size f,.-f
	.globl seca_end
seca_end:
	.section secb,"ax"
	nop
S
gcc -shared -nostdlib -o ends.so ends.s
names "a label at a section's end reaches nowhere" "f+0x0 ??" -e ends.so \
	"$(value ends.so f)" "$(value ends.so seca_end)"

cat > nest.s <<'S'
	.text
	.globl outer
	.type outer,@function
outer: .rept 16; nop; .endr
	.globl in1
	.type in1,@function
in1: .rept 8; nop; .endr
	.size in1,.-in1
	.rept 8; nop; .endr
	.globl in2
	.type in2,@function
in2: .rept 8; nop; .endr
	.size in2,.-in2
	.rept 16; nop; .endr
	ret
	.size outer,.-outer
	.rept 8; nop; .endr
S
gcc -shared -nostdlib -o nest.so nest.s
names "innermost symbol, then the outer one again" \
	"outer+0x4 in1+0x2 outer+0x19 in2+0x2 outer+0x2a ??" \
	-e nest.so 1004 1012 1019 1022 102a 103f

# Two that overlap without nesting, and two that begin together.
cat > overlap.s <<'S'
	.text
	.type a,@function
	.type b,@function
	.type c,@function
	.type d,@function
a:	.rept 8; nop; .endr
b:	.rept 8; nop; .endr
	.size a,.-a
	.rept 8; nop; .endr
	.size b,.-b
c:
d:	.rept 8; nop; .endr
	.size d,.-d
	.rept 8; nop; .endr
	.size c,.-c
S
gcc -shared -nostdlib -o overlap.so overlap.s
names "overlapping symbols" "a+0x7 b+0x0 b+0x7 b+0x8 d+0x0 c+0x8 ??" \
	-e overlap.so 1007 1008 100f 1010 1018 1020 1028

# The same four aliases in two orders.
cat > alias.c <<'S'
int __foo_impl(int x) { return x + 1; }
#ifndef REVERSED
extern int foo(int) __attribute__((weak, alias("__foo_impl")));
static int foo_local(int) __attribute__((alias("__foo_impl"), used));
extern int _foo(int) __attribute__((alias("__foo_impl")));
#else
extern int _foo(int) __attribute__((alias("__foo_impl")));
static int foo_local(int) __attribute__((alias("__foo_impl"), used));
extern int foo(int) __attribute__((weak, alias("__foo_impl")));
#endif
S
gcc -shared -fPIC -O1 -o alias.so alias.c
gcc -shared -fPIC -O1 -DREVERSED -o alias2.so alias.c
names "best of several names" "_foo+0x0" -e alias.so "$(value alias.so foo)"
names "best of several names, whatever their order" "_foo+0x0" \
	-e alias2.so "$(value alias2.so foo)"
printf '__attribute__((noinline)) static int fl(int x){return x+1;} extern int weak_name(int) __attribute__((weak,alias("fl"))); int user(int x){return fl(x);}\n' > alias3.c
gcc -shared -fPIC -O1 -o alias3.so alias3.c
names "a local name before a weak one" "fl+0x0" -e alias3.so \
	"$(value alias3.so weak_name)"
libc=$(gcc -print-file-name=libc.so.6)
names "libc's strdup is weak, __strdup is not" "__strdup+0x0" --debug-dir '' \
	-e "$libc" "$(value "$libc" strdup@@GLIBC_2.2.5 -D)"

printf 'int f1(int x){return x+1;} int f2(int x){return x+2;}\n__asm__(".symver f1,f@V1");__asm__(".symver f2,f@@V2");\n' > ver.c
printf 'V1{global:f;local:*;};V2{global:f;}V1;\n' > ver.map
gcc -shared -fPIC -O1 -Wl,--version-script=ver.map -o ver.so ver.c
strip -s -o ver_s.so ver.so
names "version text is no part of a name" "f+0x1 f+0x1" -e ver.so \
	"$(printf %x $((0x$(value ver.so f2) + 1)))" \
	"$(printf %x $((0x$(value ver.so f@V1) + 1)))"

printf 'static int ia(int x){return x+1;} static int ib(int x){return x+2;}\nstatic int(*res(void))(int){return __builtin_cpu_supports("avx2")?ib:ia;}\nint fn(int)__attribute__((ifunc("res")));\n' > ifn.c
gcc -O1 -shared -fPIC -o ifn.so ifn.c
names "the code at an IFUNC is its resolver's" "res+0x0 ia+0x0" \
	-e ifn.so "$(value ifn.so fn)" "$(value ifn.so ia)"

printf '.text\n.byte 0x90\n.globl oddf\n.type oddf,@function\noddf: nop\nret\n.size oddf,.-oddf\n' > odd.s
gcc -shared -nostdlib -o odd.so odd.s
names "an x86 function may be odd" "?? oddf+0x0" -e odd.so 1000 1001

printf 'int counter[4]={1,2,3,4};\n' > data.c
gcc -shared -fPIC -O1 -o data.so data.c
names "data has names too" "counter+0x8" \
	-e data.so "$(printf %x $((0x$(value data.so counter) + 8)))"

# 32-bit, big-endian and Thumb.
printf 'int f1(int x){return x+1;} int f2(int x){return x*3;}\n' > x.c
for t in mips-linux-gnu powerpc-linux-gnu i386-linux-gnu aarch64_be-linux-gnu; do
	clang --target=$t -O1 -fPIC -c x.c -o $t.o && ld.lld -shared -o $t.so $t.o
	names "$t" "f1+0x0 f2+0x0" -e $t.so "$(value $t.so f1)" "$(value $t.so f2)"
done
printf 'int tf(int x){return x*12345;}\n__attribute__((target("arm"))) int af(int x){return x*98765;}\n' > th.c
clang --target=armv7-linux-gnueabihf -mthumb -O1 -fPIC -c th.c -o th.o
ld.lld -shared -o th.so th.o
names "the Thumb bit is no part of an address" "tf+0x0 af+0x0" -e th.so \
	"$(printf %x $((0x$(readelf -sW th.so | awk '$8 == "tf" { print $2; exit }') & ~1)))" \
	"$(value th.so af)"
printf '.text\n.globl fa\n.type fa,@function\nfa: ret\nlit: .quad 0x1122334455667788\n.size fa,.-fa\n.globl fb\n.type fb,@function\nfb: ret\n.size fb,.-fb\n$dollar: ret\n$x.odd: ret\n' > a64.s
clang --target=aarch64-linux-gnu -c a64.s -o a64.o && ld.lld -shared -o a64.so a64.o
fb=$((0x$(value a64.so fb)))
names "mapping symbols name nothing" "fb+0x0 ??" -e a64.so \
	"$(printf %x $fb)" "$(printf %x $((fb + 8)))"
sed 's/lit:.*//' a64.s > x86dollar.s
gcc -shared -nostdlib -o x86dollar.so x86dollar.s
names "on other machines \$ may begin a name" '$dollar+0x0' \
	-e x86dollar.so "$(value x86dollar.so '$dollar')"

# More sections than a symbol's field can number.
python3 - <<'P' > many.s
for i in range(66000):
    print('.section s%d,"ax",@progbits\n.globl f%d\n.type f%d,@function\nf%d: ret\n.size f%d,1' % (i, i, i, i, i))
P
gcc -c -o many.o many.s
ld.lld -shared -o many.so many.o
names "66,000 sections" "f65999+0x0 f3+0x0" -e many.so \
	"$(value many.so f65999)" "$(value many.so f3)"

# PLT stubs in every layout, against objdump's reading of them.
printf '#include <stdio.h>\n#include <stdlib.h>\nint main(int c,char**v){printf("%%d",c);puts("x");return abs(c);}\n' > p.c
gcc -fno-builtin -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy -o p_ibt p.c
gcc -fno-builtin -Wl,-z,lazy -o p_lazy p.c
gcc -fno-builtin -Wl,-z,now -o p_now p.c
# Older linkers put a bnd prefix before the jump.
python3 - <<'P'
import re, struct
d = open('p_ibt', 'rb').read()
def bnd(m):
    slot, = struct.unpack('<i', m.group(1))
    return (b'\xf3\x0f\x1e\xfa\xf2\xff\x25' + struct.pack('<i', slot - 1) +
            b'\x0f\x1f\x44\0\0')
d, n = re.subn(rb'\xf3\x0f\x1e\xfa\xff\x25(.{4})\x66\x0f\x1f\x44\0\0', bnd,
               d, flags=re.S)
assert n >= 3
open('p_bnd', 'wb').write(d)
P
chmod +x p_bnd
gcc -fno-builtin -no-pie -Wl,-z,lazy -o p_nopie p.c
gcc -fno-builtin -fuse-ld=gold -o p_gold p.c
clang -fno-builtin -fuse-ld=lld -Wl,-z,lazy -o p_lld p.c
clang -fno-builtin -fuse-ld=lld -fcf-protection=full -Wl,-z,lazy -o p_lldibt p.c
for p in p_ibt p_bnd p_lazy p_now p_nopie p_gold p_lld p_lldibt; do
	objdump -d $p | sed -n 's/^\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p' > stubs
	wanted=$(awk '{ print $2 "+0x5" }' stubs | paste -sd ' ')
	addrs=$(awk '{ print $1 }' stubs | while read -r a; do printf '%x ' $((0x$a + 5)); done)
	[ "$(wc -l < stubs)" -ge 3 ] || wanted="at least three stubs in $p"
	# shellcheck disable=SC2086
	names "stubs of $p" "$wanted" -e $p $addrs
	plt=$(readelf -SW $p | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".plt" { print $3 }')
	names "the resolver's stub of $p, not _init" ".plt+0x0" -e $p "$plt"
	last=$(readelf -SW $p | sed 's/^ *\[ *[0-9]*\]//' |
		awk '$1 == ".init" { print $3, $5 }')
	# shellcheck disable=SC2086
	set -- $last
	end=$((0x$1 + 0x$2))
	got=$("$symres" -e $p "$(printf %x $((end - 1)))" "$(printf %x $end)" | paste -sd ' ')
	case $got in
	*" _init"*) result 1 "_init of $p ends with its section" "got: $got" ;;
	"_init+0x$(printf %x $((0x$2 - 1))) "*) result 0 "_init of $p ends with its section" ;;
	*) result 1 "_init of $p ends with its section" "got: $got" ;;
	esac
done
