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
# Nothing below a root leads out of it: neither files nor what belongs to them.
mkdir -p inroot/lib inroot/d1/d2 inroot/usr/lib/store outside
cp nest.so inroot/lib/
cp overlap.so outside/a.so
cp overlap.so nest_out.so
ln -s /lib/nest.so inroot/abs.so
ln -s /lib inroot/abslib
ln -s ../../../../../../../../../../lib/nest.so inroot/d1/d2/up.so
ln -s "$PWD/outside/a.so" inroot/leak.so
ln -s ../outside/a.so inroot/leak2.so
ln -s "$PWD/outside" inroot/leakdir
ln -s loop inroot/loop
in_root='abs.so\t1010\n/abslib/nest.so\t1010\nd1/d2/up.so\t1010\n/../../lib/./nest.so\t1010\n'
out_root='leak.so\t1012\nleak2.so\t1012\nleakdir/a.so\t1012\n/../outside/a.so\t1012\n../nest_out.so\t1012\nloop\t1\n/\t1\n\t1\n'
cat > no_openat2.c <<'S'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)atoi(argv[1])),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { 4, f };
	return argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) || execv(argv[2], argv + 2);
}
S
gcc -o no_openat2 no_openat2.c
gcc -g -O1 -Wl,--build-id=0xabcdef -o inroot/lib/dbg.so -shared -fPIC md2.c
objcopy --only-keep-debug inroot/lib/dbg.so inroot/usr/lib/store/cdef.debug
in_hid=$(value inroot/lib/dbg.so hid)
strip -s inroot/lib/dbg.so
mkdir -p inroot/usr/lib/debug/.build-id
ln -s /usr/lib/store inroot/usr/lib/debug/.build-id/ab
mkdir -p inroot/d3
mv inroot/usr/lib/store/cdef.debug outside/
objcopy --add-gnu-debuglink=outside/cdef.debug inroot/lib/dbg.so inroot/d3/dbg.so
ln -s "$PWD/outside" inroot/d3/.debug
batch "root: a debug file behind a link that leads out is not there" "??" \
	"d3/dbg.so\\t$in_hid\n" --root inroot --cache ''
mv outside/cdef.debug inroot/usr/lib/store/
# More files than there are descriptors, each behind a link
for i in $(seq 100); do
	cp nest.so "inroot/lib/n$i.so"
done
for turn in 1 2; do
	for i in $(seq 100); do
		printf 'abslib/n%s.so\t1010\n' "$i"
	done
done > evicted
for without in '' './no_openat2 38' './no_openat2 1'; do
	what=${without:+ (without openat2: ${without#* })}
	# shellcheck disable=SC2086
	equal "root: links and .. stay below it$what" "in1 in1 in1 in1" \
		"$(printf %b "$in_root" | $without "$symres" --batch --root inroot 2>&1 | paste -sd ' ')"
	# shellcheck disable=SC2086
	equal "root: what leads out is not there$what" "?? ?? ?? ?? ?? ?? ??" \
		"$(printf %b "$out_root" | $without "$symres" --batch --root inroot 2>/dev/null | head -n 7 | paste -sd ' ')"
	# shellcheck disable=SC2086
	equal "root: debug files, by a link$what" "hid+0x0" \
		"$($without "$symres" --cache '' --root inroot -e lib/dbg.so "$in_hid" 2>&1)"
	# shellcheck disable=SC2086
	equal "root: files that are opened again$what" "    200 in1" \
		"$($without "$symres" --batch --root inroot --cache '' --max-bytes 1 < evicted 2>&1 | uniq -c)"
	# shellcheck disable=SC2086
	equal "root: index and info$what" "0 1 inroot/usr/lib/debug/.build-id/ab/cdef.debug" \
		"$($without "$symres" index --cache root_store --root inroot abs.so >/dev/null 2>&1; echo $?
		) $($without "$symres" index --cache root_store --root inroot leak.so >/dev/null 2>&1; echo $?
		) $($without "$symres" info --cache '' --root inroot lib/dbg.so | sed -n 's/^  debug file: //p')"
done
names "root: a folder that is not there" \
	"symres: nowhere: No such file or directory; --root wants a folder" --root nowhere -e nest.so 1010
exits "root: which is a failure" 1 --root nest.so -e nest.so 1010

batch "batch: a bad line costs its own answer only" \
	"symres: line 1 is not PATH, a tab and a hexadecimal address ?? in1 symres: line 3 is not PATH, a tab and a hexadecimal address ??" \
	'nest.so 1010\nnest.so\t1010\nnest.so\tzz\n'
batch "batch: a NUL in a line" \
	"symres: line 1 is not PATH, a tab and a hexadecimal address ?? symres: line 2 is not PATH, a tab and a hexadecimal address ??" \
	'nest.so\0000\t1010\nnest.so\t1010\0000\n'
equal "batch: a NUL in a line, JSON" 2 \
	"$(printf 'nest.so\0\t1010\nnest.so\t1010\0\n' | "$symres" --batch --json 2>/dev/null | grep -c '"error":')"
printf 'nest.so\tzz\n' | "$symres" lookup --batch >/dev/null 2>&1
equal "batch: and is a failure" 1 $?
batch "batch: why there is no name, with -v" \
	"in1+0x2 ?? symres: 0x103f: no symbol at this address, nest.so ?? symres: 0x1: file cannot be read, nowhere (No such file or directory) ?? symres: 0xfffffff: address is not mapped, nest.so ?? symres: 0x1: not a usable ELF file, nest.s" \
	'nest.so\t1012\nnest.so\t103f\nnowhere\t1\nnest.so\tfffffff\nnest.s\t1\n' -v --offset-in-symbol
equal "batch: with -v and --json" '{"address":"0x103f",|1' \
	"$(printf 'nest.so\t103f\n' | "$symres" --batch --json -v 2>batch.err | cut -c 1-20)|$(grep -c 'no symbol at' batch.err)"
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
python3 -c 'print("nest.so\t1010\n" + "x" * 3000000 + "\nnest.so\t1012\n" + "x" * 3000000)' > long
equal "batch: lines that are too long are refused, the others answered" \
	"in1 symres: line 2 is longer than a MiB ?? in1 symres: line 4 is longer than a MiB ?? status 1" \
	"$({ "$symres" --batch < long 2>&1; echo "status $?"; } | paste -sd ' ')"

equal "batch: a bad line in JSON" '{"line":1,"error":"is not PATH, a tab and a hexadecimal address"}' \
	"$(echo nest.so 1010 | "$symres" --batch --json 2>/dev/null)"

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

# Names with control bytes in them: one line for each answer all the same
printf '.text\n.globl qNAMINGmore\n.type qNAMINGmore,@function\nqNAMINGmore: ret\n.size qNAMINGmore,1\n' > control.s
gcc -shared -nostdlib -o control.so control.s
python3 - <<'P'
d = open('control.so', 'rb').read()
open('control.so', 'wb').write(d.replace(b'qNAMINGmore', b'a\n\t\x1b\x7f\\n\xc3\xa9z\r'))
P
control='a\n\t\x1b\x7f\n'$'\303\251''z\x0d'
batch "batch: control bytes of names are escaped" "$control $control in1" \
	'control.so\t1000\ncontrol.so\t1000\nnest.so\t1010\n'
names "and elsewhere" "0x1000: $control+0x0" -a -e control.so 1000
names "and with --all" "$control+0x0" --all -e control.so 1000
names "and by name" "0x1000 0x1 $control" -e control.so -n "$(printf 'a\n\t\033\177\\n\303\251z\r')"
names "and in messages" "symres: control.so: no symbol is called 'a\nb'" -e control.so -n "$(printf 'a\nb')"
cat > place.py <<'P'
import sys
n = int(sys.argv[1])
if sys.argv[2] == 'write':
    s = '.globl %s\n.type %s,@function\n%s: ret\n.size %s,1\n'
    open('place.s', 'w').write('.text\n' + ''.join(s % ((chr(65 + i) + 'q' * n,) * 4) for i in range(n)))
else:
    d = open('place.so', 'rb').read()
    for i in range(n):
        d = d.replace(b'%c%s\0' % (65 + i, b'q' * n), b'%c%s\x01%s\0' % (65 + i, b'q' * i, b'q' * (n - 1 - i)))
    open('place.so', 'wb').write(d)
P
for len in 1 2 6 7 8 9 15 16 17 26; do
	python3 place.py $len write
	gcc -shared -nostdlib -o place.so place.s
	python3 place.py $len change
	nm place.so | awk '/q|\001/ { print $1 }' > addrs
	equal "a control byte at each place of names of $((len + 1)) bytes" "$len" \
		"$("$symres" --cache '' -e place.so < addrs | grep -c '^[A-Z]q*\\x01q*+0x0$')"
done
printf 'control.so\t1000\n' | "$symres" --batch --json > out.json
must "JSON has them as JSON has" python3 - <<'P'
import json
a = [json.loads(l) for l in open('out.json')]
assert len(a) == 1 and a[0]['name'] == 'a\n\t\x1b\x7f\\n\xe9z\r', a
P
cp nest.so "$(printf 'line\nbreak.so')"
equal "a path with a line break, in info" 'line\nbreak.so: ' \
	"$("$symres" info --cache '' "$(printf 'line\nbreak.so')" | sed -n '1s/[0-9]* ranges.*//p')"

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
