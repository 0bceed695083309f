"""From files or a stream to compiled jobs: what `render` and `validate` share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.io.repository import Repository

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.core.compile import CompiledJob
    from trainform.core.pipeline import PluginFailure
    from trainform.core.registry import Installed
    from trainform.source import Document

STDIN = "<stdin>"


@dataclass(slots=True)
class Inputs:
    """Documents to compile, and what was wrong with the files that they came from."""

    documents: list[Document] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Compiled jobs with their own diagnostics, and those of the stream or repository as a whole."""

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure] = field(default_factory=list)

    def all_diagnostics(self) -> list[Diagnostic]:
        return [*self.diagnostics, *(each for job in self.jobs for each in job.diagnostics)]


def read_stream() -> Inputs:
    """The documents on stdin."""
    return load(STDIN, sys.stdin.buffer.read())


def read_repository(repository: Repository) -> Inputs:
    """Every document of the repository's runtimes and jobs, in the order of their files."""
    listing = repository.all()
    inputs = read_files(repository, listing.files)
    inputs.diagnostics[:0] = listing.diagnostics
    return inputs


def read_files(repository: Repository, files: Iterable[str]) -> Inputs:
    """The documents of `files`, each file read once."""
    inputs = Inputs()
    for file in dict.fromkeys(files):
        data = repository.read(file)
        read = Inputs([], [data]) if isinstance(data, Diagnostic) else load(file, data)
        inputs.documents += read.documents
        inputs.diagnostics += read.diagnostics
    return inputs


def load(file: str, data: bytes) -> Inputs:
    from trainform import source

    loaded = source.load(data, file)
    return Inputs(loaded.documents, loaded.diagnostics)


def compile_inputs(inputs: Inputs, *, wants_job: bool = True) -> Outcome:
    """Compiles everything. `wants_job`: that there is no TrainJob (TF202) is worth telling."""
    from trainform.core.compile import compile_documents

    plugins = [each.plugin for each in installed()]
    result = compile_documents(
        inputs.documents, catalogue=shipped_catalogue(), plugins=plugins, source=inputs.diagnostics
    )
    told = [each for each in result.diagnostics if wants_job or each.code != "TF202"]
    return Outcome(result.jobs, told, result.failures)


def installed() -> tuple[Installed, ...]:
    """The plugins; one that cannot be used is an error of this installation, not a bug of ours."""
    import click

    from trainform.core.registry import PluginError, installed_plugins

    try:
        return installed_plugins()
    except PluginError as error:
        raise click.ClickException(str(error)) from error


def shipped_catalogue() -> Catalogue:
    from trainform.core.catalogue import Catalogue
    from trainform.io.resources import shipped_runtimes

    return Catalogue(dict(shipped_runtimes()))


def train_jobs(documents: Sequence[Document]) -> list[Document]:
    return [each for each in documents if each.tree.get("kind") == "TrainJob"]
