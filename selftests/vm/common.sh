# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of this folder share: where things are, and how to speak.

vm_dir=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck disable=SC2034 # read by the scripts that source this file
top_dir=$(realpath "$vm_dir/../..")

if [ -n "${LOCKHELD_CACHE-}" ]; then
	cache_dir=$LOCKHELD_CACHE
elif [ -n "${XDG_CACHE_HOME-}" ]; then
	cache_dir=$XDG_CACHE_HOME/lockheld
elif [ "$(id -u)" = 0 ]; then
	cache_dir=/var/cache/lockheld
else
	cache_dir=$HOME/.cache/lockheld
fi

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die STATUS TEXT...: 1 failed, 2 not possible here, 64 usage
die()
{
	local status=$1

	shift
	say "$*"
	exit "$status"
}

# need COMMAND PACKAGE
need()
{
	command -v "$1" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ||
		die 2 "$1 is missing; apt-get install $2 brings it"
}

# kernel_row NAME: sets kind, suite, from, memory and what from the list of kernels
kernel_row()
{
	local name

	while read -r name kind suite from memory what; do
		[ "$name" = "$1" ] && return
	done < <(grep -v '^#' "$vm_dir/kernels")
	return 1
}

kernel_names()
{
	awk '!/^#/ && NF { printf "%s%s", sep, $1; sep = " " }' "$vm_dir/kernels"
}
