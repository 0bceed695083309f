"""`trainform keys` writes whole files, below `keys/`, for jobs that compile."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from support.attacks import Victim
from support.nursery import KILLED, Nursery
from support.sealing import recipient
from trainform.io.staging import Staging
from trainform.io.writer import create

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: "{namespace}"}}
spec:
  runtimeRef: {{name: deepspeed-distributed}}
  trainer: {{numNodes: 2, command: [train]}}
"""
KEYS = "environments/prod/keys"


@pytest.fixture
def victim(tmp_path: Path, nursery: Nursery) -> Victim:
    victim = Victim(tmp_path, nursery)
    victim.write(
        "environments/prod/environment.yaml",
        "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\n"
        f"spec: {{secrets: {{mode: sops, recipients: [{recipient('me')}]}}}}\n",
    )
    victim.write("jobs/mpi.yaml", JOB.format(name="mpi", namespace="ml"))
    return victim


def written(victim: Victim) -> list[str]:
    return [path for path in victim.files(".") if path.endswith("auth.yaml") and not path.startswith(".git/")]


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("llm2", "../../../out/y"),
        ("llm2", "/etc"),
        ("../../x", "ml"),
        ("llm2", ".git/hooks/x"),
        ("llm2", "git~1"),
        ("llm2", "a/b"),
        ("llm2", "A"),
    ],
)
def test_a_job_that_does_not_compile_gets_no_key_and_says_why(victim, name, namespace):
    (victim.root / "out/y").mkdir(parents=True)
    before = victim.everything()
    victim.write("jobs/evil.yaml", JOB.format(name=name, namespace=namespace))
    ended = victim.trainform("keys")
    assert ended.code == 2
    assert "jobs/evil.yaml:3:" in ended.output
    assert written(victim) == [f"{KEYS}/ml.mpi-mpi-ssh-auth.yaml"]
    assert victim.everything() == before


@pytest.mark.parametrize("target", ["../../../outside", "../../.git/hooks", "keys"])
def test_the_folder_of_keys_leads_nowhere_else(victim, target):
    victim.link(KEYS, target)
    before = victim.everything()
    ended = victim.trainform("keys")
    assert ended.code == 2
    assert written(victim) == []
    assert victim.everything() == before


def test_a_link_in_place_of_a_key_is_not_written_through(victim):
    victim.link(f"{KEYS}/ml.mpi-mpi-ssh-auth.yaml", victim.outside / "new.yaml")
    ended = victim.trainform("keys")
    assert ended.code == 2
    assert not (victim.outside / "new.yaml").exists()


def test_a_killed_run_leaves_a_whole_file_or_none(victim):
    file = victim.root / KEYS / "ml.mpi-mpi-ssh-auth.yaml"
    step, code = 0, KILLED
    while code == KILLED:
        step += 1
        code = victim.nursery.run(victim.root, "keys", kill_at=step).code
        assert not file.exists() or "sops" in file.read_text()
        file.unlink(missing_ok=True)
    assert step > 4


def test_only_the_user_may_read_a_new_key(victim):
    assert victim.trainform("keys").code == 0
    assert stat.S_IMODE((victim.root / KEYS / "ml.mpi-mpi-ssh-auth.yaml").stat().st_mode) == 0o600


def test_a_full_disk_leaves_no_empty_file(tmp_path, monkeypatch):
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    staging = Staging(str(tmp_path), "staging-1", record="")
    staging.create()
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        create(staging, f"{KEYS}/a.yaml", b"key")
    assert not (tmp_path / KEYS / "a.yaml").exists()


@pytest.mark.parametrize("links", [True, False], ids=["hard-links", "no-hard-links"])
def test_a_file_that_is_there_is_never_replaced(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr("trainform.io.writer._linked", lambda old, new: False)
    staging = Staging(str(tmp_path), "staging-1", record="")
    create(staging, "keys/a.yaml", b"1")
    create(staging, "keys/b.yaml", b"2")
    with pytest.raises(FileExistsError):
        create(staging, "keys/a.yaml", b"3")
    assert [(tmp_path / "keys" / name).read_bytes() for name in ("a.yaml", "b.yaml")] == [b"1", b"2"]
