"""An editor that keeps no rule: it sends what it likes, and reads what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

COMMAND = (sys.executable, "-P", "-m", "trainform", "lsp")
PATIENCE = 60.0
"""Seconds that a loaded machine may take."""

Json = dict[str, Any]


class RoughClient:
    """`answers` by id, and `shown` findings by URI; `messages` are what the user is told in a window."""

    def __init__(self, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.server = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd, env=env
        )
        self.answers: dict[object, Json] = {}
        self.shown: dict[str, list[Json]] = {}
        self.messages: list[str] = []
        self.noise: list[bytes] = []
        self._came = threading.Condition()
        self._last = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> RoughClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.kill()
        self.server.wait()
        self._reader.join()
        for stream in (self.server.stdin, self.server.stdout):
            assert stream is not None
            stream.close()

    def start(self, *folders: Path, process: int | None = None) -> None:
        shown = [{"uri": each.as_uri(), "name": each.name} for each in folders]
        params: Json = {"capabilities": {}, "processId": process, "rootUri": None, "workspaceFolders": shown}
        assert "result" in self.ask("initialize", params)
        self.tell("initialized", {})

    def write(self, body: bytes) -> None:
        """Send a body under a right header."""
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def tell(self, method: str, params: object) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def send(self, method: str, params: object) -> int:
        """Send a request; its id."""
        self._last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode())
        return self._last

    def ask(self, method: str, params: object) -> Json:
        return self.answer(self.send(method, params))

    def answer(self, number: int) -> Json:
        self.wait_for(lambda: number in self.answers, f"no answer to request {number}")
        return self.answers[number]

    def wait_for(self, what: Callable[[], bool], otherwise: str) -> None:
        with self._came:
            assert self._came.wait_for(what, PATIENCE), otherwise

    def sees(self, path: Path, code: str) -> None:
        self.wait_for(lambda: code in self.codes(path), f"never saw {code} in {path}")

    def codes(self, path: Path) -> list[str]:
        return [each["code"] for each in self.shown.get(path.as_uri(), ())]

    def open(self, path: Path, text: str) -> None:
        document = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, *changes: Json) -> None:
        document = {"uri": path.as_uri(), "version": self._last}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def changed_on_disk(self, *paths: Path) -> None:
        self.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": each.as_uri(), "type": 2} for each in paths]})

    def at(self, method: str, uri: str, line: int, character: int, **more: object) -> Json:
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.ask(f"textDocument/{method}", {**place, **more})

    def _read(self) -> None:
        stream = self.server.stdout
        assert stream is not None
        while header := stream.readline():
            length = 0
            while header not in (b"\r\n", b""):
                name, _, value = header.partition(b": ")
                if name == b"Content-Length":
                    length = int(value)
                elif name != b"Content-Type":
                    self.noise.append(header)
                header = stream.readline()
            with self._came:
                self._take(json.loads(stream.read(length) or b"{}"))
                self._came.notify_all()

    def _take(self, message: Json) -> None:
        params = message.get("params") or {}
        if "method" not in message:
            self.answers[message.get("id")] = message
        elif message["method"] == "textDocument/publishDiagnostics":
            self.shown[params["uri"]] = params["diagnostics"]
        elif message["method"] == "window/showMessage":
            self.messages.append(params["message"])
