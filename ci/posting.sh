# What comment.sh and pull-request.sh share: how a change is told. They read it with ".", after common.sh.
# shellcheck shell=sh

marker="<!-- trainform diff ${TRAINFORM_ROOT:-.} -->"

# post BODY CHANGED: tells a change on standard output, in the summary of a GitHub job, and as one comment of the pull request
# that is kept up to date. CHANGED is 1 where a job changes: otherwise no comment is begun. The comment needs the command gh with
# GH_TOKEN; PR is the pull request's number.
post() {
    body=$1 changed=$2
    as_text cat "$body"
    [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$body" >>"$GITHUB_STEP_SUMMARY"
    [ -n "${PR:-}" ] || return 0
    if command -v gh >/dev/null 2>&1; then
        # The token of a pull request from a fork may not write. The summary tells the change all the same.
        comment || warning "gh could not comment on pull request $PR"
    else
        warning "no comment: the command gh is not installed"
    fi
}

# The number of the comment that an earlier run made, if there is one. Anybody may write one that begins alike, and could
# edit it once a reviewer trusts it: only those of the token's own account count.
earlier() {
    me=$(gh api graphql --raw-field "query={viewer{login}}" --jq .data.viewer.login) || return
    gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$PR/comments" \
        --jq ".[] | select(.user.login == \"$me\" and (.body | startswith(\"$marker\"))) | .id"
}

comment() {
    numbers=$(earlier) || return
    number=${numbers%%[!0-9]*}
    if [ -n "$number" ]; then
        gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$number" --field "body=@$body"
    elif [ "$changed" -eq 1 ]; then
        gh api --silent "repos/$GITHUB_REPOSITORY/issues/$PR/comments" --field "body=@$body"
    fi
}
