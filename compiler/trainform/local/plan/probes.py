"""Probes as commands, which run where the container does."""

from __future__ import annotations

from trainform.k8s.tree import Tree, number, table, tables, text, texts
from trainform.local.plan.model import Probe

PYTHON = ""
"""The first word of a command that is a small program of ours: the interpreter of `trainform run` takes its place."""

_CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 1).close()"
_GET = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2]))"


def probe_of(probe: Tree, container: Tree, address: str) -> Probe | None:
    """The probe of a container; None for a kind that this machine cannot ask (gRPC)."""
    delay, period, timeout = (
        default if (found := number(probe, key)) is None else found
        for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("timeoutSeconds", 1))
    )
    command: tuple[str, ...] = tuple(texts(table(probe, "exec"), "command"))
    if socket := table(probe, "tcpSocket"):
        command = (PYTHON, "-c", _CONNECT, text(socket, "host") or address, _port(socket, container))
    elif get := table(probe, "httpGet"):
        scheme, host = (text(get, "scheme") or "HTTP").lower(), text(get, "host") or address
        url = f"{scheme}://{host}:{_port(get, container)}/{text(get, 'path').lstrip('/')}"
        command = (PYTHON, "-c", _GET, url, str(timeout))
    return Probe(command, delay, max(period, 1), max(timeout, 1)) if command else None


def _port(target: Tree, container: Tree) -> str:
    """The port's number; a name is looked up among the container's ports."""
    port = target.get("port")
    named = {text(each, "name"): each.get("containerPort") for each in tables(container, "ports")}
    return str(named.get(port, port) if isinstance(port, str) else port)
