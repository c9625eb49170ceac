# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Stubs of other machines than x86-64, as lld and GNU ld write them. Sourced by
# run.sh, in a folder for fixtures.

cat > imp.c <<'S'
int fa(int x){return x+1;} int fb(int x){return x+2;} int fc(int x){return x+3;}
S
cat > use.c <<'S'
int fa(int), fb(int), fc(int);
static int one(int x){return x;}
static int (*pick(void))(int){return one;}
__attribute__((visibility("hidden"))) int chosen(int) __attribute__((ifunc("pick")));
#ifdef PLAIN
#define chosen(x) 0
#endif
static int next_to_it(int x){return x*2;}
int (*volatile p)(int) = next_to_it;
int _start(int x){return fc(x)+fa(x)+fb(x)+chosen(x)+p(x);}
S

# section FILE NAME FIELD: 3 its address, 5 its size
section() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v s="$2" -v f="$3" '$1 == s { print $f; exit }'
}

# Every fourth byte of a section: what is named there, each name once, in order.
# stubs FILE SECTION [SYMRES-OPTION...]
stubs() {
	local file=$1 section=$2 size
	shift 2
	size=$(section "$file" "$section" 5)
	for i in $(seq 0 4 $((0x$size - 1))); do
		printf '%x\n' "$i"
	done | "$symres" --cache '' --debug-dir '' "$@" -j "$section" -e "$file" | sed 's/+0x.*//' | uniq | paste -sd ' '
}

# Imported functions in the order of their slots, which lld's stubs have too.
imported() {
	readelf -rW "$1" | awk '/^Relocation section/ { plt = /\.plt/ } plt && $3 ~ /JU?MP/ { print $5 "@plt" }' |
		paste -sd ' '
}

# What objdump calls stubs, with their addresses: it is of another mind about
# what is around them.
dumped_by() {
	"$@" | sed -n 's/^0*\([0-9a-f]*\) <\([a-z_]*@plt\)>:$/\1 \2/p' | sort
}
named() {
	cut -d ' ' -f 1 | "$symres" --cache '' -a -e "$1" | sed -n 's/^0x\(.*\): \(.*\)+0x0$/\1 \2/p' | sort
}

while read -r target options; do
	# shellcheck disable=SC2086
	clang --target=$target -O1 $options -c imp.c -o imp.o && ld.lld -shared -o imp.so imp.o
	for kind in -shared -pie; do
		[ "$options" != -fno-pic ] || kind=-no-pie
		# shellcheck disable=SC2086
		clang --target=$target -O1 $options -c use.c -o use.o && ld.lld $kind -o stubs use.o imp.so 2>lld.log
		what="$target $options $kind"
		in=.plt
		wanted=".plt $(imported stubs)"
		case $what in
		*-fcf-*)
			equal "$what: way to the resolver" .plt "$(stubs stubs .plt)"
			in=.plt.sec
			wanted=$(imported stubs) ;;
		esac
		equal "$what: stubs" "$wanted" "$(stubs stubs $in)"
		has "$what: all three" "$(imported stubs)" "fa@plt"
		case $what in
		*i386*) names "$what: IFUNC" "chosen+0x0" --cache '' -j .iplt -e stubs 0 ;;
		*) equal "$what: stub of an IFUNC" "chosen@plt" "$(stubs stubs .iplt)" ;;
		esac
		case $what in
		*-fcf-* | *arm* | *riscv*) ;;	# it knows none of these
		*)
			dumped_by llvm-objdump -d --no-show-raw-insn stubs | grep -v chosen > objdumped
			equal "$what: as llvm-objdump has them ($(wc -l < objdumped))" "$(cat objdumped)" \
				"$(named stubs < objdumped)" ;;
		esac
		equal "$what: perf's rules know none" "" "$(stubs stubs .plt --policy perf | grep -o '[^ ]*@plt')"
		cp stubs "stubs_$target$options.so"	# for the fuzzer
		llvm-objcopy --strip-all stubs stubs_s
		equal "$what: stripped" "$wanted" "$(stubs stubs_s $in)"
	done
done <<'L'
i386-linux-gnu -fPIC
i386-linux-gnu -fno-pic
i386-linux-gnu -fPIC -fcf-protection
aarch64-linux-gnu -fPIC
aarch64-linux-gnu -fPIC -mbranch-protection=bti
aarch64-linux-gnu -fPIC -mbranch-protection=standard
aarch64_be-linux-gnu -fPIC
armv7-linux-gnueabihf -fPIC
armv7-linux-gnueabihf -fPIC -mthumb
riscv64-linux-gnu -fPIC
riscv32-linux-gnu -fPIC -march=rv32imac
L

# Pointer authentication, slots far away.
clang --target=aarch64-linux-gnu -O1 -fPIC -mbranch-protection=standard -c use.c -o use.o
clang --target=aarch64-linux-gnu -O1 -fPIC -c imp.c -o imp.o && ld.lld -shared -o imp.so imp.o
ld.lld -shared -z pac-plt -z force-bti -o stubs use.o imp.so
equal "stubs with pointer authentication" ".plt $(imported stubs)" "$(stubs stubs .plt)"
clang --target=armv7-linux-gnueabihf -O1 -fPIC -c use.c -o use.o
clang --target=armv7-linux-gnueabihf -O1 -fPIC -c imp.c -o imp.o && ld.lld -shared -o imp.so imp.o
ld.lld -shared --section-start .got.plt=0x40000000 -o stubs use.o imp.so
equal "slots far from their stubs (ARM)" ".plt $(imported stubs)" "$(stubs stubs .plt)"

# GNU ld of this machine knows i386.
clang --target=i386-linux-gnu -O1 -fPIC -c imp.c -o imp.o && ld -m elf_i386 -shared -o imp.so imp.o
for pic in -fPIC -fno-pic; do
	kind=
	[ $pic = -fno-pic ] || kind=-shared
	# It has no stubs of IFUNCs in a library.
	clang --target=i386-linux-gnu -O1 $pic ${kind:+-DPLAIN} -c use.c -o use.o
	for options in "" "-z ibtplt" "-z now" "-z now -z ibtplt"; do
		# shellcheck disable=SC2086
		ld -m elf_i386 $kind $options -o stubs use.o imp.so 2>ld.log
		dumped_by objdump -d stubs > objdumped
		equal "GNU ld, i386 $pic $options ($(wc -l < objdumped))" "$(cat objdumped)" "$(named stubs < objdumped)"
		has "... stubs are named" "$(cat objdumped)" "fa@plt"
	done
done
printf '%s\n' 'int fa(int); int (*where(void))(int){return fa;} int _start(int x){return fa(x) + fa(where()(x));}' > both.c
clang --target=i386-linux-gnu -O1 -fPIC -c both.c -o both.o
ld -m elf_i386 -pie -o stubs both.o imp.so 2>ld.log
equal "a stub without a slot of its own (.plt.got)" "fa@plt" "$(stubs stubs .plt.got)"
