#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record and report without the module: recordings that the real perf must read
# without a word, whatever ended them, and reports of known and foreign files.
# Needs: gcc clang libclang-rt-14-dev linux-perf, root, and what lockheld-ctl is
# built with. LOCKHELD_CTL names another lockheld-ctl, FUZZ_SECONDS (10) how
# long the reader is fuzzed.

# Of shellcheck: functions that check() calls, and the verb "report" beside a
# file of that name.
# shellcheck disable=SC2317,SC2094
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
ctl=${LOCKHELD_CTL:-$top/lockheld-ctl/lockheld-ctl}
tmp=$(mktemp -d)
mounted=
started=()
cleanup() {
	local p
	for p in "${started[@]}"; do
		kill -KILL "$p" 2> /dev/null
	done
	# a command that its recorder should have ended
	p=$(cat shell 2> /dev/null)
	! grep -qs '> shell' "/proc/$p/cmdline" || kill -KILL "$p"
	[ -z "$mounted" ] || umount "$mounted"
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
cd "$tmp" || exit 1

nr=0
failed=0

# check NAME COMMAND...: its output is shown when it fails; 4 is a skip, and
# what it printed last the reason
check() {
	local name=$1 status=0
	shift
	nr=$((nr + 1))
	rm -f f.data f.data.old
	"$@" > log 2>&1 || status=$?
	case $status in
	0) echo "ok $nr - $name" ;;
	4) echo "ok $nr - $name # SKIP $(tail -n 1 log)" ;;
	*)
		echo "not ok $nr - $name"
		sed 's/^/# /' log
		failed=$((failed + 1))
		;;
	esac
}

# Says what is wrong, and is false.
no() {
	echo "$*"
	return 1
}

equal() {
	[ "$1" = "$2" ] || no "wanted '$1', got '$2'"
}

# As equal, the first being a lower bound
at_least() {
	[ "$2" -ge "$1" ] || no "wanted $1 or more, got '$2'"
}

# record STATUS ARGUMENT...: into f.data; what it says on stderr is in err
record() {
	local want=$1 got=0
	shift
	timeout 60 "$ctl" record -o f.data "$@" > out 2> err < /dev/null || got=$?
	[ "$got" = "$want" ] || no "record $*: exit status $got, not $want: $(cat err)"
}

# The number before a word of record's last line
said() {
	sed -n "s/.*[ ;]\([0-9]*\) $1.*/\1/p" err
}

script() {
	perf script -i f.data "$@" 2> perf.err < /dev/null
}

# What perf said besides that samples were lost, where record said so too
complaints() {
	local lost
	lost=$(said lost)
	if [ "${lost:-0}" -gt 0 ]; then
		grep -vE '^$|^Warning:$|^Processed .* lost .*!$|^Check IO/CPU overload!$' \
			perf.err
	else
		cat perf.err
	fi
}

# perf reads f.data without a word, and finds in it what record said.
perf_agrees() {
	local n
	n=$(script -F pid | wc -l)
	equal "" "$(complaints)" || return
	equal "$(said samples)" "$n" || return
	perf report -i f.data --stdio > /dev/null 2> perf.err < /dev/null
	# it has its own words for an empty recording
	[ "$n" = 0 ] || equal "" "$(complaints)" || return
	perf report -i f.data --header-only > header 2> perf.err < /dev/null
	equal "" "$(complaints)" || return
	! grep -q 'unknown feature' header || no "$(cat header)"
}

# recorded MIN ARGUMENT...: MIN samples or more that perf reads too
recorded() {
	local min=$1
	shift
	record 0 "$@" && perf_agrees && at_least "$min" "$(said samples)"
}

# shellcheck disable=SC2016 # for the inner shell
busy='i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; ls -R /usr/include'

# In the background; its number is in $pid.
background() {
	timeout 60 "$ctl" record -o f.data "$@" > out 2> err < /dev/null &
	started+=($!)
	# the recorder itself, not timeout
	pid=
	until [ -n "$pid" ]; do
		sleep .05
		pid=$(pgrep -P $! -f 'record -o f.data') || pid=
	done
	waited=$!
	until [ -s f.data ]; do
		sleep .05
	done
}

names() {
	cc -O0 -fno-omit-frame-pointer -o spin -x c - <<-'C' || return
	volatile long n;
	void hot_function(void) { for (long i = 0; i < 1000000; i++) n += i; }
	void calls_it(void) { for (int i = 0; i < 200; i++) hot_function(); }
	int main(void) { calls_it(); return 0; }
	C
	recorded 20 -g -e cpu-clock ./spin || return
	"$ctl" report -i f.data --json > report && python3 - <<-'P'
	import json
	row = json.load(open("report"))["events"][0]["rows"][0]
	hot = [s for s in row["symbols"] if s["name"] == "hot_function"][0]
	assert hot["samples"] > 0.8 * row["samples"], row["symbols"]
	assert hot["module"].endswith("/spin")
	def through(node, names):
	    if not names:
	        return node["samples"]
	    return sum(through(n, names[1:] if n["name"] == names[0] else names)
	               for n in node["callees"])
	chain = through(row, ["main", "calls_it", "hot_function"])
	assert chain > 0.8 * row["samples"], (chain, row["samples"])
	P
}

follows_forks() {
	# shellcheck disable=SC2016 # for the inner shell
	record 0 -e page-faults -c 1 -- \
		sh -c 'for i in 1 2 3 4; do sh -c "ls / > /dev/null; true" & done; wait' ||
		return
	perf_agrees || return
	# a shell, four below it, and what these run
	at_least 9 "$(script -F pid | sort -u | wc -l)" || return
	at_least 4 "$(script -F comm,pid | sort -u | grep -c ' *ls')" || return
	! script -F comm | grep -q lockheld
}

follows_threads() {
	cc -O1 -pthread -o threads -x c - <<-'C' || return
	#include <pthread.h>
	#include <unistd.h>
	static void *spin(void *p) { for (volatile long i = 0; i < 30000000; i++); return p; }
	int main(int argc, char **argv)
	{
		pthread_t t[3];
		(void)argv;
		if (argc > 1)
			sleep(1);
		for (int i = 0; i < 3; i++)
			pthread_create(&t[i], 0, spin, 0);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], 0);
		return 0;
	}
	C
	recorded 20 -e cpu-clock ./threads || return
	equal 1 "$(script -F pid | sort -u | wc -l)" || return
	at_least 3 "$(script -F tid | sort -u | wc -l)"
}

attaches() {
	[ -x threads ] || no "the program was not built" || return
	./threads later &
	started+=($!)
	record 0 -e cpu-clock -p $! || return
	perf_agrees || return
	equal $! "$(script -F pid | sort -u | tr -d ' ')" || return
	at_least 3 "$(script -F tid | sort -u | wc -l)" || return
	at_least 20 "$(script --show-mmap-events | grep -c cpu-clock)" || return
	# mapped before it was attached to
	script -F ip,sym | grep -q spin || no "its function has no name"
}

leaves_itself_out() {
	recorded 1 -a -e page-faults -c 1 -- ls / || return
	! script -F comm | grep lockheld || no "it recorded itself" || return
	at_least 1 "$(said 'of lockheld-ctl itself')"
}

sees_everybody() {
	sh -c 'while :; do :; done' &
	started+=($!)
	recorded 100 -a -e cpu-clock -- sleep 0.5 || return
	script -F pid | grep -q "^ *$! *$" || no "not the other process" || return
	kill $!
	# it ran before: its program is known from /proc
	script -F comm,pid | grep -q "^ *sh *$! *$" || no "not its name" || return
	at_least 10 "$(script -F comm --show-mmap-events | grep -c 'MMAP2.*r-x')"
}

one_cpu() {
	recorded 10 -C 0 -e cpu-clock -- sleep 0.2 || return
	equal '[000]' "$(script -F cpu | sort -u | tr -d ' ')"
}

fixed_period() {
	recorded 10 -e page-faults -c 1 -- ls -R /usr/include || return
	equal 1 "$(script -F period | sort -u | tr -d ' ')"
}

# Records that do not divide the buffer's size are cut in two at its end.
small_buffers() {
	# shellcheck disable=SC2016 # for the inner shell
	record 0 -m 1 -e page-faults -c 1 -- \
		sh -c 'i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i + 1)); done' &&
		perf_agrees && at_least 2000 "$(said samples)" || return
	equal 1 "$(script -F period | sort -u | tr -d ' ')" || return
	equal 0 "$(script -F cpu,pid | grep -vcE '^ *[0-9]+ +\[0[0-9][0-9]\] *$')"
}

user_only() {
	recorded 5 -e cpu-clock:u -F 5000 -- sh -c "$busy" || return
	! script -F ip | grep -q '^ *ffff' || no "kernel addresses"
}

tracepoint_fields() {
	recorded 5 -e kmem:mm_page_alloc -- ls / || return
	script | grep -q 'gfp_flags=GFP_' || no "$(script | head)"
}

kernel_filter() {
	recorded 5 -e kmem:mm_page_alloc --filter 'gfp_flags & 0x100' -- \
		ls -R /usr/include || return
	# 0x100 is __GFP_ZERO: those without it are filtered out by the kernel
	equal 0 "$(script | grep -vc ZERO)" || return
	"$ctl" report -i f.data | grep -q '^# filter: gfp_flags & 0x100$'
}

filters_apply_before() {
	record 0 -e kmem:mm_page_alloc --filter 'gfp_flags & 0x100' \
		-e kmem:mm_page_free -- ls -R /usr/include || return
	perf_agrees || return
	"$ctl" report -i f.data > report
	equal 1 "$(grep -c '^# filter' report)" || return
	grep -A1 '^# kmem:mm_page_alloc' report | grep -q '^# filter' ||
		no "$(cat report)" || return
	record 0 -e kmem:mm_page_alloc,kmem:mm_page_free \
		--filter 'order < 2' -- ls -R /usr/include || return
	"$ctl" report -i f.data > report
	equal 2 "$(grep -c '^# filter: order < 2' report)" || return
	record 64 -e kmem:mm_page_alloc --filter 'gfp_flags & 0x100' \
		--filter 'order > 1' true
}

exit_status() {
	record 7 -e page-faults -- sh -c 'exit 7' && perf_agrees || return
	# shellcheck disable=SC2016 # for the inner shell
	record 141 -e page-faults -- sh -c 'kill -PIPE $$; exit 7' && perf_agrees
}

old_file() {
	record 0 -e page-faults -- true && cp f.data first &&
		record 0 -e page-faults -- ls / && cmp -s first f.data.old
}

interrupted() {
	background -a -e cpu-clock
	sleep 1
	kill -INT "$pid"
	wait "$waited"
	equal 0 $? && perf_agrees && at_least 100 "$(said samples)"
}

interrupted_command() {
	background -e cpu-clock -- sh -c 'echo $$ > shell; while :; do :; done'
	sleep 1
	kill -INT "$pid"
	wait "$waited"
	equal 143 $? && perf_agrees && at_least 100 "$(said samples)" || return
	! kill -0 "$(cat shell)" 2> /dev/null || no "the command still runs"
}

killed_command() {
	record 137 -e page-faults -c 1 -- sh -c 'ls / > /dev/null; kill -KILL $$' &&
		perf_agrees && at_least 20 "$(said samples)"
}

stubborn_command() {
	background -e cpu-clock -- sh -c 'trap "" TERM; echo $$ > shell; while :; do :; done'
	sleep .5
	kill -TERM "$pid"
	wait "$waited"
	equal 137 $? && perf_agrees || return
	! kill -0 "$(cat shell)" 2> /dev/null || no "the command still runs"
}

killed_recorder() {
	local n
	background -a -F 500 -e cpu-clock,sched:sched_process_fork
	sleep 3.5
	kill -KILL "$pid"
	wait "$waited"
	equal 137 $? || return
	n=$(script -F pid | wc -l)
	[ ! -s perf.err ] || no "perf script: $(cat perf.err)" || return
	at_least 500 "$n" || return
	"$ctl" report -i f.data > report 2> err || return
	grep -q '^# it was cut short' report || no "$(tail -n 3 report)"
}

lost_samples() {
	local lost
	background -a -m 1 -e cpu-clock -F 5000
	sleep .5
	kill -STOP "$pid"
	sleep 1
	kill -CONT "$pid"
	sleep .5
	kill -INT "$pid"
	wait "$waited"
	lost=$(said lost)
	at_least 100 "$lost" || return
	# perf says so as well
	script > /dev/null
	"$ctl" report -i f.data | grep -q "^# lost: $lost$"
}

# small_disk SIZE: as folder disk
small_disk() {
	[ -z "$mounted" ] || umount "$mounted"
	mounted=
	mkdir -p disk
	mount -t tmpfs -o size="$1" none disk 2> /dev/null || {
		echo "no tmpfs can be mounted"
		return 4
	}
	mounted=$tmp/disk
}

full_disk() {
	local status=0 kept
	small_disk 512k || return
	timeout 60 "$ctl" record -a -g -F 10000 -e cpu-clock -o disk/f.data \
		-- sh -c 'echo $$ > shell; while :; do :; done' 2> err || status=$?
	equal 1 $status || return
	equal 1 "$(wc -l < err)" || return
	grep -q "^lockheld-ctl: cannot write 'disk/f.data': No space left on device (free some space" err ||
		no "$(cat err)" || return
	! kill -0 "$(cat shell)" 2> /dev/null || no "the command still runs" ||
		return
	kept=$(said samples)
	at_least 100 "$kept" || return
	cp disk/f.data f.data
	umount disk
	mounted=
	equal "$kept" "$(script -F pid | grep -c .)" || return
	[ ! -s perf.err ] || no "perf script: $(cat perf.err)" || return
	"$ctl" report -i f.data | grep -q '^# it was cut short'
}

fuller_disk() {
	local status=0
	small_disk 4k || return
	timeout 60 "$ctl" record -a -e cpu-clock -o disk/f.data -- sleep 55 \
		2> err || status=$?
	equal 1 $status && equal 1 "$(wc -l < err)" || return
	equal "" "$(ls -A disk)" || return
	umount disk
	mounted=
}

# refused STATUS PATTERN ARGUMENT...: one line that PATTERN matches, no file,
# and the command has not run
refused() {
	local want=$1 pattern=$2
	shift 2
	record "$want" "$@" || return
	equal 1 "$(grep -c '^lockheld-ctl: ' err)" || return
	grep -q -- "$pattern" err || no "$(cat err)" || return
	[ ! -e f.data ] || no "it left a file behind" || return
	[ ! -e ran ] || no "the command ran"
}

# On a machine without the module nothing comes of it
unknown_terms() {
	local status=0
	"$ctl" record -e page-faults -o f.data \
		--filter 'weight > 5 || weight2 && mem_op == load && weight' \
		true 2> err || status=$?
	equal 2 $status &&
		equal "weight weight2 mem_op" "$(sed -n \
			"s/.*'page-faults' does not know \([a-z0-9_]*\):.*/\1/p" err |
			xargs)"
}

refusals() {
	local ok=0
	refused 64 "did you mean 'cpu-clock'" -e cpu-clok touch ran || ok=1
	refused 64 "did you mean 'mm_page_alloc'" -e kmem:mm_page_aloc touch ran || ok=1
	refused 64 "did you mean 'kmem'" -e kmen:mm_page_alloc touch ran || ok=1
	refused 64 "no such event" -e "" touch ran || ok=1
	refused 64 "modifier 'x'" -e page-faults:x touch ran || ok=1
	refused 64 "'gfp_flagz'" -e kmem:mm_page_alloc --filter 'gfp_flagz & 1' touch ran || ok=1
	refused 64 "nothing to record" -e page-faults || ok=1
	refused 64 "one of them" -a -p 1 || ok=1
	refused 64 "one of them" -p 1 touch ran || ok=1
	refused 64 "one of them" -F 1 -c 1 touch ran || ok=1
	refused 64 "power of two" -m 3 touch ran || ok=1
	refused 64 "not a number" -c 0 touch ran || ok=1
	refused 64 "not a list of CPUs" -C 0- touch ran || ok=1
	refused 64 "CPU 4095 is not on" -C 4095 touch ran || ok=1
	refused 64 "unknown option" --nonsense touch ran || ok=1
	refused 1 "no such process" -p 999999999 || ok=1
	refused 1 "cannot run './nonexistent'" -e page-faults ./nonexistent || ok=1
	refused 64 "goes to a file" -o - touch ran || ok=1
	refused 64 "not a regular file" -o /dev/null touch ran || ok=1
	refused 1 "cannot write '/nonexistent/f'" -o /nonexistent/f touch ran || ok=1
	return $ok
}

no_rights() {
	local status=0
	[ "$(id -u)" = 0 ] || { echo "not root"; return 4; }
	# a copy, for where the original cannot be reached
	install -m 755 "$ctl" "$tmp/ctl"
	chmod 755 "$tmp"
	mkdir -m 777 -p free
	(cd free && setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$tmp/ctl" record -a -e cpu-clock -- true) 2> err || status=$?
	chmod 700 "$tmp"
	equal 2 $status && equal 1 "$(wc -l < err)" &&
		grep -q "no right to record 'cpu-clock'.*run as root" err &&
		equal "" "$(ls -A free)"
}

no_module() {
	[ ! -e /sys/module/lockheld ] || { echo "the module is loaded"; return 4; }
	refused 2 "module is not loaded.*insmod" -e page-faults \
		--filter 'lock_held(mutex)' touch ran
}

known_report() {
	./perfdata_test make f.data && "$ctl" report -i f.data > report 2> err &&
		diff <(tail -n +2 "$here/report.expected") report
}

known_json() {
	./perfdata_test make f.data && "$ctl" report -i f.data --json > report &&
		python3 - <<-'P'
	import json
	event = json.load(open("report"))["events"][0]
	rows = {r.get("lock", r.get("type")): r for r in event["rows"]}
	mutex = rows["the_mutex"]
	assert event["samples"] == 8, event["samples"]
	assert event["filter"]["dropped"] == 11
	assert mutex["samples"] == 5 and mutex["held_sum_ns"] == 2506000
	assert mutex["taken_in"][0] == {"name": "takes_it", "module": "[kernel]", "samples": 4}
	assert rows["spinlock"]["addresses"] == ["0xffff888009999990"]
	P
}

# What the known recording has, with the locks and without
chains='program+0x2200;program+0x2100;calls;runs 4
program+0x2200;program+0x2100;calls;runs_too 2
[testmod]+0x1234 1
[unknown] 1'
chains_of_locks='[mutex:W the_mutex];program+0x2200;program+0x2100;calls;runs 4
[mutex:W the_mutex];[spinlock:W];program+0x2200;program+0x2100;calls;runs_too 1
[rwsem:R &some_cache];[rwsem:R &some_cache];program+0x2200;program+0x2100;calls;runs_too 1
[spinlock:W];[rcu-trace:W waits_for_readers];[rcu:R];[testmod]+0x1234 1
[unknown] 1'

exports() {
	./perfdata_test make f.data &&
		equal "$chains" "$("$ctl" export -i f.data 2> err)" &&
		equal "$chains_of_locks" "$("$ctl" export -i f.data --locks 2>> err)" &&
		equal 2 "$(grep -c 'warning: f.data: 2 samples were lost' err)" &&
		equal 2 "$(wc -l < err)"
}

exports_speedscope() {
	./perfdata_test make f.data || return
	equal "$chains_of_locks" "$("$ctl" export -i f.data --locks --format speedscope \
		2> /dev/null | python3 -c '
import json, sys
whole = json.load(sys.stdin)
names = [frame["name"] for frame in whole["shared"]["frames"]]
profile, = whole["profiles"]
assert profile["endValue"] == sum(profile["weights"])
for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
    print(";".join(names[i] for i in sample), weight)')"
}

# As protoc reads it, which has the names of the fields from the same file
exports_pprof() {
	local proto=$here/../../lockheld-ctl/profile.proto

	./perfdata_test make f.data &&
		"$ctl" export -i f.data --locks --format pprof -o f.pb.gz 2> /dev/null &&
		gzip -dc f.pb.gz > f.pb &&
		protoc --decode=profile.Profile -I "${proto%/*}" "$proto" < f.pb > f.txt || return
	equal "$chains_of_locks" "$(python3 - f.txt <<-'P'
	import re, sys
	text = open(sys.argv[1]).read()
	part = lambda kind: re.findall(r"(?m)^%s {\n(.*?)^}" % kind, text, re.S)
	number = lambda body, key: [int(n) for n in re.findall(r"(?m)^ +%s: (\d+)" % key, body)]
	strings = [eval(s) for s in re.findall(r"(?m)^string_table: (.*)", text)]
	assert strings[0] == ""
	functions = {number(f, "id")[0]: strings[number(f, "name")[0]] for f in part("function")}
	places = {number(l, "id")[0]: functions[number(l, "function_id")[0]] for l in part("location")}
	assert len(part("sample_type")) == 1
	for sample in part("sample"):
	    frames = [places[i] for i in reversed(number(sample, "location_id"))]
	    print(";".join(frames), number(sample, "value")[0])
	P
	)"
}

# The command's first exec, on CPU 1, is when its samples begin, also where its
# second one, on CPU 0, is read first: the recorder sleeps until both are over.
execs_twice() {
	# shellcheck disable=SC2016 # for the inner shell
	taskset -c 1 "$ctl" record -a -e page-faults -c 1 -o f.data -- bash -c '
		kill -STOP $PPID
		(sleep 1; kill -CONT $PPID) &
		taskset -pc 0 $$ > out
		echo $$ > pid
		exec true' 2> err || return
	at_least 20 "$(script -F comm,pid | grep -c "bash *$(cat pid)\b")"
}

# Each event is a root; what is drawn is what was recorded
exports_perfs_own() {
	perf record -q -g -e page-faults,cpu-clock -o f.data -- \
		ls -R /usr/include > /dev/null 2> err || return
	"$ctl" export -i f.data > folded 2> err || return
	[ ! -s err ] || no "$(cat err)" || return
	equal "$(script -F pid | grep -c .)" "$(awk '{ n += $NF } END { print n }' folded)" || return
	equal "cpu-clock page-faults" "$(sed 's/[;:].*//' folded | sort -u | paste -sd ' ')" || return
	"$ctl" export -i f.data --locks > /dev/null 2> err
	grep -q 'do not say what was held' err
}

export_refusals() {
	local ok=0

	"$ctl" export -i /nonexistent > out 2> err
	equal "1 1" "$? $(wc -l < err)" || ok=1
	./perfdata_test make f.data
	"$ctl" export -i f.data -o /nonexistent/f > out 2> err
	equal "1 lockheld-ctl: /nonexistent/f: No such file or directory" "$? $(tail -n 1 err)" || ok=1
	for format in folded pprof speedscope; do
		"$ctl" export -i f.data --format $format > /dev/full 2> err
		equal "1 1" "$? $(grep -c 'No space left' err)" || ok=1
	done
	"$ctl" export -i f.data -o ./f.data > out 2> err
	equal "64 1" "$? $(grep -c 'is the recording itself' err)" || ok=1
	head -c $(($(stat -c %s f.data) / 2)) f.data > cut.data
	"$ctl" export -i cut.data > out 2> err
	equal 1 "$(grep -c 'cut short\|is missing' err)" || ok=1
	"$ctl" export --format svg > out 2> err
	equal "64 1" "$? $(grep -c 'one of folded, pprof, speedscope' err)" || ok=1
	"$ctl" export nonsense > out 2> err
	equal "64 1" "$? $(wc -l < err)" || ok=1
	command script -qec "'$ctl' export -i f.data --format pprof" /dev/null < /dev/null > out
	grep -q 'not for a terminal' out || no "$(head -c 200 out)" || ok=1
	return $ok
}

fits_terminal() {
	./perfdata_test make f.data || return
	script_cmd="stty cols 50; '$ctl' report -i f.data"
	command script -qec "$script_cmd" /dev/null < /dev/null > report || return
	grep -q $'\033' report || no "no colours on a terminal" || return
	at_least "$(sed $'s/\033\\[[0-9]*m//g; s/\r//' report | wc -L)" 50 || return
	NO_COLOR=1 command script -qec "$script_cmd" /dev/null < /dev/null > report
	! grep -q $'\033' report || no "colours in spite of NO_COLOR"
}

perfs_own_file() {
	perf record -q -g -e page-faults,cpu-clock -o f.data -- \
		ls -R /usr/include > /dev/null 2> err || return
	"$ctl" report -i f.data --json > report 2> err || return
	[ ! -s err ] || no "$(cat err)" || return
	equal "$(script -F pid | grep -c .)" "$(python3 -c '
import json
print(sum(e["samples"] for e in json.load(open("report"))["events"]))')" || return
	"$ctl" report -i f.data | grep -q '^# Its samples do not say what was held' || return
	# the kernel's names come from the running one
	"$ctl" report -i f.data | grep -q ' \[kernel\]$'
}

bad_files() {
	local ok=0
	for file in /nonexistent /dev/null / "$here/record.sh"; do
		"$ctl" report -i "$file" > out 2> err
		equal 1 $? || ok=1
		equal 1 "$(wc -l < err)" || ok=1
		[ ! -s out ] || ok=1
	done
	"$ctl" report nonsense > out 2> err
	equal 64 $? || ok=1
	"$ctl" report --sort nonsense > out 2> err
	equal 64 $? || ok=1
	return $ok
}

lib="perfdata_read perfdata_records perfdata_write sample procmaps notes util"
# compile COMPILER FLAGS NAME: of this folder, with the parts it tests
compile() {
	local part sources=
	for part in $lib; do
		sources="$sources $top/lockheld-ctl/$part.c"
	done
	# shellcheck disable=SC2086 # lists of words
	"$1" -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror $2 \
		-fno-sanitize-recover=all -I"$top/lockheld-ctl" \
		-I"$top/uapi" -I"$here/../host" -o "$3" "$here/$3.c" $sources
}

fuzzed() {
	mkdir corpus
	./perfdata_test make corpus/known &&
		record 0 -g -e page-faults true && cp f.data corpus/chains &&
		record 0 -e kmem:mm_page_alloc,cpu-clock true &&
		cp f.data corpus/tracepoint || return
	# a second at a time does not fill the disk with what it finds
	./fuzz_perfdata -max_total_time="${FUZZ_SECONDS:-10}" -max_len=20000 \
		-rss_limit_mb=1000 -timeout=10 -verbosity=0 corpus
}

for tool in gcc clang perf python3 script; do
	command -v $tool > /dev/null || {
		echo "Bail out! $tool is missing; see the packages named in selftests/ctl/record.sh"
		exit 1
	}
done
[ -n "${LOCKHELD_CTL-}" ] || make -s -C "$top/lockheld-ctl" > /dev/null || exit 1
compile gcc -fsanitize=address,undefined perfdata_test || exit 1
compile clang -fsanitize=fuzzer,address,undefined fuzz_perfdata || exit 1

echo "TAP version 13"
check "perf.data without a kernel" ./perfdata_test
check "any bytes as perf.data, fuzzed" fuzzed
check "the default event" recorded 1 -- sh -c "$busy"
check "one event" recorded 5 -e page-faults -- ls / /usr/include
check "several events" recorded 20 -e page-faults,cpu-clock -e cs -- sh -c "$busy"
check "call chains" recorded 20 -g -e page-faults,cpu-clock -- sh -c "$busy"
check "system-wide" recorded 50 -a -m 1024 -e page-faults,cpu-clock -- sh -c "$busy"
check "system-wide with call chains" recorded 50 -a -g -m 1024 -e cpu-clock -- sh -c "$busy"
check "a tracepoint, with its fields" tracepoint_fields
check "tracepoints and other events together" \
	recorded 50 -a -g -m 1024 -e kmem:mm_page_alloc,sched:sched_switch,page-faults -- sh -c "$busy"
check "one tracepoint twice" recorded 5 -e kmem:mm_page_alloc -e kmem:mm_page_alloc -- ls /
check "no samples at all" recorded 0 -e alignment-faults -- true
check "every event" fixed_period
check "user code only" user_only
check "one CPU" one_cpu
check "small buffers" small_buffers
check "names of functions and their callers" names
check "forks are followed" follows_forks
check "a command that becomes another one" execs_twice
check "threads are followed" follows_threads
check "a running process" attaches
check "lockheld-ctl leaves itself out" leaves_itself_out
check "what ran before is known" sees_everybody
check "a tracepoint's fields filter without the module" kernel_filter
check "a filter applies to the events before it" filters_apply_before
check "the command's exit status" exit_status
check "an old file is kept" old_file
check "Ctrl-C ends a recording" interrupted
check "Ctrl-C ends the command too" interrupted_command
check "a command that ignores it is killed" stubborn_command
check "a command killed by SIGKILL" killed_command
check "a recorder killed by SIGKILL" killed_recorder
check "lost samples are counted" lost_samples
check "a disk that fills up" full_disk
check "a disk that is full" fuller_disk
check "wrong usage leaves no file" refusals
check "terms that an event does not know" unknown_terms
check "no rights" no_rights
check "a lock filter without the module" no_module
check "the report of a known recording" known_report
check "the same for programs" known_json
check "a recording's call chains" exports
check "the same for speedscope" exports_speedscope
check "the same for pprof" exports_pprof
check "the call chains of perf's own recording" exports_perfs_own
check "what cannot be exported" export_refusals
check "the report fits the terminal" fits_terminal
check "the report of perf's own recording" perfs_own_file
check "files that are no recordings" bad_files
echo "1..$nr"
[ $failed = 0 ]
