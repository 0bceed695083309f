"""What a client does with each answer that a Kubernetes API server, or what stands before it, may give."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_server import ApiServer, Fault, api_server
from trainform.cluster import ClusterError, NotAllowed, NotFound, NotLoggedIn, Rejected, Unreachable, connection
from trainform.cluster.client import ATTEMPTS, LONGEST_PAUSE, Client
from trainform.cluster.connection import Login, connected
from trainform.cluster.resource import ApiResource
from trainform.cluster.served import Served

PODS = "/api/v1/pods"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(connection, "READ_TIMEOUT", 0.2)
    with api_server() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: ApiServer, tmp_path: Path, pauses: list[float]) -> Iterator[Client]:
    with connected(Login(str(server.kubeconfig(tmp_path / "config")))) as found:
        found.client._pause = pauses.append
        yield found.client


def pod(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml"}}


def names(client: Client) -> list[str]:
    resource = Served(client).find(["v1"], "Pod")
    assert resource is not None
    return [tree["metadata"]["name"] for tree in client.listed(resource)]


def test_a_list_is_read_page_by_page(server, client):
    server.put(*(pod(f"p{number}") for number in range(5)))
    server.page = 2
    assert names(client) == ["p0", "p1", "p2", "p3", "p4"]
    assert [seen.query.get("continue", "") for seen in server.seen if seen.path == PODS] == ["", "2", "4"]


def test_the_items_of_a_list_get_the_kind_that_it_leaves_out(server, client):
    server.put(pod("one"))
    resource = Served(client).find(["v1"], "Pod")
    assert resource is not None
    assert [(tree["apiVersion"], tree["kind"]) for tree in client.listed(resource)] == [("v1", "Pod")]


def test_a_list_whose_page_expired_begins_anew(server, client):
    server.put(*(pod(f"p{number}") for number in range(3)))
    server.page = 2
    original = server.answer

    def expires_once(seen):
        if "continue" in seen.query and not server.logs:
            server.logs["expired"] = "once"
            return 410, {"kind": "Status", "code": 410, "message": "The provided continue parameter is too old"}
        return original(seen)

    server.answer = expires_once
    assert names(client) == ["p0", "p1", "p2"]


def test_a_list_that_always_expires_ends(server, client):
    resource = Served(client).find(["v1"], "Pod")
    server.fail(PODS, *[Fault(410, "too old")] * 9)
    with pytest.raises(Unreachable, match="expired 3 times"):
        client.listed(resource)


def test_a_list_that_never_ends_is_given_up(server, client):
    resource = Served(client).find(["v1"], "Pod")
    server.answer = lambda seen: (200, {"kind": "PodList", "items": [], "metadata": {"continue": "again"}})
    with pytest.raises(Unreachable, match="does not end"):
        client.listed(resource)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500, "etcd leader changed"),
        Fault(502),
        Fault(503),
        Fault(504),
        Fault(429),
        Fault(kind="close"),
        Fault(kind="half"),
        Fault(kind="slow"),
    ],
    ids=lambda each: each.kind or each.status,
)
def test_what_passes_is_tried_again(server, client, pauses, fault):
    server.put(pod("one"))
    server.fail(PODS, fault, fault)
    assert names(client) == ["one"]
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("given", "waited"),
    [("7", 7.0), ("0", 0.0), ("86400", LONGEST_PAUSE), ("Wed, 21 Oct 2026 07:28:00 GMT", 0.5), ("-1", 0.5)],
)
def test_a_server_says_how_long_to_wait(server, client, pauses, given, waited):
    server.fail(PODS, Fault(429, headers=(("Retry-After", given),)))
    names(client)
    assert pauses == [waited]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(503, "apiserver is shutting down"), "503 apiserver is shutting down"),
        (Fault(kind="close"), "the connection was closed before the answer was complete"),
        (Fault(kind="half"), "the connection was closed before the answer was complete"),
        (Fault(kind="slow"), "no answer within 0.2 s"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.kind or each.status,
)
def test_what_does_not_pass_is_told(server, client, fault, told):
    server.fail(PODS, *[fault] * ATTEMPTS)
    with pytest.raises(Unreachable) as error:
        names(client)
    assert str(error.value) == f"no answer to GET {PODS} after {ATTEMPTS} attempts: {told}"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(401, "Unauthorized"), NotLoggedIn),
        (Fault(403, 'pods is forbidden: User "ci" cannot list resource "pods" in API group ""'), NotAllowed),
        (Fault(403, 'admission webhook "w" denied the request: you cannot do this'), Rejected),
        (Fault(404, "not found"), NotFound),
        (Fault(409, "conflict"), Rejected),
        (Fault(500, 'Internal error occurred: failed calling webhook "w": connection refused'), Rejected),
        (Fault(422, "invalid"), Rejected),
        (Fault(307, headers=(("Location", "http://127.0.0.1:1/"),)), Rejected),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else each.status,
)
def test_what_is_refused_is_not_tried_again(server, client, pauses, fault, kind):
    server.fail(PODS, fault)
    with pytest.raises(kind, match=fault.message or "307"):
        names(client)
    assert pauses == []
    assert len([seen for seen in server.seen if seen.path == PODS]) == 1


@pytest.mark.parametrize("body", ["<html>", "[]", '{"items": NaN}', "[" * 100_000])
def test_an_answer_that_is_none_of_an_api_server(server, client, body):
    server.answer = lambda seen: (200, body)
    with pytest.raises(Unreachable, match="is not the JSON of an API server"):
        client.get(PODS)


def test_what_a_server_says_stays_on_one_line(server, client):
    server.fail(PODS, Fault(422, "bad\n::error::forged\x1b[2J"))
    with pytest.raises(Rejected) as error:
        client.get(PODS)
    assert str(error.value) == "bad↵::error::forged\\x1b[2J"


def test_names_do_not_change_a_path(server, client):
    resource = ApiResource("v1", "Pod", "pods", namespaced=True)
    assert resource.path("a/b", "../x?y") == "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy"


def test_a_kind_is_asked_for_in_its_newest_version_that_is_served(server, client):
    server.kinds += [("kueue.x-k8s.io/v1beta1", "ClusterQueue", "clusterqueues", False)]
    served = Served(client)
    versions = ("kueue.x-k8s.io/v9", "kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
    found = served.find(versions, "ClusterQueue")
    assert found is not None
    assert found.version == "kueue.x-k8s.io/v1beta2"
    assert served.find(versions, "ClusterStew") is None
    assert len([seen for seen in server.seen if seen.path.endswith("v1beta2")]) == 1


def test_a_token_is_sent_and_never_told(server, client):
    server.fail(PODS, Fault(401, "Unauthorized"))
    with pytest.raises(NotLoggedIn) as error:
        client.get(PODS)
    assert server.seen[-1].headers["authorization"] == "Bearer secret-token"
    assert "secret-token" not in str(error.value)


def test_an_authority_s_certificate_that_cannot_be_used(server, tmp_path):
    file = server.kubeconfig(tmp_path / "config")
    text = json.loads(file.read_text())
    data = base64.b64encode(b"no certificate").decode()
    text["clusters"][0]["cluster"] = {
        "server": server.address.replace("http:", "https:"),
        "certificate-authority-data": data,
    }
    file.write_text(json.dumps(text))
    with pytest.raises(ClusterError) as error, connected(Login(str(file))) as found:
        found.client.get("/version")
    assert str(error.value).startswith("cannot connect to https://")


def test_a_proxy_of_an_unknown_kind(server, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "ftp://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    with (
        pytest.raises(ClusterError, match=f"no way to {server.address}: "),
        connected(Login(str(server.kubeconfig(tmp_path / "config")))) as found,
    ):
        found.client.get("/version")


def test_an_exec_plugin_logs_in(server, tmp_path):
    plugin = tmp_path / "plugin"
    version = "client.authentication.k8s.io/v1"
    credential = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": "secret-token"}})
    plugin.write_text(f"#!/bin/sh\necho '{credential}'\n")
    plugin.chmod(0o755)
    user = {"exec": {"apiVersion": version, "command": str(plugin), "interactiveMode": "Never"}}
    server.put(pod("one"))
    with connected(Login(str(server.kubeconfig(tmp_path / "config", user)))) as found:
        assert names(found.client) == ["one"]


@pytest.mark.parametrize("text", ["", "]", "a: [", "kind: Config\n", '{"current-context": "x", "contexts": 3}', "\0"])
def test_a_file_that_is_no_kubeconfig(tmp_path, text):
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ClusterError, match=str(file)), connected(Login(str(file))):
        pass


def test_without_a_kubeconfig(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(NotLoggedIn, match="does not exist; name one with --kubeconfig"), connected(Login()):
        pass


def test_a_kubeconfig_that_is_named_but_not_there(tmp_path):
    file = tmp_path / "none"
    with pytest.raises(NotLoggedIn, match=f"^no kubeconfig: {file} does not exist; name"), connected(Login(str(file))):
        pass


def two_contexts(server: ApiServer, file: Path, **changes: str) -> str:
    """A kubeconfig with the contexts `test` and `other`; `changes` are keys of its top."""
    text = json.loads(server.kubeconfig(file).read_text())
    text["contexts"].append({**text["contexts"][0], "name": "other"})
    del text["current-context"]
    file.write_text(json.dumps({**text, **changes}))
    return str(file)


@pytest.mark.parametrize("current", [{}, {"current-context": "gone"}, {"current-context": "test"}])
def test_a_context_that_is_named_need_not_be_current(tmp_path, server, current):
    with connected(Login(two_contexts(server, tmp_path / "config", **current), "other")) as found:
        assert found.context == "other"
        assert found.client.get("/version")


@pytest.mark.parametrize(
    ("current", "context", "told"),
    [
        ({}, "", "no context is current: name one with --context; known: test, other"),
        ({"current-context": "gone"}, "", 'no context "gone": known: test, other'),
        ({"current-context": "test"}, "tset", 'no context "tset": did you mean "test"\\?'),
    ],
)
def test_a_context_that_is_not_there_is_told_with_those_that_are(tmp_path, server, current, context, told):
    file = two_contexts(server, tmp_path / "config", **current)
    with pytest.raises(NotLoggedIn, match=f"^{file}: {told}$"), connected(Login(file, context)):
        pass


def test_a_server_that_is_not_there(tmp_path, server, monkeypatch):
    server.address = "http://127.0.0.1:1"
    with connected(Login(str(server.kubeconfig(tmp_path / "config")))) as found:
        found.client._pause = lambda seconds: None
        with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1 cannot be reached, or refused the connection"):
            found.client.get("/version")


def test_a_server_whose_certificate_is_not_known_is_not_asked_again(server, tmp_path, pauses):
    server.address = server.address.replace("http:", "https:")
    with connected(Login(str(server.kubeconfig(tmp_path / "config")))) as found:
        found.client._pause = pauses.append
        with pytest.raises(Unreachable, match="cannot connect to https://"):
            found.client.get("/version")
    assert pauses == []


def test_certificates_that_were_unpacked_are_gone_at_the_end(server, tmp_path, monkeypatch):
    """Private keys, too: the client package removes them only where Python ends by itself."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    data = base64.b64encode(b"no certificate").decode()
    user = {"client-certificate-data": data, "client-key-data": data}
    server.address = server.address.replace("http:", "https:")
    login = Login(str(server.kubeconfig(tmp_path / "config", user)))
    with pytest.raises(Unreachable, match="cannot connect to https://"), connected(login) as found:
        found.client.get("/version")
    assert list(scratch.iterdir()) == []
