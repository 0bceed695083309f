"""`trainform status --watch` as a process: Ctrl-C, and a server that goes away and comes back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_server import ApiServer, Fault, api_server
from support.repositories import Repository, environment, job, runtime
from support.watching import Watch
from unit.cli.test_status import QUEUED, live

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "repository")
    found.write("environments/prod/environment.yaml", environment() + QUEUED)
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    subprocess.run([sys.executable, "-m", "trainform", "render"], cwd=found.root, check=True, capture_output=True)
    return found


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with api_server() as running:
        yield running


def watching(server: ApiServer, repository: Repository, folder: Path) -> Watch:
    config = str(server.kubeconfig(folder / "config"))
    return Watch(repository.root, "status", "--watch", KUBECONFIG=config, NO_PROXY="127.0.0.1")


def test_changes_are_told_as_they_happen_until_ctrl_c(server, repository, tmp_path):
    with watching(server, repository, tmp_path) as watch:
        watch.wait_for("1 job in prod: 1 not created")
        server.change(live(repository))
        assert watch.wait_for("running") == "ml/llm: not created → running (Jobs: 1 ready, 1 active)\n"
        server.change(live(repository, suspend=True))
        watch.wait_for("ml/llm: running → queued")
        code, told = watch.press_ctrl_c()
        assert (code, told.strip()) == (130, "")


def test_the_exit_code_is_that_of_the_last_state(server, repository, tmp_path):
    server.put(live(repository))
    with watching(server, repository, tmp_path) as watch:
        watch.wait_for("1 job in prod: 1 running")
        server.change(live(repository, "Failed"))
        assert watch.ended()[0] == 1


def test_a_server_that_goes_away_and_comes_back(server, repository, tmp_path):
    server.put(live(repository))
    server.fail(f"{JOBSETS}?watch", Fault(kind="line"), *[Fault(kind="close")] * 2)
    with watching(server, repository, tmp_path) as watch:
        watch.wait_for("note: the connection was lost, and is tried again")
        server.change(live(repository, "Completed"))
        code, told = watch.ended()
        assert code == 0
        assert "ml/llm: running → finished\n" in told
