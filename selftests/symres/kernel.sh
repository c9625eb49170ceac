# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Names from kallsyms. Sourced by run.sh, in a folder for fixtures.

printf '%s\n' '0000000000000000 A fixed_pcpu' '0000000000001000 T low' \
	'ffffffff81000000 T _stext' 'ffffffff81000010 t a' \
	'ffffffff81000010 T b' 'ffffffff81000020 d data_in_text' \
	'ffffffff81000030 T last_k' 'ffffffff81000018 A number' > ksyms
printf 'ffffffffc0000000 t modfn\t[m]\n' >> ksyms
k=(-k --kallsyms ksyms)
names "a symbol ends where the next of any type begins" \
	"b+0x2 b+0xf data_in_text+0x5" "${k[@]}" ffffffff81000012 \
	ffffffff8100001f ffffffff81000025
names "no symbol reaches across the gaps" "?? ?? ??" "${k[@]}" \
	ffffffff90000000 0x2000 ffffffffc0001000
names "nor below the first, and absolute ones are no addresses" "?? low+0x1" \
	"${k[@]}" 10 1001
names "the last one before a border" "last_k+0xfcf modfn+0x0" "${k[@]}" \
	ffffffff81000fff ffffffffc0000000

printf '%s\n' 'ffffffff81000000 T _stext' 'ffffffff81000100 T work' \
	'ffffffff81000100 t local_work' 'ffffffff81000100 W weaker_work' \
	'ffffffff81000180 T _etext' 'ffffffff81001000 R ro_table' \
	'ffffffff81002000 D cgroup_mutex' 'ffffffff81002020 d s_lock' \
	'ffffffff81002040 D _edata' > ksyms2
printf 'ffffffffc0200000 t init_it\t[two]\nffffffffc0200400 d s_lock\t[two]\nffffffffc0100000 t go\t[one]\nffffffffc0100040 t stop\t[one]\n' >> ksyms2
printf 'ffffffffc0300000 t fn\t[three]\nffffffffc0310000 d data\t[three]\n' >> ksyms2
names "a global name before a local and a weak one" "work+0x0" \
	-k --kallsyms ksyms2 ffffffff81000100
names "_etext ends the code and names nothing" "work+0x7f ??" \
	-k --kallsyms ksyms2 ffffffff8100017f ffffffff81000190
names "a lock's address" "cgroup_mutex+0x0 s_lock+0x8" \
	-k --kallsyms ksyms2 ffffffff81002000 ffffffff81002028

names "no symbol reaches into the next module" "stop+0xfbf ??" \
	-k --kallsyms ksyms2 ffffffffc0100fff ffffffffc0101000
names "no code reaches into a module's data pages" "fn+0xfff ?? data+0x0" \
	-k --kallsyms ksyms2 ffffffffc0300fff ffffffffc0301000 ffffffffc0310000

printf 'ffffffff81000000 T _RNvC6_123foo3bar\nffffffff81000100 T _ZN3foo3barEv\n' > ksyms_rust
names "as they were written" "123foo::bar+0x1 foo::bar()+0x0" \
	-C -k --kallsyms ksyms_rust ffffffff81000001 ffffffff81000100

sed 's/^[0-9a-f]*/0000000000000000/' ksyms > hidden
names "hidden addresses: a reason, no random name" \
	"?? symres: hidden: kernel addresses are hidden; run as root or set kernel.kptr_restrict to 0" \
	-k --kallsyms hidden ffffffff81000012
"$symres" -k --kallsyms hidden ffffffff81000012 >/dev/null 2>&1
equal "hidden addresses: exit status" 2 $?
names "no kallsyms" \
	"?? symres: nowhere: kernel symbols cannot be read (No such file or directory)" \
	-k --kallsyms nowhere 1
names "another file as kallsyms" \
	"?? symres: sizeless.s: kernel symbols cannot be read (Bad message); --kallsyms wants a copy of /proc/kallsyms" \
	-k --kallsyms sizeless.s 1

# The running kernel, every function's first byte. One address can have several
# names, so the answer must be one of them.
if [ "$(awk '$1 !~ /^0*$/ { print 1; exit }' /proc/kallsyms)" = 1 ]; then
	awk '$2 ~ /[tT]/ { print $1 }' /proc/kallsyms | sort -u |
		awk 'NR % 7 == 0' > kaddrs
	"$symres" -k < kaddrs | sed 's/+0x0$//' > kanswers
	paste -d ' ' kaddrs kanswers > knames
	equal "the running kernel's functions" "0 wrong of $(wc -l < kaddrs)" \
		"$(awk 'NR == FNR { ok[$1 " " $3] = 1; next }
			!(($1 " " $2) in ok) { bad++; if (bad < 4) print $0 }
			END { printf "%d wrong of %d\n", bad, FNR }' \
			/proc/kallsyms knames)"
else
	skip "the running kernel's functions" "kernel addresses are hidden here"
fi
