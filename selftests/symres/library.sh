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
