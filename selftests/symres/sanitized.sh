# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Damaged and hostile input under sanitizers. Sourced by run.sh, in a folder
# for fixtures.

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
strict='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'
cp -r "$src" asan-src
must "builds with sanitizers" make -s -C asan-src clean build/symres \
	CC=clang CFLAGS="$strict"
asan=$tmp/fx/asan-src/build/symres
export ASAN_SYMRES=$asan

printf 'static int __attribute__((noinline)) priv(int x){return x*3;}\nint pub(int x){return priv(x)+1;}\n' > md.c
gcc -g -O1 -shared -fPIC -o md.so md.c
priv=$(value md.so priv)
pub=$(value md.so pub)
python3 "$here/mkcorrupt.py" md.so

# What a damaged .symtab leaves: pub is in .dynsym as well, priv is not.
for f in cor_*.so; do
	case $f in
	cor_trunc.so | cor_hdr.so | cor_10b.so | cor_empty.so)
		wanted="?? ??" ;;
	# The dynamic segment leads to pub where the sections do not.
	cor_none.so | cor_longname.so)
		wanted="priv+0x0 pub+0x0" ;;
	*)
		wanted="?? pub+0x0" ;;
	esac
	got=$("$asan" -e "$f" "$priv" "$pub" 2>err | paste -sd ' ')
	grep -q -e Sanitizer -e 'runtime error' err && got="$got $(cat err)"
	equal "damaged file: $f" "$wanted" "$got"
done

equal "a symbol outside of its section names nothing" "??" \
	"$("$asan" -e cor_outside.so 14 2>&1)"

# The same answers as ever, with the sanitizers watching.
for so in nest.so sizeless.so overlap.so many.so p_ibt mips-linux-gnu.so th.so app_s; do
	nm $so 2>/dev/null | awk '$1 ~ /^[0-9a-f]+$/ { print $1 }' | head -n 2000 > addrs
	echo 1000 >> addrs
	equal "sanitized: $so" "$("$symres" -e $so < addrs 2>&1 | cksum)" \
		"$("$asan" -e $so < addrs 2>&1 | cksum)"
done
# An index that is well sealed and full of nonsense.
must "damages what is kept, sealed again" python3 - <<'P'
import random, subprocess, sys
sys.path.insert(0, '.')
sys.dont_write_bytecode = True
from index import *
import os, shutil
bad = []
rnd = random.Random(5)
asan = os.environ['ASAN_SYMRES']
ask = ''.join('%s\t%x\n' % (f, a) for f in ('mini.so', 'p_irel', 'nest.so')
              for a in range(0x1000, 0x1400, 7)).encode()
shutil.rmtree('sealed', ignore_errors=True)
subprocess.run([asan, '--cache', 'sealed', '--batch'], input=ask, stdout=subprocess.DEVNULL)
whole = {f: open('sealed/' + f, 'rb').read() for f in os.listdir('sealed')}
assert len(whole) == 4
for turn in range(25):
    for f, d in whole.items():
        d = bytearray(d)
        for _ in range(rnd.choice((1, 4, 40))):
            # Anywhere but in what says which file it is for.
            at = rnd.choice((rnd.randrange(32, 40), rnd.randrange(88, 192),
                             rnd.randrange(264, len(d))))
            d[at] = rnd.choice((0, 1, 0xff, rnd.randrange(256)))
        seal(d)
        os.unlink('sealed/' + f)
        fd = os.open('sealed/' + f, os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(fd, d)
        os.close(fd)
    p = subprocess.run([asan, '--cache', 'sealed', '--batch'], input=ask,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if p.returncode or p.stderr:
        bad.append(p.stderr.decode()[-2000:])
open('sealed.out', 'w').write('\n'.join(bad))
P
equal "an index full of nonsense" "" "$(cat sealed.out)"
start ./split
wait_exec "$pid" rwxp
addrs=$(awk '{ sub(/-.*/, "", $1); print $1 }' "/proc/$pid/maps")
# shellcheck disable=SC2086
equal "sanitized: a process" "$("$symres" -p "$pid" $addrs 2>&1 | cksum)" \
	"$("$asan" -p "$pid" $addrs 2>&1 | cksum)"
# shellcheck disable=SC2086
"$asan" -p "$pid" $addrs > out 2>&1
equal "sanitized: a process, no complaint" "" \
	"$(grep -e Sanitizer -e 'runtime error' out)"

# Different handles in different threads. System calls are not to count as
# synchronization.
export TSAN_OPTIONS=io_sync=0
mapfile -t lib_src < <(make -s --no-print-directory -C "$src" list-sources |
	sed "s|^|$src/|")
libs="-lelf -lz -llzma -lzstd -liberty"
# shellcheck disable=SC2086
must "builds with the thread sanitizer" clang -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=thread \
	-I"$src/include" -o threads "$here/threads.c" "${lib_src[@]}" $libs -lpthread
must "handles in threads of their own" ./threads ksyms2 nest.so "$libc" shown_far.so mini_ahead?.so
# And the thread that the library starts itself; without optimization, so that no
# access goes away.
for san in thread address,undefined; do
	# shellcheck disable=SC2086
	must "builds with -fsanitize=$san" clang -std=gnu11 -D_GNU_SOURCE -O0 -g -fsanitize=$san \
		-I"$src/include" -o ahead_san "$here/ahead.c" "${lib_src[@]}" $libs -lpthread
	equal "a thread of the library, -fsanitize=$san" "6" \
		"$(./ahead_san wide.so shown_far.so mini_long.so "$hid" mini_ahead?.so 2>&1 | grep -c '^ok ')"
	rm -r ahead_store ahead_without ahead_child ahead_left*
done

# Fuzzing, each target for some seconds from a small corpus, and from the same seed
# each time: what a short run can find is found by whoever changes something.
mkdir fuzz_obj
compile_for_fuzzers() {
	local f
	for f in "${lib_src[@]}"; do
		clang -std=gnu11 -D_GNU_SOURCE -O1 -g \
			-fsanitize=fuzzer-no-link,address,undefined \
			-fno-sanitize-recover=all -I"$src/include" \
			-c -o "fuzz_obj/${f##*/}.o" "$f" || return
	done
}
must "builds for the fuzzers" compile_for_fuzzers
mkdir corpus_{elf,kallsyms,index,debuglink,minidebug,jit}
cp nest.so sizeless.so gap.so p_ibt p_lld ver_s.so cor_*.so ./*-linux-gnu.so \
	th.so a64.so app.debug link/app vdso.so mini.so p_irel hash_both hash_sysv \
	dyn_badstr mod.o mod.debug rel.o packed.ko packed.xz packed.lib packed2 cut.ko \
	stubs_*.so ppc1 opd16 sun_good.so sun_unsorted.so sel.so corpus_elf/
# Sizes beyond the end of all addresses, among names that compete.
python3 - <<'PY'
import struct
d = bytearray(open('tie.so', 'rb').read())
shoff, = struct.unpack_from('<Q', d, 0x28)
for i in range(struct.unpack_from('<H', d, 0x3c)[0]):
    kind, = struct.unpack_from('<I', d, shoff + i * 64 + 4)
    off, size = struct.unpack_from('<QQ', d, shoff + i * 64 + 24)
    if kind == 2:
        for at in range(off + 24, off + size, 48):
            struct.pack_into('<Q', d, at + 16, 2**64 - 2)
for n in range(8):
    open('corpus_elf/tie_wrap%d.so' % n, 'wb').write(d + bytes(n))
m = open('mod.o', 'rb').read()
for n in range(8):
    open('corpus_elf/mod%d.o' % n, 'wb').write(m + bytes(n))
PY
cp ksyms ksyms2 hidden corpus_kallsyms/
for f in mini.so nest.so p_ibt; do
	"$symres" index --cache "fuzz_store/$f" $f
	for kept in "fuzz_store/$f/"*; do
		cp "$kept" "corpus_index/$f${kept##*-}"
	done
done
{ printf 'app.debug\0\0\0' && head -c 20 /dev/zero && cat app.debug; } > corpus_debuglink/app
cp mini_names mini_full.so corpus_minidebug/
cp elsewhere.map corpus_jit/
for target in elf kallsyms index debuglink minidebug jit; do
	# shellcheck disable=SC2086
	must "builds the $target fuzzer" clang -std=gnu11 -D_GNU_SOURCE -O1 -g \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-I"$src/include" -I"$src" -o fuzz_$target "$here/fuzz_$target.c" \
		fuzz_obj/*.o $libs
	case $target in
	debuglink) export FUZZ_ELF=$PWD/link/app ;;
	*) export FUZZ_ELF=$PWD/mini.so ;;
	esac
	if ./fuzz_$target -seed="$fuzz_seed" -max_total_time="$fuzz_seconds" -max_len=65536 \
		-timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
		corpus_$target > fuzz.log 2>&1; then
		result 0 "fuzzing $target"
		grep number_of_executed fuzz.log | sed 's/^/# /'
	else
		result 1 "fuzzing $target" "$(tail -n 30 fuzz.log)"
	fi
done
unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS FUZZ_ELF
