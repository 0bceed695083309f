"""Golden cases: a folder of inputs, and the files that they compile to."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from trainform.core.beside.placing import in_one_stream
from trainform.core.catalogue import Catalogue
from trainform.core.compile import Compilation, compile_documents
from trainform.core.plugin import Plugin
from trainform.diagnostics.text import render_text
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.output.emitter import emit
from trainform.source import Loaded, load

ROOT = Path(__file__).parents[2] / "golden"
DIAGNOSTICS = "diagnostics.txt"


class GoldenCase(NamedTuple):
    """`golden/<plugin>/<name>/`: `input/` is read, `expected/` is what comes out."""

    folder: Path

    @property
    def id(self) -> str:
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def plugin(self) -> str:
        return self.folder.parent.name

    def loaded(self) -> Loaded:
        """All input files as one stream, in the order of their names."""
        root = self.folder / "input"
        files = [load(file.read_bytes(), file.relative_to(root).as_posix()) for file in sorted(root.rglob("*.[yj]*"))]
        placed = [in_one_stream(file.documents, file.diagnostics) for file in files]
        return Loaded([d for documents, _ in placed for d in documents], [d for _, told in placed for d in told])

    def expected(self) -> dict[str, str]:
        folder = self.folder / "expected"
        files = (file for file in folder.rglob("*") if file.is_file())
        return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}


def golden_cases() -> list[GoldenCase]:
    return [GoldenCase(folder.parent) for folder in sorted(ROOT.glob("*/*/input"))]


def plugins_for(case: GoldenCase) -> tuple[Plugin, ...]:
    """All plugins; lints speak in their own cases only, since they would say the same in each."""
    return tuple(plugin for plugin in load_plugins() if plugin.name != "lints" or case.plugin == "lints")


def compiled(case: GoldenCase, plugins: tuple[Plugin, ...] | None = None, *, backwards: bool = False) -> Compilation:
    loaded = case.loaded()
    return compile_documents(
        loaded.documents[::-1] if backwards else loaded.documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=plugins or plugins_for(case),
        source=loaded.diagnostics,
    )


def files_of(compilation: Compilation) -> dict[str, str]:
    """What a compile says, as files: each object in the plain layout, and all diagnostics as text."""
    files = {
        f"{job.namespace}/{job.name}/{tree['kind'].lower()}-{tree['metadata']['name']}.yaml": emit(tree)
        for job in compilation.jobs
        for tree in job.objects
    }
    diagnostics = [*compilation.diagnostics, *(d for job in compilation.jobs for d in job.diagnostics)]
    if diagnostics:
        files[DIAGNOSTICS] = render_text(diagnostics, colour=False)
    return files


def update(case: GoldenCase, files: dict[str, str]) -> None:
    """Make `expected/` what the case compiles to now."""
    folder = case.folder / "expected"
    for stale in set(case.expected()) - set(files):
        (folder / stale).unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
