# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Debug files from a server. Sourced by run.sh, in a folder for fixtures.

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# asked CACHE SYMRES-ARGUMENT...: with a cache of the client's own
asked() {
	local cache=$1
	shift
	DEBUGINFOD_CACHE_PATH=$PWD/dbgd/$cache "$symres" --cache '' --debug-dir '' "$@" 2>&1 | paste -sd ' '
}

mkdir -p dbgd/served
printf 'static int __attribute__((noinline)) far_away(int x){return x*7;}\nint main(int c,char**v){return far_away(c);}\n' > dbgd/f.c
gcc -g -O1 -o dbgd/f dbgd/f.c
gcc -g -O2 -o dbgd/unknown dbgd/f.c
far_away=$(value dbgd/f far_away)
other=$(value dbgd/unknown main)
objcopy --only-keep-debug dbgd/f dbgd/served/f.debug
objcopy --strip-all dbgd/f dbgd/f_s
strip -s dbgd/unknown
id=$(build_id dbgd/f_s)

equal "no server is named: the client is not loaded" "0 ??" "$(
	LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/dbgd/ld "$symres" --cache '' --debug-dir '' -e dbgd/f_s "$far_away" > dbgd/out 2>/dev/null
	echo "$(cat dbgd/ld.* | grep -c libdebuginfod) $(cat dbgd/out)")"

if command -v debuginfod > /dev/null; then
	port=$(free_port)
	start env -u DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH="$PWD/dbgd/servers" \
		debuginfod -d :memory: -p "$port" -t 0 -F dbgd/served
	server=$pid
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	python3 - "$DEBUGINFOD_URLS/buildid/$id/debuginfo" <<'P'
import sys, time, urllib.request
for i in range(200):
    try:
        urllib.request.urlopen(sys.argv[1], timeout=5).read()
        break
    except OSError:
        time.sleep(.1)
P
	equal "switched off" "??" "$(asked off --no-debuginfod -e dbgd/f_s "$far_away")"
	equal "... nothing was asked for" "" "$(ls dbgd/off 2>/dev/null)"
	equal "a debug file from a server" "far_away+0x0" "$(asked found -e dbgd/f_s "$far_away")"
	has "... as info tells" "$(DEBUGINFOD_CACHE_PATH=$PWD/dbgd/found "$symres" info --cache '' --debug-dir '' dbgd/f_s)" \
		"debug file: $PWD/dbgd/found/$id/debuginfo"
	equal "a file that the server has not" "?? main+0x0" \
		"$(asked none -e dbgd/unknown "$other") $(asked none -e dbgd/f "$(value dbgd/f main)")"
	equal "... and a file with names is not asked for" "$(build_id dbgd/unknown)" "$(cd dbgd/none && ls -d -- *[0-9a-f][0-9a-f][0-9a-f][0-9a-f])"
	equal "in a batch" "far_away ?? main" "$(printf 'dbgd/f_s\t%s\ndbgd/unknown\t%s\ndbgd/f_s\t%s\n' "$far_away" "$other" "$(value dbgd/f main)" |
		DEBUGINFOD_CACHE_PATH=$PWD/dbgd/batch "$symres" --cache '' --debug-dir '' --batch 2>&1 | paste -sd ' ')"
	equal "the client prints nothing" "far_away+0x0" "$(DEBUGINFOD_VERBOSE=1 DEBUGINFOD_PROGRESS=1 asked verbose -e dbgd/f_s "$far_away")"
	kill "$server"
	wait "$server" 2> /dev/null
	equal "the server has gone: what it sent is still there" "far_away+0x0" "$(asked found -e dbgd/f_s "$far_away")"
	equal "the server has gone" "??" "$(asked gone -e dbgd/f_s "$far_away")"
else
	skip "a debug file from a server" "debuginfod is not here"
fi

# A server with the wrong file: another build-id, and something else.
mkdir -p "dbgd/wrong/buildid/$id"
objcopy --only-keep-debug other "dbgd/wrong/buildid/$id/debuginfo"
export DEBUGINFOD_URLS=file://$PWD/dbgd/wrong
equal "a server with the wrong file" \
	"?? symres: dbgd/f_s: the debug file $PWD/dbgd/wrong/$id/debuginfo was left alone: it has another build-id" "$(asked wrong -e dbgd/f_s "$far_away")"
head -c 3000 /dev/urandom > "dbgd/wrong/buildid/$id/debuginfo"
equal "a server with something else" \
	"?? symres: dbgd/f_s: the debug file $PWD/dbgd/noise/$id/debuginfo was left alone: it is not a usable ELF file" "$(asked noise -e dbgd/f_s "$far_away")"
cp dbgd/served/f.debug "dbgd/wrong/buildid/$id/debuginfo"
equal "a folder as a server" "far_away+0x0" "$(asked folder -e dbgd/f_s "$far_away")"
mkdir dbgd/here
cp dbgd/f_s dbgd/here/f_s
objcopy --add-gnu-debuglink=dbgd/served/f.debug dbgd/here/f_s
cp dbgd/served/f.debug dbgd/here/
equal "a debug file that is here is not asked for" "far_away+0x0 " \
	"$(asked here -e dbgd/here/f_s "$far_away") $(ls dbgd/here/"$id" 2>/dev/null)"

# One that says nothing: it takes connections, or not even that.
cat > dbgd/silent.py <<'P'
import socket, sys, time
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(50 if sys.argv[1] == 'takes' else 0)
kept = []
while sys.argv[1] != 'takes':
    c = socket.socket()
    c.settimeout(.3)
    kept.append(c)
    try:
        c.connect(s.getsockname())
    except OSError:
        break
print(s.getsockname()[1], flush=True)
time.sleep(600)
P
export DEBUGINFOD_TIMEOUT=2
for how in takes refuses; do
	python3 dbgd/silent.py $how > dbgd/port_$how 2>/dev/null &
	started+=("$!")
	until [ -s dbgd/port_$how ]; do
		sleep .05
	done
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat dbgd/port_$how)
	export DEBUGINFOD_URLS
	before=$SECONDS
	equal "a silent server that $how connections" "?? ??" "$(printf 'dbgd/f_s\t%s\ndbgd/unknown\t%s\n' "$far_away" "$other" |
		DEBUGINFOD_CACHE_PATH=$PWD/dbgd/silent_$how timeout 60 "$symres" --cache '' --debug-dir '' --batch 2>&1 | paste -sd ' ')"
	result $((SECONDS - before > 15)) "... is waited for and given up: $((SECONDS - before)) s"
done
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT
