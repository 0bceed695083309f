#!/bin/sh
# Installs trainform. TRAINFORM_INSTALL is what pip is asked for: a version such as trainform==1.2.3, or a folder.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"

python=$(command -v python3 || command -v python) || fail "no Python here: set it up before trainform"
"$python" -m pip install --quiet --disable-pip-version-check "${TRAINFORM_INSTALL:-trainform}"
trainform --version
