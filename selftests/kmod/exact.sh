#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every lock function of every family, 10,000 ticks and more with a lock held:
# the recordings have exactly those that they should have.

. "$(dirname "$0")/lib.sh"

# TICKS sets how many ticks are fired with each lock function
: "${TICKS:=$((1600 / ${TEST_DIVISOR:-1}))}"
per_turn=20
setup

mutex_ops="mutex_lock mutex_lock_nested mutex_lock_io mutex_lock_interruptible
	   mutex_lock_killable mutex_trylock atomic_dec_and_mutex_lock"
rwsem_ops="down_read down_read_nested down_read_interruptible
	   down_read_killable down_read_trylock down_write down_write_nested
	   down_write_killable down_write_trylock"
spinlock_ops="spin_lock spin_lock_nested spin_lock_irq spin_lock_irqsave
	      spin_lock_bh spin_trylock spin_trylock_irq spin_trylock_irqsave
	      spin_trylock_bh atomic_dec_and_lock atomic_dec_and_lock_irqsave"
rwlock_ops="read_lock read_lock_irq read_lock_irqsave read_lock_bh read_trylock
	    write_lock write_lock_nested write_lock_irq write_lock_irqsave
	    write_lock_bh write_trylock"

# script OPS LOCK: half of the holds are of the global lock, half of an object's
script()
{
	local op

	for op in $1; do
		echo "repeat $((TICKS / per_turn / 2))
		      tick 5; take $op $2; tick $per_turn; drop $2
		      tick 5; take $op obj3.$2; tick $per_turn; drop obj3.$2
		      end"
	done
}

# family LOCK OPS
family()
{
	local code address

	address=$(hm_address "obj3.$1")
	expect "$1 by type" "lock_held($1)" 'held != "-"'
	expect "$1 by symbol" "lock_held(holdmod_$1)" "held ~ /^$1:/"
	expect "$1 by module and symbol" "lock_held(holdmod:holdmod_$1:W)" \
	       "held ~ /^$1:W/"
	expect "$1 by address" "lock_held($address)" "held ~ /^obj3.$1:/"
	expect "$1 not held" "!lock_held($1)" 'held == "-"'
	case $1 in
	rw*)
		expect "$1 by type, readers" "lock_held($1:R)" 'held ~ /:R/'
		expect "$1 by type, writers" "lock_held($1:W)" 'held ~ /:W/'
		expect "$1 by symbol, readers" "lock_held(holdmod_$1:R)" \
		       "held ~ /^$1:R/"
		;;
	esac
	code=$(script "$2" "$1")
	scene "$1" "hm '$code'"
	compared
	at_least "$1: ticks with the lock held" "$(hm_count ticks held)" \
		 $((TICKS * 6))
}

family mutex "$mutex_ops"
family rwsem "$rwsem_ops"
family spinlock "$spinlock_ops"
family rwlock "$rwlock_ops"
finish
