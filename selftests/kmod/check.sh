#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "lockheld-ctl check" tells the truth: what it says no to is refused with that
# reason, what it says yes to is seen; and it says yes to all that it should.

. "$(dirname "$0")/lib.sh"
setup
. "$here/families.sh"

# should_be WORD MODE: can this kernel's locks be tracked? By its functions.
should_be()
{
	case $1:$2 in
	spinlock:W)
		[ "$sleeping_spinlocks" ] || has_symbol _raw_spin_unlock ;;
	rwlock:R)
		[ "$sleeping_spinlocks" ] || has_symbol _raw_read_unlock ;;
	rwlock:W)
		[ "$sleeping_spinlocks" ] || has_symbol _raw_write_unlock ;;
	raw-spinlock:W)
		[ "$sleeping_spinlocks" ] && has_symbol _raw_spin_unlock ;;
	percpu-rwsem:R) false ;;
	rcu:R) has_symbol __rcu_read_lock ;;
	rcu-trace:*) has_symbol synchronize_rcu_tasks_trace ;;
	*) true ;;
	esac
}

# What the reason must speak of
words_of_reason()
{
	case $1:$2 in
	spinlock:* | rwlock:* | percpu-rwsem:R | rcu-trace:R) echo inlined ;;
	raw-spinlock:*) echo "spinlocks on this kernel|inlined" ;;
	rcu:R) echo PREEMPT_RCU ;;
	*) echo . ;;
	esac
}

for word in $words; do
	no=""
	for mode in $(modes_of "$word"); do
		should=none
		! should_be "$word" "$mode" || should=some
		is=${mechanisms[$word:$mode]:-absent}
		case $is in owner | hook | task) is=some ;; esac
		equal "$word:$mode" "$is" "$should"
		[ "$is" = none ] || continue
		reason=${reasons[$word:$mode]}
		if grep -qE "$(words_of_reason "$word" "$mode")" <<< "$reason"; then
			ok "$word:$mode has its reason: $reason"
		else
			not_ok "$word:$mode has its reason" "$reason"
		fi
		if has_modes "$word"; then
			cannot "lock_held($word:$mode) is refused" \
			       "lock_held($word:$mode)" "$reason"
			# A count of read sections does not tell since when
			refused "held_ns($word:$mode) is refused" 2 \
				"since when|${reason//[^a-zA-Z0-9_ ,]/.}" \
				"$LOCKHELD_CTL" record -a -e holdmod:tick -o \
				"$tmp/no.data" --filter "held_ns($word:$mode) > 1" -- true
		fi
		# Of several reasons the first is given
		: "${no:=$reason}"
		cannot "lock_held($word) is refused" "lock_held($word)" "$no"
	done
done
equal "check lists nothing else" \
      "$(for i in "${!mechanisms[@]}"; do echo "${i%:*}"; done | sort -u | xargs)" \
      "$(xargs -n 1 <<< "$words" | sort | xargs)"

# Symbols of what cannot be tracked
if ! supported spinlock; then
	cannot "a spinlock's symbol is refused" "lock_held(holdmod_spinlock)" inlined
	cannot "siglock is refused" "lock_held(siglock)" inlined
	cannot "rq_lock is refused" "lock_held(rq_lock)" inlined
	cannot "zone_lock is refused" "lock_held(zone_lock)" inlined
fi

# Nor can a run queue's lock where nothing tells its place
if mount --bind /dev/null /sys/kernel/btf/vmlinux 2> /dev/null ||
   [ ! -e /sys/kernel/btf/vmlinux ]; then
	refused "rq_lock is refused without the kernel's types" 2 \
		"btf/vmlinux.*cannot be read" "$LOCKHELD_CTL" record -a \
		-e holdmod:tick -o "$tmp/no.data" --filter "lock_held(rq_lock)" -- true
	umount /sys/kernel/btf/vmlinux 2> /dev/null
fi

# ---- what can be tracked is seen, with each function that takes it ----

# ops_of WORD MODE WHAT: "NAME LOCK" of each
ops_of()
{
	local op kind mode what

	while read -r op kind mode what; do
		if [ "$mode" != "$2" ] || [[ ! $what =~ $3 ]] ||
		   [[ $op = *_not_* ]] || [ "$(word_of "$kind")" != "$1" ]
		then
			continue
		fi
		[ "$op" != srcu_read_lock_nmisafe ] || kind=srcu_nmi
		echo "$op $kind"
	done < "$hm_dir/ops"
}

reader_of()
{
	case $1 in
	rcu) echo "take rcu_read_lock rcu" ;;
	rcu_trace) echo "take rcu_read_lock_trace rcu_trace" ;;
	*) echo "take srcu_read_lock $1" ;;
	esac
}

for word in $words; do
	for mode in $(modes_of "$word"); do
		supported "$word" "$mode" || continue
		pattern=$(locks_of "$word" "$mode")
		only=$mode
		has_modes "$word" || only=""
		expect_locks "$word:$mode by ${mechanisms[$word:$mode]}" \
			     "lock_held($word${only:+:$only})" "$word" "$pattern"
		while read -r op lock; do
			scene "$op" "hm 'repeat 3; tick 1; take $op $lock
				tick 2; drop $lock; tick 1; end'"
		done < <(ops_of "$word" "$mode" 'takes|unowned')
		while read -r op lock; do
			scene "$op" "
			hm 'switch 1'
			hm 'cpu 0; $(reader_of "$lock"); post 1; busy 30000
			    drop $lock' &
			hm 'cpu 1; await 1; tick 1; wait $op $lock; tick 1' &
			wait
			hm 'switch 0'"
		done < <(ops_of "$word" "$mode" waits)
	done
done
nr_ops=$(wc -l < "$hm_dir/ops")
compared
at_least "functions called" \
	 "$(awk '$1 == "taken" && $3 > 0' "$hm_dir/counts" | wc -l)" \
	 $((nr_ops / 2))
finish
