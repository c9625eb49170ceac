# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The command's manners. Sourced by run.sh, in a folder with fixtures.

exits() {
	local name=$1 wanted=$2
	shift 2
	"$symres" "$@" >/dev/null 2>&1 </dev/null
	equal "$name" "$wanted" $?
}

in1=1010
equal "addresses from standard input, 0x or not, in order" "in1+0x0 ?? outer+0x0" \
	"$(printf '0x%s\n103f\n  1000\r\n' $in1 | "$symres" -e nest.so | paste -sd ' ')"
names "lookup is the default verb" "in1+0x0" lookup -f -e nest.so $in1
equal "a bad line costs its own answer only" "?? outer+0x0 status 1" \
	"$(printf 'zz\n1000\n' | { "$symres" -e nest.so 2>/dev/null; echo "status $?"; } | paste -sd ' ')"
printf '1000 foo\n1010\n1000 1010\n10\0000\n\n10 \t\r\n 1000\n1000;x' > badlines
names "a line with more than an address is an error, and the others are answered" \
	"symres: line 1: '1000 foo' is not one hexadecimal address ?? in1+0x0 symres: line 3: '1000 1010' is not one hexadecimal address ?? symres: line 4: '10\\x000' is not one hexadecimal address ?? symres: line 5: '' is not one hexadecimal address ?? ?? outer+0x0 symres: line 8: '1000;x' is not one hexadecimal address ??" \
	-e nest.so < badlines
"$symres" -e nest.so < badlines > /dev/null 2>&1
equal "which is a failure" 1 $?
equal "a line of any length" "1 symres: line 1: '$(printf '%064d' 0)...' is not one hexadecimal address" \
	"$(printf '%0100000dx\n' 0 | { "$symres" -e nest.so 2>&1 >/dev/null; echo $?; } | sed '1{h;d};G' | paste -sd ' ')"
equal "a bad line in JSON" '{"line":1,"error":"is not one hexadecimal address"}' \
	"$(echo 1000 x | "$symres" --json -e nest.so 2>/dev/null)"
mkfifo ask answer
"$symres" -e nest.so < ask > answer &
exec 8> ask 9< answer
echo 1000 >&8
line=
read -r -t 10 line <&9
exec 8>&- 9<&-
wait $!
equal "each answer comes at once" "outer+0x0" "$line"

for line in 'foo' '-C index nest.so' 'inde nest.so'; do
	# shellcheck disable=SC2086
	equal "symres $line: what is missing" "64 a command comes first" \
		"$("$symres" $line 2>&1 >/dev/null | sed -n '1s/^[^:]*: [^:]*: \([^,]*\),.*/64 \1/p')"
done
equal "errors of options begin like the others" "symres: unrecognized option '--nonsense'" \
	"$("$symres" --nonsense 2>&1 | head -n 1)"
exits "a miss is no failure" 0 -e nest.so 103f
exits "no file" 1 -e nowhere 1
names "no file, said once" \
	"?? symres: nowhere: file cannot be read (No such file or directory) ??" \
	-e nowhere 1 2
names "a folder" "?? symres: /: file cannot be read (Is a directory)" -e / 1
names "a device is not opened" \
	"?? symres: /dev/zero: file cannot be read (not a regular file)" -e /dev/zero 1
has "... in JSON" "$("$symres" --json -e /dev/zero 1 2>/dev/null)" '"error":"not a regular file"'
has "... by info" "$("$symres" info /dev/zero 2>&1)" "not a regular file"
mkfifo pipe
start sh -c 'echo > pipe'
names "a pipe" "?? symres: pipe: file cannot be read (not a regular file)" -e pipe 1
sleep .2
kill -0 "$pid" 2>/dev/null
result $? "a pipe is not opened: its writer still waits"
kill "$pid"
names "no ELF file" "?? symres: nest.s: not a usable ELF file" -e nest.s 1
gcc -static -o no_names ends.s -nostdlib -Wl,-e,0 2>/dev/null
strip -s no_names
names "no symbol table" "?? symres: no_names: no symbol table" -e no_names \
	"$(readelf -lW no_names | awk '$1 == "LOAD" { print $3; exit }')"
printf '.section seca,"ax"\nnop\n' > nameless.s
gcc -static -nostdlib -Wl,-e,0 -o nameless nameless.s
strip -s nameless
at=$(readelf -lW nameless | awk '/LOAD.* R E / { print $3 }')
off=$(readelf -lW nameless | awk '/LOAD.* R E / { print $2 }')
while read -r way; do
	# shellcheck disable=SC2086
	equal "a file without symbols: $way" "symres: nameless: no symbol table status 1" \
		"$({ "$symres" $way </dev/null 2>&1 >/dev/null; echo "status $?"; } | paste -sd ' ')"
done <<L
-e nameless $at
-e nameless 1
-e nameless $at 1
-e nameless
-o -e nameless $off
-o -e nameless ffffff
-j seca -e nameless 0
-j seca -e nameless 100
--all -e nameless $at
--all -e nameless 1
--json -e nameless $at
--json --all -e nameless 1
--policy perf -e nameless $at
-e nameless -n main
-e nameless -n main also
-j seca -e nameless -n main
index nameless
info nameless
info --json nameless
L
equal "a file without symbols: a bad line does not hide it" \
	"symres: line 1: 'x' is not one hexadecimal address symres: nameless: no symbol table" \
	"$(echo x | "$symres" -e nameless 2>&1 >/dev/null | paste -sd ' ')"
for way in --batch '--batch --json'; do
	# shellcheck disable=SC2086
	equal "a file without symbols: $way: told by the answer alone" "0 " \
		"$(printf 'nameless\t%s\n' "$at" | "$symres" $way 2>&1 >/dev/null; echo "$? ")"
done
names "no file, and nothing asked" "symres: nowhere: file cannot be read (No such file or directory)" -e nowhere
equal "--all: why there is no name" '"miss":"no symbol table" "miss":"no symbol at this address" "miss":"address is not mapped"' \
	"$({ "$symres" --json --all -e nameless "$at"; "$symres" --json --all -e nest.so 103f fffffff; } 2>/dev/null | grep -o '"miss":"[^"]*"' | paste -sd ' ')"
names "--all -v" "?? symres: 0x103f: no symbol at this address, nest.so" --all -v -e nest.so 103f
names "--all: a stub, and what is around it" "$(objdump -d p_ibt | sed -n 's/^[0-9a-f]* <\(puts@plt\)>:$/\1/p')+0x5" \
	--all -e p_ibt "$(printf %x $((0x$(objdump -d p_ibt | sed -n 's/^\([0-9a-f]*\) <puts@plt>:$/\1/p') + 5)))"
names "--all: what has no size and reaches there" "nosize+0x3 notype_label+0x2 inner_lbl+0x0 after+0x0" \
	--all -e sizeless.so 1006 100a 1011 1010
printf '.text\n.globl one_a\n.globl one_b\n.type one_a,@function\none_a:\none_b: nop\nnop\nnop\n' > unsized.s
gcc -shared -nostdlib -o unsized.so unsized.s
equal "--all: with its other names" "one_a+0x2 one_b+0x2" \
	"$("$symres" --all -e unsized.so 1002 | sort | paste -sd ' ')"
for f in p_ibt sizeless.so nest.so alias.so datalabels.so unsized.so; do
	nm $f | awk 'NF == 3 { print $1 }' > starts
	objdump -d $f | sed -n 's/^\([0-9a-f]*\) <.*@plt>:$/\1/p' >> starts
	while read -r a; do
		printf '%x\n%x\n%x\n' $((0x$a)) $((0x$a + 1)) $((0x$a + 5))
	done < starts > around
	for policy in honest perf; do
		while read -r a; do
			name=$("$symres" --policy $policy -e $f "$a" 2>&1)
			[ "$name" = '??' ] || "$symres" --policy $policy --all -e $f "$a" 2>&1 | grep -qxF -e "$name" || echo "$a"
		done < around > lacking
		equal "--all has what there is without it: $f, $policy" "" "$(paste -sd ' ' lacking)"
	done
done

names "--all: an address of no segment" "??" --policy perf --all -e unsized.so 1005

exits "no process" 1 -p 2147483647 1
exits "no mode" 64 1000
exits "two modes" 64 -k -e nest.so 1000
exits "no address" 64 -e nest.so xyz
exits "too big for an address" 64 -e nest.so 10000000000000000
exits "unknown option" 64 --frobnicate
exits "no process number" 64 -p self 1
exits "--kallsyms without -k" 64 --kallsyms ksyms -e nest.so 1
exits "help" 0 --help
names "with -a each address before its name" "0x1010: in1+0x0 0x103f: ??" -a -e nest.so 1010 103f
names "-i and -f, as addr2line has them" "in1+0x0" -f -i -e nest.so 1010
names "--pretty-print, too" "0x1010: in1+0x0" -a --pretty-print -e nest.so 1010
equal "a full disk is told" "1" \
	"$("$symres" -e nest.so 1000 2>/dev/null >/dev/full; echo $?)"
if [ "$(id -u)" = 0 ]; then
	as_nobody "$symres" -p 1 1 >/dev/null 2>&1
	equal "another user's process: not possible here" 2 $?
else
	skip "another user's process: not possible here" "not run as root"
fi
cp nest.so nest_huge
truncate -s 5G nest_huge
names "a file of five GiB" "in1+0x0" -e nest_huge $in1
rm nest_huge

# From names to addresses.
names "a name" "0x1010 0x8 in1" -e nest.so -n in1
names "several names" "0x1010 0x8 in1 0x1020 0x8 in2" -e nest.so -n in1 in2
names "no such name" "symres: nest.so: no symbol is called 'nobody'" -e nest.so -n nobody
printf '.text\n.globl _ZN3foo3barEv\n.type _ZN3foo3barEv,@function\n_ZN3foo3barEv: ret\n.size _ZN3foo3barEv,1\n' > demangle_me.s
gcc -shared -nostdlib -o demangle_me.so demangle_me.s
exits "no such name is a failure" 1 -e nest.so -n nobody
exits "names of no file" 64 -k -n nobody
exits "names and offsets" 64 -o -e nest.so -n in1
exits "names of a file that is none" 1 -e nowhere -n in1
printf '%s\n' '.text' > often.s
for i in 1 2 3 4 5; do
	printf '.section s%d,"ax"\n.type often,@function\noften: ret\n.size often,1\n' $i > often$i.s
	gcc -c -o often$i.o often$i.s
done
gcc -shared -nostdlib -o often.so often[1-5].o
equal "a name that occurs often: all of them, by address" \
	"$(nm often.so | awk '$3 == "often" { print $1 }' | sed 's/^0*//' | sort)" \
	"$("$symres" -e often.so -n often | awk '{ sub(/^0x/, "", $1); print $1 }')"
names "a symbol in two tables is told once" "0x$(printf %x $((0x$(value dyn main)))) $(
	printf 0x%x "$(readelf -sW dyn | awk '$8 == "main" { print $3; exit }')") main" \
	--debug-dir '' -e dyn_s -n main
names "versions are not part of a name" "$("$symres" -e ver.so -n f | paste -sd ' ')" \
	-e ver_s.so -n f
equal "both versions" 2 "$("$symres" -e ver.so -n f | wc -l)"
names "a name as it was written" "0x1000 0x1 foo::bar()" -C -e demangle_me.so -n 'foo::bar()'
for way in made found; do
	equal "66,000 names, $way" "$(printf '0x%x 0x1 f65999' "0x$(value many.so f65999)")" \
		"$("$symres" --cache names_store -e many.so -n f65999)"
done
equal "names are kept in an index of their own" 2 "$(find names_store -type f | wc -l)"
nm many.so | awk '{ print $3 " " $1 }' | sort > nm_names
awk 'NR % 97 == 0 { print $1 }' nm_names | xargs "$symres" --cache names_store -e many.so -n |
	awk '{ print $3 " " $1 }' | sed 's/ 0x/ /' | sort > our_names
awk 'NR % 97 == 0' nm_names | sed 's/ 0*/ /' | sort > some_names
equal "every 97th of them, against nm" "" "$(grep -v ' [tTwW]* *$' some_names | diff - our_names | head -n 3)"

# All symbols that hold an address.
foo=$(value alias.so foo)
equal "all names of an address" "__foo_impl+0x0 _foo+0x0 foo+0x0 foo_local+0x0" \
	"$("$symres" --all -e alias.so "$foo" | sort | paste -sd ' ')"
names "the innermost first, each once" "in1+0x2 outer+0x12 ??" --all -e nest.so 1012 103f
printf 'int one(int x){return x*3+1;} int two(int x){return x*3+1;} int user(int x){return one(x)+two(x);}\n' > icf.c
clang -O1 -fPIC -fno-inline -ffunction-sections -shared -fuse-ld=lld -Wl,--icf=all -o icf.so icf.c
icf=$(value icf.so one)
equal "functions folded into one: both names" "$icf one+0x1 two+0x1" \
	"$(value icf.so two) $("$symres" --all -e icf.so "$(printf %x $((0x$icf + 1)))" | sort | paste -sd ' ')"
names "and always the same one of them" "$("$symres" -e icf.so "$icf" "$icf" | paste -sd ' ')" \
	--cache '' -e icf.so "$icf" "$icf"
exits "--all of a process" 64 --all -p 1 1
exits "--all of no file" 1 --all -e nowhere 1
names "--all of no file, said once" "?? symres: nowhere: file cannot be read (No such file or directory) ??" --all -e nowhere 1 2
names "several names of no file, said once" "symres: nowhere: No such file or directory" -e nowhere -n a b
printf 'extern void bad(int)__attribute__((cold));int f(int x){if(__builtin_expect(x<0,0)){bad(x);bad(x+1);bad(x+2);}return x*2;}\n' > cold.c
gcc -O2 -fPIC -shared -o cold.so cold.c
names "the cold part of a function has its own name" "f.cold+0x1 f+0x0" -e cold.so \
	"$(printf %x $((0x$(value cold.so f.cold) + 1)))" "$(value cold.so f)"
