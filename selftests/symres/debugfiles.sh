# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Names from separate debug files. Sourced by run.sh, in a folder for fixtures.

printf 'static int __attribute__((noinline)) hid(int x){return x+1;}\nint main(int c,char**v){return hid(c);}\n' > md2.c
build_id() {
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# Below a debug directory, by build-id alone.
gcc -g -O1 -o app md2.c
hid=$(value app hid)
# shellcheck disable=SC2034 # for cache.sh
hid_app=$hid
id=$(build_id app)
mkdir -p "root/.build-id/${id:0:2}"
byid=root/.build-id/${id:0:2}/${id:2}.debug
objcopy --only-keep-debug app app.debug
cp app.debug "$byid"
strip -s -o app_s app
names "debug file by build-id" "hid+0x1" --debug-dir root -e app_s \
	"$(printf %x $((0x$hid + 1)))"
names "the second of two debug directories" "hid+0x0" \
	--debug-dir nowhere:root -e app_s "$hid"
equal "no debug file: a miss" "??" \
	"$("$symres" --debug-dir '' -e app_s "$hid" 2>/dev/null)"

# The debug file itself: its .dynsym and .plt hold nothing but have offsets.
wanted=$(nm app | awk 'NF == 3 && $2 ~ /[tTwW]/ { print $1 }' | "$symres" -e app)
got=$(nm app | awk 'NF == 3 && $2 ~ /[tTwW]/ { print $1 }' | "$symres" -e app.debug)
equal "a debug file's empty sections are not read" "$wanted" "$got"
got=$(nm app | awk 'NF == 3 && $2 ~ /[tTwW]/ { print $1 }' |
	"$symres" --debug-dir root -e app_s)
equal "a stripped file and its debug file tell what the whole one tells" \
	"$wanted" "$got"

# A debug file of another build under this build-id: passed over.
sed 's/x+1/x+2/' md2.c > md3.c
gcc -g -O1 -o other md3.c
objcopy --only-keep-debug other "$byid"
names "debug file with another build-id" \
	"?? symres: app_s: the debug file $byid was left alone: it has another build-id" \
	--debug-dir root -e app_s "$hid"

# .gnu_debuglink, in each of its places.
mkdir link link/.debug
objcopy --add-gnu-debuglink=app.debug app_s link/app
names "debug link: target absent" "??" --debug-dir '' -e link/app "$hid"
cp app.debug link/app.debug
names "debug link: beside the file" "hid+0x0" --debug-dir '' -e link/app "$hid"
python3 - <<'P'
import struct
d = bytearray(open('link/app', 'rb').read())
shoff, = struct.unpack_from('<Q', d, 0x28)
shnum, shstrndx = struct.unpack_from('<HH', d, 0x3c)
names, = struct.unpack_from('<Q', d, shoff + shstrndx * 64 + 24)
for i in range(shnum):
    name, = struct.unpack_from('<I', d, shoff + i * 64)
    if d[names + name:].startswith(b'.gnu_debuglink\0'):
        struct.pack_into('<I', d, shoff + i * 64 + 4, 8)
open('link/nobits', 'wb').write(d)
P
names "a debug link that is a name without content" "??" --debug-dir '' \
	-e link/nobits "$hid"
mv link/app.debug link/.debug/
names "debug link: in .debug" "hid+0x0" --debug-dir '' -e link/app "$hid"
(cd link && names_in_dir=$("$symres" --debug-dir '' -e app "$hid") &&
	[ "$names_in_dir" = hid+0x0 ])
result $? "debug link: from within the folder"
mkdir -p "links$(pwd)/link"
mv link/.debug/app.debug "links$(pwd)/link/"
ln -s link symlink
names "debug link: below a debug directory, by the real folder" "hid+0x0" \
	--debug-dir links -e symlink/app "$hid"

# Equal names in both: the symbols of the debug file beside those of .dynsym.
gcc -g -O1 -rdynamic -o dyn md2.c
objcopy --only-keep-debug dyn dyn_names.debug
strip -s dyn -o dyn_s
objcopy --add-gnu-debuglink=dyn_names.debug dyn_s
names "debug file read though .dynsym remains" "hid+0x0 main+0x0" \
	--debug-dir '' -e dyn_s "$(value dyn hid)" "$(value dyn main)"

# Without build-ids the checksum decides.
gcc -g -O1 -Wl,--build-id=none -o n md2.c
objcopy --only-keep-debug n n.debug
strip -s -o n_s n
objcopy --add-gnu-debuglink=n.debug n_s
names "debug link without build-id" "hid+0x0" --debug-dir '' -e n_s "$(value n hid)"
printf x >> n.debug
names "debug link with a wrong checksum" \
	"?? symres: n_s: the debug file ./n.debug was left alone: it has another checksum" \
	--debug-dir '' -e n_s "$(value n hid)"
mkdir far
cp n_s far/
names "debug link without build-id, target absent" "??" --debug-dir '' \
	-e far/n_s "$(value n hid)"

# A checksum in the other byte order.
clang --target=mips-linux-gnu -O1 -fPIC -c md2.c -o mips.o
ld.lld -shared -o mips.debug mips.o
printf '.section .gnu_debuglink,"",@progbits\n.asciz "mips.debug"\n.p2align 2\n.long 0x%x\n' \
	"$(python3 -c 'import zlib; print(zlib.crc32(open("mips.debug", "rb").read()))')" > mipslink.s
clang --target=mips-linux-gnu -c mipslink.s -o mipslink.o
ld.lld -shared -s -o mips.so mips.o mipslink.o
names "debug link of a big-endian file" "hid+0x0" --debug-dir '' -e mips.so \
	"$(value mips.debug hid)"

# A link that leads elsewhere, and one to the file itself.
python3 - <<'P'
import struct
d = open('link/app', 'rb').read()
open('evil', 'wb').write(d.replace(b'app.debug\0', b'../x.debg\0'))
P
cp app.debug x.debg
mkdir sub
mv evil sub/evil
names "a debug link is a name, not a path" "??" --debug-dir '' -e sub/evil "$hid"
strip -s -o self n
objcopy --add-gnu-debuglink=n.debug self
mkdir selfdir
mv self selfdir/n.debug
names "a debug link to the file itself is no stale debug file" "??" \
	--debug-dir '' -e selfdir/n.debug "$(value n hid)"

# What is where a debug file should be, and is of no use: the true reason, by
# build-id and by link, with a name from elsewhere too.
mkdir -p "odd/.build-id/${id:0:2}" "good/.build-id/${id:0:2}" oddlink
cp app.debug "good/.build-id/${id:0:2}/${id:2}.debug"
odd=odd/.build-id/${id:0:2}/${id:2}.debug
cp n_s oddlink/n_s
n_hid=$(value n hid)
objcopy --only-keep-debug n n.good
# odd_file WHERE GOOD KIND
odd_file() {
	rm -rf "$1"
	case $3 in
	folder) mkdir "$1" ;;
	fifo) mkfifo "$1" ;;
	device) ln -s /dev/null "$1" ;;
	text) echo 'no debug file' > "$1" ;;
	empty) : > "$1" ;;
	cut) head -c "$(($(wc -c < "$2") - 100))" "$2" > "$1" ;;
	head) head -c 1000 "$2" > "$1" ;;
	other) cp other "$1" ;;
	machine) cp mips.debug "$1" ;;
	bare) cp "$2" "$1" && strip -s "$1" ;;
	loop) ln -s loop "${1%/*}/loop" 2>/dev/null; ln -s loop "$1" ;;
	damaged) python3 - "$2" "$1" <<'P'
import struct, sys
d = bytearray(open(sys.argv[1], 'rb').read())
shoff, = struct.unpack_from('<Q', d, 0x28)
shnum, = struct.unpack_from('<H', d, 0x3c)
for i in range(shnum):
    if struct.unpack_from('<I', d, shoff + 64 * i + 4)[0] == 2:
        struct.pack_into('<Q', d, shoff + 64 * i + 0x18, 1 << 40)
open(sys.argv[2], 'wb').write(d)
P
	esac
}
while IFS=: read -r kind by_id by_link; do
	odd_file "$odd" app.debug "$kind"
	names "an odd debug file by build-id: $kind" "?? symres: app_s: the debug file $odd was left alone: $by_id" \
		--debug-dir odd --cache '' -e app_s "$hid"
	equal "... in a batch, with -v" "?? symres: app_s: the debug file $odd was left alone: $by_id symres: 0x1: no" \
		"$(printf 'app_s\t%s\napp_s\t%s\n' "$hid" "$hid" | "$symres" --batch -v --debug-dir odd --cache '' 2>&1 |
		sed "s/^symres: 0x[0-9a-f]*: no.*/symres: 0x1: no/" | uniq | head -n 3 | paste -sd ' ')"
	has "... in JSON" "$("$symres" --json --debug-dir odd --cache '' -e app_s "$hid" 2>/dev/null)" \
		"\"debug_left\":\"$odd\",\"debug_left_why\":\"${by_id%% (*}\""
	has "... in info" "$("$symres" info --debug-dir odd --cache '' dyn_s 2>&1; "$symres" info --debug-dir odd --cache '' app_s 2>&1)" \
		"symres: app_s: the debug file $odd was left alone: $by_id"
	names "... another one does" "hid+0x0" --debug-dir odd:good --cache '' -e app_s "$hid"
	[ "$by_link" ] || continue
	odd_file oddlink/n.debug n.good "$kind"
	names "an odd debug file by link: $kind" "?? symres: oddlink/n_s: the debug file oddlink/n.debug was left alone: $by_link" \
		--debug-dir '' --cache '' -e oddlink/n_s "$n_hid"
done <<'L'
folder:it is not a file:it is not a file
fifo:it is not a file:it is not a file
device:it is not a file:it is not a file
text:it is not a usable ELF file:it is not a usable ELF file
empty:it is not a usable ELF file:it is not a usable ELF file
cut:it is cut short or damaged:it is cut short or damaged
head:it is cut short or damaged:it is cut short or damaged
other:it has another build-id:it has another checksum
machine:it is for another machine or kind of file:it is for another machine or kind of file
bare:it has no symbol table:it has another checksum
damaged:it is cut short or damaged:it has another checksum
loop:it cannot be read (Too many levels of symbolic links):it cannot be read (Too many levels of symbolic links)
L
if [ "$(id -u)" = 0 ]; then
	rm -f "$odd" && cp app.debug "$odd" && chmod 0 "$odd" && chmod 755 .
	equal "an odd debug file: no right to read it" \
		"?? symres: app_s: the debug file $odd was left alone: it cannot be read (Permission denied)" \
		"$(as_nobody "$symres" --debug-dir odd --cache '' -e app_s "$hid" 2>&1 | paste -sd ' ')"
else
	skip "an odd debug file: no right to read it" "not run as root"
fi
