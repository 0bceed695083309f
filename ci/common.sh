# What the scripts of this folder share; they read it with ".", from their own folder.
# shellcheck shell=sh

unset CDPATH # cd must print nothing

# Python imports nothing from the current folder, which may hold a stranger's pip.py. "python -m" would look there first.
export PYTHONSAFEPATH=1

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

# write_new FILE COMMAND [ARGUMENT...]: its standard output in a new file. What is there goes first, as a change may bring a
# link in its place; so may a folder of its path be one, which is refused unless the path is absolute.
write_new() {
    file=$1
    shift
    folder=$(dirname "$file")
    case $folder in /*) ;; *) refuse_links "$folder" ;; esac
    rm -f "$file"
    (
        set -C # the file must be new
        "$@" >"$file"
    )
}

refuse_links() {
    [ ! -L "$1" ] || fail "$1 is a link, which a change may have brought: nothing is written through it"
    [ "$1" = . ] || refuse_links "$(dirname "$1")"
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
        find_git
        commit "refs/remotes/origin/$GITHUB_BASE_REF" || fetch "$GITHUB_BASE_REF"
    else
        find_git
        commit HEAD || fail "there is no commit to compare with"
    fi
}

commit() { git_safely rev-parse --verify --quiet "$1^{commit}"; }

# fetch BRANCH: who may read the remote is up to git's configuration and variables, which hold tokens and how ssh is run.
# In a partial clone too, all of that one commit is fetched.
fetch() {
    own=$(configured_in_checkout)
    [ -z "$own" ] || fail "git's configuration includes $own, which a change may edit: set TRAINFORM_BASE instead"
    git_safely fetch --quiet --no-tags --depth=1 --no-filter --no-recurse-submodules --no-auto-gc \
        --upload-pack=git-upload-pack origin "refs/heads/$1" >&2 || fail "cannot fetch $1 to compare with"
    commit FETCH_HEAD
}

# find_git: the work tree in $top and git's folder in $git_folder. Git itself would take any folder for a repository that
# looks like one, and run what the configuration in there names.
find_git() {
    top=$(cd "${TRAINFORM_ROOT:-.}" && pwd -P) || fail "there is no folder ${TRAINFORM_ROOT:-.}"
    while [ ! -e "$top/.git" ]; do
        [ -n "$top" ] || fail "this is not a git repository"
        top=${top%/*}
    done
    git_folder=$top/.git
    git_folder=$(git_safely rev-parse --absolute-git-dir) || fail "git cannot read $top/.git"
    git_folder=$(cd "$git_folder" && pwd -P)
    case $git_folder in
    "$top/.git") ;;
    "$top"/*) fail "$top/.git names a folder of the work tree, $git_folder, which a commit may have brought" ;;
    esac
}

# git_safely COMMAND [ARGUMENT...]: git in a checkout that may hold a stranger's change. It runs no hook, no monitor and
# no remote helper, and looks for no repository.
git_safely() (
    unset GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE
    unset GIT_SHALLOW_FILE GIT_CEILING_DIRECTORIES GIT_DEFAULT_HASH GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR
    cd "${top:-/}" || exit
    GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 exec git --no-pager --no-replace-objects \
        --literal-pathspecs -c safe.bareRepository=explicit -c core.fsmonitor= -c core.hooksPath=/dev/null \
        -c core.quotePath=false -c protocol.ext.allow=never --git-dir="$git_folder" --work-tree="${top:-/}" "$@"
)

# Which file of the work tree is part of git's configuration, by include.path, if one is.
configured_in_checkout() {
    tab=$(printf '\t')
    git_safely config --list --show-origin --name-only | while IFS= read -r line; do
        origin=${line%%"$tab"*}
        [ "$origin" != "${earlier:-}" ] || continue
        earlier=$origin
        case $origin in file:*) ;; *) continue ;; esac
        folder=$(cd "${top:-/}" && cd "$(dirname "${origin#file:}")" && pwd -P) || folder=$top
        case $folder/ in
        "$git_folder"/*) ;;
        "$top"/*) echo "${origin#file:}" && break ;;
        esac
    done
}
