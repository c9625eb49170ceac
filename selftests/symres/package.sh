# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# What is installed. Sourced by run.sh, in a folder for fixtures.

must "install" make -s -C "$tmp/symres-src" install DESTDIR="$tmp/dest" PREFIX=/opt/s
libdir=$tmp/dest/opt/s/lib
equal "soname" libsymres.so.0 \
	"$(readelf -d "$libdir/libsymres.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
sed -n 's/^[a-z].*[ *]\(symres_[a-z_]*\)(.*/\1/p' \
	"$tmp/dest/opt/s/include/symres.h" | sort -u > declared
equal "the shared library exports what the header declares, nothing else" \
	"$(cat declared)" \
	"$(nm -D --defined-only --without-symbol-versions "$libdir/libsymres.so" |
		awk '$2 == "T" { print $3 }' | sort)"
equal "the library keeps no state of its own" "" \
	"$(size -A "$libdir/libsymres.a" | awk '/^\.t?(data|bss)(\.[^r].*)? / && $2 { print $1, $2 }')"
cat > user.c <<'S'
#include <stdio.h>
#include <string.h>
#include <symres.h>
int main(void)
{
	return puts(symres_version()) < 0 || strcmp(symres_version(), SYMRES_VERSION);
}
S
export PKG_CONFIG_PATH=$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/dest
# shellcheck disable=SC2046
must "pkg-config, shared" gcc -o user user.c $(pkg-config --cflags --libs libsymres)
equal "the version is the header's" "$(pkg-config --modversion libsymres)" \
	"$(LD_LIBRARY_PATH=$libdir ./user)"
# shellcheck disable=SC2046
must "pkg-config, static" gcc -o user_static user.c $(pkg-config --cflags libsymres) \
	"$libdir/libsymres.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libelf zlib liblzma libzstd) -liberty
must "the header is C++ too" g++ -fsyntax-only -Wall -Wextra -Werror -x c++ \
	"$tmp/dest/opt/s/include/symres.h"
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
for page in symres.1 libsymres.3; do
	equal "man page $page" "" \
		"$(man --warnings -E UTF-8 -l "$tmp/symres-src/man/$page" 2>&1 >/dev/null)"
done
while read -r f; do
	grep -q "$f" "$tmp/symres-src/man/libsymres.3" || echo "$f"
done < declared > missing
equal "the man page names every function" "" "$(cat missing)"
must "builds with clang without a warning" make -s -C "$tmp/symres-src" clean all \
	CC=clang CFLAGS='-O2 -g -Werror'
