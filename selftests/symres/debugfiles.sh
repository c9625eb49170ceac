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
	"?? symres: app_s: a debug file was left alone: it is of another build" \
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
	"?? symres: n_s: a debug file was left alone: it is of another build" \
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
