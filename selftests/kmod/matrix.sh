#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does docs/support-matrix.md tell what this kernel can do? What check says is
# left in the log, from which selftests/support-matrix writes that file.

. "$(dirname "$0")/lib.sh"
setup

"$LOCKHELD_CTL" check --json > "$tmp/said"
equal "check has something to say" "$?" 0
sed 's/^/#| /' "$tmp/said"
check "docs/support-matrix.md says the same" \
      "$repo/selftests/support-matrix" --compare "$LOCKHELD_VM" < "$tmp/said"
finish
