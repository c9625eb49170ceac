# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Many files at once, and how answers are written. Sourced by run.sh, in a
# folder for fixtures.

batch() {
	local name=$1 wanted=$2 input=$3
	shift 3
	equal "$name" "$wanted" \
		"$(printf %b "$input" | "$symres" lookup --batch "$@" 2>&1 | paste -sd ' ')"
}

batch "batch: names in order, ?? for none" "in1 ?? outer" \
	'nest.so\t1010\nnest.so\t103f\nnest.so\t1000\n'
batch "batch: several files, 0x or not, no newline at the end" "in1 exp_last in2" \
	'nest.so\t0x1010\ngap.so\t1fa3\r\nnest.so\t1022'
batch "batch: a second number is the offset in the file" "in1" \
	'nest.so\t777\t1010\n'
batch "batch: offset in the symbol" "in1+0x2 ??" \
	'nest.so\t1012\nnest.so\t103f\n' --offset-in-symbol
mkdir -p 'below/with	tab and space'
cp nest.so 'below/with	tab and space/a.so'
batch "batch: paths below a root" "in1 in1" \
	'/with\ttab and space/a.so\t1010\nwith\ttab and space/a.so\t1010\n' --root below
batch "batch: a bad line costs its own answer only" \
	"symres: line 1 is not PATH, a tab and a hexadecimal address ?? in1 symres: line 3 is not PATH, a tab and a hexadecimal address ??" \
	'nest.so 1010\nnest.so\t1010\nnest.so\tzz\n'
printf 'nest.so\tzz\n' | "$symres" lookup --batch >/dev/null 2>&1
equal "batch: and is a failure" 1 $?
batch "batch: a file that is not there" "?? in1" 'nowhere\t1\nnest.so\t1010\n'
printf 'nowhere\t1\n' | "$symres" lookup --batch >/dev/null 2>&1
equal "batch: which is told by its answer alone" 0 $?
batch "batch: nothing asked" "" ''
mkfifo ask3 answer3
"$symres" --batch < ask3 > answer3 &
exec 8> ask3 9< answer3
printf 'nest.so\t1010\n' >&8
line=
read -r -t 10 line <&9
exec 8>&- 9<&-
wait $!
equal "batch: what was asked is answered before more is read" "in1" "$line"
python3 - <<'P' > long
import sys
sys.stdout.write('nest.so\t1010\n' + 'x' * 200000 + '\t1\nnest.so\t1010\n')
P
equal "batch: a long line" "in1 ?? in1" \
	"$("$symres" --batch < long 2>/dev/null | paste -sd ' ')"
python3 -c 'print("nest.so\t1010\n" + "x" * 3000000)' > long
equal "batch: a line without end is refused" \
	"in1 symres: line 2 is longer than a MiB; no more is read status 1" \
	"$({ "$symres" --batch < long 2>&1; echo "status $?"; } | paste -sd ' ')"

# More and longer names at once than there is room for, and a stub behind them.
python3 - <<'P' > fat.s
print('.text\n.globl fat\nfat: call far_away@PLT\n')
for i in range(70):
    name = 'f%02d_' % i + 'x' * (30000 if i < 30 else 30000 >> (i - 30) // 3)
    print('.globl %s\n.type %s,@function\n%s: ret\n.size %s,1' % (name, name, name, name))
P
gcc -c -o fat.o fat.s && ld.lld -shared -o fat.so fat.o
{
	nm fat.so | awk '$3 ~ /^f[0-9]/ { print $1, $3 }'
	objdump -d fat.so | sed -n 's/^\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p'
} > fat
equal "batch: names that do not fit" "71 $(cut -d ' ' -f 2 fat | md5sum)" \
	"$(wc -l < fat) $(sed 's/^\([^ ]*\) .*/fat.so\t\1/' fat | "$symres" --batch | md5sum)"

exits "batch reads no arguments" 64 --batch 1010
exits "batch is a mode" 64 --batch -k
exits "--offset-in-symbol without --batch" 64 --offset-in-symbol -e nest.so 1010
exits "no such policy" 64 --policy gdb -e nest.so 1010
exits "a root for a process" 64 --root / -p 1 1

printf '.text\n.globl qNAMING\n.type qNAMING,@function\nqNAMING: ret\n.size qNAMING,1\n' > odd_name.s
gcc -shared -nostdlib -Wl,--build-id=0xabcd -o odd_name.so odd_name.s
python3 - <<'P'
d = open('odd_name.so', 'rb').read()
open('odd_name.so', 'wb').write(d.replace(b'qNAMING', b'q"\\\x01\xc3\xa9\xff'))
P
printf 'odd_name.so\t%s\nodd_name.so\t1fff\nnowhere\t1\n' "$(printf %x 0x1000)" |
	"$symres" --batch --json > out.json
must "JSON says it all" python3 - <<'P'
import json
a = [json.loads(l) for l in open('out.json')]
assert len(a) == 3, a
assert a[0]['name'].encode('utf-8', 'surrogateescape') == b'q"\\\x01\xc3\xa9\xff', a[0]
assert a[0]['path'] == a[0]['module'] == 'odd_name.so', a[0]
assert a[0]['address'] == a[0]['start'] == '0x1000', a[0]
assert a[0]['offset'] == '0x0' and a[0]['size'] == '0x1', a[0]
assert a[0]['source'] == 'symtab' and a[0]['kind'] == 'function', a[0]
assert a[0]['approximate'] is False and a[0]['build_id'] == 'abcd', a[0]
assert a[1]['miss'] == 'address is not mapped' and 'name' not in a[1], a[1]
assert a[2]['error'] == 'No such file or directory', a[2]
P
equal "JSON outside of a batch" \
	'{"address":"0x1003","path":"sizeless.so","module":"sizeless.so","name":"nosize","start":"0x1003","offset":"0x0","size":"0x0","source":"symtab","kind":"function","approximate":true}' \
	"$("$symres" --json -e sizeless.so 1003 | sed 's/"build_id":"[0-9a-f]*",//')"

# Of two files with the same symbols each keeps its own, and what is remembered
# is not believed of a file that has changed.
cp nest.so twin_a.so
cp overlap.so twin_b.so
python3 - <<'P' > many_asked
for turn in range(3000):
    for f, a in (('twin_a.so', 0x1012), ('twin_b.so', 0x1012), ('twin_a.so', 0x103f), ('twin_a.so', 0x1004)):
        print('%s\t%x' % (f, a))
P
equal "batch: what is remembered is the answer" "   3000 ??
   3000 b+0xa
   3000 in1+0x2
   3000 outer+0x4" "$("$symres" --batch --offset-in-symbol < many_asked | sort | uniq -c | sed 's/^ */   /')"
mkfifo ask4 answer4
"$symres" --batch < ask4 > answer4 &
exec 8> ask4 9< answer4
printf 'twin_a.so\t1012\n' >&8
read -r -t 10 line <&9
cp overlap.so twin_a.so
printf 'twin_a.so\t1012\n' >&8
read -r -t 10 line2 <&9
exec 8>&- 9<&-
wait $!
equal "batch: a file that changes between is not answered from memory" "in1 ??" "$line $line2"
