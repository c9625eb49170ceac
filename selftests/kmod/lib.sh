# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of this folder, which source it. They run as root on a machine
# whose kernel can load the two modules (selftests/vm/run makes one). Where
# things are can be said with
#   LOCKHELD_KO   lockheld.ko       HOLDMOD_KO  holdmod.ko
#   LOCKHELD_CTL  lockheld-ctl      TEST_TOOLS  folder with the compiled helpers
# and how things are done with
#   LOCKHELD_HOOK  how the module places hooks, a value of its parameter "hook"
#   TEST_DIVISOR   how many times less to repeat what is repeated only to catch
#                  what happens rarely

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
repo=$(dirname "$(dirname "$here")")
: "${LOCKHELD_KO:=$repo/kmod/lockheld.ko}"
: "${HOLDMOD_KO:=$repo/selftests/holdmod/holdmod.ko}"
: "${LOCKHELD_CTL:=$repo/lockheld-ctl/lockheld-ctl}"
: "${TEST_TOOLS:=$here/build}"

export hm_dir=/sys/kernel/debug/holdmod
tmp=$(mktemp -d) || exit 1

# ---- results ----

# shellcheck source=selftests/results.sh
. "$repo/selftests/results.sh"

skip()
{
	echo "ok $((++tests)) - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 4
}

# at_least NAME IS SHOULD
at_least()
{
	if [ "$2" -ge "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "is $2, should be at least $3"
	fi
}

# refused NAME STATUS WORDS COMMAND...: it must end with STATUS and one line on
# standard error that has WORDS (an extended regular expression) in it. Indented
# lines below it may show the place.
refused()
{
	local name=$1 status=$2 words=$3 err is

	shift 3
	err=$("$@" 2>&1 > /dev/null)
	is=$?
	if [ "$is" != "$status" ]; then
		not_ok "$name" "status $is, should be $status: $err"
	elif [ "$(printf '%s\n' "$err" | grep -vc '^  ')" != 1 ]; then
		not_ok "$name" "more than one line: $err"
	elif ! printf '%s' "$err" | grep -qE -- "$words"; then
		not_ok "$name" "no '$words' in: $err"
	else
		ok "$name"
	fi
}

# part_of_this PROGRAM [ARGUMENT...]: a test of its own, whose results are added
part_of_this()
{
	local line good=0

	"$@" > "$tmp/part" 2>&1 || good=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "${line#* - }" ;;
		"not ok "*) not_ok "${line#* - }" ;;
		TAP* | 1..*) ;;
		"# "*) echo "$line" ;;
		*) not_ok "$1: $line" ;;
		esac
	done < "$tmp/part"
	grep -q '^1[.][.]' "$tmp/part" || not_ok "$1" "ended with status $good"
}

# ---- modules ----

loaded()
{
	grep -q "^$1 " /proc/modules
}

module_users()
{
	awk -v name="$1" '$1 == name { print $3 }' /proc/modules
}

# The module does not go while a filter is being taken down, which takes the
# kernel a moment after the socket is closed
unload()
{
	local i

	for i in $(seq 50); do
		rmmod "$1" 2> /dev/null && return 0
		sleep 0.1
	done
	rmmod "$1"
}

# load_lockheld [PARAMETER=VALUE...]
# shellcheck disable=SC2120 # often without
load_lockheld()
{
	insmod "$LOCKHELD_KO" ${LOCKHELD_HOOK:+hook="$LOCKHELD_HOOK"} "$@"
}

setup()
{
	tap_begin
	[ "$(id -u)" = 0 ] || skip_all "not root"
	load_lockheld || exit 1
	insmod "$HOLDMOD_KO" || exit 1
}

# Says how it went and ends the test. The modules must go: nothing may be left.
finish()
{
	check "holdmod is unloaded" unload holdmod
	check "lockheld is unloaded" unload lockheld
	tap_end
}

cleanup()
{
	loaded holdmod && unload holdmod
	loaded lockheld && unload lockheld
	rm -rf "$tmp"
}
trap cleanup EXIT

# ---- processes ----

# until_true COMMAND...: waits for the command to succeed, half a minute at most
until_true()
{
	local i

	for i in $(seq 150); do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.2
	done
	return 1
}

nr_filters()
{
	"$LOCKHELD_CTL" list --json | grep -o '"id"' | wc -l
}

filters_are()
{
	[ "$(nr_filters)" = "$1" ]
}

# counter NAME: of the module
counter()
{
	"$LOCKHELD_CTL" stats | awk -v name="$1" '$1 == name { print $2 }'
}

# Functions that are hooked now, by probes or by ftrace
hooked()
{
	awk '{ sub(/[+].*/, "", $3); print $3 }' /sys/kernel/debug/kprobes/list
	awk '/^[a-z_]/ { print $1 }' /sys/kernel/tracing/enabled_functions 2> /dev/null
}

nr_hooks()
{
	hooked | grep -c .
}

# $1 divided by $TEST_DIVISOR, at least 1
fewer()
{
	echo $(($1 / ${TEST_DIVISOR:-1} > 0 ? $1 / ${TEST_DIVISOR:-1} : 1))
}

# ---- holdmod ----

# Runs a script of holdmod. Scripts that must be at work at the same time are
# run in the background: hm ... & hm ... & wait. It must come in one write, and
# the shell writes line by line, and no more than 4 KiB.
hm()
{
	local script="scenario ${scene:-0}; $*"

	script=${script//$'\n'/;}
	if [ ${#script} -lt 4096 ]; then
		printf '%s' "$script" > "$hm_dir/run"
	else
		printf '%s' "$script" |
			dd bs=8192 iflag=fullblock of="$hm_dir/run" status=none
	fi
}
export -f hm

hm_reset()
{
	echo > "$hm_dir/reset"
}

hm_address()
{
	awk -v name="$1" '$1 == name { print $3 }' "$hm_dir/locks"
}

# hm_count WHAT WHICH
hm_count()
{
	awk -v what="$1" -v which="$2" '$1 == what && $2 == which { print $3 }' \
		"$hm_dir/counts"
}

# ---- recordings that are compared with holdmod's log ----

declare -a names filters expects
scene=0
scenes=""
bh_scenes=""	# those with functions that switch soft interrupts off
targets=(-a)	# what the recorders are told to record

# expect NAME FILTER CONDITION: the filter must keep those ticks for which the
# condition, of awk, is true; see field_names for what it can speak of, and there
# is bh[scenario]. Where it is "any", holdmod cannot know.
expect()
{
	names+=("$1")
	filters+=("$2")
	expects+=("$3")
}

# expect_none NAME FILTER: the filter must keep no tick
expect_none()
{
	expect "$1" "$2" 0
}

# The words of a line of the log
# shellcheck disable=SC2016 # for awk
field_names='{ seq = $1; scenario = $2; cpu = $3; tid = $4; context = $5;
	       source = $6; depth = $7; wants = $8; held = $9; time = $10 }'

# scene NAME CODE: adds to what "compared" will run; the ticks of the scripts
# that CODE runs have the scene's number as their scenario
scene()
{
	diag "scene $((++scene)): $1"
	[[ $2 != *_bh* ]] || bh_scenes+=" $scene"
	scenes="$scenes
export scene=$scene
$2"
}

# Runs the scenes, in bash, under a recorder with an event for each expectation
recorded()
{
	local i
	local -a events

	for i in "${!filters[@]}"; do
		events+=(-e holdmod:tick --filter "${filters[i]}")
	done
	hm_reset
	"$LOCKHELD_CTL" record "${targets[@]}" -c 1 -m 2048 -o "$tmp/all.data" \
		"${events[@]}" -- bash -c "$scenes" > "$tmp/recorded" 2>&1
}

# compare_program CONDITION: reads the ticks that a recording has of an event,
# then the log; prints a summary, then some of those that are wrong
compare_program()
{
	cat <<-AWK
	BEGIN {
		n = split("$bh_scenes", numbers)
		while (n > 0) bh[numbers[n--]] = 1
	}
	FILENAME == ARGV[1] {
		if (\$1 ~ /=/) lost = \$2; else if (\$1 == event) is[\$2]++
		next
	}
	$field_names
	{
		should = $1
		if (should == "any") next
		should = should ? 1 : 0
		wanted += should
		if (is[seq] + 0 == should) next
		way = is[seq] < should ? "dropped" : "kept"
		if (++wrong[way] <= 4)
			example[++n] = "wrongly " way ": " \$0
	}
	END {
		printf "%d wrongly dropped, %d wrongly kept, %s, ",
			wrong["dropped"], wrong["kept"], lost
		printf "%d of %d ticks to be kept\n", wanted, FNR
		for (i = 1; i <= n; i++) print example[i]
	}
	AWK
}

# compare I: the Ith expectation with what is in $tmp/all.is
compare()
{
	local i=$1 result right="0 wrongly dropped, 0 wrongly kept, lost=0"

	result=$(awk -v event="$i" "$(compare_program "${expects[i]}")" \
		     "$tmp/all.is" "$tmp/ticks")
	case $result in
	"$right, 0 of "*)
		if [ "${expects[i]}" = 0 ]; then
			ok "${names[i]}"
		else
			not_ok "${names[i]}" "holdmod fired no tick for this"
		fi
		;;
	"$right, "*)
		ok "${names[i]}: ${result#"$right, "}"
		;;
	*)
		not_ok "${names[i]}" "$result"
		;;
	esac
}

# Compares a recording with every expectation; forgets them
compare_all()
{
	local i

	cat "$hm_dir/ticks" > "$tmp/ticks"
	equal "no tick is missing in the log" "$(hm_count ticks lost)" 0
	if "$TEST_TOOLS/samples" -s "$tmp/all.data" > "$tmp/all.is"; then
		for i in "${!names[@]}"; do
			compare "$i"
		done
	else
		not_ok "the recording can be read" "$(cat "$tmp/recorded")"
	fi
	names=() filters=() expects=() scenes="" bh_scenes="" scene=0
}

# Every expectation is a test of the scenes; forgets both
compared()
{
	if ! recorded || grep -qE 'write error|^threads:' "$tmp/recorded"; then
		not_ok "the scenes run" "$(cat "$tmp/recorded")"
	fi
	compare_all
}
