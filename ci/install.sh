#!/bin/sh
# Installs trainform. TRAINFORM_INSTALL is one of these:
#   the path, with a slash, of a folder with this project, by default the one that this script is in: with the dependencies
#     of its ci/requirements.txt, each file of which is held against a hash; nothing but wheels is taken, so that no setup.py
#     of others runs
#   a requirements file, *.txt, with hashes: for plugins of your own beside trainform
#   anything else that pip takes, such as trainform==1.2.3: without hashes
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"

python=$(command -v python3 || command -v python) || fail "no Python here: set it up before trainform"
what=${TRAINFORM_INSTALL:-$(dirname "$0")/..}

pip_install() { "$python" -m pip install --quiet --disable-pip-version-check "$@"; }

locked() { pip_install --require-hashes --only-binary :all: "$@"; }

# What builds the package goes to a folder of its own, which is removed.
install_folder() {
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    locked --requirement "$1/ci/requirements.txt"
    locked --target "$tools" --requirement "$1/ci/requirements-build.txt"
    PYTHONPATH=$tools pip_install --no-deps --no-build-isolation "$1"
}

case $what in
*.txt) locked --requirement "$what" ;;
*/*) if [ -d "$what" ]; then install_folder "$what"; else pip_install "$what"; fi ;;
*) pip_install "$what" ;; # a change may bring a folder called trainform==1.2.3
esac
trainform --version
