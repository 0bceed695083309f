"""The hooks for pre-commit."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from support.ci import ROOT
from unit.cli.conftest import job


def hooks() -> dict[str, dict]:
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.mark.parametrize(("hook", "code"), [("trainform-validate", 2), ("trainform-render", 2)])
def test_a_hook_fails_with_an_error(checkout, environment, hook, code):
    (checkout / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    entry = hooks()[hook]["entry"].split()
    assert subprocess.run(entry, cwd=checkout, env=environment, capture_output=True, check=False).returncode == code


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("trainform.yaml", True),
        ("jobs/llm.yaml", True),
        ("jobs/llm.yaml.j2", True),
        ("environments/prod/environment.yml", True),
        ("rendered/default/ml/llm/jobset-llm.yaml", False),
        ("README.md", False),
    ],
)
def test_files_that_call_for_a_hook(file, expected):
    hook = hooks()["trainform-validate"]
    called = re.search(hook["files"], file) and not re.search(hook["exclude"], file)
    assert bool(called) is expected
