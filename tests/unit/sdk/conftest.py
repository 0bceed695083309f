"""A repository as `trainform init` makes it, without its sample job, and a client of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainform.cli.main import run
from trainform.sdk import TrainerClient


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository, which is also the current folder. Its Environment is called prod, its namespace ml."""
    assert run(["init", str(tmp_path), "--quiet", "--ci", "none"]) == 0
    (tmp_path / "jobs" / "hello.yaml").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def client(root: Path) -> TrainerClient:
    return TrainerClient(root=root, env="prod")
