#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# With one lock asked for, and nothing else of its kind, hooks leave early for
# all other locks. What they keep of the one must not suffer from the others:
# nested, released in any order, or downgraded, over and over.

. "$(dirname "$0")/lib.sh"
setup

# alone LOCK MODE TAKE OTHER: the only filter there is speaks of LOCK in MODE,
# which TAKE takes; OTHER takes one of the same kind in another way
alone()
{
	local others="" drops="" i

	supported "$1:$2" || return 0
	for i in 0 1 $(seq 3 15); do
		others="$others; take $3 obj$i.$1"
		drops="$drops; drop obj$i.$1"
	done
	expect "$1:$2 alone" "lock_held($1@holdmod_$1:$2)" \
	       "held ~ /(^|,)$1:$2/"
	scene "$1:$2, other locks around it" "
	hm 'repeat 50; tick 1; take $3 obj1.$1; tick 1; take $3 $1; tick 2
	    take $3 obj2.$1; tick 1; drop obj1.$1; tick 1; drop $1; tick 1
	    drop obj2.$1; tick 1; end'
	hm 'repeat 20${others}; take $3 $1; tick 2$drops; tick 2; drop $1
	    tick 2; end'
	hm 'repeat 20; take $4 $1; tick 2; drop $1; take $4 obj1.$1; tick 2
	    drop obj1.$1; end'"
	if [ "$1" = rwsem ]; then
		scene "others are downgraded, and itself" "
	hm 'repeat 100; take down_write obj1.rwsem; tick 1
	    downgrade obj1.rwsem; tick 1; take down_write rwsem; tick 1
	    downgrade rwsem; tick 1; drop obj1.rwsem; tick 1; drop rwsem
	    tick 1; end'"
	fi
	compared
	equal "$1:$2: no stack was filled by other locks" \
	      "$(counter stack_full)" 0
}

# Whether this kernel can track FAMILY:MODE
supported()
{
	"$LOCKHELD_CTL" check | awk -v family="${1%:*}" -v mode="${1#*:}" '
		$1 == family && $2 == mode { can = $3 == "hook" }
		END { exit !can }' && return 0
	refused "$1 is refused here" 2 "on this kernel" \
		"$LOCKHELD_CTL" record -a -e holdmod:tick -o "$tmp/no.data" \
		--filter "lock_held($1)" -- true
	return 1
}

alone spinlock W spin_lock spin_trylock
alone rwlock R read_lock write_lock
alone rwlock W write_lock read_lock
alone rwsem R down_read down_write
finish
