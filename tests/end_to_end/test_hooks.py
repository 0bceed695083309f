"""The hooks for pre-commit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.ci import ROOT, changed, git
from unit.cli.conftest import job


def hooks() -> dict[str, dict]:
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.mark.parametrize(("hook", "code"), [("trainform-validate", 2), ("trainform-render", 2)])
def test_a_hook_fails_with_an_error(checkout, environment, hook, code):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    entry = hooks()[hook]["entry"].split()
    assert subprocess.run(entry, cwd=checkout, env=environment, capture_output=True, check=False).returncode == code


def commit_hook(checkout: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    entry = hooks()["trainform-render"]["entry"].split()
    return subprocess.run(entry, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


NEW = {"jobs/new.yaml", ".trainform/locks/default/ml/new.lock", "rendered/default/ml/new/jobset-new.yaml"}


@pytest.mark.parametrize(
    ("added", "lacks"),
    [
        ([], NEW),
        (["jobs"], NEW - {"jobs/new.yaml"}),
        (["jobs", ".trainform"], {"rendered/default/ml/new/jobset-new.yaml"}),
        (["rendered", ".trainform"], {"jobs/new.yaml"}),
        (["jobs", "rendered", ".trainform"], set()),
    ],
    ids=["nothing", "the job", "without its manifests", "without the job", "everything"],
)
@pytest.mark.parametrize("ignored", ["", "new*\n"], ids=["", "ignored"])
def test_a_commit_without_all_files_of_a_new_job_fails_each_time(checkout, environment, added, lacks, ignored):
    changed(checkout, environment)
    (checkout / ".gitignore").write_text(ignored)
    (checkout / "jobs" / ".draft.yaml").write_text("")
    (checkout / "jobs" / "notes.md").write_text("")
    if added:
        git(checkout, "add", "--force", *added)
    for _ in range(2):
        ran = commit_hook(checkout, environment)
        assert ran.returncode == bool(lacks)
        assert {line.strip() for line in ran.stderr.splitlines()[1:]} == lacks


def test_outside_of_git_nothing_can_be_required(tmp_path, environment):
    (tmp_path / "alone" / "jobs").mkdir(parents=True)
    (tmp_path / "alone" / "jobs" / "llm.yaml").write_text(job())
    ran = commit_hook(tmp_path / "alone", environment)
    assert ran.returncode == 2
    assert "TF718" in ran.stderr


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("trainform.yaml", True),
        ("jobs/llm.yaml", True),
        ("jobs/llm.yaml.j2", True),
        ("jobs/train.py", True),
        ("ml/training/jobs/team/train.py", True),
        ("environments/prod/environment.yml", True),
        ("rendered/default/ml/llm/jobset-llm.yaml", False),
        ("README.md", False),
    ],
)
def test_files_that_call_for_a_hook(file, expected):
    hook = hooks()["trainform-validate"]
    called = re.search(hook["files"], file) and not re.search(hook["exclude"], file)
    assert bool(called) is expected
