"""Commands that reach a cluster: a repository says neither where it is nor how to log in, and a cluster is another
writer, whose words are shown as text and whose objects are written nowhere but in the Environment's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_server import ApiServer, Fault, api_server
from support.attacks import Victim


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with api_server() as running:
        yield running


@pytest.fixture
def pull(server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command, with a kubeconfig of the user's own."""
    return f"facts pull --kubeconfig {server.kubeconfig(tmp_path_factory.mktemp('home') / 'config')}"


def namespace(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_a_kubeconfig_of_the_repository_is_not_read(victim: Victim, server: ApiServer, pull: str) -> None:
    """It could start a program."""
    plugin = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": ["started"]}}
    file = server.kubeconfig(victim.root / "kubeconfig", plugin)
    for command in (f"facts pull --kubeconfig {file}", f"{pull}{os.pathsep}{file}"):
        ended = victim.trainform(command)
        assert ended.code == 2
        assert "lies in the repository" in ended.output
    assert not list(victim.root.rglob("started"))
    assert server.seen == []


def test_a_link_to_a_kubeconfig_of_the_repository_is_one_too(victim: Victim, server: ApiServer, tmp_path: Path) -> None:
    link = tmp_path / "config"
    link.symlink_to(server.kubeconfig(victim.root / "kubeconfig"))
    assert "lies in the repository" in victim.trainform(f"facts pull --kubeconfig {link}").output


def test_no_file_is_written_through_a_link(victim: Victim, server: ApiServer, pull: str) -> None:
    server.put(namespace("ml"))
    before = victim.everything()
    victim.link("environments/prod/cluster", victim.outside)
    ended = victim.trainform(pull)
    assert ended.code == 2
    assert "leads out of the repository" in ended.output
    assert victim.everything() == before


def test_no_file_is_replaced_through_a_link(victim: Victim, server: ApiServer, pull: str) -> None:
    server.put(namespace("ml"))
    before = victim.everything()
    victim.link("environments/prod/cluster/namespaces.yaml", victim.outside / "secrets.yaml")
    assert victim.trainform(pull).code == 2
    assert victim.everything() == before


def test_names_of_a_cluster_lead_nowhere(victim: Victim, server: ApiServer, pull: str) -> None:
    server.put(namespace("../../../x"), namespace("ml"))
    ended = victim.trainform(pull)
    assert ended.code == 0
    assert "Namespace ../../../x is left out" in ended.output
    written = {path.name for path in (victim.root / "environments").rglob("*") if path.is_file()}
    assert written == {"environment.yaml", "namespaces.yaml"}


@pytest.mark.parametrize("words", ["\x1b]0;owned\x07", "\n::error::forged", "\u202egnp.exe"])
def test_what_a_cluster_says_commands_nothing(victim: Victim, server: ApiServer, pull: str, words: str) -> None:
    server.fail("/api/v1", Fault(422, words))
    ended = victim.trainform(pull)
    assert ended.code == 2
    assert words not in ended.output
    assert not [line for line in ended.output.splitlines() if line.startswith("::")]
