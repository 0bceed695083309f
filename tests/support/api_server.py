"""A Kubernetes API server on the loopback device: discovery, lists with pages, watches, objects, logs, dry runs of
server-side apply, and every way to fail that a test asks for. It holds what tests put into it, and stores nothing by
itself."""

from __future__ import annotations

import copy
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

Tree = dict[str, Any]
Headers = tuple[tuple[str, str], ...]

KINDS = (
    ("v1", "Namespace", "namespaces", False), ("v1", "Node", "nodes", False), ("v1", "Pod", "pods", True),
    ("v1", "ConfigMap", "configmaps", True), ("v1", "LimitRange", "limitranges", True),
    ("v1", "ResourceQuota", "resourcequotas", True), ("v1", "Secret", "secrets", True),
    ("apps/v1", "Deployment", "deployments", True),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", False),
    ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", False),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", False),
)  # fmt: skip
"""Version, kind, plural and whether it has a namespace: what every cluster has."""

KUEUE = tuple(
    ("kueue.x-k8s.io/v1beta2", kind, plural, kind in ("LocalQueue", "Workload"))
    for kind, plural in (
        ("ClusterQueue", "clusterqueues"), ("Cohort", "cohorts"), ("LocalQueue", "localqueues"),
        ("ResourceFlavor", "resourceflavors"), ("Topology", "topologies"), ("Workload", "workloads"),
        ("WorkloadPriorityClass", "workloadpriorityclasses"),
    )
)  # fmt: skip
JOBSET = (("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", True),)
ALL = (*KINDS, *KUEUE, *JOBSET)


class Fault(NamedTuple):
    """Instead of the answer: a status with a message of the API, or `kind`: `close` (no answer), `half` (the connection
    ends within the body), `slow` (no answer within `seconds`), `page` (HTML of a proxy). Of a watch alone: `error` (an
    event with the status), `line` (the connection ends within an event), `end` (no event), `odd` (the event is the
    message)."""

    status: int = 0
    message: str = ""
    kind: str = ""
    headers: Headers = ()
    seconds: float = 0.5


class Seen(NamedTuple):
    """A request that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Event(NamedTuple):
    """What happened to an object; `revision` is the cluster's own count."""

    revision: int
    kind: str
    tree: Tree


class ApiServer:
    """`page` is the most objects of a page. `admit` may change an applied object, or raise Refusal, as a webhook."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.kinds = list(ALL)
        self.objects: list[Tree] = []
        self.logs: dict[str, str] = {}
        self.faults: dict[str, list[Fault]] = {}
        self.denied: set[str] = set()
        self.seen: list[Seen] = []
        self.page = 500
        self.version = "v1.36.2"
        self.admit: Callable[[Tree], Tree] = copy.deepcopy
        self.revision = 1000
        self.compacted = 1000
        self.events: list[Event] = []
        self.changed = threading.Condition()
        self.is_closed = False
        self._when_watched: dict[str, list[Callable[[], object]]] = {}

    def put(self, *trees: Tree) -> None:
        for tree in trees:
            metadata = {
                "uid": f"uid-{len(self.objects)}",
                "resourceVersion": str(len(self.objects) + 100),
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "managedFields": [{"manager": "kubectl"}],
                **tree["metadata"],
            }
            self.objects.append({**copy.deepcopy(tree), "metadata": metadata})

    def change(self, tree: Tree) -> None:
        """Create or replace an object, and tell the watches."""
        before = [each for each in self.objects if _key(each) == _key(tree)]
        with self.changed:
            for each in before:
                self.objects.remove(each)
            self.put({**tree, "metadata": {**tree["metadata"], "resourceVersion": str(self.revision + 1)}})
            self._tell("MODIFIED" if before else "ADDED", self.objects[-1])

    def remove(self, tree: Tree) -> None:
        """Delete an object, and tell the watches."""
        with self.changed:
            self.objects = [each for each in self.objects if _key(each) != _key(tree)]
            self._tell("DELETED", {**tree, "metadata": {**tree["metadata"], "resourceVersion": str(self.revision + 1)}})

    def bookmark(self, version: str, kind: str) -> None:
        """Tell the watches of a kind how far they are."""
        with self.changed:
            metadata = {"resourceVersion": str(self.revision + 1)}
            self._tell("BOOKMARK", {"apiVersion": version, "kind": kind, "metadata": metadata})

    def forget(self) -> None:
        """A watch from an earlier version is too old from now on."""
        self.revision += 1
        self.compacted = self.revision

    def when_watched(self, plural: str, *actions: Callable[[], object]) -> None:
        """Do one of these at each watch of a kind that begins, before its first event."""
        self._when_watched.setdefault(plural, []).extend(actions)

    def _tell(self, kind: str, tree: Tree) -> None:
        self.revision += 1
        self.events.append(Event(self.revision, kind, copy.deepcopy(tree)))
        self.changed.notify_all()

    def watched(self, seen: Seen) -> Iterator[Tree]:
        """The events of a watch, until its time is over."""
        version, plural, namespace = _place(seen.path)
        if actions := self._when_watched.get(plural):
            actions.pop(0)()
        since, end = int(seen.query["resourceVersion"]), time.monotonic() + float(seen.query["timeoutSeconds"])
        if since < self.compacted:
            yield {"type": "ERROR", "object": status(410, f"too old resource version: {since}")}
            return
        kind = next(each[1] for each in self.kinds if (each[0], each[2]) == (version, plural))
        while not self.is_closed and time.monotonic() < end:
            with self.changed:
                news = [each for each in self.events if each.revision > since]
                if not news:
                    self.changed.wait(0.05)
            for each in news:
                since = each.revision
                if each.tree["kind"] == kind and namespace in ("", each.tree["metadata"].get("namespace", "")):
                    yield {"type": each.kind, "object": each.tree}

    def fail(self, path: str, *faults: Fault) -> None:
        """The next requests of a path fail so, one after the other; watches, if `?watch` follows the path."""
        self.faults.setdefault(path, []).extend(faults)

    def deny(self, *plurals: str) -> None:
        """No right to read these: `pods`, `pods/log`, `pods?watch`."""
        self.denied.update(plurals)

    def kubeconfig(self, file: Path, user: Tree | None = None) -> Path:
        """A kubeconfig outside of any repository; its token is `secret-token`."""
        text = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.address}}],
            "users": [{"name": "test", "user": user or {"token": "secret-token"}}],
        }
        file.write_text(json.dumps(text))
        return file

    def answer(self, seen: Seen) -> tuple[int, Tree | str]:
        parts = [unquote(part) for part in seen.path.strip("/").split("/")]
        if seen.path == "/version":
            return 200, {"gitVersion": self.version}
        if seen.headers.get("authorization") != "Bearer secret-token":
            return 401, status(401, "Unauthorized")
        version, rest = ("v1", parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
        if not rest:
            return self._resources(version)
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        plural, name = rest[0], rest[1] if len(rest) > 1 else ""
        asked = "?".join([plural, "watch"]) if seen.query.get("watch") else "/".join((plural, *rest[2:]))
        if plural in self.denied or asked in self.denied:
            verb = "get" if name else "watch" if seen.query.get("watch") else "list"
            message = f'{plural} is forbidden: User "ci" cannot {verb} resource "{plural}" in API group "x"'
            return 403, status(403, message)
        if (version, plural) not in [(each[0], each[2]) for each in self.kinds]:
            return 404, status(404, "the server could not find the requested resource")
        if rest[2:] == ["log"]:
            return 200, self.logs.get(f"{namespace}/{name}", "")
        if name:
            return self._one(seen, version, plural, namespace, name)
        return self._list(seen, version, plural, namespace)

    def _resources(self, version: str) -> tuple[int, Tree]:
        own = [each for each in self.kinds if each[0] == version]
        if not own:
            return 404, status(404, "the server could not find the requested resource")
        resources = [{"name": plural, "kind": kind, "namespaced": spaced} for _, kind, plural, spaced in own]
        return 200, {"kind": "APIResourceList", "groupVersion": version, "resources": resources}

    def _named(self, version: str, plural: str, namespace: str) -> list[Tree]:
        kind = next(each[1] for each in self.kinds if (each[0], each[2]) == (version, plural))
        return [
            tree
            for tree in self.objects
            if (tree["apiVersion"], tree["kind"]) == (version, kind)
            and namespace in ("", tree["metadata"].get("namespace", ""))
        ]

    def _one(self, seen: Seen, version: str, plural: str, namespace: str, name: str) -> tuple[int, Tree]:
        found = [each for each in self._named(version, plural, namespace) if each["metadata"]["name"] == name]
        if seen.method == "PATCH":
            try:
                return (200 if found else 201), self._applied(json.loads(seen.body), found[0] if found else {})
            except Refusal as error:
                return error.code, status(error.code, str(error))
        if not found:
            return 404, status(404, f'{plural} "{name}" not found')
        return 200, found[0]

    def _applied(self, tree: Tree, live: Tree) -> Tree:
        stored: Tree = merged(live, self.admit(tree))
        return stored

    def _list(self, seen: Seen, version: str, plural: str, namespace: str) -> tuple[int, Tree]:
        found = self._named(version, plural, namespace)
        if wanted := seen.query.get("labelSelector"):
            key, _, value = wanted.partition("=")
            found = [each for each in found if each["metadata"].get("labels", {}).get(key) == value]
        start = int(seen.query.get("continue") or 0)
        end = start + min(self.page, int(seen.query.get("limit") or self.page))
        items = [{key: value for key, value in each.items() if key not in ("apiVersion", "kind")} for each in found]
        metadata: Tree = {"resourceVersion": str(self.revision)}
        if end < len(items):
            metadata["continue"] = str(end)
        return 200, {"kind": "List", "apiVersion": version, "metadata": metadata, "items": items[start:end]}


def _key(tree: Tree) -> tuple[str, str, str]:
    return tree["kind"], tree["metadata"].get("namespace", ""), tree["metadata"]["name"]


def _place(path: str) -> tuple[str, str, str]:
    """Version, plural and namespace of a path of a list."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    version, rest = ("v1", parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
    return version, rest[-1], rest[1] if len(rest) > 1 else ""


class Refusal(Exception):
    """What a webhook, or a check of the API server, says."""

    def __init__(self, message: str, code: int = 422) -> None:
        super().__init__(message)
        self.code = code


def status(code: int, message: str) -> Tree:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}


def merged(live: Any, applied: Any) -> Any:
    """As a server-side apply does it for maps; lists are replaced."""
    if isinstance(live, dict) and isinstance(applied, dict):
        return {**live, **{key: merged(live.get(key), value) for key, value in applied.items()}}
    return applied


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for each answer
    state: ApiServer

    def log_message(self, format: str, *args: Any) -> None:
        return None

    def do_GET(self) -> None:
        self._handle()

    def do_PATCH(self) -> None:
        self._handle()

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen = Seen(self.command, parts.path, query, {k.lower(): v for k, v in self.headers.items()}, body)
        self.state.seen.append(seen)
        is_watch = query.get("watch") == "true"
        waiting = self.state.faults.get(f"{parts.path}?watch" if is_watch else parts.path)
        if waiting:
            self._fail(waiting.pop(0))
            return
        code, answer = self.state.answer(seen)
        if is_watch and code == 200:
            self._stream(self.state.watched(seen))
            return
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self._send(code, data)

    def _send(self, code: int, data: bytes, headers: Headers = (), length: int | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[Tree | bytes], *, is_whole: bool = True) -> None:
        """A line for each event, in chunks."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            line = event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        if is_whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "error":
            self._stream([{"type": "ERROR", "object": status(fault.status, fault.message)}])
            return
        if fault.kind == "line":
            self._stream([b'{"type": "MODIFIED", "object": {"kind"'], is_whole=False)
            return
        if fault.kind in ("end", "odd"):
            self._stream([fault.message.encode() + b"\n"] if fault.message else [])
            return
        if fault.kind == "slow":
            time.sleep(fault.seconds)
            self.close_connection = True
        elif fault.kind == "close":
            self.close_connection = True
        elif fault.kind == "half":
            self._send(200, b'{"items": [', length=1000)
            self.close_connection = True
        elif fault.kind == "page":
            self._send(fault.status or 200, b"<html>sign in</html>", fault.headers)
        else:
            self._send(fault.status, json.dumps(status(fault.status, fault.message)).encode(), fault.headers)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may hang up."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """A server that runs until the end of the block."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    handler.state = ApiServer(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield handler.state  # type: ignore[attr-defined]
    finally:
        handler.state.is_closed = True  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()
        thread.join()
