"""`trainform run` executes what a job says; nothing else does, and what the job says stays within its bounds."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.attacks import COMMANDS, Victim
from support.local_runs import LocalRepository, config_map, container, trainer

ROOT = Path(__file__).parents[2]


def test_no_other_command_runs_what_a_job_says(victim: Victim):
    bait = victim.outside / "ran"
    text = (victim.root / "jobs" / "llm.yaml").read_text()
    victim.write("jobs/llm.yaml", f"{text}    command: [touch, {bait}]\n")
    for command in COMMANDS:
        victim.trainform(command)
    assert not bait.exists()
    assert str(bait) in (victim.root / "rendered/prod/ml/llm/jobset-llm.yaml").read_text()


def test_nothing_that_ci_runs_runs_a_job():
    files = [
        ROOT / "action.yml",
        *(ROOT / "ci").iterdir(),
        *(ROOT / "compiler/trainform/workspace/bootstrap").rglob("*"),
    ]
    texts = {file: file.read_text() for file in files if file.is_file() and file.suffix != ".pyc"}
    assert len(texts) > 10
    assert [file for file, text in texts.items() if re.search(r"trainform run\b|\brun run\b", text)] == []


def test_what_a_pod_writes_commands_neither_a_terminal_nor_ci(tmp_path: Path):
    repository = LocalRepository(tmp_path)
    repository.steps(trainer(container(r"printf '::error::x\n\033]0;title\007\n##[error]y\n'")))
    ran = repository.run()
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    assert ran.lines("node-0-0") == ["::error::x", r"\x1b]0;title\x07", r"\x23#[error]y"]
    assert [line for line in ran.out.splitlines() if not line.startswith("node-0-0 | ")] == []


def test_a_job_of_more_pods_than_a_machine_bears_is_refused_before_any_starts(tmp_path: Path):
    repository = LocalRepository(tmp_path)
    repository.steps(trainer(container("echo started"), pods=20_000))
    ran = repository.run("--timeout", "1")
    assert (ran.code, ran.out) == (2, "")
    assert "TF891: the job has 20,000 pods, and a local run starts at most 200" in ran.err
    assert "--nodes 2" in ran.err


@pytest.mark.parametrize("path", ["../out", "x/../../out", "/etc/out"])
def test_no_file_of_a_volume_leads_out_of_it(tmp_path: Path, path: str):
    repository = LocalRepository(tmp_path / "repository")
    mounts = [{"name": "files", "mountPath": "/files"}]
    volume = {"name": "files", "configMap": {"name": "files", "items": [{"key": "a", "path": path}]}}
    repository.steps(trainer(container("echo started", volumeMounts=mounts), pod={"volumes": [volume]}))
    repository.job("steps", {}, config_map("files", {"a": "x"}))
    ran = repository.run("--sandbox", "none")
    assert (ran.code, ran.out) == (2, "")
    assert [*tmp_path.rglob("out")] == []


def test_a_file_in_the_place_of_a_folder_of_a_volume_is_told_with_its_job(tmp_path: Path):
    repository = LocalRepository(tmp_path / "repository")
    mounts = [{"name": "files", "mountPath": "/files"}]
    items = [{"key": "x", "path": "a"}, {"key": "x", "path": "a/./b"}]
    volume = {"name": "files", "configMap": {"name": "files", "items": items}}
    repository.steps(trainer(container("echo started", volumeMounts=mounts), pod={"volumes": [volume]}))
    repository.job("steps", {}, config_map("files", {"x": "1"}))
    ran = repository.run("--sandbox", "none")
    assert (ran.code, ran.out) == (2, "")
    assert (
        'jobs/fit.yaml:1:1: error TF891: volume "files" has a file a, and another one in a folder of that name: a/b'
        in ran.err
    )


@pytest.mark.parametrize("claim", ["../../../out", "..", ".", "OUTSIDE/out", "x\0y"])
def test_no_claim_leads_out_of_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claim: str):
    scratch = tmp_path / "outside" / "scratch"
    scratch.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    repository = LocalRepository(tmp_path / "repository")
    name = claim.replace("OUTSIDE", str(tmp_path / "outside"))
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
    mounts = [{"name": "data", "mountPath": "/data"}]
    repository.steps(trainer(container("echo started", volumeMounts=mounts), pod={"volumes": [volume]}))
    ran = repository.run("--sandbox", "none")
    assert (ran.code, ran.out) == (2, "")
    assert "TF891" in ran.err
    assert [*(tmp_path / "outside").rglob("*")] == [scratch]


@pytest.mark.parametrize("path", ["", ".", "a\0b"])
def test_a_path_that_names_no_file_of_a_volume_is_told(tmp_path: Path, path: str):
    repository = LocalRepository(tmp_path / "repository")
    mounts = [{"name": "files", "mountPath": "/files"}]
    volume = {"name": "files", "configMap": {"name": "files", "items": [{"key": "a", "path": path}]}}
    repository.steps(trainer(container("echo started", volumeMounts=mounts), pod={"volumes": [volume]}))
    repository.job("steps", {}, config_map("files", {"a": "x"}))
    ran = repository.run("--sandbox", "none")
    assert (ran.code, ran.out, "TF891" in ran.err) == (2, "", True)


@pytest.mark.parametrize("fields", [{"args": ["a\0b"]}, {"env": [{"name": "A", "value": "a\0b"}]}])
def test_what_no_process_can_be_given_is_told(tmp_path: Path, fields: dict[str, Any]):
    repository = LocalRepository(tmp_path / "repository")
    repository.steps(trainer(container("true", **fields), job={"backoffLimit": 0}))
    ran = repository.run("--sandbox", "none")
    assert ran.code == 128
    assert ran.lines("node-0-0") == ["cannot start sh: embedded null byte"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_value_of_a_secret_is_on_no_command_line_and_in_no_file_that_stays(tmp_path: Path):
    repository = LocalRepository(tmp_path / "repository")
    (tmp_path / "values").mkdir()
    (tmp_path / "values" / "token").write_text("hunter2")
    env = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]
    script = "tr '\\0' '\\n' < /proc/$PPID/cmdline; echo ${#TOKEN}; for f in $(tr '\\0' ' ' < /proc/$PPID/cmdline); do "
    script += 'case "$f" in *.json) test -e "$f" && echo stays;; esac; done; true'
    repository.steps(trainer(container(script, env=env)))
    ran = repository.run("--secret", f"hub={tmp_path / 'values'}")
    assert ran.code == 0, ran.err
    assert "7" in ran.lines("node-0-0")
    assert any(line.endswith(".json") for line in ran.lines("node-0-0"))
    assert "stays" not in ran.lines("node-0-0")
    assert "hunter2" not in ran.out + ran.err
