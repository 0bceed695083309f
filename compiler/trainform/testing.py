"""Tests of plugins by golden cases: folders with an input and the files that it compiles to.

from trainform.testing import golden_cases, pytest_addoption  # pytest --update-golden

@pytest.mark.parametrize("case", golden_cases("tests/golden"), ids=str)
def test_golden(case, request):
    case.check(update=request.config.getoption("--update-golden"))
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.beside.placing import in_one_stream
from trainform.core.catalogue import Catalogue
from trainform.core.compile import Compilation, compile_documents
from trainform.diagnostics.text import render_text
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.output.emitter import emit
from trainform.source import Loaded, load

if TYPE_CHECKING:
    from trainform.core.plugin import Plugin

DIAGNOSTICS = "diagnostics.txt"
"""The file of `expected/` with everything that is reported."""

UPDATE = "--update-golden"


class GoldenCase(NamedTuple):
    """A folder with `input.yaml`, or with a folder `input/`, and with `expected/`, what that compiles to. `name` is the
    path below `root`."""

    root: Path
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        return self.root / self.name

    def loaded(self) -> Loaded:
        """All input files as one stream, in the order of their names."""
        root = self.folder / "input"
        paths = sorted(root.rglob("*.[yj]*")) if root.is_dir() else [self.folder / "input.yaml"]
        names = [path.relative_to(root).as_posix() if root.is_dir() else path.name for path in paths]
        files = [load(path.read_bytes(), name) for path, name in zip(paths, names, strict=True)]
        placed = [in_one_stream(file.documents, file.diagnostics) for file in files]
        return Loaded([d for documents, _ in placed for d in documents], [d for _, told in placed for d in told])

    def compile(self, plugins: Sequence[Plugin] | None = None, *, backwards: bool = False) -> Compilation:
        """Compile the input, or its documents `backwards`, with these plugins or all that are installed."""
        loaded = self.loaded()
        return compile_documents(
            loaded.documents[::-1] if backwards else loaded.documents,
            catalogue=_shipped(),
            plugins=load_plugins() if plugins is None else plugins,
            source=loaded.diagnostics,
        )

    def expected(self) -> dict[str, str]:
        """The files of `expected/`, by path."""
        folder = self.folder / "expected"
        files = (file for file in folder.rglob("*") if file.is_file())
        return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}

    def check(self, plugins: Sequence[Plugin] | None = None, *, update: bool = False) -> None:
        """Raises AssertionError, with a diff, if the input compiles to other files than those in `expected/`; or if it
        compiles to others a second time, as when a plugin keeps state or depends on the order of documents. `update`
        writes `expected/` first."""
        __tracebackhide__ = True
        files = files_of(self.compile(plugins))
        again = files_of(self.compile(plugins, backwards=True))
        assert files == again, f"{self.name} compiles differently a second time:\n{difference(files, again)}"
        if update:
            self._write(files)
        expected = self.expected()
        assert files == expected, f"{difference(expected, files)}\nif this is right: pytest {UPDATE}"

    def _write(self, files: dict[str, str]) -> None:
        folder = self.folder / "expected"
        for stale in self.expected().keys() - files.keys():
            (folder / stale).unlink()
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


def golden_cases(root: str | Path) -> list[GoldenCase]:
    """The golden cases in all folders below `root`, sorted. At least one, so that no test is left out unseen."""
    inputs = [file for file in Path(root).rglob("input*") if file.name in ("input", "input.yaml")]
    cases = sorted({GoldenCase(Path(root), file.parent.relative_to(root).as_posix()) for file in inputs})
    assert cases, f"{root} has no golden case: a folder with input.yaml"
    return cases


def files_of(compilation: Compilation) -> dict[str, str]:
    """What a compile gives, as files: `<namespace>/<job>/<kind>-<name>.yaml`, and everything that is reported."""
    files = {
        f"{job.namespace}/{job.name}/{tree['kind'].lower()}-{tree['metadata']['name']}.yaml": emit(tree)
        for job in compilation.jobs
        for tree in job.objects
    }
    diagnostics = [*compilation.diagnostics, *(d for job in compilation.jobs for d in job.diagnostics)]
    if diagnostics:
        files[DIAGNOSTICS] = render_text(diagnostics, colour=False)
    return files


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    """A unified diff of two sets of files."""
    lines: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name, ""), after.get(name, "")
        lines += unified_diff(old.splitlines(), new.splitlines(), f"expected/{name}", name, lineterm="")
    return "\n".join(lines)


def pytest_addoption(parser: Any) -> None:
    """The option `--update-golden` of pytest: import this in your `conftest.py`."""
    parser.addoption(UPDATE, action="store_true", help="rewrite expected/ of golden cases; look at the diff")


@cache
def _shipped() -> Catalogue:
    return Catalogue(dict(shipped_runtimes()))
