# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Results of a test, in TAP. To be sourced; "tap_begin" first, "tap_end" last.

tests=0
failed=0

tap_begin()
{
	echo "TAP version 13"
}

# Prints the plan and ends the test with its exit status
tap_end()
{
	echo "1..$tests"
	[ "$failed" = 0 ] || exit 1
	exit 0
}

diag()
{
	local line

	# Without another process: tests in VMs say much
	printf '%s\n' "$*" | while IFS= read -r line; do
		printf '# %s\n' "$line"
	done
}

ok()
{
	echo "ok $((++tests)) - $1"
}

# not_ok NAME [WHY]
not_ok()
{
	echo "not ok $((++tests)) - $1"
	failed=$((failed + 1))
	[ -z "${2-}" ] || diag "$2"
}

# check NAME COMMAND...: the command must succeed
check()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "'$*' ended with $?: $out"
	fi
}

# equal NAME IS SHOULD
equal()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "is '$2', should be '$3'"
	fi
}
