"""The workflow that `trainform init` writes, step by step as GitHub runs it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.ci import changed, git, program

WORKFLOW = "trainform/output/templates/init/github/workflows/trainform.yaml"


@pytest.fixture
def comment() -> str:
    """The script of the last step."""
    text = (Path(__file__).parents[2] / "compiler" / WORKFLOW).read_text()
    steps = yaml.safe_load(text)["jobs"]["render"]["steps"]
    script: str = steps[-1]["run"]
    return script


@pytest.fixture
def checkout(checkout: Path) -> Path:
    """With every branch, as the workflow asks for."""
    git(checkout, "fetch", "--quiet", "--unshallow", "origin", "main:refs/remotes/origin/main")
    return checkout


def ran(script, checkout, github, tmp_path, **variables):
    environment = github | {"RUNNER_TEMP": str(tmp_path), "PR": "7"} | variables
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def calls(github) -> list[str]:
    return [re.sub(r"@\S+", "@FILE", line) for line in Path(github["GH_LOG"]).read_text().splitlines()[1:]]


@pytest.mark.parametrize(
    ("earlier", "call"),
    [
        ("", "api --silent repos/team/jobs/issues/7/comments --field body=@FILE"),
        ("41\n42", "api --silent --method PATCH repos/team/jobs/issues/comments/41 --field body=@FILE"),
    ],
    ids=["first", "next"],
)
def test_a_change_is_told_in_the_summary_and_in_one_comment(comment, checkout, github, tmp_path, earlier, call):
    changed(checkout, github)
    ended = ran(comment, checkout, github, tmp_path, GH_EARLIER=earlier)
    assert ended.returncode == 0, ended.stderr
    assert "ml/new" in Path(github["GITHUB_STEP_SUMMARY"]).read_text()
    assert calls(github) == [call]


def test_no_change_makes_no_comment(comment, checkout, github, tmp_path):
    assert ran(comment, checkout, github, tmp_path).returncode == 0
    assert calls(github) == []


def test_a_token_that_may_not_comment_fails_nothing(comment, checkout, github, tmp_path):
    program(tmp_path / "bin", "gh", "#!/bin/sh\nexit 1\n")
    changed(checkout, github)
    assert ran(comment, checkout, github, tmp_path).returncode == 0


def test_a_job_with_an_error_fails(comment, checkout, github, tmp_path):
    (checkout / "jobs/llm.yaml").write_text("{")
    assert ran(comment, checkout, github, tmp_path).returncode == 2
