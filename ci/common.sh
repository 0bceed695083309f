# What the scripts of this folder share; they read it with ".", from their own folder.
# shellcheck shell=sh

# On standard error, since standard output may be what somebody reads; GitHub looks for commands in both.
say() {
    if [ -n "${GITHUB_ACTIONS:-}" ]; then echo "::$1 title=trainform::$2" >&2; else echo "trainform: $2" >&2; fi
}

error() { say error "$1"; }

warning() { say warning "$1"; }

fail() {
    error "$1"
    exit 2
}

# needs COMMAND: this version of trainform has it.
needs() {
    command -v trainform >/dev/null 2>&1 || fail "trainform is not installed: run ci/install.sh first"
    trainform "$1" --help >/dev/null 2>&1 || fail "this version of trainform has no command $1: install a newer one"
}

# run COMMAND [ARGUMENT...]: trainform for the repository and the environments that the caller chose.
run() {
    command=$1
    shift
    for environment in ${TRAINFORM_ENV:-}; do set -- --env "$environment" "$@"; done
    trainform "$command" --root "${TRAINFORM_ROOT:-.}" "$@"
}

# as_text COMMAND [ARGUMENT...]: runs it while GitHub takes nothing in the log for a command, since names and values in
# its output may be those of strangers. Only who knows the token, which is made by chance, can end that.
as_text() {
    if [ -z "${GITHUB_ACTIONS:-}" ]; then
        "$@"
        return
    fi
    token=$(mktemp -u trainform-XXXXXXXXXXXXXXXX) || fail "mktemp is missing"
    status=0
    echo "::stop-commands::$token" >&2
    "$@" || status=$?
    echo "::$token::" >&2
    return $status
}

# The commit that a change is compared with: TRAINFORM_BASE, or the tip of the branch that it is to be merged into. A
# shallow clone does not have that, so it is fetched.
base_commit() {
    if [ -n "${TRAINFORM_BASE:-}" ]; then
        echo "$TRAINFORM_BASE"
    elif [ -n "${GITHUB_BASE_REF:-}" ]; then
        git rev-parse --verify --quiet "refs/remotes/origin/$GITHUB_BASE_REF^{commit}" || fetch "$GITHUB_BASE_REF"
    else
        git rev-parse --verify --quiet "HEAD^{commit}" || fail "there is no commit to compare with"
    fi
}

fetch() {
    git fetch --quiet --no-tags --depth=1 origin "$1" || fail "cannot fetch $1 to compare with"
    git rev-parse --verify FETCH_HEAD
}
