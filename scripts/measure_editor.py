"""How long an editor waits for `trainform lsp`, and how much memory the server takes.

    python scripts/measure_editor.py 100 1000 10000

For each number of jobs it makes a repository in a temporary folder, opens a job, lets the server finish, and then
types: each keystroke is a new text, and its time ends when the diagnostics of that text have arrived. Then it asks each
question several times, each time right after a keystroke, and takes the time until the answer is read. Needs the
packages of the test group. Figures are in docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: job-{number:05}
  namespace: team-{team}
spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    image: example/train:1
    command: [torchrun, train.py]
    numNodes: 2
    resourcesPerNode:
      limits:
        nvidia.com/gpu: 8
"""
ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata:
  name: prod
spec:
  scheduling:
    kueue: {localQueue: main}
  patches:
  - target: {kind: JobSet}
    patch: {metadata: {labels: {team: research}}}
"""
TEAMS = 20
KEYSTROKES = 40
PAUSE = 0.1
"""Seconds between keystrokes: somebody who types fast."""
QUESTIONS = 10
"""How often each question is asked."""


class Figures(NamedTuple):
    """Seconds until the open job is told, and until everything is; of a keystroke; of one while a change of the
    Environment is compiled for all jobs; MB of resident memory."""

    jobs: int
    opened: float
    everything: float
    median: float
    slowest: float
    beside: float
    memory: float
    answers: dict[str, list[float]]
    """Of each question, in seconds; the first one is the first of its kind that the server hears."""


class Client:
    """An editor that notes when diagnostics arrive."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.client = LanguageClient("measure", "1")
        self.told: asyncio.Queue[tuple[float, lsp.PublishDiagnosticsParams]] = asyncio.Queue()
        self._versions: dict[Path, int] = {}

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.put_nowait((time.perf_counter(), params))

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "trainform", "lsp")
        folder = lsp.WorkspaceFolder(self.root.as_uri(), "measured")
        await self.client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), workspace_folders=[folder]))
        self.client.initialized(lsp.InitializedParams())

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        if self.client._server is not None:
            await self.client._server.wait()

    def type(self, path: Path, text: str) -> int:
        """Open a file, or give its buffer a new text; returns the version."""
        version = self._versions[path] = self._versions.get(path, 0) + 1
        if version == 1:
            self.client.text_document_did_open(
                lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(path.as_uri(), "yaml", version, text))
            )
        else:
            document = lsp.VersionedTextDocumentIdentifier(version=version, uri=path.as_uri())
            change = lsp.TextDocumentContentChangeWholeDocument(text)
            self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return version

    async def answer(self, path: Path, version: int) -> float:
        """When the diagnostics of a version arrived."""
        while True:
            at, params = await self.told.get()
            if params.uri == path.as_uri() and params.version == version:
                return at

    async def quiet(self, files: int) -> float:
        """When the diagnostics of so many files had arrived."""
        seen, at = set[str](), 0.0
        while len(seen) < files:
            at, params = await self.told.get()
            seen.add(params.uri)
        return at

    def memory(self) -> float:
        """MB of the server, where the system tells."""
        process = self.client._server
        status = Path(f"/proc/{process.pid}/status") if process else Path()
        if not status.is_file():
            return float("nan")
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


def write_repository(root: Path, jobs: int) -> Path:
    """Returns the job to open."""
    for number in range(jobs):
        path = root / f"jobs/team-{number % TEAMS}/job-{number:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(JOB.format(number=number, team=number % TEAMS))
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(ENVIRONMENT)
    (root / "trainform.yaml").write_text("")
    return root / "jobs/team-0/job-00000.yaml"


async def measured(root: Path, jobs: int) -> Figures:
    path = write_repository(root, jobs)
    text, client = path.read_text(), Client(root)
    await client.start()
    start = time.perf_counter()
    opened = await client.answer(path, client.type(path, _faulty(text, 1))) - start
    everything = await client.quiet(jobs - 1) - start
    times = []
    for number in range(KEYSTROKES):
        times.append(await _keystroke(client, path, _faulty(text, number)))
    environment = root / "environments/prod/environment.yaml"
    answers = await asked(client, path, text, environment, jobs)
    memory = client.memory()
    client.type(environment, ENVIRONMENT.replace("main", "other"))
    beside = max([await _keystroke(client, path, _faulty(text, number)) for number in range(3)])
    await client.stop()
    return Figures(jobs, opened, everything, statistics.median(times), max(times), beside, memory, answers)


async def asked(client: Client, path: Path, text: str, environment: Path, jobs: int) -> dict[str, list[float]]:
    """How long each answer takes: about the open job, and about the patch that changes all jobs."""
    ask, uri = client.client, lsp.TextDocumentIdentifier(path.as_uri())
    name, runtime, nodes = (_place(text, word) for word in ("name: job", "name: torch", "numNodes"))
    shared, patch = lsp.TextDocumentIdentifier(environment.as_uri()), _place(ENVIRONMENT, "target")
    context = lsp.ReferenceContext(include_declaration=False)
    new_name = lsp.RenameParams(uri, name, "another")
    questions: dict[str, Callable[[], Awaitable[object]]] = {
        "hover over numNodes": lambda: ask.text_document_hover_async(lsp.HoverParams(uri, nodes)),
        "complete the runtime": lambda: ask.text_document_completion_async(lsp.CompletionParams(uri, runtime)),
        "definition of the runtime": lambda: ask.text_document_definition_async(lsp.DefinitionParams(uri, runtime)),
        "references of the runtime": lambda: ask.text_document_references_async(
            lsp.ReferenceParams(context, uri, runtime)
        ),
        "jobs that a patch changes": lambda: ask.text_document_definition_async(lsp.DefinitionParams(shared, patch)),
        "rename the job": lambda: ask.text_document_rename_async(new_name),
    }
    found: dict[str, list[float]] = {each: [] for each in questions}
    for number in range(QUESTIONS):
        for question, call in questions.items():
            client.type(path, f"{text}# {number}\n")
            await asyncio.sleep(PAUSE)
            start = time.perf_counter()
            answer = await call()
            found[question].append(time.perf_counter() - start)
            wanted = jobs if question.startswith(("references", "jobs")) else 1
            if not answer or (isinstance(answer, list) and len(answer) < wanted):
                raise SystemExit(f"{question}: a wrong answer, {answer}")
    return found


def _place(text: str, word: str) -> lsp.Position:
    """The last character of a word."""
    before = text[: text.index(word) + len(word) - 1]
    return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


async def _keystroke(client: Client, path: Path, text: str) -> float:
    await asyncio.sleep(PAUSE)
    start = time.perf_counter()
    return await client.answer(path, client.type(path, text)) - start


def _faulty(text: str, number: int) -> str:
    """Each text has another finding than the one before, so that each is answered."""
    return text.replace("numNodes: 2", "numNodes: x" if number % 2 else "numNodes: [1]")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("jobs", nargs="+", type=int)
    print("  jobs  job told  all told  keystroke   slowest  while all are compiled  memory")
    for jobs in parser.parse_args().jobs:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(measured(Path(folder).resolve(), jobs))
        times = [f"{1000 * each:6,.0f} ms" for each in (found.median, found.slowest, found.beside)]
        print(
            f"{found.jobs:6,} {found.opened:7.1f} s {found.everything:7.1f} s  {times[0]} {times[1]} {times[2]:>23} "
            f"{found.memory:5.0f} MB",
            flush=True,
        )
        for question, answers in found.answers.items():
            first, *rest = (1000 * each for each in answers)
            print(
                f"       {question:26} first {first:6,.0f} ms   median {statistics.median(rest):6,.1f} ms", flush=True
            )


if __name__ == "__main__":
    main()
