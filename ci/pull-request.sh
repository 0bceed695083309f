#!/bin/sh
# validate.sh, check.sh and comment.sh in one process, which reads and compiles the repository once. It takes their variables,
# and its exit code is the highest of theirs. After an error (2), nothing is told of the change.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=ci/posting.sh
. "$(dirname "$0")/posting.sh"
needs ci

told=$(mktemp -d)
trap 'rm -rf "$told"' EXIT

base=$(base_commit)
set -- --base "$base" --changes-pass --check "$told/check.txt" --diff "$told/diff.md" --diff "$told/diff.json"
[ -z "${TRAINFORM_FAIL_ON:-}" ] || set -- "$@" --fail-on "$TRAINFORM_FAIL_ON"
[ -z "${TRAINFORM_SARIF:-}" ] || set -- "$@" --validate "$told/findings.sarif"
[ -z "${TRAINFORM_JUNIT:-}" ] || set -- "$@" --validate "$told/findings.xml"
# The annotations are commands to GitHub, and trainform itself sees to it that no other is among them.
if [ -n "${GITHUB_ACTIONS:-}" ]; then set -- "$@" --annotate github; else set -- "$@" --validate "$told/findings.txt"; fi
code=0
run ci "$@" || code=$?

# save FILE AS: what was told, as a file of the caller's choice.
save() { [ ! -f "$told/$1" ] || write_new "$2" cat "$told/$1"; }

[ -z "${TRAINFORM_SARIF:-}" ] || save findings.sarif "$TRAINFORM_SARIF"
[ -z "${TRAINFORM_JUNIT:-}" ] || save findings.xml "$TRAINFORM_JUNIT"
for file in findings.txt check.txt; do [ ! -f "$told/$file" ] || as_text cat "$told/$file"; done
[ $code -le 1 ] || exit $code
[ $code -eq 0 ] || error "what is committed is not what the jobs compile to${TRAINFORM_FAIL_ON:+, or there is a finding of severity $TRAINFORM_FAIL_ON}"
changed=0
if grep -q '"change":' "$told/diff.json"; then changed=1; fi
echo "$marker" | cat - "$told/diff.md" >"$told/body.md"
post "$told/body.md" $changed
exit $code
