# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The honest policy beside a plain reading of the symbol tables. Sourced by
# run.sh, in a folder for fixtures.

mkdir -p orc
cp nest.so overlap.so sizeless.so gap.so gap_full.so twin.so alias.so labels.so ends.so datalabels.so dotl.so \
	tie.so ver.so p_ibt p_lld p_gold ifn.so mini.so dyn_s many.so wide.so "$libc" orc/
cp -r dyn_names.debug orc/
python3 - <<'P' > orc.list
import os, random, re, subprocess
rnd = random.Random(7)
for f in sorted(os.listdir('orc')):
    if f.endswith('.debug'):
        continue
    out = subprocess.run(['readelf', '-sW', 'orc/' + f], stdout=subprocess.PIPE, text=True).stdout
    addrs = set()
    for line in out.splitlines():
        m = re.match(r'\s*\d+: ([0-9a-f]{16})\s+(\S+)', line)
        if m and int(m.group(1), 16):
            a, n = int(m.group(1), 16), int(m.group(2), 0)
            addrs.update((a - 1, a, a + n - 1, a + n, a + n // 2))
    addrs = sorted(a for a in addrs if a > 0)
    if len(addrs) > 3000:
        addrs = rnd.sample(addrs, 3000)
    addrs += range(0x1000, 0x1100)
    for a in addrs:
        print('/%s\t0\t%x' % (f, a))
P
python3 "$here/oracle.py" orc < orc.list > orc.wanted
"$symres" --batch --root orc --debug-dir orc --cache '' < orc.list > orc.got
# Stubs are not in symbol tables: there the oracle says "*".
equal "honest: no other name, ever" "0 wrong, all of $(wc -l < orc.list)" "$(
	paste orc.list orc.wanted orc.got | awk -F '\t' '
		$4 == "*" { next }
		{ good = 0; for (i = 4; i < NF; i++) if ($i == $NF && $i != "~") good = 1
		  if (!good && $4 == "??" && $NF == "??") good = 1
		  if (!good) { bad++; if (bad < 4) print } }
		END { printf "%d wrong, all of %d\n", bad, NR }')"
[ "$(grep -vc -e '^??$' -e '^\*$' orc.wanted)" -gt 5000 ] && [ "$(grep -c '^~' orc.wanted)" -gt 10 ]
result $? "most of them have names, and some by the sizeless"
equal "what is sizeless is marked as approximate" "" "$(
	paste orc.list orc.wanted | awk -F '\t' '$4 == "~" { print $1 "\t" $3 }' | head -n 200 |
	"$symres" --batch --json --root orc --debug-dir orc --cache '' | grep -v '"approximate":true' | head -n 3)"
