"""What the commands that read a cluster do when an answer fails: of each way, what passes and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.api_server import ApiServer, Fault
from support.repositories import Repository, environment, job, runtime
from trainform.cluster import connection
from trainform.cluster.client import ATTEMPTS, Client

ASKED = {
    "facts pull": "/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
    "status": "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "diff --live": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/llm",
}
"""What each command asks for, which then fails."""

REFUSED = "the server answered {status} to GET {{path}}"
LOGIN = f"{REFUSED.format(status=302)}, which leads to https://login.example/: a proxy may want you to log in"


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "READ_TIMEOUT", 0.3)
    monkeypatch.setattr(Client.__init__, "__defaults__", (lambda _seconds: None,))  # pauses between attempts


@pytest.fixture
def repository(root: Path, trainform) -> Repository:
    found = Repository(root)
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    assert trainform("render").code == 0
    return found


def asked(server: ApiServer, command: str) -> int:
    return len([seen for seen in server.seen if seen.path == ASKED[command]])


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429),
        Fault(500, "etcd leader changed"),
        Fault(503),
        Fault(kind="slow"),
        Fault(kind="close"),
        Fault(kind="half"),
    ],
    ids=lambda each: each.kind or each.status,
)
@pytest.mark.parametrize("command", ASKED)
def test_what_passes_is_asked_again_and_changes_nothing(server, repository, trainform, command, fault):
    trainform(*command.split())
    server.seen.clear()
    expected = trainform(*command.split())
    times = asked(server, command)
    server.seen.clear()
    server.fail(ASKED[command], fault)
    assert trainform(*command.split()) == expected
    assert asked(server, command) == times + 1


@pytest.mark.parametrize("command", ["facts pull", "status"])
def test_a_list_that_expires_begins_anew(server, repository, trainform, command):
    trainform(*command.split())
    expected = trainform(*command.split())
    server.fail(ASKED[command], Fault(410, "the provided continue parameter is too old"))
    assert trainform(*command.split()) == expected


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(401, "Unauthorized"), "does not accept the credentials"),
        (Fault(302, kind="page", headers=(("Location", "https://login.example/?state=s3cret"),)), LOGIN),
        (Fault(418, kind="page"), f"{REFUSED.format(status=418)}: <html>sign in</html>"),
        (Fault(409, "the object has been modified"), "the object has been modified"),
        (Fault(429, "too many requests"), "429 too many requests"),
        (Fault(500, "etcd leader changed"), "500 etcd leader changed"),
        (Fault(kind="slow"), "no answer within 0.3 s"),
        (Fault(kind="close"), "the connection was closed before the answer was complete"),
        (Fault(kind="half"), "the connection was closed before the answer was complete"),
    ],
    ids=lambda each: None if isinstance(each, str) else each.kind or each.status,
)
@pytest.mark.parametrize("command", ASKED)
def test_what_does_not_pass_is_told_in_its_words(server, repository, trainform, command, fault, told):
    """But not 403: without a right, each command does as much as it can."""
    server.fail(ASKED[command], *[fault] * ATTEMPTS)
    before = repository.files("environments")
    ran = trainform(*command.split())
    assert ran.code == 2
    assert told.format(path=ASKED[command]) in ran.out + ran.err
    assert "s3cret" not in ran.out + ran.err
    assert repository.files("environments") == before
