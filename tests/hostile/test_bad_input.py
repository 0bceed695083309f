"""Exit code 70 stands for a bug of ours: no input leads to it, whatever command reads it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run

COMMANDS = (
    ("render",),
    ("render", "--format", "json"),
    ("validate",),
    ("validate", "--format", "sarif"),
    ("validate", "--format", "junit"),
    ("check",),
    ("check", "--base", "HEAD"),
    ("ci",),
    ("diff",),
    ("diff", "--format", "json"),
    ("diff", "--format", "markdown"),
    ("report",),
    ("capacity",),
    ("explain", "llm"),
    ("upgrade", "--all"),
    ("upgrade", "--all", "--dry-run"),
    ("rerun", "llm"),
    ("keys",),
    ("runtimes",),
    ("schema", "--editor"),
    ("cmp", "generate"),
    ("cmp", "parameters"),
)


def manifest(repository: Repository) -> Path:
    return next((repository.root / "rendered").rglob("jobset-*.yaml"))


def lock(repository: Repository) -> Path:
    return next((repository.root / ".trainform" / "locks").rglob("*.lock"))


def nameless_environment(repository: Repository) -> None:
    repository.write("environments/prod/environment.yaml", environment().replace("name: prod", "labels: {}"))


def manifest_without_a_kind(repository: Repository) -> None:
    manifest(repository).write_text("apiVersion: v1\nmetadata: {name: x}\n")


def manifest_of_lists(repository: Repository) -> None:
    manifest(repository).write_text("apiVersion: [v1]\nkind: [JobSet]\nmetadata: [x]\nspec: [1]\n")


def jobset_without_a_spec(repository: Repository) -> None:
    manifest(repository).write_text("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: llm}\n")


def surrogates_in_a_lock(repository: Repository) -> None:
    path = lock(repository)
    path.write_text(path.read_text().replace('": "', '": "\\ud800'))


def surrogates_in_the_name_of_a_lock(repository: Repository) -> None:
    path = lock(repository)
    path.write_text(path.read_text().replace('"source": "', '"source": "\\ud800'))


def nul_in_the_settings(repository: Repository) -> None:
    repository.write("trainform.yaml", 'jobs: "a\\0b"\n')


def nul_in_all_settings(repository: Repository) -> None:
    repository.write(
        "trainform.yaml", "".join(f'{key}: "{key}\\0"\n' for key in ("runtimes", "environments", "rendered"))
    )


def nul_in_a_name(repository: Repository) -> None:
    repository.write("jobs/nul.yaml", job('"a\\0b"', namespace='"m\\0l"'))


def nul_in_the_facts_of_an_environment(repository: Repository) -> None:
    text = environment() + '  cluster: {files: ["a\\0b"]}\n  secrets: {mode: sealed-secret, certificate: "a\\0b"}\n'
    repository.write("environments/prod/environment.yaml", text)


def a_number_beyond_64_bits(repository: Repository) -> None:
    amounts = "    resourcesPerNode: {requests: {cpu: 1e30}, limits: {memory: 1e300}}\n"
    repository.write("jobs/big.yaml", job("big") + amounts)
    repository.write(
        "environments/prod/environment.yaml", environment() + "  scheduling: {gang: {scheduler: volcano}}\n"
    )


def heads_that_are_no_texts(repository: Repository) -> None:
    repository.write("jobs/heads.yaml", "apiVersion: [a]\nkind: TrainJob\nmetadata: {name: [a]}\n---\nkind: {a: b}\n")


def a_file_name_that_is_no_text(repository: Repository) -> None:
    (repository.root / "jobs" / "w\udce9ird.yaml").write_text("kind: TrainJob\n")


def a_file_name_with_line_breaks(repository: Repository) -> None:
    repository.write("jobs/a\n::error::b.yaml", job("other", nodes="many"))


def folders_in_place_of_files(repository: Repository) -> None:
    for path in (manifest(repository), lock(repository), repository.root / "trainform.yaml"):
        path.unlink()
        path.mkdir()


DAMAGES = (
    nameless_environment,
    manifest_without_a_kind,
    manifest_of_lists,
    jobset_without_a_spec,
    surrogates_in_a_lock,
    surrogates_in_the_name_of_a_lock,
    nul_in_the_settings,
    nul_in_all_settings,
    nul_in_a_name,
    nul_in_the_facts_of_an_environment,
    a_number_beyond_64_bits,
    heads_that_are_no_texts,
    a_file_name_that_is_no_text,
    a_file_name_with_line_breaks,
    folders_in_place_of_files,
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Repository:
    """A rendered and committed job, in the current folder."""
    made = Repository(tmp_path)
    made.write("jobs/llm.yaml", job("llm"))
    made.write("runtimes/torch.yaml", runtime("example/train:1"))
    made.write("environments/prod/environment.yaml", environment())
    monkeypatch.chdir(tmp_path)
    assert run(["render"]) == 0
    made.start_git()
    made.commit()
    capfd.readouterr()
    return made


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_no_command_takes_it_for_a_bug(repository, capfd, damage: Callable[[Repository], None]):
    damage(repository)
    codes = {command: run(command) for command in COMMANDS}
    assert {command: code for command, code in codes.items() if code not in (0, 1, 2)} == {}, capfd.readouterr().err


@pytest.mark.parametrize(
    "item",
    [
        {"apiVersion": ["v1"], "kind": "ConfigMap", "metadata": {"name": "x"}},
        {"apiVersion": {"a": 1}, "kind": "TrainJob", "metadata": {"name": "x"}},
        {"apiVersion": ["trainer.kubeflow.org/v1alpha1"], "kind": ["TrainJob"], "metadata": {"name": ["x"]}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": ["x"], "data": ["y"]},
    ],
)
@pytest.mark.parametrize("place", ["items", "functionConfig"])
def test_a_function_is_given_what_is_no_object(monkeypatch, capfdbinary, item, place):
    given = {
        "apiVersion": ["a"],
        "kind": "ResourceList",
        "items": [item],
        **({place: item} if place != "items" else {}),
    }
    assert _with_stdin(monkeypatch, json.dumps(given).encode(), ["krm"]) in (0, 2)


def _with_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes, arguments: list[str]) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    return run(arguments)
