"""The workflow that `trainform init` writes, step by step as GitHub and GitLab run it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.ci import changed, git, program


@pytest.fixture
def comment(tmp_path: Path) -> str:
    """The script of the last step."""
    return commands(written(tmp_path / "new"))[-1]


def written(folder: Path) -> str:
    """The workflow of a new repository."""
    subprocess.run([sys.executable, "-m", "trainform", "init", folder], check=True, capture_output=True)
    return (folder / ".github/workflows/trainform.yaml").read_text()


def commands(workflow: str) -> list[str]:
    """The scripts of its steps, in order."""
    return [step["run"] for step in yaml.safe_load(workflow)["jobs"]["render"]["steps"] if "run" in step]


def gitlab(folder: Path) -> str:
    """The script of a merge request in a new repository's GitLab pipeline."""
    command = [sys.executable, "-m", "trainform", "init", str(folder), "--ci", "gitlab"]
    subprocess.run(command, check=True, capture_output=True)
    pipeline = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())
    return "\n".join(pipeline["trainform-merge-request"]["script"])


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
    return [re.sub(r"@\S+", "@FILE", line) for line in Path(github["GH_LOG"]).read_text().splitlines()[2:]]


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


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_a_change_that_is_not_rendered_fails_and_is_told(ci, checkout, github, tmp_path):
    script = commands(written(tmp_path / "new"))[-1] if ci == "github" else gitlab(tmp_path / "new")
    changed(checkout, github)
    rendered = next((checkout / "rendered").rglob("jobset-new.yaml"))
    rendered.write_text(rendered.read_text() + "# by hand\n")
    ended = ran(script, checkout, github, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA="origin/main")
    assert ended.returncode == 1, ended.stderr
    assert "edited" in ended.stdout
    told = github["GITHUB_STEP_SUMMARY"] if ci == "github" else checkout / "trainform-diff.md"
    assert "ml/new" in Path(told).read_text()


def test_a_change_passes_in_a_merge_request(checkout, github, tmp_path):
    changed(checkout, github)
    script = gitlab(tmp_path / "new")
    ended = ran(script, checkout, github, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA="origin/main")
    assert ended.returncode == 0, ended.stderr


def test_a_new_repository_passes_its_own_workflow(github, tmp_path):
    """The steps of a pull request that adds the second job, in a repository that `init` made. pip is not asked."""
    new = tmp_path / "new"
    install, *steps = commands(written(new))
    assert install.startswith("pip install")
    git(new, "init", "--quiet")
    for name in ("hello", "second"):
        job = (new / "jobs/hello.yaml").read_text().replace("name: hello", f"name: {name}")
        (new / f"jobs/{name}.yaml").write_text(job)
        subprocess.run([sys.executable, "-m", "trainform", "--root", new, "render"], check=True, capture_output=True)
        git(new, "add", "--all")
        git(new, "commit", "--quiet", "--message", name)
    git(new, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    for script in steps:
        ended = ran(script, new, github, tmp_path)
        assert ended.returncode == 0, (script, ended.stdout, ended.stderr)
    assert "ml/second" in Path(github["GITHUB_STEP_SUMMARY"]).read_text()
