"""An editor on `trainform lsp`: what is typed, what is shown, and what the server leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from support.language_client import COMMAND, editing
from support.repositories import environment, runtime
from support.repositories import job as bare_job

pytestmark = pytest.mark.asyncio


def job(name: str, nodes: object = 2) -> str:
    """A job with a finding: its image has no digest."""
    return f"{bare_job(name, nodes)}    image: example/train:1\n"


FAULTY = job("llm", nodes="x")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "trainform.yaml": "",
        "jobs/llm.yaml": job("llm"),
        "jobs/other.yaml": job("other"),
        "runtimes/torch.yaml": runtime(),
        "environments/prod/environment.yaml": environment(),
    }
    write(tmp_path / "repository", files)
    return tmp_path / "repository"


def write(root: Path, files: dict[str, str]) -> None:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its time and bytes."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def validate(root: Path) -> list[tuple[str, str]]:
    """Code and file of all that `trainform validate` says."""
    run = subprocess.run(
        [sys.executable, "-m", "trainform", "--root", str(root), "validate", "--format", "json"],
        capture_output=True,
        check=False,
    )
    return sorted((each["code"], each["file"] or "") for each in json.loads(run.stdout)["diagnostics"])


async def test_the_buffer_counts_not_the_disk_and_nothing_is_written(root):
    before = everything(root)
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        editor.open(llm)
        await editor.sees(lambda: editor.codes(llm) != [])
        assert "TF102" not in editor.codes(llm)
        editor.type(llm, FAULTY)
        await editor.sees(lambda: "TF102" in editor.codes(llm))
        editor.type(llm, job("llm"))
        await editor.sees(lambda: "TF102" not in editor.codes(llm))
    assert everything(root) == before


async def test_a_squiggle_marks_the_element_and_says_what_to_write(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        editor.open(llm, job("llm").replace("numNodes", "numNode"))
        await editor.sees(lambda: "TF101" in editor.codes(llm))
        (found,) = [each for each in editor.squiggles(llm) if each.code == "TF101"]
    assert found.range == lsp.Range(lsp.Position(9, 4), lsp.Position(9, 11))
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert found.message == 'spec.trainer.numNode: unknown field\nhelp: did you mean "numNodes"?'
    assert found.source == "trainform"


async def test_columns_are_counted_in_utf_16(root):
    llm = root / "jobs/llm.yaml"
    encodings = [lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16]
    general = lsp.GeneralClientCapabilities(position_encodings=encodings)
    async with editing(root, capabilities=lsp.ClientCapabilities(general=general)) as editor:
        text = bare_job("llm").replace("trainer:\n    numNodes: 2", "trainer: {image: 😀, numNode: 2}")
        editor.open(llm, text)
        await editor.sees(lambda: "TF101" in editor.codes(llm))
        (found,) = [each for each in editor.squiggles(llm) if each.code == "TF101"]
    line = "  trainer: {image: 😀, numNode"
    assert found.range.start.character == len(line.removesuffix("numNode").encode("utf-16-le")) // 2


async def test_a_fix_is_offered_and_cures(root):
    llm = root / "jobs/llm.yaml"
    wrong = job("llm").replace("name: torch", "name: torhc")
    async with editing(root) as editor:
        editor.open(llm, wrong)
        await editor.sees(lambda: "TF201" in editor.codes(llm))
        (found,) = [each for each in editor.squiggles(llm) if each.code == "TF201"]
        (action,) = await editor.actions(llm, found.range)
        assert action.title == "Write torch"
        assert [*(action.diagnostics or ())] == [found]
        assert action.edit is not None
        assert action.edit.changes is not None
        (edit,) = action.edit.changes[llm.as_uri()]
        lines = wrong.splitlines(keepends=True)
        start, end = edit.range.start, edit.range.end
        lines[start.line] = lines[start.line][: start.character] + edit.new_text + lines[end.line][end.character :]
        editor.type(llm, "".join(lines))
        await editor.sees(lambda: "TF201" not in editor.codes(llm))
    assert "".join(lines) == job("llm")


async def test_a_change_of_a_runtime_reaches_the_jobs_that_use_it(root):
    torch, other = root / "runtimes/torch.yaml", root / "jobs/other.yaml"
    async with editing(root) as editor:
        editor.open(torch, runtime().replace("numNodes: 1", "numNodes: 0"))
        await editor.sees(lambda: "TF206" in editor.codes(other))
        editor.type(torch, runtime())
        await editor.sees(lambda: "TF206" not in editor.codes(other))


async def test_files_that_others_change_are_read_again_and_deleted_ones_cleared(root):
    other, new = root / "jobs/other.yaml", root / "jobs/new.yaml"
    async with editing(root) as editor:
        await editor.sees(lambda: editor.codes(other) != [])
        other.unlink()
        write(root, {"jobs/new.yaml": job("new", nodes="x"), "jobs/llm.yaml": FAULTY})
        editor.changed_on_disk(other, new, root / "jobs/llm.yaml")
        await editor.sees(lambda: "TF102" in editor.codes(new))
        await editor.sees(lambda: "TF102" in editor.codes(root / "jobs/llm.yaml") and editor.codes(other) == [])


async def test_an_error_in_a_template_stands_in_the_template(root):
    template = root / "jobs/sweep.yaml.j2"
    text = "{% for n in [1] %}\n---\n" + job("s-{{ n }}").replace("numNodes: 2", "numNode: 2") + "{% endfor %}\n"
    async with editing(root) as editor:
        editor.open(template, text)
        await editor.sees(lambda: "TF101" in editor.codes(template))
        (found,) = [each for each in editor.squiggles(template) if each.code == "TF101"]
    assert text.splitlines()[found.range.start.line].strip() == "numNode: 2"


async def test_each_file_belongs_to_the_nearest_repository(root):
    nested = root / "nested"
    write(nested, {"trainform.yaml": "", "jobs/a.yaml": job("a").replace("name: torch", "name: missing")})
    async with editing(root) as editor:
        editor.open(nested / "jobs/a.yaml")
        await editor.sees(lambda: "TF201" in editor.codes(nested / "jobs/a.yaml"))


async def test_a_file_outside_of_every_repository_is_told_nothing(root, tmp_path):
    write(tmp_path, {"elsewhere/a.yaml": FAULTY})
    async with editing(root) as editor:
        editor.open(tmp_path / "elsewhere/a.yaml")
        editor.open(root / "jobs/llm.yaml", FAULTY)
        await editor.sees(lambda: "TF102" in editor.codes(root / "jobs/llm.yaml"))
        assert editor.codes(tmp_path / "elsewhere/a.yaml") == []


async def test_a_root_behind_a_link_is_shown_as_the_editor_names_it(root, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(root)
    async with editing(link) as editor:
        editor.open(link / "jobs/llm.yaml", FAULTY)
        await editor.sees(lambda: "TF102" in editor.codes(link / "jobs/llm.yaml"))
        await editor.sees(lambda: editor.codes(link / "jobs/other.yaml") != [])


async def test_a_link_out_of_the_repository_is_not_followed_by_a_buffer(root, tmp_path):
    write(tmp_path, {"secret.yaml": FAULTY})
    link = root / "jobs/link.yaml"
    link.symlink_to(tmp_path / "secret.yaml")
    async with editing(root) as editor:
        editor.open(link)
        await editor.sees(lambda: editor.codes(link) == ["TF702"])


@pytest.mark.parametrize(
    "text",
    ["", "kind: TrainJob\nspec: {", "é" * 100_000, "a: [" * 200, "\ufeff" + job("llm"), job("llm") + "\x00", "\ud800"],
    ids=["empty", "half-typed", "long", "deep", "mark", "zero", "surrogate"],
)
async def test_whatever_is_typed_the_next_text_is_answered(root, text):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        editor.open(llm, job("llm"))
        editor.type(llm, text)
        await editor.sees(lambda: "TF101" not in editor.codes(llm))
        editor.type(llm, job("llm").replace("numNodes", "numNode"))
        await editor.sees(lambda: "TF101" in editor.codes(llm))


async def test_uris_of_other_schemes_are_left_alone(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        for uri in ("untitled:Untitled-1", "git:/jobs/llm.yaml?HEAD", "http://[x", "", "file:relative", "file:///%00"):
            item = lsp.TextDocumentItem(uri, "yaml", 1, FAULTY)
            editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        editor.open(llm, FAULTY)
        await editor.sees(lambda: "TF102" in editor.codes(llm))
        assert {*editor.client.diagnostics} <= {path.as_uri() for path in root.rglob("*")}


async def test_all_that_is_shown_is_what_validate_says(root):
    write(root, {"jobs/twice.yaml": job("other"), "jobs/bad.yaml": "kind: [", "jobs/empty.yaml": ""})
    wanted = validate(root)
    async with editing(root) as editor:

        def shown() -> list[tuple[str, str]]:
            found = editor.client.diagnostics.items()
            start = f"{root.as_uri()}/"
            return sorted((str(each.code), uri.removeprefix(start)) for uri, told in found for each in told)

        await editor.sees(lambda: shown() == wanted)


# Without a client that plays by the rules.


def message(**fields: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


HELLO = message(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None}) + message(
    method="initialized", params={}
)
GOODBYE = message(id=2, method="shutdown") + message(method="exit")


def said(data: bytes, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(COMMAND, input=data, capture_output=True, timeout=60, check=False, cwd=cwd)


@pytest.mark.parametrize(
    ("data", "code"),
    [(HELLO + GOODBYE, 0), (HELLO, 1), (b"", 1), (HELLO + message(method="exit"), 1)],
    ids=["polite", "gone", "silent", "abrupt"],
)
async def test_the_server_ends_with_its_client(root, data, code):
    assert said(data, root).returncode == code


@pytest.mark.parametrize(
    "broken",
    [
        b"Content-Length: 3\r\n\r\n{]}",
        b"Content-Length: 2\r\n\r\n[]",
        b"rubbish\r\n",
        message(id=7, method="no/such"),
        message(id=8, method="textDocument/codeAction", params={"x": 1}),
        message(method="textDocument/didChange", params=[]),
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    ],
)
async def test_a_broken_message_does_not_end_the_server(root, broken):
    found = said(HELLO + broken + GOODBYE, root)
    assert found.returncode == 0
    assert b'"id": 2' in found.stdout


async def test_without_the_extra_the_command_says_what_to_install(root, tmp_path):
    write(tmp_path, {"site/sitecustomize.py": "import sys\nsys.modules['pygls'] = None\n"})
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    found = subprocess.run(COMMAND, capture_output=True, text=True, check=False, cwd=root, env=environ)
    assert found.returncode == 2
    assert found.stderr == 'Error: a language server needs another package: pip install "trainform[editor]"\n'
