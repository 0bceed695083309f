#!/bin/sh
# Fails when what is committed is stale, missing, edited by hand, or has frozen jobs that differ from the base branch.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
needs check

base=$(base_commit)
code=0
as_text run check --base "$base" || code=$?
[ $code -ne 1 ] || error "what is committed is not what the jobs compile to"
exit $code
