# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Relocatable files: object files and kernel modules, compressed or not. Sourced
# by run.sh, in a folder for fixtures.

cat > mod.s <<'S'
.data
.globl var
.type var,@object
var: .quad 1
.size var,8
.section .init.text,"ax",@progbits
.p2align 6
pad: .skip 3, 0x90
.globl begin
.type begin,@function
begin: ret
.size begin,1
tail: nop
nop
.text
nop
.globl outer
.type outer,@function
outer: nop
nop
nop
ret
.size outer,4
bare: nop
nop
.section .exit.text,"ax",@progbits
.globl leave
.type leave,@function
leave: ret
.size leave,1
.bss
.type room,@object
room: .skip 16
.size room,16
.section .comment.of.ours,"",@progbits
.type note,@object
note: .skip 64
.size note,64
S
gcc -c -o mod.o mod.s
objcopy --strip-all mod.o bare.o
names "an object file: addresses are offsets in .text" "?? outer+0x0 outer+0x3 bare+0x0 bare+0x1" \
	-e mod.o 0 1 4 5 6
names "another section" "pad+0x2 begin+0x0 tail+0x1 ??" -e mod.o -j .init.text 2 3 5 6
names "a section of data" "var+0x7 ??" -e mod.o --section .data 7 8
names "a section without content" "room+0xf" -e mod.o -j .bss f
names "a section that is not loaded" \
	"symres: mod.o: no section is called '.comment.of.ours'" -e mod.o -j .comment.of.ours 0
names "no such section" "symres: nest.so: no section is called '.nowhere'" -e nest.so -j .nowhere 0
names "a section of what is no ELF file" "symres: mod.s: not a usable ELF file" -e mod.s -j .text 0
text=$(readelf -SW nest.so | awk '$2 == ".text" { print $4; exit }')
[ -n "$text" ] || text=$(readelf -SW nest.so | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print $3 }')
sym=$(nm nest.so | awk '$2 == "T" { print $1 " " $3; exit }')
names "a section of a linked file" "0x$(printf %x $((0x${sym% *} - 0x$text))): ${sym#* }+0x0" \
	-a -e nest.so -j .text "$(printf %x $((0x${sym% *} - 0x$text)))"
for a in "-o -e mod.o -j .text 0" "-j .text -k 0" "-j .text --batch"; do
	# shellcheck disable=SC2086
	equal "-j where it makes no sense: $a" 64 \
		"$("$symres" $a > /dev/null 2>&1 < /dev/null; echo $?)"
done
names "names to offsets in a section" "0x3 0x1 begin" -e mod.o -j .init.text -n begin
names "a name that is in another section" "symres: mod.o: no symbol is called 'begin'" \
	-e mod.o -j .text -n begin
begin=$("$symres" -e mod.o -n begin | awk '{ print $1 }')
names "names to addresses and back" "begin+0x0 begin+0x0" -e mod.o "$begin" "${begin#0x}"
names "all that hold an offset in a section" "0x3: begin+0x0" -a --all -e mod.o -j .init.text 3
has "an offset in a section, as an object" "$("$symres" --json -e mod.o -j .init.text 3)" \
	'"address":"0x3","path":"mod.o","module":"mod.o","name":"begin","start":"0x3"'
offset=$(readelf -SW mod.o | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".init.text" { print $4 }')
names "an offset in an object file" "begin+0x0" -o -e mod.o "$(printf %x $((0x$offset + 3)))"
equal "no two sections share an address" "" "$("$symres" --json -e mod.o -n outer bare begin tail pad leave var room |
	sed 's/.*"start":"0x\([0-9a-f]*\)".*/\1/' | sort | uniq -d)"
names "perf's rules in an object file" "outer+0x3 bare+0x1 begin+0x0" --policy perf -e mod.o 4 6 "$begin"
names "a batch" "outer bare" --batch < <(printf 'mod.o\t1\nmod.o\t5\n')
for t in i386 mips powerpc aarch64_be; do
	names "an object file of $t" "f1+0x0 f2+0x0" -e $t-linux-gnu.o \
		"$(value $t-linux-gnu.o f1)" "$(value $t-linux-gnu.o f2)"
done
names "function descriptors in an object file lead nowhere" "??" -e ppc1.o 0
{
	for i in $(seq 70000); do
		printf '.section .t%d,"ax",@progbits\n' "$i"
	done
	printf '.globl far\n.type far,@function\nfar: nop\nret\n.size far,2\n'
} > wideo.s
clang -c -o wideo.o wideo.s
far=$("$symres" -e wideo.o -n far | awk '{ print $1 }')
names "more sections than fit a symbol" "0x0 0x2 far" -e wideo.o -j .t70000 -n far
names "... by offset" "far+0x1" -e wideo.o -j .t70000 1
names "... by address" "far+0x1" -e wideo.o "$(printf %x $((far + 1)))"

# The debug file of a module may have sections that the module lacks, and the
# other way round: what it says counts from the section, not from the file.
objcopy --only-keep-debug --remove-section .exit.text mod.o mod.debug
strip -s -o mod_s.o mod.o
printf 'xx' > btf
objcopy --add-section .first=btf --set-section-flags .first=alloc,readonly \
	--add-gnu-debuglink=mod.debug mod_s.o
names "a module's debug file" "outer+0x3" --debug-dir '' -e mod_s.o 4
names "... another section" "begin+0x0 tail+0x0" --debug-dir '' -e mod_s.o -j .init.text 3 4
names "... a section after one that is missing" "var+0x2" --debug-dir '' -e mod_s.o -j .data 2
names "... a section that it lacks" "??" --debug-dir '' -e mod_s.o -j .exit.text 0
gcc -c -o moved.o -x assembler - < <(sed 's/\.skip 3,/.skip 9,/' mod.s)
objcopy --only-keep-debug moved.o mod.debug
objcopy --remove-section .gnu_debuglink mod_s.o && objcopy --add-gnu-debuglink=mod.debug mod_s.o
names "... a section of another size is not the same" "??" --debug-dir '' -e mod_s.o -j .init.text 3

# Sizes and alignments that leave no room.
cat > rel.y <<'Y'
--- !ELF
FileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, Machine: EM_X86_64}
Sections:
  - {Name: .text, Type: SHT_PROGBITS, Flags: [SHF_ALLOC,SHF_EXECINSTR], Size: 0x10}
  - {Name: .huge, Type: SHT_NOBITS, Flags: [SHF_ALLOC,SHF_EXECINSTR], Size: 0x10}
  - {Name: .more, Type: SHT_PROGBITS, Flags: [SHF_ALLOC,SHF_EXECINSTR], Size: 0x10}
Symbols:
  - {Name: t, Type: STT_FUNC, Section: .text, Value: 4, Size: 4}
  - {Name: beyond, Type: STT_FUNC, Section: .text, Value: 0x20, Size: 4}
  - {Name: wrapped, Type: STT_FUNC, Section: .huge, Value: 0xfffffffffffffff8, Size: 0x20}
  - {Name: m, Type: STT_FUNC, Section: .more, Value: 4, Size: 0xffffffffffffffff}
Y
yaml2obj-14 rel.y -o rel 2>/dev/null || yaml2obj rel.y -o rel
for bad in 0x7fffffffffffffef:1 0x7ffffffffffffff0:1 0x10:0x8000000000000000 0xffffffffffffffff:0x4000000000000000 0x10:3; do
	python3 - "${bad%:*}" "${bad#*:}" <<'P'
import struct, sys
d = bytearray(open('rel', 'rb').read())
shoff, = struct.unpack_from('<Q', d, 0x28)
struct.pack_into('<Q', d, shoff + 2 * 64 + 32, int(sys.argv[1], 0))
struct.pack_into('<Q', d, shoff + 2 * 64 + 48, int(sys.argv[2], 0))
open('rel.o', 'wb').write(d)
P
	case $bad in
	0x7fffffffffffffef:1) wanted="symres: rel.o: no section is called '.more'" ;;
	*) wanted=m+0x0 ;;
	esac
	names "sections that leave no room: $bad" "?? t+0x0 t+0x3 ??" -e rel.o 3 4 7 8
	names "... what follows" "$wanted" -e rel.o -j .more 4
	names "perf's rules: $bad" "t+0x0" --policy perf -e rel.o 4
done

# A module of a real kernel, beside readelf and nm. (eu-addr2line has names of
# other sections in some: kvm-amd's invlpga_interception is _rs.297 there.)
ko=$(find "${LOCKHELD_CACHE:-/var/cache/lockheld}/kernels" -name ext4.ko 2>/dev/null | head -n 1)
[ -n "$ko" ] || ko=$(find "/lib/modules/$(uname -r)/kernel" -name '*.ko' 2>/dev/null | head -n 1)
if [ -n "$ko" ]; then
	cp "$ko" real.ko
	for section in .text .init.text .data .rodata; do
		number=$(readelf -SW real.ko | sed -n "s/^ *\[ *\([0-9]*\)\] \\$section .*/\1/p")
		readelf -sW real.ko | awk -v n="$number" '$7 == n && $3 && ($4 == "FUNC" || $4 == "OBJECT") {
			print $2 " " $8 }' | sort -u > by_readelf
		cut -d ' ' -f 1 by_readelf | sort -u > addrs
		"$symres" --debug-dir '' -e real.ko -j "$section" < addrs | sed 's/+0x0$//' > answers
		paste -d ' ' addrs answers | sort > by_symres
		equal "each symbol of $section of a real module ($(wc -l < addrs))" "" \
			"$(comm -13 by_readelf by_symres | head -n 3)"
	done
	nm real.ko | awk '$2 ~ /[tT]/ { print "0x" $1 " " $3 }' | sed 's/0x0*\([0-9a-f]\)/0x\1/' | sort > by_nm
	awk '{ print $2 }' by_nm | sort -u | xargs "$symres" -e real.ko -j .text -n 2>/dev/null |
		awk '{ print $1 " " $3 }' | sort > by_name
	equal "names of a real module's functions: where nm says" "" "$(comm -13 by_nm by_name | head -n 3)"
	result $(($(wc -l < by_name) < 10)) "... most of them in .text: $(wc -l < by_name)"
else
	skip "a module of a real kernel" "none here"
fi

# Compressed, whatever the name says.
gcc -shared -fPIC -O1 -o packed.so x.c
f2=$(value packed.so f2)
for pack in "xz -c --check=crc32" "xz -c -T2 --block-size=512" "gzip -nc" "zstd -qc" "zstd -qc --long=27"; do
	$pack mod.o > packed.ko
	names "$pack: an offset in .text, and in a section" "outer+0x3 bare+0x0" -e packed.ko 4 5
	names "$pack: a section" "begin+0x0" -e packed.ko -j .init.text 3
	names "$pack: by name" "$begin 0x1 begin" -e packed.ko -n begin
	names "$pack: all that hold an address" "outer+0x3" --all -e packed.ko 4
	{ $pack mod.o && $pack packed.so; } > packed2
	cat mod.o packed.so > packed.plain
	$pack < packed.plain > packed1
	equal "$pack: several streams are one file" "$("$symres" --cache '' --json -e packed1 1 | sed 's/packed.//g')" \
		"$("$symres" --cache '' --json -e packed2 1 | sed 's/packed.//g')"
	head -c $(($(wc -c < packed.ko) - 9)) packed.ko > cut.ko
	names "$pack: cut short" "?? symres: cut.ko: compressed file is damaged or too big" -e cut.ko 4
	names "$pack: cut short, by name" "symres: cut.ko: compressed file is damaged or too big" -e cut.ko -n begin
	names "$pack: cut short, info" "symres: cut.ko: compressed file is damaged or too big" info cut.ko
	head -c 20 packed.ko > cut.ko
	names "$pack: the head alone" "?? symres: cut.ko: compressed file is damaged or too big" -e cut.ko 4
	python3 - <<'P'
d = bytearray(open('packed.ko', 'rb').read())
for at in range(len(d) // 2, len(d) // 2 + 8):
    d[at] ^= 0xff
open('bad.ko', 'wb').write(d)
P
	names "$pack: damaged" "?? symres: bad.ko: compressed file is damaged or too big" -e bad.ko 4
	$pack mod.s > text.ko
	names "$pack: no ELF file in it" "?? symres: text.ko: not a usable ELF file" -e text.ko 4
	$pack packed.so > packed.lib
	names "$pack: a linked file" "f2+0x0" -e packed.lib "$f2"
done
for pack in "xz -0c" "gzip -1c" "zstd -qc"; do
	head -c 270000000 /dev/zero | $pack > bomb.ko
	names "$pack: much too big" "?? symres: bomb.ko: compressed file is damaged or too big" -e bomb.ko 4
done
rm bomb.ko packed.plain
rm -rf packed_store
xz -c mod.o > packed.xz
for turn in first second; do
	names "compressed, the $turn time" "outer+0x0 outer+0x1" --cache packed_store -e packed.xz 1 2
	names "... by name" "$begin 0x1 begin" --cache packed_store -e packed.xz -n begin
done
equal "an index and one of names were kept" 2 "$(find packed_store -type f | wc -l)"
has "info of a compressed file" "$("$symres" info --cache packed_store packed.xz)" "kept: packed_store/"
for i in 1 2 3; do
	xz -c mod.o > "budget$i.xz"
done
names "compressed files in a small budget, in turn" "outer outer outer bare bare bare" --max-bytes 1 --batch \
	< <(printf 'budget%d.xz\t%d\n' 1 1 2 1 3 1 1 5 2 5 3 5)
coproc waiting { exec "$symres" -v -e budget1.xz 2>&1; }
waiting_in=${waiting[1]} waiting_out=${waiting[0]} waiting_pid=$waiting_PID
echo 1 >&"$waiting_in"
read -r -t 10 first <&"$waiting_out"
gzip -c mod.o > budget1.xz
echo 2 >&"$waiting_in"
read -r -t 10 second <&"$waiting_out"
exec {waiting_in}>&-
wait "$waiting_pid"
equal "a compressed file that changes while in use" "outer+0x0 ??" "$first $second"
strip -s -o mod_s.o mod.o
objcopy --only-keep-debug mod.o mod.debug
objcopy --add-gnu-debuglink=mod.debug mod_s.o
zstd -qc mod_s.o > mod_s.ko
names "a compressed module's debug file" "begin+0x0" --debug-dir '' -e mod_s.ko -j .init.text 3
ko=$(find "${LOCKHELD_CACHE:-/var/cache/lockheld}/kernels" -name 'ext4.ko.xz' 2>/dev/null | head -n 1)
if [ -n "$ko" ]; then
	xz -dc "$ko" > real.ko
	nm real.ko | awk '$2 ~ /[tTwWdDbBrR]/ { print $1 }' > addrs
	equal "a real compressed module: what the plain one tells ($(wc -l < addrs))" \
		"$("$symres" -e real.ko < addrs 2>&1 | cksum)" "$("$symres" -e "$ko" < addrs 2>&1 | cksum)"
else
	skip "a real compressed module" "none here"
fi
