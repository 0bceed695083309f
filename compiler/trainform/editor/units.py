"""What is compiled at once in an editor, and kept: the findings of a few job files, without their documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import in_order
from trainform.editor.snapshot import JobEntry
from trainform.workspace.behind import merge
from trainform.workspace.discovery import Workspace
from trainform.workspace.parallel import Chunk
from trainform.workspace.shards import ALL
from trainform.workspace.validate import WorkspaceValidation, validate_chunk

if TYPE_CHECKING:
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs

Findings = dict[str, list[Diagnostic]]
"""Problems by file, in order; those of no file at the empty name."""


class ObjectPlace(NamedTuple):
    """An object that no file of a TrainJob holds, in one Environment."""

    environment: str
    file: str
    start: int
    prefix: tuple[str | int, ...]


class CompiledUnit(NamedTuple):
    """What the compile of some job files said. `read` are the files that it depends on; `taken` are the objects in
    other files that its jobs took, `offered` those of a unit without jobs. `is_settled`: nothing in a unit without
    jobs is wrong apart from these objects."""

    validation: WorkspaceValidation
    findings: Findings
    jobs: Sequence[JobEntry]
    read: frozenset[str]
    taken: frozenset[ObjectPlace] = frozenset()
    offered: frozenset[ObjectPlace] = frozenset()
    is_settled: bool = True


def compiled(
    workspace: Workspace, environments: list[EnvironmentInputs], chunk: Chunk, asked: set[str]
) -> CompiledUnit:
    """What a chunk says, without anything that keeps its documents in memory."""
    validation, outcome, _ = validate_chunk(workspace, ALL, environments, chunk)
    findings, validation.diagnostics = by_file(validation.diagnostics), []
    index = tuple(
        JobEntry(
            (job.environment, job.namespace, job.name),
            job.document.file,
            job.runtime and job.runtime.key,
            job.patches,
        )
        for job in outcome.jobs
    )
    own = {*(chunk.files or ())}
    taken = frozenset(
        _place(each.name, document)
        for each in environments
        for job in each.train_jobs()
        for document in job.beside
        if document.file not in own
    )
    return CompiledUnit(validation, findings, index, frozenset(asked), taken)


def offering(file: str, environments: Iterable[EnvironmentInputs], asked: set[str]) -> CompiledUnit:
    """A file of objects that TrainJobs in other files may take."""
    offered, is_settled = set[ObjectPlace](), True
    for each in environments:
        offered |= {_place(each.name, document) for document in each.sources.documents if document.file == file}
        is_settled &= not any(problem.file == file for problem in each.sources.diagnostics)
    return CompiledUnit(
        WorkspaceValidation(), {}, (), frozenset(asked), offered=frozenset(offered), is_settled=is_settled
    )


def in_one_piece(workspace: Workspace) -> WorkspaceValidation:
    """What all jobs say, compiled at once."""
    return validate_chunk(workspace, ALL, workspace.read(), Chunk()).validation


def together(units: Iterable[CompiledUnit]) -> WorkspaceValidation:
    """What the units say that only means something together."""
    whole = WorkspaceValidation()
    for unit in units:
        whole.jobs |= unit.validation.jobs
        whole.judged.add(unit.validation.judged)
    whole.behind = merge(unit.validation.behind for unit in units)
    return whole


def by_file(diagnostics: Iterable[Diagnostic]) -> Findings:
    found: Findings = {}
    for each in in_order(diagnostics):
        found.setdefault(each.file, []).append(each)
    return found


def _place(environment: str, document: Document) -> ObjectPlace:
    return ObjectPlace(environment, document.file, document.part.start, document.prefix)
