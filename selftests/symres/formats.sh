# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2086,SC2016
# Files of other machines and systems, made with clang, lld and yaml2obj, and
# files that lack what others have. Sourced by run.sh, in a folder for fixtures.

# Each machine's object files: class, byte order and relocations differ.
for t in riscv64-linux-gnu riscv32-unknown-elf armv7-linux-gnueabihf armeb-linux-gnueabi \
	aarch64-linux-gnu powerpc64le-linux-gnu mips64-linux-gnuabi64 x86_64-linux-gnu \
	hexagon-unknown-elf; do
	clang --target=$t -O1 -fPIC -c x.c -o "x_$t.o"
	ld.lld -shared -o "x_$t.so" "x_$t.o"
	names "$t" "f1+0x0 f2+0x0" -e "x_$t.so" "$(value "x_$t.so" f1)" "$(value "x_$t.so" f2)"
	strip_to="x_$t.stripped"
	llvm-objcopy --strip-sections "x_$t.so" "$strip_to"
	names "$t without section headers" "f1+0x0 f2+0x0" -e "$strip_to" \
		"$(value "x_$t.so" f1)" "$(value "x_$t.so" f2)"
done
names "perf: big-endian and 32-bit" "f1+0x0" --policy perf -e x_armeb-linux-gnueabi.so \
	"$(value x_armeb-linux-gnueabi.so f1)"

# Marks between code and data, with and without a suffix, on RISC-V.
printf '.text\n.globl fa\n.type fa,@function\nfa: ret\n.size fa,.-fa\n.globl lit\nlit: .quad 1\n.globl fb\n.type fb,@function\nfb: ret\n.size fb,.-fb\n"$xrv64i2p0": nop\n' > rv.s
clang --target=riscv64-linux-gnu -c rv.s -o rv.o && ld.lld -shared -o rv.so rv.o
fb=$((0x$(value rv.so fb)))
names "mapping symbols of RISC-V" "fb+0x0 ??" -e rv.so "$(printf %x $fb)" "$(printf %x $((fb + 4)))"

# How many symbols: by either hash table, and with none.
for style in sysv gnu both; do
	gcc -shared -fPIC -O1 -Wl,--hash-style=$style -o hash_$style.so x.c
	llvm-objcopy --strip-sections hash_$style.so hash_$style
	names "no section headers, hash style $style" "f1+0x2 f2+0x0" -e hash_$style \
		"$(printf %x $((0x$(value hash_$style.so f1) + 2)))" "$(value hash_$style.so f2)"
done
python3 - <<'P'
import struct
def dyn(d):
    phoff, = struct.unpack_from('<Q', d, 0x20)
    for i in range(struct.unpack_from('<H', d, 0x38)[0]):
        at = phoff + i * 56
        if struct.unpack_from('<I', d, at)[0] == 2:
            return at, struct.unpack_from('<Q', d, at + 8)[0]
good = open('hash_both', 'rb').read()
ph, off = dyn(good)
def put(name, *edits):
    d = bytearray(good)
    for at, form, v in edits:
        struct.pack_into(form, d, at, v)
    open('dyn_' + name, 'wb').write(d)
put('empty', (ph + 32, '<Q', 0))
put('outside', (ph + 8, '<Q', 1 << 60))
tags = {}
for i in range(64):
    tag, = struct.unpack_from('<Q', good, off + i * 16)
    if not tag:
        break
    tags[tag] = off + i * 16 + 8
put('nohash', (tags[4] - 8, '<Q', 0x70000000), (tags[0x6ffffef5] - 8, '<Q', 0x70000000))
put('badsym', (tags[6], '<Q', 1 << 50))
put('badstr', (tags[10], '<Q', 1 << 60))
P
f1=$(value hash_both.so f1)
for bad in empty outside nohash badsym; do
	names "a dynamic segment that leads nowhere: $bad" \
		"?? symres: dyn_$bad: no symbol table" -e dyn_$bad "$f1"
done
names "string table longer than the file" "f1+0x0" -e dyn_badstr "$f1"
equal "a build-id without section headers" \
	"$(readelf -n hash_gnu.so | awk '/Build ID/ { print $3 }')" \
	"$("$symres" info --cache '' hash_gnu | sed -n 's/^  build-id: //p')"

# Function descriptors of 64-bit PowerPC: the symbol is data, the code is not.
clang --target=powerpc64-linux-gnu -O1 -c x.c -o ppc1.o && ld.lld -o ppc1 -e f1 ppc1.o
code() {
	python3 - "$1" "$2" <<'P'
import struct, subprocess, sys
out = subprocess.run(['readelf', '-SW', sys.argv[1]], stdout=subprocess.PIPE, text=True).stdout
opd = [l.split(']')[1].split() for l in out.splitlines() if ' .opd ' in l][0]
at = int(sys.argv[2], 16) - int(opd[2], 16) + int(opd[3], 16)
print('%x' % struct.unpack_from('>Q', open(sys.argv[1], 'rb').read(), at)[0])
P
}
f1=$(code ppc1 "$(value ppc1 f1)")
f2=$(code ppc1 "$(value ppc1 f2)")
names "function descriptors" "f1+0x4 f2+0x0" -e ppc1 "$(printf %x $((0x$f1 + 4)))" "$f2"
names "function descriptors by perf's rules" "f1+0x4 f2+0x0" --policy perf -e ppc1 \
	"$(printf %x $((0x$f1 + 4)))" "$f2"
equal "a function with a descriptor by name" "0x$f2" \
	"$("$symres" -e ppc1 -n f2 | awk '{ print $1 }')"
llvm-objcopy --only-keep-debug ppc1 ppc1.debug
llvm-strip --strip-all -o ppc1_s ppc1
llvm-objcopy --add-gnu-debuglink=ppc1.debug ppc1_s
names "descriptors in the program, names in the debug file" "f2+0x0" --debug-dir '' \
	-e ppc1_s "$f2"
printf '.section .opd,"aw"\n.globl g1\n.type g1,@function\ng1: .quad g1code\n.quad 0\n.globl g2\n.type g2,@function\ng2: .quad g2code\n.quad 0\n.text\ng1code: nop\nnop\n.size g1,8\ng2code: nop\n.size g2,4\n' > opd16.s
clang --target=powerpc64-linux-gnu -c opd16.s -o opd16.o && ld.lld -o opd16 -e g1 opd16.o
names "descriptors of two words" "g1+0x4 g2+0x0" -e opd16 \
	"$(printf %x $((0x$(code opd16 "$(value opd16 g1)") + 4)))" "$(code opd16 "$(value opd16 g2)")"

# Solaris: local symbols beside .dynsym, and both in order of address.
sun() {
	cat <<Y
--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, OSABI: ELFOSABI_SOLARIS, Type: ET_DYN, Machine: EM_X86_64}
ProgramHeaders:
  - {Type: PT_LOAD, Flags: [PF_R, PF_X], VAddr: 0x1000, FirstSec: .text, LastSec: .text}
Sections:
  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC,SHF_EXECINSTR], Address: 0x1000, Size: 0x40}
  - {Name: .dynstr, Type: SHT_STRTAB, Flags: [SHF_ALLOC], Address: 0x2000, Content: "00707269765f6c6f63616c007075626c696300"}
  - {Name: .SUNW_ldynsym, Type: 0x6ffffff3, Flags: [SHF_ALLOC], Address: 0x2100, AddressAlign: 8, Link: .dynstr, EntSize: 24, Content: "000000000000000000000000000000000000000000000000010000000200010010100000000000000800000000000000"}
  - {Name: .dynsym, Type: SHT_DYNSYM, Flags: [SHF_ALLOC], Address: 0x2180, AddressAlign: 8, Link: .dynstr, EntSize: 24, Content: "0000000000000000000000000000000000000000000000000c0000001200010020100000000000000400000000000000"}
  - {Name: .SUNW_dynsymsort, Type: 0x6ffffff1, Flags: [SHF_ALLOC], Address: 0x2200, AddressAlign: 4, Link: .SUNW_ldynsym, EntSize: 4, Content: "$1"}
Y
}
for bad in 0100000003000000:good 0300000001000000:unsorted 6300000003000000:index 0000000003000000:null 01000000:short; do
	sun "${bad%:*}" > sun.y
	yaml2obj-14 sun.y -o "sun_${bad#*:}.so" 2>/dev/null || yaml2obj sun.y -o "sun_${bad#*:}.so"
	names "Solaris, sort section ${bad#*:}" "priv_local+0x0 priv_local+0x7 ?? public+0x3 ??" \
		-e "sun_${bad#*:}.so" 1010 1017 1018 1023 1024
done
grep -v -e ProgramHeaders -e PT_LOAD sun.y > sun_bare.y
yaml2obj-14 sun_bare.y -o sun_bare.so 2>/dev/null || yaml2obj sun_bare.y -o sun_bare.so
names "Solaris, without segments: what its sections hold" "priv_local+0x7 ?? public+0x3 ?? ??" \
	-e sun_bare.so 1017 1018 1023 1024 3000
names "... and by offset" "priv_local+0x7" -o -e sun_bare.so \
	"$(printf %x $((0x$(readelf -SW sun_bare.so | awk '$2 == ".text" || $3 == ".text" { sub(/.*PROGBITS */, ""); print $2 }') + 0x17)))"
has "the source is told" "$("$symres" --json -e sun_good.so 1010)" '"source":"ldynsym"'

# Sort sections of our own, in both classes and byte orders.
for f in nest.so p_ibt shift.so alias.so powerpc-linux-gnu.so i386-linux-gnu.so x_armeb-linux-gnueabi.so; do
	must "sort sections for ${f##*/}" "$symres" sort -o sorted.so $f
	nm $f 2>/dev/null | awk '$2 ~ /[tTwW]/ { print $1 }' | head -n 300 > addrs
	echo 1001 >> addrs
	equal "the same names with them: ${f##*/}" "$("$symres" --debug-dir '' --cache '' -e $f < addrs 2>&1 | cksum)" \
		"$("$symres" --debug-dir '' --cache '' -e sorted.so < addrs 2>&1 | sed "s|sorted.so|$f|" | cksum)"
	equal "nothing that is loaded has moved: ${f##*/}" "$(readelf -lW $f | grep LOAD)" "$(readelf -lW sorted.so | grep LOAD)"
done
must "a program with sort sections" "$symres" sort -o sorted_ibt p_ibt
equal "still runs" "$(./p_ibt)" "$(./sorted_ibt)"
"$symres" sort -o sorted.so "$libc" > /dev/null
nm -D --without-symbol-versions "$libc" | awk '$2 ~ /[TtWi]/ { print $1 " " $3 }' | sort -u > libc_names
awk 'NR % 7 == 0 { print $1 }' libc_names > addrs
"$symres" --debug-dir '' --cache '' -e sorted.so < addrs | sed 's/+0x0$//' > answered
paste -d ' ' addrs answered > answers
equal "every 7th of libc's names, by its sort section: one that is there" "" \
	"$(grep -vxFf libc_names answers | head -n 3)"
equal "with them no index is made" "" "$("$symres" --debug-dir '' --cache sort_store -e sorted.so "$(value "$libc" strdup@@GLIBC_2.2.5 -D)" > /dev/null; ls sort_store 2>/dev/null)"
sorted_names() {
	python3 - "$1" "$2" <<'P'
import subprocess, sys
run = lambda *a: subprocess.run(a, stdout=subprocess.PIPE, text=True).stdout
sec = [l.split(']')[1].split() for l in run('readelf', '-SW', sys.argv[1]).splitlines() if sys.argv[2] in l][0]
d = open(sys.argv[1], 'rb').read()[int(sec[3], 16):][:int(sec[4], 16)]
table = '--dyn-syms' if 'dyn' in sys.argv[2] else '-s'
rows = {}
for l in run('readelf', '-W', table, sys.argv[1]).splitlines():
    w = l.split()
    if 'Symbol table' in l:
        keep = 'dynsym' in l if 'dyn' in sys.argv[2] else 'symtab' in l
    elif len(w) >= 8 and w[0][:-1].isdigit() and keep:
        rows[int(w[0][:-1])] = w[7]
print(' '.join(rows[int.from_bytes(d[i:i + 4], 'little')] for i in range(0, len(d), 4)))
P
}
printf '.text\n.globl strong\n.weak alias\n.type strong,@function\n.type alias,@function\nstrong:\nalias: ret\n.size strong,1\n.size alias,1\n.globl twin_a\n.globl twin_b\n.type twin_a,@function\n.type twin_b,@function\ntwin_a:\ntwin_b: ret\n.size twin_a,1\n.size twin_b,1\n.globl _start\n.type _start,@function\n_start: ret\n.globl zero\n.type zero,@function\nzero: ret\n.globl label\nlabel: ret\n.section .tdata,"awT"\n.globl tvar\n.type tvar,@object\n.size tvar,4\ntvar: .long 1\n.data\n.globl var\n.type var,@object\n.size var,4\nvar: .long 1\n' > picked.s
gcc -shared -nostdlib -o picked.so picked.s
"$symres" sort -o sel.so picked.so > /dev/null
equal "of a weak and a global name the weak one; no size, no type: not; but _start" \
	"alias twin_a twin_b _start var" \
	"$(sorted_names sel.so .SUNW_dynsymsort | sed 's/twin_b twin_a/twin_a twin_b/')"
equal "thread-local symbols in a list of their own" "tvar" "$(sorted_names sel.so .SUNW_dyntlssort)"
"$symres" sort -o sel.so --dynsort strong --dynsort zero --nodynsort twin_a picked.so > /dev/null
has "exceptions" "|$(sorted_names sel.so .SUNW_dynsymsort | tr ' ' '\n' | sort | paste -sd ' ')|" \
	"|_start alias strong twin_b var zero|"
names "an exception that is no symbol" \
	"symres: picked.so: no function or variable is called 'nobody'" sort -o sel.so --dynsort nobody picked.so
names "sorted already" "symres: sel.so: has sort sections already" sort sel.so
equal "sort: an object file" 1 "$("$symres" sort i386-linux-gnu.o >/dev/null 2>&1; echo $?)"
equal "sort: no ELF file" 1 "$("$symres" sort nest.s >/dev/null 2>&1; echo $?)"
equal "sort: two files" 64 "$("$symres" sort nest.so gap.so >/dev/null 2>&1; echo $?)"
cp nest.so inplace.so
chmod 751 inplace.so
"$symres" sort inplace.so > /dev/null
equal "sort in place: mode, and nothing left over" "751 1" \
	"$(stat -c %a inplace.so) $(find . -maxdepth 1 -name 'inplace.so*' | wc -l)"
# What is no file stays what it is, and a link leads to what is sorted
mkfifo sort.fifo
"$symres" sort -o sort.fifo nest.so > sort.out 2>&1
equal "sort: into what is no file" "1 symres: sort.fifo: not a file fifo" \
	"$? $(cat sort.out) $(stat -c %F sort.fifo)"
cp nest.so linked.so
chmod 4755 linked.so
chown 65534 linked.so
chmod 4755 linked.so
ln -s linked.so link.so
"$symres" sort link.so > /dev/null
equal "sort: what a link leads to, with all of its mode" "symbolic link 4755 1" \
	"$(stat -c %F link.so) $(stat -c %a linked.so) $(readelf -SW linked.so | grep -c SUNW_dynsymsort)"
cp nest.so full.so
before=$(cksum < full.so)
(ulimit -f 8; "$symres" sort full.so >/dev/null 2>&1)
equal "a full disk leaves the file as it was" "$before 1" \
	"$(cksum < full.so) $(find . -maxdepth 1 -name 'full.so*' | wc -l)"
