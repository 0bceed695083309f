"""The API server's rules for container probes and lifecycle hooks."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.k8s.names import port_name
from trainform.k8s.rules.parts import MOST_PORT, Found, check_at_least, check_between, check_one_of
from trainform.k8s.tree import Tree, number, table, tables, text

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def check(container: Tree, path: Path, found: Found) -> None:
    """Probes and `lifecycle` of a container."""
    for kind in _PROBES:
        if type(container.get(kind)) is dict:
            _check_probe(kind, container[kind], (*path, kind), found)
    lifecycle = table(container, "lifecycle")
    for hook in _HOOKS if lifecycle else ():
        if type(lifecycle.get(hook)) is dict:
            _check_handler(lifecycle[hook], _HOOK_HANDLERS, (*path, "lifecycle", hook), found)


def check_runs_to_end(init_container: Tree, path: Path, found: Found) -> None:
    """An init container that must finish before the next one starts has no probes."""
    for key in (*_PROBES, "lifecycle"):
        if init_container.get(key) is not None:
            message = "must not be set on an init container that is not a sidecar"
            found.tell((*path, key), "TF529", message, f"remove {key}, or make it a sidecar with restartPolicy: Always")


def _check_probe(kind: str, probe: Tree, path: Path, found: Found) -> None:
    _check_handler(probe, _HANDLERS, path, found)
    check_at_least(probe, 0, _COUNTS, "TF528", path, found)
    if kind != "readinessProbe":
        if (number(probe, "successThreshold") or 1) > 1:
            found.tell((*path, "successThreshold"), "TF528", f"must be 1 for a {kind}")
        check_at_least(probe, 1, ("terminationGracePeriodSeconds",), "TF528", path, found)
    elif probe.get("terminationGracePeriodSeconds") is not None:
        message, hint = "must not be set for a readinessProbe", "remove it"
        found.tell((*path, "terminationGracePeriodSeconds"), "TF528", message, hint)


def _check_handler(tree: Tree, handlers: tuple[str, ...], path: Path, found: Found) -> None:
    """A probe or hook has exactly one handler, with a valid port."""
    kind = check_one_of(tree, handlers, "action", "TF528", path, found)
    action, path = table(tree, kind), (*path, kind)
    if kind == "exec" and not action.get("command"):
        found.tell((*path, "command"), "TF528", "must have at least one entry")
    if kind in ("httpGet", "tcpSocket", "grpc"):
        _check_port(action, path, found)
    for index, header in enumerate(tables(action, "httpHeaders")):
        if not text(header, "name"):
            found.tell((*path, "httpHeaders", index, "name"), "TF528", "must not be empty")


def _check_port(action: Tree, path: Path, found: Found) -> None:
    check_between(action, 1, MOST_PORT, ("port",), "TF528", path, found)
    port = action.get("port")
    if type(port) is str and (reason := port_name(port)):
        hint = f"write {port} without quotes" if port.isdecimal() else ""
        found.tell((*path, "port"), "TF528", f'"{port}" {reason}', hint)
