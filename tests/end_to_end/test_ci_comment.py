"""`ci/comment.sh` and `ci/pull-request.sh`: one comment of a pull request, kept up to date."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from support.ci import changed, program, sh
from unit.cli.conftest import job


def calls(github) -> list[str]:
    log = Path(github["GH_LOG"])
    return [re.sub(r"@\S+", "@FILE", line) for line in log.read_text().splitlines()] if log.exists() else []


def test_a_change_is_told_in_the_summary_and_in_a_comment(checkout, github):
    changed(checkout, github)
    ran = sh("comment", checkout, github, PR="7")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("<!-- trainform diff . -->\n")
    assert "ml/new" in ran.stdout
    assert Path(github["GITHUB_STEP_SUMMARY"]).read_text() == ran.stdout
    assert calls(github)[2:] == ["api --silent repos/team/jobs/issues/7/comments --field body=@FILE"]


def test_the_next_push_changes_the_comment(checkout, github):
    changed(checkout, github)
    assert sh("comment", checkout, github, PR="7", GH_EARLIER="41\n42").returncode == 0
    assert calls(github)[2:] == ["api --silent --method PATCH repos/team/jobs/issues/comments/41 --field body=@FILE"]


def test_no_change_makes_no_comment_but_mends_one(checkout, github):
    assert sh("comment", checkout, github, PR="7").returncode == 0
    assert len(calls(github)) == 2
    assert sh("comment", checkout, github, PR="7", GH_EARLIER="41\n42").returncode == 0
    assert "--method PATCH" in calls(github)[-1]


def test_without_a_pull_request_nobody_is_asked(checkout, github):
    changed(checkout, github)
    assert sh("comment", checkout, github).returncode == 0
    assert calls(github) == []


def test_without_gh_the_summary_still_tells(checkout, github, tmp_path):
    (tmp_path / "bin" / "gh").unlink()
    changed(checkout, github)
    lean = tmp_path / "lean"
    lean.mkdir()
    for name in ("sh", "git", "mktemp", "rm", "cat", "dirname"):
        (lean / name).symlink_to(shutil.which(name) or name)
    path = f"{tmp_path / 'bin'}{os.pathsep}{lean}"
    ran = sh("comment", checkout, github, PR="7", PATH=path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.endswith("\n::warning title=trainform::no comment: the command gh is not installed\n")
    assert "ml/new" in Path(github["GITHUB_STEP_SUMMARY"]).read_text()


def test_a_token_that_may_not_comment_fails_nothing(checkout, github, tmp_path):
    program(tmp_path / "bin", "gh", "#!/bin/sh\necho 'HTTP 403' >&2\nexit 1\n")
    changed(checkout, github)
    ran = sh("comment", checkout, github, PR="7")
    assert ran.returncode == 0
    assert ran.stderr.endswith("HTTP 403\n::warning title=trainform::gh could not comment on pull request 7\n")


def test_one_process_tells_what_three_scripts_tell(checkout, github):
    """Findings, the verdict of check, the summary and the comment, and the highest exit code."""
    changed(checkout, github)
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes=3))
    summary = Path(github["GITHUB_STEP_SUMMARY"])
    scripts = ("validate", "check", "comment")
    apart = [sh(script, checkout, github, PR="7", TRAINFORM_FAIL_ON="info") for script in scripts]
    told, commands = summary.read_text(), calls(github)
    summary.unlink()
    Path(github["GH_LOG"]).unlink()
    ran = sh("pull-request", checkout, github, PR="7", TRAINFORM_FAIL_ON="info", TRAINFORM_SARIF="out.sarif")
    assert ran.stdout == "".join(each.stdout for each in apart)
    assert ran.returncode == max(each.returncode for each in apart) == 1
    assert "::error title=trainform::what is committed is not what the jobs compile to" in ran.stderr
    assert (summary.read_text(), calls(github)) == (told, commands)
    assert '"2.1.0"' in (checkout / "out.sarif").read_text()


def test_one_process_leaves_no_comment_after_an_error(checkout, github):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    ran = sh("pull-request", checkout, github, PR="7")
    assert ran.returncode == 2
    assert ran.stdout.startswith("::error file=jobs/llm.yaml,")
    assert calls(github) == []


@pytest.mark.parametrize("earlier", ["", "41"])
def test_one_process_begins_no_comment_where_nothing_changes(checkout, github, earlier):
    assert sh("pull-request", checkout, github, PR="7", GH_EARLIER=earlier).returncode == 0
    assert ["PATCH" in line for line in calls(github)[2:]] == [True] * bool(earlier)


def test_a_base_that_does_not_exist(checkout, github):
    ran = sh("comment", checkout, github, GITHUB_BASE_REF="nowhere")
    assert ran.returncode == 2
    assert "::error title=trainform::cannot fetch nowhere to compare with" in ran.stderr
