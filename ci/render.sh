#!/bin/sh
# Renders, and fails when that changes anything. ci/check.sh writes nothing and sees edits by hand as well.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
needs render

cd "${TRAINFORM_ROOT:-.}"
TRAINFORM_ROOT=.
before=$(git status --porcelain --untracked-files=all .)
as_text run render
[ "$(git status --porcelain --untracked-files=all .)" = "$before" ] && exit 0
git add --intent-to-add .
as_text git --no-pager diff --stat .
error "what is committed is not what the jobs compile to: run 'trainform render' and commit"
exit 1
