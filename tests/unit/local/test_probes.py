"""Probes are commands, which succeed if the kubelet's would."""

from __future__ import annotations

import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from trainform.local.plan.model import Probe
from trainform.local.plan.probes import PYTHON, probe_of


def probe(**fields) -> Probe:
    found = probe_of(fields, {"ports": [{"name": "web", "containerPort": 8080}]}, "127.0.0.9")
    assert found is not None
    return found


def test_a_command_is_run_as_it_is():
    found = probe(exec={"command": ["test", "-e", "x"]}, initialDelaySeconds=5, periodSeconds=3, timeoutSeconds=2)
    assert found == Probe(("test", "-e", "x"), delay=5, period=3, timeout=2)


def test_times_have_the_defaults_of_kubernetes():
    assert probe(exec={"command": ["true"]})[1:] == (0, 10, 1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tcpSocket": {"port": 2222}}, ("127.0.0.9", "2222")),
        ({"tcpSocket": {"port": "web", "host": "localhost"}}, ("localhost", "8080")),
        ({"httpGet": {"port": "web", "path": "/ready"}}, ("http://127.0.0.9:8080/ready", "1")),
        ({"httpGet": {"port": 1, "scheme": "HTTPS"}, "timeoutSeconds": 4}, ("https://127.0.0.9:1/", "4")),
    ],
)
def test_sockets_and_pages_are_asked_at_the_address_of_the_pod(fields, words):
    found = probe(**fields)
    assert (found.command[0], found.command[3:]) == (PYTHON, words)


def test_what_cannot_be_asked_here_is_no_probe():
    assert probe_of({"grpc": {"port": 1}}, {}, "127.0.0.1") is None


def succeeds(**fields) -> bool:
    command = probe(**fields).command
    return subprocess.run([sys.executable, *command[1:]], capture_output=True).returncode == 0


@pytest.fixture
def server() -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/ready" else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_port
        serving.shutdown()


def test_the_commands_find_out(server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but nobody listens
        closed = free.getsockname()[1]
        here = {"host": "127.0.0.1"}
        asked = {
            "open": succeeds(tcpSocket={"port": server, **here}),
            "closed": succeeds(tcpSocket={"port": closed, **here}),
            "ready": succeeds(httpGet={"port": server, "path": "/ready", **here}),
            "not ready": succeeds(httpGet={"port": server, "path": "/", **here}),
        }
    assert asked == {"open": True, "closed": False, "ready": True, "not ready": False}
