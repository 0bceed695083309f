#!/bin/sh
# Tells what a change does; see posting.sh.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=ci/posting.sh
. "$(dirname "$0")/posting.sh"
needs diff

told=$(mktemp)
trap 'rm -f "$told"' EXIT

base=$(base_commit)
changed=0
echo "$marker" >"$told"
as_text run diff --base "$base" --format markdown >>"$told" || changed=$?
[ $changed -le 1 ] || exit $changed
post "$told" $changed
