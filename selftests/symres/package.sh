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
# The commands of docs/symres.md, as they stand there.
cat > prog.c <<'S'
#include <stdio.h>
#include <symres.h>
int main(int argc, char **argv)
{
	struct symres_opts opts = { .size = sizeof(opts), .demangle = 1, .debuginfod = 1 };
	struct symres_sym sym = { .size = sizeof(sym) };
	struct symres *s;

	if (argc < 2 || symres_open(&s, &opts) || symres_lookup_file(s, argv[1], 0x1000, &sym) != 1)
		return 1;
	puts(sym.name);
	symres_close(s);
	return 0;
}
S
xz -kc demangle_me.so > demangle_me.so.xz
sed -n 's/^    cc -o prog prog.c/gcc -o prog prog.c/p' "$src/../docs/symres.md" > linking
equal "docs/symres.md: ways to link" 3 "$(wc -l < linking)"
while read -r how; do
	rm -f prog
	must "docs/symres.md: ${how#gcc -o prog }" bash -c "$how"
	equal "... works" "foo::bar()" "$(LD_LIBRARY_PATH=$libdir ./prog demangle_me.so.xz 2>&1)"
	case $how in
	*" -static "*) equal "... with nothing else" 0 "$(readelf -d prog | grep -c NEEDED)" ;;
	*--static*) equal "... without the shared library" 0 "$(readelf -d prog | grep -c 'NEEDED.*libsymres')" ;;
	*) equal "... with the shared library" 1 "$(readelf -d prog | grep -c 'NEEDED.*libsymres')" ;;
	esac
done < linking
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
# index and info have the options of a session; the page lists them.
sed -n '/^.B symres index$/,/^.TP/p' "$tmp/symres-src/man/symres.1" | tr -d '\\' > index_page
sed -n 's/.*{ "\([a-z-]*\)", [a-z]*_argument, NULL, OPT_.*/\1/p' "$tmp/symres-src/cmd.h" | tee options | while read -r option; do
	grep -q -- "--$option" index_page || echo "index: --$option"
done > missing
[ "$(wc -l < options)" -ge 6 ] || echo "options of a session: $(cat options)" >> missing
equal "the man page lists the options of index and info" "" "$(cat missing)"
must "builds with clang without a warning" make -s -C "$tmp/symres-src" clean all \
	CC=clang CFLAGS='-O2 -g -Werror'
