"""Find every problem in a repository, for `trainform validate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.io.paths import BASELINE, links_out
from trainform.workspace import InvocationError
from trainform.workspace.behind import Behind, behind, behind_diagnostics, current_inputs, merge
from trainform.workspace.compilation import compile_environments
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.frozen import frozen_jobs
from trainform.workspace.lints import baseline_bytes, remarks
from trainform.workspace.parallel import Chunk, ChunkStats, map_chunks
from trainform.workspace.selection import unselected_jobs
from trainform.workspace.shards import ALL, Shard, take_other_shards
from trainform.workspace.streams.validate import Validation
from trainform.workspace.verify.applied import judge_behind
from trainform.workspace.verify.namesakes import Objects, namesakes, objects_of, rendered_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainform.io.paths import JobId
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.fingerprint import CurrentInputs
    from trainform.workspace.inputs import EnvironmentInputs


@dataclass(slots=True, kw_only=True)
class WorkspaceValidation(Validation):
    """What is wrong in a workspace or a chunk of it. `jobs` have a file, and the objects that they would be rendered to
    (None: those that they have, as they are frozen)."""

    stats: ChunkStats = field(default_factory=ChunkStats)
    behind: Behind = field(default_factory=dict)
    jobs: dict[JobId, tuple[str, Objects | None]] = field(default_factory=dict)

    def add(self, other: WorkspaceValidation) -> None:
        """Add what is wrong in another chunk."""
        self.documents += other.documents
        self.files |= other.files
        self.diagnostics += other.diagnostics
        self.failures += other.failures
        self.judged.add(other.judged)
        self.jobs |= other.jobs
        self.behind = merge([self.behind, other.behind])


def validate(workspace: Workspace, shard: Shard, workers: int = 0) -> WorkspaceValidation:
    """Every problem of a shard's jobs and of shared inputs, including which jobs are behind, and comments that silence
    nothing, if everything is read."""
    whole = map_chunks(workspace, partial(_validate_chunk, workspace, shard), workers)
    whole.diagnostics += seen_together(whole, workspace, shard)
    return whole


def seen_together(whole: WorkspaceValidation, workspace: Workspace, shard: Shard) -> list[Diagnostic]:
    """What no chunk can tell: which jobs are behind, which share an object, which comments silence nothing."""
    return [
        *behind_diagnostics(whole.behind),
        *_namesakes(workspace, shard, whole.jobs),
        *remarks(whole.judged, complete=shard == ALL and workspace.is_complete),
    ]


def _namesakes(
    workspace: Workspace, shard: Shard, jobs: Mapping[JobId, tuple[str, Objects | None]]
) -> Iterator[Diagnostic]:
    """What these jobs share with each other, and, if they are not all, with what is rendered."""

    def objects(job: JobId) -> Objects:
        new = jobs[job][1] if job in jobs else None
        return rendered_objects(workspace.repository, job) if new is None else new

    known = {*jobs} if shard == ALL and workspace.is_complete else {*jobs, *workspace.locks.ids()}
    yield from namesakes(sorted(jobs), known, objects, lambda job: jobs[job][0])


def write_baseline(root: str, workers: int = 0) -> WorkspaceValidation:
    """Make the findings of a repository known, whatever an earlier baseline says; with errors, other than those that
    the team's settings make of findings, nothing is written."""
    from trainform.io.staging import writing
    from trainform.io.writer import write

    if outside := links_out(root):
        raise InvocationError(f"{outside[0]} leads out of the repository: remove the link")
    with writing(root) as staging:
        workspace = discover(root, all_known=True)
        found = validate(workspace, ALL, workers)
        if not has_errors(found.diagnostics):
            write(staging, BASELINE, baseline_bytes(found.judged.findings))
        return found


def _validate_chunk(
    workspace: Workspace, shard: Shard, environments: list[EnvironmentInputs], chunk: Chunk
) -> WorkspaceValidation:
    return validate_chunk(workspace, shard, environments, chunk).validation


class ChunkValidation(NamedTuple):
    """What is wrong in a chunk, and the compile that told it."""

    validation: WorkspaceValidation
    outcome: Outcome
    current: Mapping[str, CurrentInputs]


def validate_chunk(
    workspace: Workspace, shard: Shard, environments: list[EnvironmentInputs], chunk: Chunk
) -> ChunkValidation:
    stats = ChunkStats.of(environments, chunk)
    elsewhere = [job.id for each in environments for job in take_other_shards(each, shard)]
    files = None if chunk.first else set(chunk.files or ())
    documents = {
        id(document): document.file
        for each in environments
        for document in each.sources.documents
        if files is None or document.file in files
    }
    problems = workspace.problems
    alone = unselected_jobs(workspace, environments, chunk.files)
    wants_job = not (documents or problems or alone)
    outcome = compile_environments(environments, [*problems, *alone], wants_job=wants_job)
    stats.add_outcome(environments, outcome, elsewhere)
    locks = workspace.locks.fresh()
    frozen = [job for each in environments for job in frozen_jobs(each, locks)]
    current = current_inputs(environments, outcome)
    applied = _only_in_manifests(judge_behind(workspace.repository, frozen, current, workspace.plugins), outcome)
    jobs: dict[JobId, tuple[str, Objects | None]] = {
        (job.environment, job.namespace, job.name): (job.document.file, objects_of(job.name, job.objects))
        for job in outcome.jobs
    }
    jobs |= {job.id: (job.document.file, None) for job in frozen}
    validation = WorkspaceValidation(
        stats=stats,
        jobs=jobs,
        documents=len(documents),
        files=set(documents.values()),
        diagnostics=[*chunk.found(outcome, every_place=True), *chunk.portable(applied, every_place=True)],
        behind=behind([(job.id, job.lock.pins) for job in frozen], current),
        failures=outcome.failures,
        judged=outcome.judged.mapped(partial(chunk.portable, every_place=True)),
    )
    return ChunkValidation(validation, outcome, current)


def _only_in_manifests(applied: dict[JobId, list[Diagnostic]], outcome: Outcome) -> list[Diagnostic]:
    """Findings in frozen manifests, without those that today's inputs have too: they are told there."""
    told = {(job.environment, job.namespace, job.name): {each.code for each in job.diagnostics} for job in outcome.jobs}
    return [each for job, found in applied.items() for each in found if each.code not in told.get(job, ())]
