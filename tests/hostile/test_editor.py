"""`trainform lsp` for an editor that keeps no rule, in a repository whose files a stranger made: each request is
answered, and so is the next keystroke; nothing outside is read, and nothing of the repository is run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.attacks import SECRET, Victim
from support.repositories import job
from support.rough_client import RoughClient

FAULTY = job("llm", nodes="x")


@pytest.fixture
def llm(victim: Victim) -> Path:
    return victim.root / "jobs/llm.yaml"


@pytest.fixture
def client(victim: Victim) -> Iterator[RoughClient]:
    with RoughClient(victim.root) as client:
        client.start(victim.root)
        yield client
        assert client.messages == []
        assert client.noise == []


def whole(text: str) -> dict[str, object]:
    return {"text": text}


def edit(line: int, start: int, end: int, text: str) -> dict[str, object]:
    places = ({"line": line, "character": each} for each in (start, end))
    return {"range": dict(zip(("start", "end"), places, strict=True)), "text": text}


# Rough editors.


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        "x",
        {"textDocument": 5},
        {"textDocument": {"uri": "file:///a"}, "position": {"line": -1, "character": 0}},
        {"textDocument": {"uri": "file:///a"}, "position": {"line": 2**70, "character": 0}},
    ],
)
def test_a_request_that_cannot_be_read_is_answered(client: RoughClient, params: object) -> None:
    assert client.ask("textDocument/hover", params)["error"] == {"code": -32602, "message": "Invalid Params"}


@pytest.mark.parametrize(
    "arguments", [None, [], [1, 2], [{"uri": 5}], [{"uri": "file:///a", "position": {"line": []}}]]
)
def test_a_command_takes_any_arguments(client: RoughClient, arguments: object) -> None:
    for command in ("trainform.openRendered", "trainform.closeRendered"):
        answer = client.ask("workspace/executeCommand", {"command": command, "arguments": arguments})
        assert answer["result"] is None


def test_requests_are_answered_before_the_start_and_after_the_shutdown(victim: Victim, llm: Path) -> None:
    with RoughClient(victim.root) as client:
        assert client.at("hover", llm.as_uri(), 8, 5)["error"]["code"] == -32002
        client.tell("textDocument/didOpen", {"textDocument": {"uri": llm.as_uri()}})
        client.start(victim.root)
        assert client.at("hover", llm.as_uri(), 8, 5)["result"] is not None
        assert client.ask("shutdown", None)["result"] is None
        assert client.at("hover", llm.as_uri(), 8, 5)["error"]["code"] == -32600
        client.tell("exit", None)
        assert client.server.wait(60) == 0


def test_requests_are_answered_without_the_notification_after_the_start(victim: Victim, llm: Path) -> None:
    with RoughClient(victim.root) as client:
        client.ask("initialize", {"capabilities": {}})
        assert client.at("hover", llm.as_uri(), 8, 5)["result"] is not None


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_an_edit_lands_in_its_line_whatever_else_looks_like_one(client: RoughClient, llm: Path, separator: str) -> None:
    """Only line feeds and carriage returns end a line for an editor."""
    text = f"# {separator}\n{job('llm')}"
    client.open(llm, text)
    line = text[: text.index("numNodes")].count("\n")
    client.change(llm, edit(0, 2, 3, ""), edit(line, 14, 15, "x"))
    client.sees(llm, "TF102")
    assert client.codes(llm) == ["TF102"]


def test_edits_of_no_open_file_and_of_places_that_are_not_there_do_no_harm(client: RoughClient, llm: Path) -> None:
    client.change(llm, whole("a: b"))
    client.tell("textDocument/didClose", {"textDocument": {"uri": llm.as_uri()}})
    client.open(llm, job("llm"))
    client.change(llm, edit(5_000, 7, 3, "# end\n"), edit(0, 9, 2, ""))
    client.change(llm, whole(FAULTY))
    client.sees(llm, "TF102")


def test_the_last_of_a_thousand_edits_counts(client: RoughClient, llm: Path) -> None:
    client.open(llm, job("llm"))
    for number in range(1_000):
        client.change(llm, whole(job("llm", nodes=f"x{number}")))
    client.wait_for(
        lambda: any('"x999"' in each["message"] for each in client.shown.get(llm.as_uri(), ())), "never saw the last"
    )


def test_requests_that_are_cancelled_or_shut_down_are_answered(client: RoughClient, llm: Path) -> None:
    params = {"textDocument": {"uri": llm.as_uri()}, "position": {"line": 8, "character": 5}}
    asked = [client.send("textDocument/hover", params) for _ in range(40)]
    for number in asked[:20]:
        client.tell("$/cancelRequest", {"id": number})
    client.tell("$/cancelRequest", {"id": "none"})
    asked.append(client.send("shutdown", None))
    for number in asked:
        client.answer(number)


def test_the_server_ends_with_an_editor_that_was_killed(victim: Victim) -> None:
    """Although another program, which the editor started, still has the end of the stream."""
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with RoughClient(victim.root) as client:
        client.start(victim.root, process=editor.pid)
        editor.send_signal(signal.SIGKILL)
        editor.wait()
        assert client.server.wait(60) == 1


# Hostile texts.


@pytest.mark.parametrize(
    "text",
    [
        f"{job('llm')}    b{' ' * 1_900_000}b\n",
        f"{job('llm')}    a: [{'{{' * 900_000}",
        f"{job('llm')}    a: {'[' * 1_900_000}",
        job("llm") + "# x\n" * 1_200_000,
        "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{'b' * bool(n)}{n - 1 if n else 'a'}, *a]\n" for n in range(40)),
        "{% for i in range(10 ** 9) %}\n{% endfor %}\n",
        job("llm").replace("llm", "\ud800\x00"),
    ],
    ids=["blanks", "braces", "brackets", "5 MB", "aliases", "loop", "surrogate"],
)
def test_whatever_is_in_a_file_it_is_answered_and_the_next_text_counts(
    client: RoughClient, llm: Path, victim: Victim, text: str
) -> None:
    path = victim.root / "jobs/loop.yaml.j2" if text.startswith("{%") else llm
    client.open(path, text)
    for method in ("hover", "completion", "definition", "prepareRename"):
        answer = client.at(method, path.as_uri(), 8, 5)
        assert "internal error" not in str(answer.get("error"))
    document = {"textDocument": {"uri": path.as_uri()}}
    assert "result" in client.ask("textDocument/documentSymbol", document)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 9_999_999, "character": 0}}
    asked = {**document, "range": everything, "context": {"diagnostics": []}}
    assert "result" in client.ask("textDocument/codeAction", asked)
    client.change(path, whole(FAULTY))
    client.sees(path, "TF102")


# What a repository may not do.


@pytest.mark.parametrize(
    "uri",
    [
        "{root}/jobs/link.yaml",
        "{root}/jobs/folder/secret.yaml",
        "{root}/../outside/secret.yaml",
        "{root}/jobs/%2e%2e/%2e%2e/outside/secret.yaml",
        "{root}",
        "{root}/jobs",
        "file:///dev/zero",
        "file:relative",
        "untitled:a",
        "http://[x",
        "file:///%00",
        "",
    ],
)
def test_nothing_outside_of_the_repository_is_told(victim: Victim, client: RoughClient, uri: str) -> None:
    victim.link("jobs/link.yaml", victim.outside / "secret.yaml")
    victim.link("jobs/folder", victim.outside)
    client.changed_on_disk(victim.root / "jobs/link.yaml")
    uri = uri.format(root=victim.root.as_uri())
    for method in ("hover", "completion", "definition", "prepareRename"):
        assert SECRET not in str(client.at(method, uri, 0, 12))
    command = {"command": "trainform.openRendered", "arguments": [{"uri": uri}]}
    assert client.ask("workspace/executeCommand", command)["result"] is None
    assert SECRET not in str(client.shown)


def test_a_repository_that_goes_takes_its_findings_along_and_is_read_again(
    victim: Victim, client: RoughClient, llm: Path, tmp_path: Path
) -> None:
    client.open(llm, FAULTY)
    client.sees(llm, "TF102")
    shutil.move(victim.root, tmp_path / "away")
    client.changed_on_disk(victim.root)
    client.wait_for(lambda: not any(client.shown.values()), "findings of a repository that is gone")
    client.change(llm, whole(job("llm").replace("numNodes", "numNode")))
    assert client.at("hover", llm.as_uri(), 8, 5)["result"] is None
    shutil.move(tmp_path / "away", victim.root)
    client.changed_on_disk(victim.root / "trainform.yaml")
    client.sees(llm, "TF101")


def test_nothing_of_the_repository_is_run(victim: Victim, tmp_path: Path) -> None:
    """Somebody opens a stranger's repository, only to read it."""
    run = tmp_path / "run"
    for module in ("trainform", "yaml", "pygls", "sitecustomize", "plugins/evil", "bin/evil"):
        victim.write(f"{module}.py", f"open({str(run)!r}, 'w')\n")
    victim.write("trainform.yaml", "plugins: {require: [evil]}\n")
    victim.write("bin/git", f"#!/bin/sh\ntouch {run}\n")
    (victim.root / "bin/git").chmod(0o755)
    victim.git("config", "core.fsmonitor", f"touch {run}")
    victim.git("config", "core.pager", f"touch {run}")
    (victim.root / ".git/index.lock").write_text("")
    path = f"{victim.root}/bin{os.pathsep}{os.environ['PATH']}"
    llm = victim.root / "jobs/llm.yaml"
    with RoughClient(victim.root, {**os.environ, "PATH": path}) as client:
        client.start(victim.root)
        client.open(llm, FAULTY)
        client.sees(llm, "TF102")
        for method in ("hover", "completion", "definition", "prepareRename"):
            client.at(method, llm.as_uri(), 8, 5)
        command = {"command": "trainform.openRendered", "arguments": [{"uri": llm.as_uri()}]}
        client.ask("workspace/executeCommand", command)
        client.ask("shutdown", None)
    assert not run.exists()
