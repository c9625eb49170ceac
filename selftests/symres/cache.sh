# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Indexes kept on disk. Sourced by run.sh, in a folder for fixtures.

kept() {
	find "$1" -type f | wc -l
}

# The rules of the fixtures once more: made, then found again.
for policy in honest perf; do
	for so in nest.so overlap.so sizeless.so gap.so p_ibt p_irel th.so many.so mini.so dyn_s names.so; do
		nm -a $so 2>/dev/null | awk '$1 ~ /^[0-9a-f]+$/ { print $1 }' |
			head -n 500 > addrs
		[ $so != dyn_s ] || value dyn hid >> addrs
		printf '1000\n1001\n1005\n1012\n1019\n1500\n' >> addrs
		for way in '' store store; do
			"$symres" -C --policy $policy --cache "${way:+here/store}" \
				--debug-dir root -e $so < addrs 2>&1
			echo --
		done > out
		equal "an index found again tells the same: $policy $so" 1 \
			"$(python3 -c "
t = open('out').read().split('--\n')
print(len(set(t[:3])) if len(t) == 4 and '+0x' in t[0] else t)")"
	done
done
equal "one for each file and policy, and what was decompressed" "23 1" \
	"$(kept here/store) $(find here/store -name '*-m.*' | wc -l)"
equal "nothing but finished ones" "" "$(find here/store -name '*.??????' | grep -v '\.2$')"
equal "for the user alone" "700 600" \
	"$(stat -c %a here/store) $(stat -c %a here/store/* | sort -u)"

# It is really used: an index whose values were exchanged, checksum and all,
# answers otherwise. And every doubt makes it anew.
cat > index.py <<'P'
import struct, sys
HEAD = '<8sIIQQII3Q3Q' + 'QII' * 5 + 'QIIIIII64s'
def load(path):
    d = bytearray(open(path, 'rb').read())
    return d, list(struct.unpack_from(HEAD, d))
def seal(d):
    struct.pack_into('<Q', d, 16, 0)
    head = struct.calcsize(HEAD)
    mask, s = 2**64 - 1, [0] * 4
    for part in (d[head:], d[:head]):
        v = struct.unpack_from('<%dQ' % (len(part) // 8), part)
        for i, w in enumerate(v):
            k = i % 4 if i < len(v) // 4 * 4 else 0
            s[k] = (s[k] ^ w) * 0x9e3779b97f4a7c15 & mask
        if len(part) % 8:
            w = int.from_bytes(part[len(part) // 8 * 8:], 'little')
            s[1] = (s[1] ^ w) * 0x9e3779b97f4a7c15 & mask
    total = len(d) - head
    for w in s:
        total = (total ^ w) * 0xd6e8feb86659fd93 & mask
        total ^= total >> 32
    struct.pack_into('<Q', d, 16, total)
def values(d):
    h = struct.unpack_from(HEAD, d)
    narrow, nchunk, n, nplt = h[6], h[-6], h[-5], h[-4]
    pad = (n * 4 + 7) // 8 * 8
    return (struct.calcsize(HEAD) + nchunk * 16 + nplt * 32 + pad,
            '<%d%s' % (n, 'H' if narrow else 'I'))
P
fresh() {
	rm -rf one
	"$symres" --cache one -e nest.so 1010 > /dev/null
	idx=$(echo one/*)
}
fresh
cat > swap.py <<'P'
import sys, struct
from index import *
d, h = load(sys.argv[1])
at, form = values(d)
v = list(struct.unpack_from(form, d, at))
names = sorted(set(v) - {0xffff, 0xffffffff})
a, b = names[0], names[1]
struct.pack_into(form, d, at, *[b if x == a else a if x == b else x for x in v])
if sys.argv[2:] != ['unsealed']:
    seal(d)
open(sys.argv[1], 'wb').write(d)
P
before=$("$symres" --cache '' -e nest.so 1000 1010 1022 | paste -sd ' ')
PYTHONDONTWRITEBYTECODE=1 python3 swap.py "$idx"
after=$("$symres" --cache one -e nest.so 1000 1010 1022 | paste -sd ' ')
[ "$before" != "$after" ]
result $? "an index on disk is what answers"
case $after in
*0xfff*) result 1 "an index that lies costs its answer only" "$after" ;;
*) result 0 "an index that lies costs its answer only" ;;
esac
anew() {
	equal "made anew: $1" "$before" \
		"$("$symres" --cache one -e nest.so 1000 1010 1022 2>&1 | paste -sd ' ')"
}
fresh; good=$(cksum < "$idx")
python3 swap.py "$idx" unsealed; anew "a wrong checksum"
equal "and put in the place of the bad one" "$good" "$(cksum < "$idx")"
for at in 0 9 13 21 30 90 150 300; do
	fresh
	printf '\377' | dd of="$idx" bs=1 seek=$at conv=notrunc status=none
	anew "byte $at of the head changed"
done
fresh; truncate -s -4 "$idx"; anew "cut short"
fresh; truncate -s 40 "$idx"; anew "less than a head"
fresh; : > "$idx"; anew "empty"
fresh; echo >> "$idx"; anew "longer than it says"
fresh; chmod 666 "$idx"; anew "one that others may write"
fresh; mv "$idx" elsewhere; ln -s ../elsewhere "$idx"; anew "a symbolic link"
fresh; rm "$idx"; mkfifo "$idx"; anew "a pipe in its place"
rm -rf one; : > one; anew "a file in the folder's place"
rm -f one
if [ "$(id -u)" = 0 ]; then
	fresh; chown 65534 "$idx"; anew "one of another user"
	mkdir closed; chmod 700 closed
	cp nest.so "$tmp/nest_nobody.so"
	equal "no folder to keep it: no matter" "in1+0x0" \
		"$(as_nobody "$symres" --cache closed/x -e "$tmp/nest_nobody.so" 1010 2>&1)"
else
	skip "one of another user" "not run as root"
	skip "no folder to keep it: no matter" "not run as root"
fi
equal "a full disk: no matter" "in1+0x0" \
	"$(ulimit -f 0; "$symres" --cache full -e nest.so 1010 2>/dev/null)" 2>/dev/null

# Another file in the place of the one that was indexed.
rm -rf one
cp nest.so moving.so
"$symres" --cache one -e moving.so 1010 > /dev/null
cp overlap.so moving.so
equal "the file is another now" "$("$symres" --cache '' -e overlap.so 1008)" \
	"$("$symres" --cache one -e moving.so 1008)"
objcopy --remove-section .note.gnu.build-id nest.so noid.so
"$symres" --cache one -e noid.so 1010 > /dev/null
equal "without a build-id: found again" "in1+0x0" \
	"$("$symres" --cache one -e noid.so 1010)"

# What is copied over it keeps its size, its inode and its time.
for order in 'ab ba' 'ba ab'; do
	printf '.globl ab, ba\n' > order.s
	for f in $order; do
		printf '.type %s,@function\n%s: .skip 16\n.size %s,16\n' $f $f $f
	done >> order.s
	gcc -shared -nostdlib -Wl,--build-id=none -o "order_${order%% *}.so" order.s
done
touch -r order_ab.so order_ba.so
first=$("$symres" --cache one -e order_ab.so 1000)
cp -p order_ba.so order_ab.so
equal "without a build-id: another file of the same size and time" "ab+0x0 ba+0x0" \
	"$first $("$symres" --cache one -e order_ab.so 1000)"

# Two files of the same build-id, each with its own symbols.
rm -rf one
cp nest.so twin_id1.so
sed 's/in1/other/g' nest.s > nest_other.s
gcc -shared -nostdlib -Wl,--build-id="0x$(build_id nest.so)" -o twin_id2.so nest_other.s
equal "the fixture: the same build-id" "$(build_id twin_id1.so)" "$(build_id twin_id2.so)"
for way in made found; do
	names "files of the same build-id, $way" "in1+0x0" --cache one -e twin_id1.so 1010
	names "and the other, $way" "other+0x0" --cache one -e twin_id2.so 1010
done

# The debug file comes, changes and goes.
rm -rf one
mkdir -p later/.debug
cp link/app later/app
equal "no debug file yet" "??" "$("$symres" --cache one --debug-dir '' -e later/app "$hid_app")"
cp app.debug later/.debug/app.debug
equal "then there is one" "hid+0x0" "$("$symres" --cache one --debug-dir '' -e later/app "$hid_app")"
rm later/.debug/app.debug
equal "and then not" "??" "$("$symres" --cache one --debug-dir '' -e later/app "$hid_app")"

# Above 4 GiB, and in pieces further apart than that.
cat > far_off.s <<'S'
	.section .one,"ax"
	.globl one
	.type one,@function
one:	ret
	.size one,1
	.section .two,"ax"
	.globl two
	.type two,@function
two:	ret
	.size two,1
S
cat > far_off.ld <<'L'
SECTIONS { . = 0x123456789000; .one : { *(.one) } . = 0x7f0000000000; .two : { *(.two) } }
L
gcc -nostdlib -static -Wl,-e,one -Wl,-T,far_off.ld -Wl,--build-id=none -o far_off far_off.s
for way in made found; do
	names "far addresses, $way" "one+0x0 ?? two+0x0 ??" --cache one -e far_off \
		123456789000 123456789001 7f0000000000 7f0000000001
done

# Many at once: each writes under a name of its own.
rm -rf one
for i in 1 2 3 4 5 6 7 8; do
	printf 'many.so\t%s\n' "$(value many.so f65999)" |
		"$symres" --cache one --batch > "par$i" &
done
# shellcheck disable=SC2046
wait $(jobs -p | grep -vxF "$(printf '%s\n' "${started[@]}")")
equal "eight at once" "8 1" "$(cat par? | grep -c '^f65999$') $(kept one)"

# Memory does not grow with the symbols once there is an index.
python3 - <<'P' > wide.s
print('.text')
for i in range(200000):
    print('.globl wide_function_number_%d\n.type wide_function_number_%d,@function\nwide_function_number_%d: ret\n.size wide_function_number_%d,1' % (i, i, i, i))
P
gcc -c -o wide.o wide.s && ld.lld -shared -o wide.so wide.o
# Anonymous memory of a batch that has answered and waits for more.
anonymous() {
	mkfifo ask5 answer5
	"$symres" --batch --cache one < ask5 > answer5 &
	exec 8> ask5 9< answer5
	printf '%s\t%s\n' "$1" "$2" >&8
	read -r -t 20 _ <&9
	awk '$1 == "RssAnon:" { print $2 }' "/proc/$!/status"
	exec 8>&- 9<&-
	wait $!
	rm ask5 answer5
}
at=$(value wide.so wide_function_number_77)
names "200,000 symbols" "wide_function_number_77+0x0" --cache one -e wide.so "$at"
must "its index" "$symres" index --cache one wide.so
small=$(anonymous nest.so 1010)
big=$(anonymous wide.so "$at")
[ "$big" -lt $((small + 128)) ]
result $? "a kept index takes no memory of its own" "RssAnon: $small KiB, then $big"
rm -f one/*
big=$(anonymous wide.so "$at")
[ "$big" -lt $((small + 256)) ]
result $? "nor does one just made" "RssAnon: $small KiB, then $big"
