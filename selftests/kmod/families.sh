# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Families of locks as data, for tests that ask the same of each. After lib.sh.
#
# A "word" is what filters call a family, a "kind" is what holdmod calls a type
# of lock; a family has one kind or more.

# ---- what this kernel is ----

has_symbol()
{
	grep -q " $1\$" /proc/kallsyms
}

# Where spinlocks sleep, hard interrupts take raw ones
sleeping_spinlocks="" hard_lock=hard_spinlock hard_take=spin_lock
if grep -q PREEMPT_RT /proc/version; then
	sleeping_spinlocks=y hard_lock=hard_raw_spinlock
	hard_take=raw_spin_lock
fi
# Lock functions of kernels with lock debugging call others while they spin
spin_debug=""
has_symbol do_raw_spin_lock && spin_debug=y
# As many locks as the module follows, or fewer: lockdep gives up at 48
deepest=64
[ ! -e /proc/lockdep ] || deepest=13

# ---- words, kinds, modes ----

words="mutex rwsem spinlock rwlock rt-mutex percpu-rwsem semaphore srcu rcu
       rcu-trace raw-spinlock"

# The family that a kind belongs to here
word_of()
{
	case $1 in
	ww_mutex) echo mutex ;;
	rt_mutex) echo rt-mutex ;;
	percpu_rwsem) echo percpu-rwsem ;;
	rcu_trace) echo rcu-trace ;;
	raw_spinlock)
		if [ "$sleeping_spinlocks" ]; then
			echo raw-spinlock
		else
			echo spinlock
		fi
		;;
	*) echo "$1" ;;
	esac
}

has_modes()
{
	case $1 in
	rw* | *rcu* | percpu*) true ;;
	*) false ;;
	esac
}

# Regular expression for the locks of a family in the log, "NAME:MODE"
locks_of()
{
	local start='(^|,|[.])'

	case $1 in
	mutex) echo "$start(ww_)?mutex:$2" ;;
	rwsem) echo "($start|mmap_lock)(rwsem)?:$2" ;;
	rwlock) echo "$start(soft_|hard_)?rwlock:$2" ;;
	rt-mutex) echo "${start}rt_mutex:$2" ;;
	percpu-rwsem) echo "${start}percpu_rwsem:$2" ;;
	semaphore) echo "${start}semaphores?:$2" ;;
	srcu) echo "${start}srcu(2|_nmi)?:$2" ;;
	rcu) echo "${start}rcu:$2" ;;
	rcu-trace) echo "${start}rcu_trace:$2" ;;
	raw-spinlock) echo "$start(soft_|hard_)?raw_spinlock:$2" ;;
	spinlock)
		if [ "$sleeping_spinlocks" ]; then
			echo "($start|siglock)((soft_|hard_)?spinlock)?:$2"
		else
			echo "($start|siglock)((soft_|hard_)?(raw_)?spinlock)?:$2"
		fi
		;;
	esac
}

# ---- what can be tracked ----

# supported WORD [MODE]: says "lockheld-ctl check" that it can be?
declare -A mechanisms reasons
supported()
{
	local mode

	for mode in ${2:-R W}; do
		[ "${mechanisms[$1:$mode]:-none}" = none ] || return 0
	done
	return 1
}

read_check()
{
	local word mode mechanism reason

	while IFS=$'\t' read -r word mode mechanism reason; do
		mechanisms[$word:$mode]=$mechanism
		reasons[$word:$mode]=$reason
	done < <("$LOCKHELD_CTL" check --json | python3 -c '
import json, sys
for l in json.load(sys.stdin)["locks"]:
    print(l["family"], l["mode"], l["mechanism"], l.get("reason", ""), sep="\t")')
}

# by_name WORD NAME: a lock of the family, as filters need to call it. With
# PREEMPT_RT the bytes of a lock do not tell its kind; where raw spinlocks cannot
# be tracked it has to be said.
by_name()
{
	if [ "$sleeping_spinlocks" ] && ! supported raw-spinlock; then
		echo "$1@$2"
	else
		echo "$2"
	fi
}

# cannot NAME FILTER REASON: a filter that this kernel cannot have
cannot()
{
	local reason=${3//[^a-zA-Z0-9_ ,]/.}

	refused "$1" 2 "$reason" "$LOCKHELD_CTL" record -a -e holdmod:tick \
		-o "$tmp/no.data" --filter "$2" -- true
}

# ---- expectations ----

# unclear WORD: when holdmod cannot know whether a lock of the family is held.
# A task that waits for a lock that sleeps takes spinlocks now and then, and at
# sched_switch it holds that of its run queue. One that waits for readers may
# hold what it likes. Functions that spin call others on some kernels.
unclear()
{
	local waits='source == "timer" && wants != "-"'
	local passes='held ~ /rcu[2_a-z]*:W/ || wants ~ /percpu/'

	case $1 in
	raw-spinlock | spinlock)
		if [ "$sleeping_spinlocks" ] && [ "$1" = spinlock ]; then
			# Whoever serves soft interrupts holds a lock meanwhile;
			# before 6.18 also who has switched them off, with
			# another lock or on the way to one
			echo "$passes || context == \"soft\" ||
			      bh[scenario] && held !~ /spinlock/ &&
			      (wants != \"-\" || held != \"-\")"
		else
			echo "source == \"switch\" || $waits"
		fi
		;;
	rwlock) echo 0 ;;
	rcu | rcu-trace)
		# A spinlock that sleeps is an RCU read section, too
		if [ "$sleeping_spinlocks" ]; then
			# and so is to spin for any lock while its owner runs
			echo "wants != \"-\" || held ~ /spinlock|rwlock|siglock/"
		else
			echo "wants ~ /percpu/ || $waits"
		fi
		;;
	srcu) echo 'held ~ /(^|,)rcu(_trace)?:W/ || wants ~ /percpu/' ;;
	*) echo "$passes" ;;
	esac
}

# Set by a test that cannot know more than that
unclear_spinning=0

# expect_locks NAME FILTER WORD PATTERN: as expect, for locks of a family
expect_locks()
{
	local unclear

	unclear=$(unclear "$3")
	expect "$1" "$2" \
	       "$unclear || $unclear_spinning ? \"any\" : held ~ /$4/"
}

# specs KIND[:MODE]...: expects filters of each form for each of the kinds; what
# cannot be tracked is refused. With a MODE that is the only one in the scenes.
specs()
{
	local kind word modes
	local -A asked=()

	for kind; do
		modes=${kind#*:}
		kind=${kind%:*}
		word=$(word_of "$kind")
		[ "$modes" != "$kind" ] || modes=$(modes_of "$word")
		if [ -z "${asked[$word]:-}" ]; then
			asked[$word]=y
			by_type "$word" "$modes"
		fi
		by_lock "$kind" "$word" "$modes"
	done
}

# Modes that locks of the family have
modes_of()
{
	if has_modes "$1"; then
		echo R W
	else
		echo W
	fi
}

# In every mode that it has
all_supported()
{
	local mode

	for mode in $(modes_of "$1"); do
		supported "$1" "$mode" || return
	done
}

# by_type WORD MODES
by_type()
{
	local mode no=""

	for mode in $2; do
		if ! supported "$1" "$mode"; then
			cannot "$1:$mode cannot be tracked" "lock_held($1:$mode)" \
			       "${reasons[$1:$mode]}"
		elif has_modes "$1"; then
			expect_locks "$1 by type, $mode" "lock_held($1:$mode)" \
				     "$1" "$(locks_of "$1" "$mode")"
		fi
	done
	if all_supported "$1"; then
		expect_locks "$1 by type" "lock_held($1)" "$1" "$(locks_of "$1")"
	else
		# Of several reasons the first is given
		for mode in $(modes_of "$1"); do
			supported "$1" "$mode" || : "${no:=${reasons[$1:$mode]}}"
		done
		cannot "$1 cannot be tracked" "lock_held($1)" "$no"
	fi
}

# by_lock KIND WORD MODES: by symbol and address, with the family where the module
# cannot see it
by_lock()
{
	local kind=$1 word=$2 mode symbol address at=""

	case $kind in rcu*) return ;; esac
	supported "$word" || return
	case $kind in
	srcu | percpu_rwsem | rt_mutex | semaphore | raw_spinlock) at="$word@" ;;
	*) at=$(by_name "$word" "") ;;
	esac
	symbol="${at}holdmod_$kind"
	address="$at$(hm_address "obj3.$kind")"
	if all_supported "$word"; then
		expect_locks "$kind by symbol" "lock_held($symbol)" "$word" \
			     "(^|,)$kind:"
		expect_locks "$kind by address" "lock_held($address)" "$word" \
			     "obj3[.]$kind:"
	fi
	has_modes "$word" || return
	for mode in $3; do
		supported "$word" "$mode" || continue
		expect_locks "$kind by symbol, $mode" "lock_held($symbol:$mode)" \
			     "$word" "(^|,)$kind:$mode"
	done
}

# any_of WORD...: an expression that is true while one of those that can be
# tracked is held
any_of()
{
	local word mode expression=""

	for word; do
		for mode in $(modes_of "$word"); do
			supported "$word" "$mode" || continue
			if has_modes "$word"; then
				expression="$expression || lock_held($word:$mode)"
			else
				expression="$expression || lock_held($word)"
			fi
		done
	done
	echo "${expression# || }"
}

# usable KIND[:MODE]...: those that can be tracked, in some mode
usable()
{
	local kind mode

	for kind; do
		mode=${kind#*:}
		[ "$mode" != "$kind" ] || mode=""
		! supported "$(word_of "${kind%:*}")" ${mode:+"$mode"} || echo "$kind"
	done | xargs
}

read_check
