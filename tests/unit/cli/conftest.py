"""A repository with one good job, and a way to run command lines in it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from support.api_server import ApiServer, api_server
from support.result_schemas import assert_valid
from trainform.cli import terminal
from trainform.cli.main import run

JOB = dedent(
    """\
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: {name}
      namespace: ml
    spec:
      runtimeRef:
        name: torch-distributed
      trainer:
        numNodes: {nodes}
        resourcesPerNode: {{limits: {{nvidia.com/gpu: 1}}}}
    """
)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def job(name: str = "llm", nodes: object = 2) -> str:
    return JOB.format(name=name, nodes=nodes)


@pytest.fixture(autouse=True)
def results_are_as_their_schemas_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every JSON document that a command prints or writes in a test of this folder."""
    json_of = terminal.json_of

    def checked(document: dict[str, Any] | list[Any]) -> str:
        assert_valid(document)
        return json_of(document)

    monkeypatch.setattr(terminal, "json_of", checked)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository, which is also the current folder."""
    (tmp_path / "trainform.yaml").write_text("")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "llm.yaml").write_text(job())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trainform(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    def call(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = run(arguments)
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """The API server that the user's kubeconfig names."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as running:
        monkeypatch.setenv("KUBECONFIG", str(running.kubeconfig(tmp_path_factory.mktemp("home") / "config")))
        yield running
