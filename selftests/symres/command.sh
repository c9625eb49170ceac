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
mkfifo ask answer
"$symres" -e nest.so < ask > answer &
exec 8> ask 9< answer
echo 1000 >&8
line=
read -r -t 10 line <&9
exec 8>&- 9<&-
wait $!
equal "each answer comes at once" "outer+0x0" "$line"

exits "a miss is no failure" 0 -e nest.so 103f
exits "no file" 1 -e nowhere 1
names "no file, said once" \
	"?? symres: nowhere: file cannot be read (No such file or directory) ??" \
	-e nowhere 1 2
names "a folder" "?? symres: /: file cannot be read (Is a directory)" -e / 1
names "a device is not opened" \
	"?? symres: /dev/zero: file cannot be read (No such device)" -e /dev/zero 1
mkfifo pipe
start sh -c 'echo > pipe'
names "a pipe" "?? symres: pipe: file cannot be read (No such device)" -e pipe 1
sleep .2
kill -0 "$pid" 2>/dev/null
result $? "a pipe is not opened: its writer still waits"
kill "$pid"
names "no ELF file" "?? symres: nest.s: not a usable ELF file" -e nest.s 1
python3 - <<'P'
import struct
d = bytearray(open('nest.so', 'rb').read())
struct.pack_into('<Q', d, 0x28, 0)
struct.pack_into('<HHH', d, 0x3a, 0, 0, 0)
open('nosections', 'wb').write(d)
P
names "no symbol table" "?? symres: nosections: no symbol table" -e nosections 1000
exits "no process" 1 -p 2147483647 1
exits "no mode" 64 1000
exits "two modes" 64 -k -e nest.so 1000
exits "no address" 64 -e nest.so xyz
exits "too big for an address" 64 -e nest.so 10000000000000000
exits "unknown option" 64 --frobnicate
exits "no process number" 64 -p self 1
exits "--kallsyms without -k" 64 --kallsyms ksyms -e nest.so 1
exits "help" 0 --help
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
