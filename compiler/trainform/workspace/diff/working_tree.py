"""The working tree of a diff: an overview of all jobs, and the jobs that a change may affect, read and compiled."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.workspace.behind import current_inputs
from trainform.workspace.compilation import Outcome, compile_environments
from trainform.workspace.diff.overview import Overview
from trainform.workspace.diff.scope import ChangeScope, may_hold_others
from trainform.workspace.discovery import Workspace
from trainform.workspace.frozen import take_frozen
from trainform.workspace.inputs import EnvironmentInputs
from trainform.workspace.selection import unselected_jobs
from trainform.workspace.shared.reading import load_files

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.io.paths import JobId
    from trainform.workspace.fingerprint import Cause, CurrentInputs
    from trainform.workspace.lockfile import Pins


@dataclass(slots=True, kw_only=True)
class WorkingTree:
    """The current repository: an overview of all jobs, and the affected ones, compiled or frozen. `sources` are the job
    files that were read (None: all), `faulty` the files with errors."""

    workspace: Workspace
    scope: ChangeScope
    overview: Overview
    sources: Collection[str] | None
    environments: list[EnvironmentInputs]
    outcome: Outcome
    compiled: dict[JobId, CompiledJob]
    frozen: set[JobId]
    current: dict[str, CurrentInputs]
    faulty: set[str]

    def concerns(self, job: JobId) -> bool:
        return not self.workspace.asked or job[0] in self.workspace.asked

    def is_present(self, job: JobId) -> bool:
        """Whether a job has a TrainJob. If its file was not read, the job is unchanged."""
        if job in self.compiled or job in self.frozen:
            return True
        if self.sources is None or job[0] not in self.current:
            return False
        source = self.overview.source(job)
        return source is not None and source not in self.sources

    def behind(self) -> Iterator[tuple[JobId, Pins, Sequence[Cause]]]:
        """The frozen jobs that are behind, and why. Jobs that share pins, in the same namespace, share the reasons."""
        known: dict[tuple[str, str, int], Sequence[Cause]] = {}
        for job in self.overview.jobs():
            pins = self.overview.pins(job) if self._is_frozen(job) else None
            if pins is None:
                continue
            key = (*job[:2], id(pins))
            causes = known[key] = known[key] if key in known else self.current[job[0]].causes(pins, job[1])
            if causes:
                yield job, pins, causes

    def _is_frozen(self, job: JobId) -> bool:
        return self.concerns(job) and job[0] in self.current and job not in self.compiled and self.is_present(job)

    def has_doubts(self) -> bool:
        """Whether job files that were not read may change the outcome: with a runtime that is missing, or one that
        replaces a shipped one, or with facts."""
        if any(each.code == "TF201" for each in self.outcome.all_diagnostics()):
            return True
        return any(
            cause.kind == "environment"
            or (cause.kind == "runtime" and pins.runtime.key not in self.current[job[0]].inputs.runtimes)
            for job, pins, causes in self.behind()
            for cause in causes
        )

    def is_known(self, job: JobId) -> bool:
        """Whether a job can be compared: not if it, or a file it may be in, has an error."""
        if job in self.compiled:
            return bool(self.compiled[job].objects)
        environment = f"{self.workspace.repository.settings.environments}/{job[0]}/"
        broken = self.overview.source(job) in self.faulty or any(file.startswith(environment) for file in self.faulty)
        return job in self.frozen or not (self.overview.locks.broken(job) or broken)


def working_tree(workspace: Workspace, scope: ChangeScope, found: Overview) -> WorkingTree:
    """Reads and compiles what the change may affect."""
    repository = workspace.repository
    files = None if scope.files is None else [f"{repository.root}/{file}" for file in scope.files]
    changed = Workspace(repository, workspace.problems, workspace.asked, files)
    environments = changed.read()
    alone = unselected_jobs(changed, environments, None)
    frozen = {job.id for each in environments for job in take_frozen(each, found.locks)}
    for each in environments:
        each.partial = True
    hidden = _hidden_environments(workspace, {each.name for each in environments})
    broken = filter(None, map(found.locks.broken, found.others()))
    outcome = compile_environments(environments, [*workspace.problems, *alone, *hidden, *broken], wants_job=False)
    return WorkingTree(
        workspace=workspace,
        scope=scope,
        overview=found,
        sources=None if scope.files is None else {*scope.files, *scope.changed, *scope.unrendered},
        environments=environments,
        outcome=outcome,
        compiled={(job.environment, job.namespace, job.name): job for job in outcome.jobs},
        frozen=frozen,
        current=current_inputs(environments, outcome),
        faulty={each.file for each in outcome.diagnostics if each.severity == "error" and each.file},
    )


def also_needed(tree: WorkingTree) -> Collection[str]:
    """Job files that were not read, but decide about jobs that were: a second file with the same job, which is an
    error, and files with other documents, if a runtime or a fact in them may account for what was found."""
    repository, read = tree.workspace.repository, tree.scope.files
    if read is None:
        return ()
    left = set(repository.jobs().files).difference(read)
    homes = left.intersection(filter(None, map(tree.overview.source, (*tree.compiled, *tree.frozen))))
    if not tree.has_doubts():
        return homes
    return homes | {file for file in left if may_hold_others(repository.read(file))}


def _hidden_environments(workspace: Workspace, known: Collection[str]) -> Iterator[Diagnostic]:
    """Problems of environment folders without a readable Environment, which may contain one."""
    for folder in workspace.repository.environments():
        name = folder.rsplit("/", 1)[-1]
        if name not in known and (not workspace.asked or name in workspace.asked):
            yield from load_files(workspace.repository, workspace.repository.listed(folder).files).diagnostics
