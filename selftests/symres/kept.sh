# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2046
# The verbs about kept indexes, and look-ups that need none. Sourced by run.sh,
# in a folder for fixtures.

# Each address by a process of its own, that reads the tables once, and all of
# them by one that has an index.
# Of small and big perf takes the one that does not reach beyond mid.
printf '.globl small\n.type small,@function\n.weak big\n.type big,@function\nsmall:\nbig: nop\nnop\n.type mid,@function\nmid: nop\n.size mid,1\nnop\nnop\nret\n.size small,1\n.size big,6\n' > hides.s
{ cat nest.s overlap.s tie.s hides.s sizeless.s && python3 -c "
for i in range(21000):
    print('.type filler%d,@function\nfiller%d: ret\n.size filler%d,1' % (i, i, i))"; } > nested.s
gcc -shared -nostdlib -o nested.so nested.s
for f in many.so wide.so nested.so; do
	nm $f | awk 'NR % 5000 == 7 { print $1 }' > addrs
	printf '%s\n' 1 fff 1000 "$(nm $f | sort | tail -n 1 | cut -d ' ' -f 1)" >> addrs
	while read -r a; do
		printf '%s\n%x\n%x\n' "$a" $((0x$a + 1)) $((0x$a - 1))
	done < addrs > around
	# Where symbols overlap, each byte.
	[ $f != nested.so ] || nm nested.so | awk '$3 !~ /^filler/ { print $1 }' >> around
	[ $f != nested.so ] || printf '%x\n' $(seq 4096 4270) >> around
	for policy in honest perf; do
		while read -r a; do
			"$symres" --cache '' --policy $policy -e $f "$a" 2>&1
		done < around > singly
		equal "one address without an index: $f, $policy" \
			"$("$symres" --cache '' --policy $policy -e $f < around 2>&1 | cksum)" \
			"$(cksum < singly)"
	done
done
rm -rf keep
"$symres" --cache keep -e many.so "$(value many.so f3)" > /dev/null
equal "one address leaves no index" "" "$(ls keep 2>/dev/null)"

equal "index: says nothing when all is well" "" "$("$symres" index --cache keep nest.so many.so 2>&1)"
equal "index: one for each" 2 "$(kept keep)"
names "index: no file" "symres: nowhere: file cannot be read: No such file or directory" index --cache keep nowhere
equal "index: nowhere to keep it" 1 "$("$symres" index --cache '' nest.so >/dev/null 2>&1; echo $?)"
equal "index: no file named" 64 "$("$symres" index >/dev/null 2>&1; echo $?)"
"$symres" info --json --cache keep nest.so many.so p_ibt app_s mini.so > info.json
must "info tells what an index holds" python3 - <<'P'
import json, os
a = {i['path']: i for i in map(json.loads, open('info.json'))}
n = a['nest.so']
assert n['policy'] == 'honest' and n['ranges'] >= 5 and n['symbols'] > 5, n
assert n['bytes'] < 400 and os.path.getsize(n['kept']) == n['kept_bytes'], n
assert [t['source'] for t in n['tables']] == ['symtab', 'dynsym'], n
m = a['many.so']
assert m['ranges'] >= 66000 and 6 * m['ranges'] < m['bytes'] <= 8 * m['ranges'] + 400, m
assert a['p_ibt']['stubs'] >= 4, a['p_ibt']
assert a['mini.so']['tables'][0]['source'] == 'minidebug', a['mini.so']
m = a['mini.so']['kept']
assert os.path.getsize(m[:m.rindex('-')] + '-m.6') > 500, m
P
has "info for people" "$("$symres" info --cache keep nest.so)" " ranges in "
equal "info: a file without an index is a failure" 1 \
	"$("$symres" info --cache keep nest.s >/dev/null 2>&1; echo $?)"

before=$("$symres" cache --cache keep | wc -l)
equal "cache lists them, and the sum" "$(($(kept keep) + 1))" "$before"
echo mine > keep/notes.txt
echo mine > keep/0123-not-an-index
equal "cache: what is not an index is not listed" "$before" "$("$symres" cache --cache keep | wc -l)"
"$symres" cache --cache keep --json > cache.json
must "cache in JSON" python3 - <<'P'
import json, os
a = [json.loads(l) for l in open('cache.json')]
assert len(a) == len(os.listdir('keep')) - 2, a
for e in a:
    assert os.path.getsize('keep/' + e['name']) == e['bytes'], e
assert [e['used'] for e in a] == sorted(e['used'] for e in a)
P
old=$("$symres" info --json --cache keep nest.so | sed 's/.*"kept":"\([^"]*\)".*/\1/')
touch -d '2001-01-01' "$old"
biggest=$(find keep -type f -printf '%s\n' | sort -n | tail -n 1)
sum=$("$symres" cache --cache keep | awk 'END { print $1 }')
equal "prune: the least recently used go first" "1 removed, $((before - 2)) kept" \
	"$("$symres" cache --cache keep --prune $((sum - 1)) | cut -d , -f 1-2)"
[ ! -e "$old" ]
result $? "prune: it was that one"
equal "prune to a size with a unit" 1 "$("$symres" cache --cache keep --prune 1K | grep -c removed)"
equal "prune: the rest fits" 0 "$(find keep -type f -name '*-h.*' -size +1k | wc -l)"
: > keep/0123-4-5.6-h.6.Ab3dEf
: > keep/0123-4-5.6-h.6.old
equal "cache: one that was not completed is listed" "0123-4-5.6-h.6.Ab3dEf" \
	"$("$symres" cache --cache keep | sed -n 's/.*\(0123\)/\1/p')"
rm keep/0123-4-5.6-h.6.old
equal "prune to nothing: what is not ours stays" "2" \
	"$("$symres" cache --cache keep --prune 0 >/dev/null; kept keep)"
equal "cache: no such folder is an empty one" "1" "$("$symres" cache --cache no/such | wc -l)"
for bad in '--prune many' '--prune -1' '--prune 1KB' 'extra'; do
	# shellcheck disable=SC2086
	equal "cache $bad" 64 "$("$symres" cache --cache keep $bad >/dev/null 2>&1; echo $?)"
done
[ "$biggest" -gt 1024 ]
result $? "the fixture has an index of more than 1K"

# A budget: each file gives up its index for the next, and gets it again.
for where in '' budget_store; do
	for i in 1 2 3 4; do
		for f in nest.so many.so wide.so overlap.so p_ibt mini.so; do
			printf '%s\t1005\n' $f
		done
		printf 'many.so\t%s\nwide.so\t%s\n' "$(value many.so "f$((i * 9000))")" \
			"$(value wide.so "wide_function_number_$((i * 7777))")"
	done > asked
	for bytes in 1 64K 400K; do
		equal "within $bytes of indexes, kept in '$where': the same answers" \
			"$("$symres" --batch --cache '' < asked | cksum)" \
			"$("$symres" --batch --cache "$where" --max-bytes $bytes < asked | cksum)"
	done
done
exits "no budget at all" 64 --max-bytes 0 -e nest.so 1010
exits "no number" 64 --max-bytes x -e nest.so 1010
