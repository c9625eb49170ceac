#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every lock function of every family, 10,000 ticks and more with a lock held of
# the common ones: the recordings have exactly those that they should have.

. "$(dirname "$0")/lib.sh"

# TICKS sets how many ticks are fired with each lock function
: "${TICKS:=$(fewer 1600)}"
per_turn=20
setup
. "$here/families.sh"

# Functions that take locks of a kind in a mode that can be tracked here
ops_of()
{
	local op kind mode what

	while read -r op kind mode what; do
		if [ "$kind" = "$1" ] && [ "$what" != waits ] &&
		   [[ $op != *_not_* ]] && supported "$(word_of "$kind")" "$mode"
		then
			echo "$op"
		fi
	done < "$hm_dir/ops"
}

# script KIND OP TURNS: half of the holds are of the global lock, half of an
# object's
script()
{
	local kind=$1 other=obj3.$1

	case $2 in
	*_nmisafe) kind=srcu_nmi other=srcu_nmi ;;
	rcu*) other=$1 ;;
	esac
	echo "repeat $3
	      tick 5; take $2 $kind; tick $per_turn; drop $kind
	      tick 5; take $2 $other; tick $per_turn; drop $other
	      end"
}

# family TURNS KIND...: of one word
family()
{
	local turns=$1 kind op code word n=0

	shift
	[ "$turns" -gt 0 ] || turns=1
	word=$(word_of "$1")
	# shellcheck disable=SC2046 # several words
	specs $(modes_here "$@")
	if all_supported "$word"; then
		expect "$word not held" "!lock_held($word)" 'held == "-"'
	fi
	for kind; do
		code=""
		for op in $(ops_of "$kind"); do
			code="$code $(script "$kind" "$op" "$turns");"
			n=$((n + 1))
		done
		scene "$kind" "hm '$code'"
	done
	compared
	at_least "$word: ticks with the lock held" "$(hm_count ticks held)" \
		 $((turns * per_turn * 2 * n))
	for kind; do
		for op in $(ops_of "$kind"); do
			equal "$op was called" "$(hm_count taken "$op")" \
			      $((turns * 2))
		done
	done
}

# "KIND:R" of those whose readers only can be ticked here, and so on
modes_here()
{
	local kind word

	for kind; do
		word=$(word_of "$kind")
		case $word in
		*rcu*) echo "$kind:R" ;;
		percpu-rwsem) echo "$kind:W" ;;
		*) echo "$kind" ;;
		esac
	done
}

turns=$((TICKS / per_turn / 2))
kinds_of_spinlock="spinlock raw_spinlock"
[ -z "$sleeping_spinlocks" ] || kinds_of_spinlock=spinlock
family $turns mutex ww_mutex
family $turns rwsem
if supported spinlock; then
	# shellcheck disable=SC2086 # several words
	family $turns $kinds_of_spinlock
else
	specs spinlock
fi
if supported raw-spinlock; then
	family $((turns / 4)) raw_spinlock
fi
if supported rwlock; then
	family $turns rwlock
else
	specs rwlock
fi
family $((turns / 4)) rt_mutex
family $((turns / 4)) semaphore
# A writer waits for a grace period each time
family $((turns / 20)) percpu_rwsem
for kind in srcu rcu rcu_trace; do
	if supported "$(word_of $kind)" R; then
		family $((turns / 4)) $kind
	else
		specs $kind:R
	fi
done
finish
