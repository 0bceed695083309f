"""A checkout, and what a CI system tells in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ci import git, program
from support.nursery import Nursery
from unit.cli.conftest import job

SHOWN = ("PATH", "SYSTEMROOT", "TMPDIR")
GH = """\
#!/bin/sh
echo "$*" >>"$GH_LOG"
case " $* " in *" graphql "*) echo the-bot ;; *" --jq "*) echo "${GH_EARLIER:-}" ;; esac
"""


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the scripts see: trainform and git in PATH, and nothing of a CI system that runs these tests."""
    program(tmp_path / "bin", "trainform", f'#!/bin/sh\nexec {sys.executable} -m trainform "$@"\n')
    kept = {name: os.environ[name] for name in SHOWN if name in os.environ}
    return kept | {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{kept['PATH']}", "HOME": str(tmp_path)}


@pytest.fixture
def github(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A workflow for a pull request to main, gh at hand."""
    program(tmp_path / "bin", "gh", GH)
    return environment | {
        "GITHUB_ACTIONS": "true",
        "GITHUB_BASE_REF": "main",
        "GITHUB_REPOSITORY": "team/jobs",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GH_LOG": str(tmp_path / "gh.log"),
    }


@pytest.fixture(scope="session")
def origin(tmp_path_factory) -> Path:
    """A repository whose one job is rendered and committed."""
    origin: Path = tmp_path_factory.mktemp("origin")
    (origin / "jobs").mkdir()
    (origin / "trainform.yaml").write_text("")
    (origin / "jobs" / "llm.yaml").write_text(job())
    git(origin, "init", "--quiet")
    subprocess.run([sys.executable, "-m", "trainform", "render"], cwd=origin, check=True, capture_output=True)
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "first")
    git(origin, "branch", "change")
    return origin


@pytest.fixture
def checkout(origin: Path, tmp_path: Path) -> Path:
    """A shallow clone, on a branch of its own."""
    url = origin.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth=1", "--single-branch", "--branch=change", url, "checkout")
    return tmp_path / "checkout"
