# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian suites: where packages of one come from, and a root with its compiler.
# To be sourced after common.sh.

# suite_row NAME: sets archives and tools from the list of suites
suite_row()
{
	local name

	while read -r name archives tools; do
		[ "$name" = "$1" ] && return
	done < <(grep -v '^#' "$vm_dir/suites")
	return 1
}

# Addresses of the machine's own sources of Debian, as lines "CODENAME ADDRESS"
machine_sources()
{
	# shellcheck disable=SC2016 # apt expands them
	apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' \
		'Created-By: Packages' | sed -n 's/^Debian main //p'
}

# address_of ARCHIVE: where an archive of any release is, going by the machine's
address_of()
{
	local own=$VERSION_CODENAME

	case $1 in
	*-security) own+=-security ;;
	esac
	machine_sources | sed -n "s/^$own //p" | head -n 1
}

# A list of sources, and a state of apt that is not the machine's
write_sources()
{
	local dir=$1 archive address key=/usr/share/keyrings/debian-archive-keyring.gpg

	[ -r "$key" ] || die 2 "$key is missing; apt-get install debian-archive-keyring brings it"
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	touch "$dir/status"
	for archive in ${archives//,/ }; do
		address=$(address_of "$archive")
		[ -n "$address" ] || die 2 "this machine's apt sources do not say where $archive could be"
		echo "deb [signed-by=$key] $address $archive main"
	done > "$dir/sources.new"
	mv "$dir/sources.new" "$dir/sources.list"
}

# use_suite NAME: sets what the functions below work on
use_suite()
{
	suite=$1
	suite_dir=$cache_dir/suites/$suite
	apt_options=(-q -o APT::Sandbox::User=root -o Acquire::Retries=3)
	mkdir -p "$suite_dir"
	[ "$suite" != machine ] || return 0
	suite_row "$suite" || die 1 "$vm_dir/suites: there is no suite $suite"
	[ "$(id -u)" = 0 ] || die 2 "packages of $suite need a root of that suite, and root to make it"
	apt_options+=(-o Dir::Etc::sourcelist="$suite_dir/apt/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o Dir::State="$suite_dir/apt"
		-o Dir::State::lists="$suite_dir/apt/lists" -o Dir::State::status="$suite_dir/apt/status"
		-o Dir::Cache="$suite_dir/apt" -o APT::Update::Error-Mode=any)
}

# Nobody may bring the lists up to date while they are read
apt_get()
{
	flock --shared "$suite_dir/lock" apt-get "${apt_options[@]}" "$@"
}

apt_cache()
{
	flock --shared "$suite_dir/lock" apt-cache "${apt_options[@]}" "$@"
}

# Brings apt's lists up to date. Several of us may want that at once, of which
# the first does it, and others on this machine, too.
suite_update()
(
	exec 8>"$suite_dir/lock"
	flock 8
	[ -z "$(find "$suite_dir/updated" -mmin -10 2>/dev/null)" ] || return 0
	if [ "$suite" != machine ]; then
		. /etc/os-release
		# What machine_sources says is known only from the machine's lists
		[ -n "$(address_of "$VERSION_CODENAME")" ] || update_machine
		write_sources "$suite_dir/apt"
	fi
	for _ in 1 2 3 4; do
		apt-get "${apt_options[@]}" update && touch "$suite_dir/updated" && return
		sleep 10
	done
	return 1
) >&2

update_machine()
(
	use_suite machine
	suite_update
)

# The suite's root, made once
suite_root()
{
	local root=$suite_dir/root

	suite_row "$suite"
	exec 8>"$suite_dir/root.lock"
	flock 8
	if [ "$(cat "$root/stamp" 2>/dev/null)" != "$archives $tools" ]; then
		need mmdebstrap mmdebstrap
		say "making a root of $suite for its compiler, once"
		rm -rf --one-file-system "$root" "$root.new"
		mmdebstrap --quiet --mode=root --variant=essential --include="$tools" \
			"$suite" "$root.new" "$suite_dir/apt/sources.list" >&2 </dev/null ||
			die 1 "no root of $suite could be made"
		echo "$archives $tools" > "$root.new/stamp"
		mv "$root.new" "$root"
	fi
	exec 8>&-
	echo "$root"
}

# exec_in_suite FOLDER... -- COMMAND...: becomes COMMAND where the suite's
# compiler is; the folders are there, too. Mounts belong to the command's own
# namespace, so nothing is left of them, however it ends.
exec_in_suite()
{
	local folders=() root

	while [ "$1" != -- ]; do
		folders+=("$1")
		shift
	done
	shift
	[ "$suite" != machine ] || exec "$@"
	root=$(suite_root)
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --mount --propagation private sh -euc '
		root=$1
		shift
		mount -t tmpfs tmp "$root/tmp"
		mount -t proc proc "$root/proc"
		while [ "$1" != -- ]; do
			mkdir -p "$root$1"
			mount --bind "$1" "$root$1"
			shift
		done
		shift
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"
	' sh "$root" "${folders[@]}" -- "$@"
}
