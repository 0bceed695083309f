"""A whole run, put together from what became of its jobs: what goes, and the files that no single job owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.io import paths as disk
from trainform.io.paths import JobId, snapshot_file
from trainform.io.place import os_error
from trainform.io.repository import Repository
from trainform.io.writer import Staged
from trainform.output.kustomization import FILE
from trainform.workspace.lockfile import LockFile
from trainform.workspace.plan import digests_of
from trainform.workspace.shared_files import plan_attributes, plan_lists
from trainform.workspace.staleness import Groups, merge
from trainform.workspace.state import State
from trainform.workspace.uptodate import NOTHING

if TYPE_CHECKING:
    from trainform.core.pipeline import PluginFailure
    from trainform.workspace.fingerprint import Snapshot
    from trainform.workspace.proven import Changes
    from trainform.workspace.rendering import Part, Request, Work


@dataclass(slots=True)
class Run:
    """Everything that a run will do: nothing of it is done yet. With an error and without `keep_going`, nothing
    may be.

    `unwritable`: the disk does not take the files of some job, and so, with `keep_going`, too, nothing is done.
    `named` counts the locks that name a snapshot. `elsewhere` are the jobs that other shards see to, `going` those
    of any shard that are removed. `jobs` are the changes by job, `files` those that no single job owns (None:
    remove). `told` is what was found in the inputs, `diagnostics` what hinders the run besides.
    """

    state: State
    alive: set[JobId] = field(default_factory=set)
    rendered: set[JobId] = field(default_factory=set)
    elsewhere: set[JobId] = field(default_factory=set)
    going: set[JobId] = field(default_factory=set)
    unchanged: int = 0
    named: Counter[str] = field(default_factory=Counter)
    jobs: dict[JobId, Staged] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)
    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    behind: Groups = field(default_factory=dict)
    told: list[Diagnostic] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[PluginFailure] = field(default_factory=list)
    unwritable: bool = False
    work: Work | None = None

    @property
    def repository(self) -> Repository:
        return self.state.repository

    @property
    def changes_nothing(self) -> bool:
        """Whether everything is as it should be already."""
        return not (self.jobs or self.files or has_errors(self.everything_told()))

    def proven(self) -> dict[str, Any]:
        """What a record tells the next run of jobs that did not change."""
        behind = [[cause, jobs] for cause, jobs in self.behind.items()]
        return {"named": self.named, "behind": behind, "quiet": not self.told}

    def everything_told(self) -> list[Diagnostic]:
        return [*self.told, *self.diagnostics]

    def remaining(self) -> set[JobId]:
        """The jobs that have a lock after this run."""
        return ({*self.state.ids()} | self.rendered | self.elsewhere) - self.going


def assemble(parts: Sequence[Part], state: State, request: Request, since: Changes | None = None) -> Run:
    """Everything that a run will do, and whatever hinders it. `since`: what changed, where all else was proven."""
    run = Run(state)
    for part in parts:
        _add(run, part)
    run.behind = merge(part.behind for part in parts)
    try:
        if request.whole:
            _drop_those_gone(run, request)
        if request.shard.is_first:
            _plan_what_is_shared(run, parts, request, since)
    except OSError as error:
        run.diagnostics.append(os_error("TF701", error.filename or "", error, "cannot be read"))
    return run


def _add(run: Run, part: Part) -> None:
    run.alive |= part.alive
    run.rendered |= part.rendered
    run.elsewhere |= part.elsewhere
    run.unchanged += part.unchanged
    run.named.update(part.named)
    run.jobs |= part.staged
    run.wrote += part.wrote
    run.removed += part.removed
    run.told += part.told
    run.diagnostics += part.hindrances
    run.failures += part.failures
    run.unwritable |= part.unwritable
    run.work = part.work


def _drop_those_gone(run: Run, request: Request) -> None:
    """An error may be what hides a job, so that nothing is removed while there is any."""
    known = [job for job in run.state.ids() if not request.environments or job[0] in request.environments]
    alive = run.alive | run.elsewhere
    gone = [job for job in known if job not in alive]
    if not request.allow_empty:
        emptied = {job[0] for job in gone} - {job[0] for job in alive}
        run.diagnostics += [_emptied(name, gone) for name in sorted(emptied)]
    if not has_errors(run.everything_told()):
        run.going |= {job for job in gone if not request.shard.has(job) or _drop(run, job)}


def _drop(run: Run, job: JobId) -> bool:
    """The job is gone: its files, its folder and its lock go, too, if nothing hinders that."""
    held = run.state.held(job)
    hindrances = [held] if isinstance(held, Diagnostic) else held.hindrances({})
    run.diagnostics += hindrances
    if hindrances or isinstance(held, Diagnostic):
        return False
    run.jobs[job] = Staged.GOES
    run.removed += [f"{held.folder}/{name}" for name in held.digests if name != FILE]
    return True


def _emptied(name: str, gone: Collection[JobId]) -> Diagnostic:
    jobs = counted(sum(job[0] == name for job in gone), "job")
    message = f"environment {name!r} has {jobs} in rendered/, but no TrainJob is left"
    hint = "to delete them, pass --allow-empty; otherwise check why no TrainJob is left"
    return Diagnostic("TF714", "error", message, hint)


def _plan_what_is_shared(run: Run, parts: Sequence[Part], request: Request, since: Changes | None) -> None:
    named = request.environments or {job[0] for job in run.state.ids()} if request.whole else ()
    concerned = since.shared(run.repository.settings.rendered) if since else None
    plan_lists(run, {*named, *(job[0] for job in (*run.jobs, *run.elsewhere))}, concerned)
    _keep_snapshots(run, (snapshot for part in parts for snapshot in part.snapshots))
    plan_attributes(run)


def _keep_snapshots(run: Run, at_hand: Iterable[Snapshot]) -> None:
    """Writes those of the snapshots `at_hand` that a lock names; removes those that none does."""
    named = set(run.named)
    left = [job for job in run.state.ids() if job not in run.rendered]
    staying = [job for job in left if job not in run.elsewhere and job not in run.going]
    is_sound = True
    for file in run.state.passing(staying):
        if isinstance(file, LockFile):
            named |= {digest for lock in filter(None, [file.lock, file.previous]) for digest in digests_of(lock)}
        else:
            is_sound = False
    there = set(disk.snapshots(run.repository.root))
    for snapshot in at_hand:
        if snapshot.digest in named - there - {NOTHING}:
            run.files[snapshot_file(snapshot.digest)] = snapshot.text
    unused = there - named
    if unused and is_sound and all(isinstance(file, LockFile) for file in run.state.passing(left)):
        run.files |= {snapshot_file(digest): None for digest in sorted(unused)}
