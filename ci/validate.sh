#!/bin/sh
# Tells every problem: as annotations on GitHub, as text elsewhere. TRAINFORM_SARIF and TRAINFORM_JUNIT name files for
# reports besides. TRAINFORM_FAIL_ON is warning or info, where more than errors should fail.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"
needs validate

validate() {
    if [ -n "${TRAINFORM_FAIL_ON:-}" ]; then set -- --fail-on "$TRAINFORM_FAIL_ON" "$@"; fi
    run validate "$@"
}

# report FORMAT FILE: its exit code is that of the findings, which the run below gives.
report() { write_new "$2" as_text validate --format "$1" || [ $? -le 2 ] || exit 70; }

[ -z "${TRAINFORM_SARIF:-}" ] || report sarif "$TRAINFORM_SARIF"
[ -z "${TRAINFORM_JUNIT:-}" ] || report junit "$TRAINFORM_JUNIT"
# The annotations are commands to GitHub, and trainform itself sees to it that no other is among them.
if [ -n "${GITHUB_ACTIONS:-}" ]; then form=github; else form=text; fi
validate --format "$form"
