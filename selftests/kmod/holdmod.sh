#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# holdmod itself, without lockheld: every lock function of this kernel is called,
# and what holdmod says of it is what the script did.

. "$(dirname "$0")/lib.sh"

echo "TAP version 13"
[ "$(id -u)" = 0 ] || skip_all "not root"
insmod "$HOLDMOD_KO" || exit 1

# ticks_are NAME WANTED: what the log's ticks say is held, one after the other
ticks_are()
{
	equal "$1" "$(awk '{ print $9 }' "$hm_dir/ticks" | paste -sd ' ')" "$2"
}

ops()
{
	awk -v what="$1" '$4 ~ what { print $1, $2, $3 }' "$hm_dir/ops"
}

# The lock that an op of a kind can take alone
lock_for()
{
	case $1 in
	srcu_read_lock_nmisafe) echo srcu_nmi ;;
	*) echo "$2" ;;
	esac
}

at_least "lock functions" "$(ops . | wc -l)" 70
while read -r op kind mode; do
	lock=$(lock_for "$op" "$kind")
	hm_reset
	case $op in
	*_not_*) continue ;;
	esac
	if ! hm "tick 1; take $op $lock; tick 1; drop $lock; tick 1" 2> "$tmp/err"; then
		not_ok "$op" "$(cat "$tmp/err")"
		continue
	fi
	ticks_are "$op" "- $lock:$mode@task -"
done < <(ops 'takes|unowned')

while read -r op kind mode; do
	lock=$(lock_for "$op" "$kind")
	case $kind in
	rcu) reader="take rcu_read_lock rcu" ;;
	rcu_trace) reader="take rcu_read_lock_trace rcu_trace" ;;
	*) reader="take srcu_read_lock $kind" ;;
	esac
	hm_reset
	hm "switch 1"
	hm "cpu 0; $reader; post 1; await 2; busy 30000; drop $kind" &
	hm "cpu 1; await 1; post 2; wait $op $lock; tick 1" &
	wait
	hm "switch 0"
	at_least "$op sleeps while there is a reader" \
		 "$(awk -v held="$kind:W@task" '$6 == "switch" && $9 == held' \
			"$hm_dir/ticks" | wc -l)" 1
	equal "$op: not before, not afterwards" \
	      "$(awk '$6 == "script" { print $9 }' "$hm_dir/ticks")" -
done < <(ops waits)

while read -r op kind mode; do
	hm_reset
	hm "take $op $kind; leave $kind; tick 1; post 1; await 2; tick 1" &
	hm "await 1; tick 1; release $kind; tick 1; post 2" &
	wait
	ticks_are "$op is released by another task" "$kind:$mode@task - - -"
	hm_reset
	hm "take $op $kind; leave $kind; tick 1"
	hm "tick 1; release $kind; tick 1; take $op $kind; drop $kind"
	ticks_are "$op is left by a task that ends" "$kind:$mode@task - -"
done < <(ops unowned | grep -v 'trylock\|timeout_short')

hm_reset
hm 'take ww_mutex_lock_ctx obj0.ww_mutex; fail ww_mutex_lock_ctx obj0.ww_mutex
    tick 1; take ww_mutex_lock_ctx obj1.ww_mutex; tick 1; drop obj0.ww_mutex
    tick 1; drop obj1.ww_mutex'
ticks_are "-EALREADY is no hold" "obj0.ww_mutex:W@task obj0.ww_mutex:W@task,obj1.ww_mutex:W@task obj1.ww_mutex:W@task"
hm_reset
hm 'take ww_mutex_lock_ctx obj0.ww_mutex; post 1; await 2
    take ww_mutex_lock_ctx obj1.ww_mutex; drop obj1.ww_mutex
    drop obj0.ww_mutex' &
hm 'await 1; take ww_mutex_lock_ctx obj1.ww_mutex; post 2
    fail ww_mutex_lock_ctx obj0.ww_mutex; tick 1; drop obj1.ww_mutex
    take ww_mutex_lock_slow_ctx obj0.ww_mutex; tick 1; drop obj0.ww_mutex' &
wait
ticks_are "-EDEADLK is no hold" "obj1.ww_mutex:W@task obj0.ww_mutex:W@task"
hm_reset
hm 'take rcu_read_lock rcu; tick 1; take rcu_read_lock rcu; drop rcu; tick 1
    drop rcu; tick 1'
ticks_are "RCU read sections nest" "rcu:R@task rcu:R@task -"
hm_reset
hm 'take down semaphores; take down semaphores; tick 1; drop semaphores; tick 1
    drop semaphores; tick 1'
ticks_are "a semaphore that counts" \
	"semaphores:W@task,semaphores:W@task semaphores:W@task -"

# ---- scripts that cannot be run ----

# refuses NAME SCRIPT
refuses()
{
	if hm "$2" 2> /dev/null; then
		not_ok "$1" "$2 runs"
	else
		ok "$1"
	fi
}

refuses "an unknown verb" "hold mutex"
refuses "an unknown function" "take mutex_lick mutex"
refuses "an unknown lock" "take mutex_lock holdmod_mutex"
refuses "a lock of another kind" "take mutex_lock rwsem"
refuses "sleeping in a read section" "take rcu_read_lock rcu; sleep 10"
refuses "taking by waiting" "take synchronize_rcu rcu"
refuses "waiting by taking" "wait rcu_read_lock rcu"
refuses "dropping what is not held" "drop mutex"
refuses "leaving what has an owner" "take mutex_lock mutex; leave mutex"
refuses "releasing what nobody has left" "release semaphore"
refuses "ending with a lock" "take mutex_lock mutex"
refuses "a block without an end" "repeat 2; tick 1"
check "all locks are free" hm "take mutex_trylock mutex; drop mutex
	take down_trylock semaphore; drop semaphore"
check "holdmod is unloaded" unload holdmod
echo "1..$tests"
[ "$failed" = 0 ] || exit 1
exit 0
