# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What needs the library itself. Sourced by run.sh, in a folder for fixtures.

# Recorded mappings, and what else needs the library: see api.c.
cc_args=(-std=gnu11 -Wall -Wextra -Werror -O1 -I"$tmp/symres-src/include")
gcc "${cc_args[@]}" -o api "$here/api.c" "$tmp/symres-src/build/libsymres.so" \
	-Wl,-rpath,"$tmp/symres-src/build"
rm -f spin
gcc -O1 -o spin ic.c
gcc -O1 -o spin_other oh.c
cp many.so many2.so
cp wide.so wide2.so
relay api.c < <(./api 2>&1)

# What grows with a file, in steps: see growth.c. wide.so has 200,000 symbols.
sed '/wide_function_number_50000$/,$d' wide.s > quarter.s
gcc -c -o quarter.o quarter.s && ld.lld -shared -o quarter.so quarter.o
gcc "${cc_args[@]}" -c -o growth.o "$here/growth.c"
# shellcheck disable=SC2046
gcc "${cc_args[@]}" -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fsanitize-coverage=trace-pc \
	-o growth growth.o $(make -s -C "$src" list-sources | sed "s|^|$src/|") \
	-lelf -lz -llzma -lzstd -liberty
relay growth.c < <(./growth quarter.so wide.so 2>&1)
