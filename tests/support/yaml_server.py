"""The real yaml-language-server, spoken to over standard input and output as an editor does."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 60
"""Seconds until an answer is overdue; a good one comes within a second."""


def command() -> str | None:
    """The program: what YAML_LANGUAGE_SERVER names, else the one on the PATH."""
    return os.environ.get("YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")


class Squiggle(NamedTuple):
    """A problem as an editor underlines it; line and column count from 1."""

    line: int
    column: int
    message: str


class YamlServer:
    """A running server with a folder open in it."""

    def __init__(self, process: subprocess.Popen[bytes], root: Path, settings: Mapping[str, Any]) -> None:
        self.root = root
        self._process = process
        self._settings = settings
        self._last = 0
        self._versions: dict[str, int] = {}
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._receive, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        workspace = {"configuration": True, "workspaceFolders": True}
        documents = {
            "hover": {"contentFormat": ["markdown"]},
            "completion": {"completionItem": {"snippetSupport": True}},
        }
        self._ask(
            "initialize",
            processId=os.getpid(),
            rootUri=root.as_uri(),
            workspaceFolders=[folder],
            capabilities={"workspace": workspace, "textDocument": documents},
        )
        self._tell("initialized")

    def open(self, file: str, text: str) -> list[Squiggle]:
        """Opens a text as a file of the folder, or types it into the open one; the problems, in their order."""
        uri, version = self._uri(file), self._versions.get(file, 0) + 1
        self._versions[file] = version
        document = {"uri": uri, "version": version}
        if version == 1:
            self._tell("textDocument/didOpen", textDocument={**document, "languageId": "yaml", "text": text})
        else:
            self._tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])
        while True:
            message = self._next()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                starts = [(each["range"]["start"], each["message"]) for each in message["params"]["diagnostics"]]
                return sorted(Squiggle(at["line"] + 1, at["character"] + 1, text) for at, text in starts)

    def complete(self, file: str, line: int, column: int) -> list[str]:
        """What is offered at a place of an open file."""
        found = self._at("textDocument/completion", file, line, column)
        return [each["label"] for each in found["items"]]

    def hover(self, file: str, line: int, column: int) -> str:
        """The text shown at a place of an open file; empty if there is none."""
        found = self._at("textDocument/hover", file, line, column)
        return str(found["contents"]["value"]) if found else ""

    def _at(self, method: str, file: str, line: int, column: int) -> Any:
        position = {"line": line - 1, "character": column - 1}
        return self._ask(method, textDocument={"uri": self._uri(file)}, position=position)

    def _uri(self, file: str) -> str:
        return (self.root / file).as_uri()

    def _ask(self, method: str, **params: Any) -> Any:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._last and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def _tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def _next(self) -> dict[str, Any]:
        """The next message, after an answer to it if the server asks something."""
        message = self._received.get(timeout=PATIENCE)
        if "method" in message and "id" in message:
            self._send({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: dict[str, Any]) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        return [self._section(each["section"]) for each in message["params"]["items"]]

    def _section(self, name: str) -> dict[str, Any]:
        """The settings below a name, as editors nest them."""
        prefix = f"{name}."
        return {key.removeprefix(prefix): value for key, value in self._settings.items() if key.startswith(prefix)}

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> None:
        assert self._process.stdout
        while line := self._process.stdout.readline():
            size = int(line.removeprefix(b"Content-Length: "))
            self._process.stdout.readline()
            self._received.put(json.loads(self._process.stdout.read(size)))


@contextmanager
def yaml_server(program: str, root: Path, settings: Mapping[str, Any]) -> Iterator[YamlServer]:
    """The server with the folder `root` open, and settings by their dotted names. It takes no schema from a network."""
    given = {"yaml.schemaStore": {"enable": False}, "yaml.validate": True, "yaml.hover": True, **settings}
    process = subprocess.Popen([program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield YamlServer(process, root, given)
    finally:
        process.kill()
        process.communicate()
