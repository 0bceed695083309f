"""Commands that reach a cluster: a repository says neither where it is nor how to log in, and a cluster is another
writer, whose words are shown as text and whose objects are written nowhere but in the Environment's folder."""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.api_server import ApiServer, Fault, api_server
from support.attacks import Victim
from support.repositories import environment
from trainform.cluster import ClusterError, connection
from trainform.cluster.client import LONGEST_MESSAGE, MOST_PAGES, ApiAnswer, ApiRequest, Client
from trainform.cluster.connection import Login, connected
from trainform.cluster.resource import ApiResource
from trainform.review.live.dry_run import as_engines_apply, changes
from trainform.review.live.judge import first_failed, is_orphan, judged
from trainform.review.live.model import LiveStatus
from trainform.review.live.text import render_status
from trainform.workspace.live.facts import HEADER


@pytest.fixture(scope="module", autouse=True)
def no_proxy() -> Iterator[None]:
    """Whatever the machine has: also for the processes that run commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.delenv("no_proxy", raising=False)
        yield


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


def test_a_kubeconfig_beside_the_project_in_its_checkout_is_not_read(victim: Victim, server: ApiServer) -> None:
    """A commit brings it all the same."""
    file = server.kubeconfig(victim.root / "kubeconfig")
    victim.write("project/trainform.yaml", "")
    victim.write("project/environments/prod/environment.yaml", environment())
    ended = victim.nursery.run(victim.root / "project", "facts", "pull", "--kubeconfig", str(file))
    assert ended.code == 2
    assert "lies in the repository" in ended.output
    assert server.seen == []


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


@pytest.mark.parametrize("target", ["../../rendered/prod", "../../jobs", "."])
def test_facts_are_written_to_a_folder_of_their_own(victim: Victim, server: ApiServer, pull: str, target: str) -> None:
    """An engine would apply what is in `rendered/`, and a file with the header of facts would be removed elsewhere."""
    server.put(namespace("ml"))
    victim.write("jobs/notes.yaml", HEADER.decode())
    victim.link("environments/prod/cluster", target)
    before = victim.files("jobs", "rendered", "environments")
    for command in (pull, f"{pull} --check"):
        ended = victim.trainform(command)
        assert ended.code == 2
        assert "environments/prod/cluster is a link" in ended.output
    assert victim.files("jobs", "rendered", "environments") == before


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


ODD: tuple[Any, ...] = (
    None, 0, -1, 1.5, True, "", "x" * 300, [], {}, [1], {"a": 1}, {"a": None}, [None], "\ud800", "1e999", {"name": 3},
)  # fmt: skip


def places(tree: object, at: tuple = ()) -> Iterator[tuple]:
    """The way to everything in a tree."""
    if at:
        yield at
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from places(tree[key], (*at, key))


def with_odd_values(tree: dict) -> Iterator[dict]:
    """The tree with an odd value in one place, for each place and value, under a name of its own."""
    content = {key: tree[key] for key in tree if key not in ("apiVersion", "kind", "metadata")}
    for number, (at, value) in enumerate(product([*places(content)], ODD)):
        changed: dict = copy.deepcopy(tree)
        above: Any = changed
        for key in at[:-1]:
            above = above[key]
        above[at[-1]] = value
        changed["metadata"]["name"] = f"{tree['metadata']['name']}-{number}"
        yield changed


FACTS = """\
apiVersion: v1
kind: Node
metadata: {name: node, labels: {pool: a}}
spec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]}
status: {allocatable: {cpu: 1, memory: 1Gi}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: queue}
spec:
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: flavor}
spec: {nodeLabels: {pool: a}, topologyName: t}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: ml}
spec: {limits: [{type: Container, max: {cpu: 1}}]}
"""


def test_facts_of_any_shape_end_in_no_bug(victim: Victim, server: ApiServer, pull: str) -> None:
    server.objects += [odd for tree in yaml.safe_load_all(FACTS) for odd in with_odd_values(tree)]
    assert victim.trainform(pull).code == 0
    assert victim.trainform("validate").code == 0


def test_jobsets_of_any_shape_end_in_no_bug(victim: Victim) -> None:
    file = next((victim.root / "rendered").rglob("jobset-*.yaml"))
    git = yaml.safe_load(file.read_text())
    ended = {
        "conditions": [{"type": "Failed", "status": "True", "message": "m"}],
        "replicatedJobsStatus": [{"ready": 1}],
    }
    workload = {
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False"}], "admissionChecks": [{"name": "a"}]}
    }
    for live in with_odd_values({**git, "status": ended}):
        told = render_status(LiveStatus("prod", [judged("ml", "llm", git, live, None)]), colour=False)
        assert "ml/llm" in told
        assert isinstance(changes(live, as_engines_apply(git, live)), tuple)
        assert is_orphan(live, "prod") in (True, False)
    for odd in with_odd_values({"metadata": {"name": "w"}, **workload}):
        assert judged("ml", "llm", git, {**git, "spec": {"suspend": True}}, odd).state == "queued"


def test_pods_of_any_shape_end_in_no_bug() -> None:
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"}}
    pod = {"metadata": {"name": "p"}, "status": {"containerStatuses": [{"name": "node", "state": ended}]}}
    found = [first_failed([odd]) for odd in with_odd_values(pod)]
    assert {str(each) for each in found} > {"None"}


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
PATIENCE = 20
"""Seconds after which the servers below end, so that a client which waits for ever fails its test."""

Answering = Callable[[socket.socket], None]


def sent(data: bytes) -> Answering:
    return lambda peer: peer.sendall(data)


def again_and_again(first: bytes, then: bytes) -> Answering:
    def answer(peer: socket.socket) -> None:
        end = time.monotonic() + PATIENCE
        peer.sendall(first)
        while time.monotonic() < end:
            peer.sendall(then)
            time.sleep(0.01)

    return answer


@contextlib.contextmanager
def client_of(answering: Answering, folder: Path) -> Iterator[Client]:
    """A client of a server that speaks no HTTP of ours."""

    def serve() -> None:
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):
                peer.recv(1 << 16)
                answering(peer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with connected(Login(str(ApiServer(address).kubeconfig(folder / "config")))) as found:
            found.client._pause = lambda _: None
            yield found.client
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "answering",
    [
        again_and_again(HEAD + b"Content-Length: 100000000\r\n\r\n", b" "),
        again_and_again(b"HTTP/1.1 200 OK\r\n", b"x"),
        again_and_again(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["body", "head", "100 Continue"],
)
def test_an_answer_without_end_is_not_waited_for(
    answering: Answering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.5)
    with client_of(answering, tmp_path) as client, pytest.raises(ClusterError, match="was not complete within"):
        client.get("/version")


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}",
        HEAD + b"Content-Length: 5, 6\r\n\r\n{}",
        HEAD + b"\r\n" + b"[" * 1_000_000,
        HEAD + b'\r\n{"a": ' + b"9" * 5000 + b"}",
        b"HTTP/1.1 99999 OK\r\n\r\n{}",
        b"\x00",
    ],
    ids=["chunk of -5", "chunk of zz", "two lengths", "deep", "long number", "status", "no HTTP"],
)
def test_an_answer_that_is_none_is_an_error_of_the_cluster(answer: bytes, tmp_path: Path) -> None:
    with client_of(sent(answer), tmp_path) as client, pytest.raises(ClusterError):
        client.get("/version")


def test_nothing_is_unpacked(tmp_path: Path) -> None:
    """A few kilobytes may become gigabytes."""
    packed = gzip.compress(b'{"gitVersion": "v1.36.2"}')
    answering = sent(HEAD + b"Content-Encoding: gzip\r\n\r\n" + packed)
    with client_of(answering, tmp_path) as client, pytest.raises(ClusterError, match="not the JSON"):
        client.get("/version")


def test_a_list_of_pages_without_objects_ends() -> None:
    asked = 0

    def send(request: ApiRequest) -> ApiAnswer:
        nonlocal asked
        asked += 1
        assert asked <= MOST_PAGES, "asks on and on"
        return ApiAnswer(
            200, {}, json.dumps({"kind": "PodList", "metadata": {"continue": str(asked)}, "items": []}).encode()
        )

    with pytest.raises(ClusterError, match="does not end"):
        Client(send).listed(ApiResource("v1", "Node", "nodes", False))


def test_the_rights_that_a_refusal_names_are_looked_for_in_its_beginning() -> None:
    """The pattern begins anew at each `User`: over a message of any length, that takes hours."""
    rule = 'is forbidden: User "ci" cannot list resource "nodes"'
    for message, kind in ((rule, "NotAllowed"), ("x" * LONGEST_MESSAGE + rule, "Rejected")):
        answer = ApiAnswer(403, {}, json.dumps({"message": message}).encode())
        with pytest.raises(ClusterError) as error:
            Client(lambda _, answer=answer: answer).get("/version")  # type: ignore[misc]
        assert type(error.value).__name__ == kind
