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

# Files that are mapped, and cut short: see mapped.c.
python3 - <<'P' > long_name.s
z = 'z' * 5000
print('.globl %s, inner\n.type %s,@function\n%s: nop' % (z, z, z))
print('.type inner,@function\ninner: ret\n.size inner,1\n.size %s,2' % z)
P
gcc -c -o long_name.o long_name.s
ld.lld -shared --build-id -o wide_long.so wide.o long_name.o
gcc "${cc_args[@]}" -D_GNU_SOURCE -o mapped "$here/mapped.c" "$tmp/symres-src/build/libsymres.so" \
	-Wl,-rpath,"$tmp/symres-src/build" -lpthread
./mapped wide_long.so > mapped.out 2>&1
result $? "mapped.c ends by itself"
relay mapped.c < mapped.out

# The command while its file is cut short at any time: it answers each line.
at=$((16#$(value wide_long.so wide_function_number_0)))
for ((i = 0; i < 8000; i++)); do
	printf 'cut_now.so\t%x\n' $((at + i * 25))
done > cut_lines
for ((i = 0; i < 8000; i++)); do
	echo "wide_function_number_$((i * 25))"
done > cut_names
for pause in 0 .005 .01 .015 .02 .025 .03 .035 .04 .045; do
	cp wide_long.so cut_now.so
	"$symres" --batch --cache '' < cut_lines > "cut_answers$pause" &
	sleep $pause
	truncate -s 4096 cut_now.so
	wait $!
	echo "$? $(paste "cut_answers$pause" cut_names | awk '$1 == $2 || $1 == "??"' | wc -l)"
done | sort | uniq -c > cut_status
equal "batch: a file that is cut short at any time" "     10 0 8000" "$(cat cut_status)"
cat cut_answers* | grep -qx '??'
result $? "batch: some were cut short in time"

# What a thread of the library does: see ahead.c.
stars=$(printf '%900s' '' | tr ' ' P)
{
	echo 'start_of_shown:'
	for ((i = 0; i < 2000; i++)); do
		name=_ZN5space$((1 + ${#i}))f${i}E${stars}i
		printf '.globl %s\n.type %s,@function\n%s: ret\n.size %s,1\n' $name $name $name $name
	done
} > shown_far.s
gcc -shared -nostdlib -o shown_far.so shown_far.s
cat mini_names.xz bomb.xz > mini_long.xz
objcopy --add-section .gnu_debugdata=mini_long.xz mini_bare.so mini_long.so
for i in 1 2 3 4 5 6; do
	cp mini.so mini_ahead$i.so
	touch -d "2020-01-0$i" mini_ahead$i.so
done
gcc "${cc_args[@]}" -D_GNU_SOURCE -o ahead "$here/ahead.c" "$tmp/symres-src/build/libsymres.so" \
	-Wl,-rpath,"$tmp/symres-src/build" -lpthread
./ahead wide.so shown_far.so mini_long.so "$hid" mini_ahead?.so > ahead.out 2>&1
result $? "ahead.c ends by itself"
relay ahead.c < ahead.out
rm -r ahead_store ahead_without ahead_child ahead_left*

# Sorting, interrupted at any time
for pause in .01 .05 .055 .06 .065 .07 .075 .08 .085 .09 .1; do
	"$symres" sort -o ended.so wide.so > /dev/null &
	sleep $pause
	kill -TERM $! 2> /dev/null
	wait $! 2> /dev/null
	echo $?
done > ended.out
equal "sort: interrupted, it leaves nothing" 0 "$(find . -name 'ended.so.*' | wc -l)"
grep -q 143 ended.out
result $? "sort: it was interrupted"

# Little of what a process may be allowed.
for ((i = 0; i < 100; i++)); do
	cp nest.so few_$i.so
	printf 'few_%s.so\t1012\n' $i
done > few_lines
equal "batch: fewer descriptors than files" "200 in1" \
	"$(ulimit -n 24; cat few_lines few_lines | "$symres" --batch --cache '' | sort | uniq -c | sed 's/^ *//')"
for i in 1 2; do
	printf 'wide.so\t%s\n' "$(value wide.so wide_function_number_$i)"
done > few_lines
equal "batch: too little memory is no miss" \
	"symres: Cannot allocate memory: what is not named may have a name|wide_function_number_1|??|1|" \
	"$(ulimit -d 5000; "$symres" --batch --cache '' < few_lines 2>&1 | tr '\n' '|'; echo "${PIPESTATUS[0]}|")"

# Mini debug info that is no longer in the cache when its file is opened again.
for ((i = 0; i < 70; i++)); do
	cp mini.so mini_$i.so
done
mkfifo ask7 answer7
"$symres" --batch --cache mini_store < ask7 > answer7 &
exec 8> ask7 9< answer7
hid=$(value mini_full.so hid)
ask_mini() {
	printf 'mini_%s.so\t%s\n' "$1" "$hid" >&8
	read -r -t 20 line <&9
}
ask_mini 0
first=$line
rm mini_store/*
for ((i = 1; i < 70; i++)); do
	ask_mini $i
done
ask_mini 0
equal "mini debug info taken out of the cache" "hid hid" "$first $line"
exec 8>&- 9<&-
wait $!
