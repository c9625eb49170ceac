#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What comes with a sample: the locks held, where and how long ago they were
# taken, and the tracepoint's own fields as they were. And cpu-clock samples,
# which no lock function's author put where they are.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

# ---- the record behind a sample ----

# Functions by address, to find the one that an address lies in
awk '$2 ~ /[tTwW]/ { print "0x" $1, "function", $3 }' /proc/kallsyms \
	> "$tmp/functions"

# Compares the locks listed in a recording with the log: LOG, then the numbers
# and names of locks, then the samples. Prints what is wrong. With "unknown" there
# may be locks besides, that the kernel takes to serve soft interrupts.
# shellcheck disable=SC2016 # for awk
check_record='
function mode(m) { return m == 1 ? "R" : m == 2 ? "W" : "?" m }
function context(c) { return c == 0 ? "task" : c == 1 ? "soft" : "hard" }
function value(name,   i, part) {
	for (i = 1; i <= NF; i++) {
		split($i, part, "=")
		if (part[1] == name) return part[2]
	}
	return ""
}
FILENAME == ARGV[1] { held[$1] = $9; ctx[$1] = $5; next }
FILENAME == ARGV[2] { name[$3] = $1; family[$1] = $2; next }
/^samples=/ { next }
{
	seq = value("seq")
	n = split(value("locks"), lock, ",")
	is = ""
	nr_unknown = 0
	for (i = 1; i <= n; i++) {
		split(lock[i], f, "/")
		if (unknown && !(f[1] in name) &&
		    (context(f[4]) == "soft" || ctx[seq] == "soft")) {
			nr_unknown++
			continue
		}
		is = is (is == "" ? "" : ",") name[f[1]] ":" mode(f[3]) "@" \
		     context(f[4])
		since = f[7]
		if (kind[f[2]] != family[name[f[1]]])
			print "seq " seq ": family " f[2] " of " name[f[1]]
	}
	if (is != held[seq])
		print "seq " seq ": " is " should be " held[seq]
	if (context(value("lockctx")) != ctx[seq])
		print "seq " seq ": context " value("lockctx") \
		      " should be " ctx[seq]
	if (value("nheld") + nr_unknown != n + value("omitted"))
		print "seq " seq ": " n " locks and " value("omitted") \
		      " omitted, of " value("nheld")
	# The tick tells since when the lock taken last is held
	if (is != "" && since + 20000 < value("held_ns"))
		print "seq " seq ": held_ns " since " should be at least " \
		      value("held_ns")
	if (is != "" && since > 60000000000)
		print "seq " seq ": held_ns " since
	seen++
}
BEGIN { n = split("mutex rwsem spinlock rwlock rt-mutex percpu-rwsem" \
		  " semaphore srcu rcu rcu-trace raw-spinlock", kind) }
END { if (seen + 0 < at_least) print "only " seen + 0 " samples" }'

# record_is NAME AT_LEAST: of the recording just made
record_is()
{
	equal "$1" "$(awk -v at_least="$2" -v unknown="$sleeping_spinlocks" \
		"$check_record" "$tmp/ticks" \
		"$hm_dir/locks" "$tmp/0.txt" | head -n 8)" ""
}

any=$(any_of mutex rwsem spinlock rwlock rt-mutex percpu-rwsem semaphore srcu \
	     raw-spinlock)

# What spins is not in a record where it cannot be tracked, and hard interrupts
# take what they may
spin="take spin_lock spinlock" unspin="drop spinlock"
read="take read_lock obj3.rwlock" unread="drop obj3.rwlock"
soft="take read_lock soft_rwlock" unsoft="drop soft_rwlock"
hard="take $hard_take $hard_lock" unhard="drop $hard_lock"
spins=y
if ! supported spinlock; then
	spin="tick 0" unspin="tick 0" read="tick 0" unread="tick 0"
	soft="tick 0" unsoft="tick 0" spins=""
fi
if ! supported "$(word_of "${hard_lock#hard_}")"; then
	hard="tick 0" unhard="tick 0"
fi

# Ticks of a script, with the locks of all families recorded
record()
{
	hm_reset
	if ! "$LOCKHELD_CTL" record -a -g -e holdmod:tick -c 1 \
	     -o "$tmp/0.data" --filter "${any//$'\n'/ }" -- \
	     bash -c "hm '$1'" > "$tmp/out" 2>&1; then
		not_ok "recording" "$(cat "$tmp/out")"
	fi
	cat "$hm_dir/ticks" > "$tmp/ticks"
	"$TEST_TOOLS/samples" "$tmp/0.data" > "$tmp/0.txt"
}

record 'repeat 10; take mutex_lock mutex; tick 1; busy 300; tick 1
	take down_write rwsem; tick 1; downgrade rwsem; tick 1
	'"$read; tick 1; $spin; busy 100
	tick 1; hard; tick 1; $hard; tick 1; busy 50
	tick 1; $unhard; end; tick 1; soft
	$soft; tick 1; $unsoft; tick 1; end
	$unread; tick 1; $unspin; tick 1; drop mutex; tick 1
	drop rwsem; tick 1; end"
record_is "locks, modes, contexts and times" 120

script=""
for i in $(seq 0 15); do
	script="$script take mutex_lock obj$i.mutex; tick 1;"
done
record "$script take down_read rwsem; tick 1; take down semaphore; tick 1
	drop semaphore; drop rwsem;
	$(for i in $(seq 0 15); do echo "drop obj$i.mutex;"; done)"
equal "16 locks are listed in order" \
      "$(awk -v at_least=16 "$check_record" "$tmp/ticks" "$hm_dir/locks" \
		<(grep -v ' nheld=1[78] ' "$tmp/0.txt") | head -n 8)" ""
equal "of more, the count is right" \
      "$(sed -n 's/.* nheld=\(1[78]\) .* omitted=\([0-9]*\) .*/\1 \2/p' \
		"$tmp/0.txt" | tr '\n' ,)" "17 1,18 2,"

# Which of the locks made the term true
hm_reset
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -o "$tmp/0.data" \
	--filter 'lock_held(rwsem:R) && !lock_held(semaphore)' -- bash -c "
	hm 'take mutex_lock mutex; take down_read rwsem; tick 3
	    take down_write obj2.rwsem; tick 3; drop obj2.rwsem; drop rwsem
	    drop mutex'" > "$tmp/out" 2>&1
"$TEST_TOOLS/samples" "$tmp/0.data" > "$tmp/0.txt"
rwsem=$(hm_address rwsem)
equal "the lock that matched is marked, and no other" \
      "$(sed -n 's/.* locks=//p' "$tmp/0.txt" | tr , '\n' |
	 awk -F/ '{ print $1, $5 % 2 }' | sort | uniq -c |
	 awk -v a="$rwsem" '$2 == a { yes += $3 * $1; n += $1 }
			    $2 != a { no += $3 } END { print n, yes, no + 0 }')" \
      "6 6 0"

# Owner words: no hook, so neither a place nor a time
hm_reset
"$LOCKHELD_CTL" record -a -e holdmod:tick -c 1 -o "$tmp/0.data" \
	--filter 'lock_held(mutex@holdmod_mutex) || lock_held(rwsem@holdmod_rwsem:W)' -- \
	bash -c "hm 'take mutex_lock mutex; tick 2; take down_write rwsem
		     tick 3; drop mutex; tick 4; drop rwsem; tick 5'" \
	> "$tmp/out" 2>&1
"$TEST_TOOLS/samples" "$tmp/0.data" > "$tmp/0.txt"
mutex=$(hm_address mutex)
sed -n 's/.* locks=//p' "$tmp/0.txt" | tr , '\n' > "$tmp/owned"
equal "a mutex seen by its owner word" \
      "$(grep -cx "$mutex/1/2/0/3/0x0/0" "$tmp/owned")" 5
equal "an rwsem seen by its owner word" \
      "$(grep -cx "$rwsem/2/2/0/3/0x0/0" "$tmp/owned")" 7
equal "and no other" "$(wc -l < "$tmp/owned")" 12

# ---- where a lock was taken ----

script=""
number=0
: > "$tmp/wanted"
while read -r op lock mode what; do
	if [ "$what" = waits ] || [[ $op = *_not_* || $lock = rcu* ]] ||
	   ! supported "$(word_of "$lock")" "$mode"; then
		continue
	fi
	[ "$op" != srcu_read_lock_nmisafe ] || lock=srcu_nmi
	script="$script scenario $((++number)); take $op $lock; tick 2
		drop $lock;"
	echo "$number take_$op" >> "$tmp/wanted"
done < "$hm_dir/ops"
record "$script"
sed -n 's/.* scenario=\([0-9]*\) .* locks=[^ ]*\/\(0x[0-9a-f]*\)\/[0-9]*$/\1 \2/p' \
	"$tmp/0.txt" | sort -u > "$tmp/places"
# Some are functions of the kernel that call another which takes the lock, or jump
# to it (ww_mutex_trylock), where a probed return may hide the caller. All addresses
# are as long, so they sort as text.
wrong=$(sort "$tmp/functions" <(awk '{ print $2, "~place", $1 }' "$tmp/places") |
	awk '
	FILENAME == ARGV[1] { wanted[$1] = $2; next }
	$2 == "function" { is = $3; next }
	{
		should = wanted[$3]
		does = should
		sub(/^take_/, "", does)
		if (is != should && is !~ "^_?" does "$" &&
		    !(should ~ /atomic/ && is ~ /^dec_/) &&
		    !(does == "ww_mutex_trylock" && is ~ /_trampoline$/))
			print $1, "is in", is ", should be", should
		places++
	}
	END { print places, "places" }' "$tmp/wanted" -)
equal "every lock was taken in the function that took it" "$wrong" \
      "$number places"

# ---- the tracepoint's own fields, as perf shows them ----

perf script -i "$tmp/0.data" -F trace 2> "$tmp/out" |
	sed -n 's/^ *seq=\([0-9]*\) scenario=\([0-9]*\) truth=1 .* nheld=1 .*/\1 \2/p' \
	> "$tmp/perf"
equal "perf script shows what holdmod put in" \
      "$(awk '$9 != "-" { print $1, $2 }' "$tmp/ticks" | sort |
	 diff - <(sort "$tmp/perf") | head -n 5)" ""
equal "perf script has no complaint" \
      "$(grep -v "^'trace' not valid\|^\$" "$tmp/out")" ""

# ---- cpu-clock, with holdmod's times of each hold ----

# A sample that was kept lies between the call of a lock function and the end
# of the release; one of each hold that is long enough is there, which 30 ms were
# not always for a VM among too many
for spec in mutex:mutex_lock rwsem:down_read ${spins:+spinlock:spin_lock} \
	    ${spins:+rwlock:write_lock}; do
	IFS=: read -r lock op <<< "$spec"
	hm_reset
	"$LOCKHELD_CTL" record -e cpu-clock -F 1000 -o "$tmp/0.data" \
		--filter "lock_held($(by_name "$lock" "holdmod_$lock"))" -- bash -c "
		hm 'repeat 10; busy 10000; take $op $lock; busy 100000
		    drop $lock; end'" > "$tmp/out" 2>&1
	cat "$hm_dir/holds" > "$tmp/holds"
	"$TEST_TOOLS/samples" "$tmp/0.data" > "$tmp/0.txt"
	result=$(sed -n 's/.* time=\([0-9]*\) .*/\1/p' "$tmp/0.txt" |
		awk 'FILENAME == ARGV[1] { from[++n] = $3; to[n] = $6; next }
		{
			for (i = 1; i <= n; i++)
				if ($1 >= from[i] && $1 <= to[i]) break
			if (i > n) outside++
			else if (!had[i]++) holds++
		}
		END { print outside + 0, "outside,", holds + 0, "of", n }' \
		"$tmp/holds" -)
	equal "cpu-clock while $lock is held" "$result" "0 outside, 10 of 10"
	equal "the lock is in each sample, $lock" \
	      "$(grep -c "locks=[^ ]*$(hm_address "$lock")/" "$tmp/0.txt")" \
	      "$(grep -c ' time=' "$tmp/0.txt")"
done
finish
