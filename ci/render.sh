#!/bin/sh
# Renders, and fails when that changes anything. ci/check.sh writes nothing and sees edits by hand as well.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
needs render

told=$(mktemp)
trap 'rm -f "$told"' EXIT
code=0
as_text run render >"$told" || code=$?
as_text cat "$told"
[ $code -eq 0 ] || exit $code
grep -E -q '^(wrote|removed) |^[0-9]+ jobs? re-pinned' "$told" || exit 0
error "what is committed is not what the jobs compile to: run 'trainform render' and commit"
exit 1
