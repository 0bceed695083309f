"""An API server for one namespace, with what a client of the Kubeflow SDK asks it: JobSets, pods, logs and events."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CREATED = "2026-01-02T03:04:05Z"


@dataclass(slots=True)
class FakeCluster:
    """`jobsets` by name, with their conditions; each has `nodes` running pods, which log `lines`. `asked` are the paths
    of requests. `down`: every request is an error 500."""

    url: str = ""
    jobsets: dict[str, list[str]] = field(default_factory=dict)
    nodes: int = 1
    lines: list[str] = field(default_factory=lambda: ["epoch 1", "epoch 2"])
    asked: list[str] = field(default_factory=list)
    down: bool = False

    def answer(self, path: str) -> tuple[int, Any]:
        where = urlsplit(path)
        self.asked.append(unquote(path))
        *_, kind, name = ["", *where.path.strip("/").split("/")]
        if self.down:
            return 500, {"kind": "Status", "status": "Failure", "code": 500}
        if kind == "jobsets" and name in self.jobsets:
            conditions = [{"type": each, "status": "True"} for each in self.jobsets[name]]
            head = {"name": name, "namespace": "ml", "creationTimestamp": CREATED}
            return 200, {"kind": "JobSet", "metadata": head, "status": {"conditions": conditions}}
        if name == "log":
            return 200, "".join(f"{line}\n" for line in self.lines)
        if name == "pods":
            selector = parse_qs(where.query)["labelSelector"][0]
            asked = [each for each in self.jobsets if f"jobset-name={each}," in selector]
            return 200, {"items": [_pod(each, index) for each in asked for index in range(self.nodes)]}
        if name == "events":
            return 200, {"items": [_event(each) for each in self.jobsets]}
        return 404, {"kind": "Status", "status": "Failure", "code": 404}


def _pod(jobset: str, index: int) -> dict[str, Any]:
    labels = {"jobset.sigs.k8s.io/replicatedjob-name": "node", "batch.kubernetes.io/job-completion-index": f"{index}"}
    metadata = {"name": f"{jobset}-node-0-{index}-abcde", "labels": labels, "creationTimestamp": CREATED}
    container = {"name": "node", "image": "example/train:1", "resources": {"limits": {"nvidia.com/gpu": "2"}}}
    return {"metadata": metadata, "spec": {"containers": [container]}, "status": {"phase": "Running"}}


def _event(jobset: str) -> dict[str, Any]:
    involved = {"kind": "Pod", "name": f"{jobset}-node-0-0-abcde"}
    metadata = {"name": jobset, "namespace": "ml"}
    return {
        "metadata": metadata,
        "involvedObject": involved,
        "reason": "Pulled",
        "message": "",
        "firstTimestamp": CREATED,
    }


@contextmanager
def running() -> Iterator[FakeCluster]:
    cluster = FakeCluster()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = cluster.answer(self.path)
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    cluster.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cluster
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
