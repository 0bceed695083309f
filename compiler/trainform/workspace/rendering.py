"""A run that writes: what stays frozen, what is compiled, and what is removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean
from trainform.io import writer
from trainform.io.paths import JobId, snapshots
from trainform.io.place import file_error, os_error
from trainform.output.layout import job_files
from trainform.workspace.compiling import Outcome, compile_targets
from trainform.workspace.fingerprint import Cause, digests_of_files, lock_of
from trainform.workspace.plan import Plan, digests_of
from trainform.workspace.selection import train_jobs
from trainform.workspace.shards import ALL, Shard, digests_named, frozen_lock, set_others_apart
from trainform.workspace.slices import Census, Slice, count, settle
from trainform.workspace.staleness import Groups, group, presents_of
from trainform.workspace.state import Held, State
from trainform.workspace.uptodate import NOTHING, Frozen, layout_of, leave_frozen, remake, set_frozen_apart

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.core.pipeline import PluginFailure
    from trainform.io.writer import Staged
    from trainform.workspace.fingerprint import Present, Snapshot
    from trainform.workspace.lockfile import Lock
    from trainform.workspace.shards import Elsewhere
    from trainform.workspace.target import Target


_UPGRADE = "its manifests cannot be verified: run `trainform upgrade` for it, or restore the snapshot with git"


class Request(NamedTuple):
    """What a run was asked for.

    `whole`: it is about every job of `environments` (all, where that is empty), so that jobs that are gone are
    removed. `upgrade`: frozen jobs are rendered anew, those on `runtime` where it is given; `only_frozen`: no
    other jobs are.
    """

    whole: bool
    environments: Sequence[str] = ()
    keep_going: bool = False
    allow_empty: bool = False
    upgrade: bool = False
    runtime: str = ""
    only_frozen: bool = False
    dry_run: bool = False
    shard: Shard = ALL

    @property
    def is_of_everything(self) -> bool:
        """Whether it is about all jobs there are, none upgraded."""
        return self.whole and not self.environments and not self.upgrade and self.shard == ALL

    def thaws(self, lock: Lock) -> bool:
        """Whether a frozen job is to be rendered anew."""
        pin = lock.pins.runtime
        return self.upgrade and self.runtime in ("", pin.name, f"{pin.namespace}/{pin.name}")


@dataclass(slots=True)
class Work:
    """Jobs worked out, all of them or a slice, with everything that is known of them."""

    plan: Plan
    outcome: Outcome
    frozen: list[Frozen]
    elsewhere: list[Elsewhere]
    presents: dict[str, Present]


@dataclass(slots=True)
class Part:
    """What is left to know of the jobs of a slice once their files are staged: it may come from another process.

    `rendered` are the jobs that have a lock after this run, `alive` those that have a TrainJob, be it a faulty one;
    `elsewhere` those of other shards.
    `named` are the digests of the snapshots that their locks name, `snapshots` those of them that are at hand.
    `unwritable`: the disk does not take the files. `work` is there where all jobs were worked out in one piece.
    """

    census: Census
    alive: set[JobId] = field(default_factory=set)
    rendered: set[JobId] = field(default_factory=set)
    elsewhere: set[JobId] = field(default_factory=set)
    unchanged: int = 0
    staged: dict[JobId, Staged] = field(default_factory=dict)
    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    snapshots: list[Snapshot] = field(default_factory=list)
    behind: Groups = field(default_factory=dict)
    told: list[Diagnostic] = field(default_factory=list)
    hindrances: list[Diagnostic] = field(default_factory=list)
    failures: list[PluginFailure] = field(default_factory=list)
    unwritable: bool = False
    work: Work | None = None

    @classmethod
    def of_untouched(cls, jobs: set[JobId], touched: Iterable[Lock], known: Mapping[str, Any]) -> Part:
        """The `jobs` that are as a record knows them, which knows the locks that the `touched` ones had, too."""
        named = Counter(known["named"])
        named.subtract(digest for lock in touched for digest in digests_of(lock))
        behind = {
            Cause(*cause): [job for each in late if (job := (each[0], each[1], each[2])) in jobs]
            for cause, late in known["behind"]
        }
        return cls(
            Census(),
            alive=jobs,
            rendered=jobs,
            unchanged=len(jobs),
            named=+named,
            behind={cause: late for cause, late in behind.items() if late},
        )


def work_out(
    targets: Sequence[Target], problems: Sequence[Diagnostic], request: Request, state: State, part: Slice | None = None
) -> Part:
    """What becomes of the jobs of some targets. Their files are staged, unless it is for a preview."""
    census = count(targets, part)
    elsewhere = [job for target in targets for job in set_others_apart(target, request.shard)]
    frozen = [job for target in targets for job in set_frozen_apart(target, state, request.thaws)]
    broken = [problem for target in targets if request.only_frozen for problem in leave_frozen(target, state)]
    if request.upgrade:
        frozen = []  # those that are not upgraded are none of this run's business
        elsewhere = [job for job in elsewhere if (lock := frozen_lock(job, state)) and request.thaws(lock)]
        problems = [*problems, *_unknown_runtime(request, targets, state, part)]
    outcome = compile_targets(targets, problems, wants_job=not problems and not request.allow_empty)
    settle(census, targets, outcome, [*(job.id for job in frozen), *(job.id for job in elsewhere)])
    work = Work(Plan(state, diagnostics=broken), outcome, frozen, elsewhere, presents_of(targets, outcome))
    try:
        _keep(work, targets)
        _put(work, targets)
        result = _result(work, census, request, part)
    except OSError as error:
        work.plan.diagnostics.append(os_error("TF701", error.filename or "", error, "cannot be read"))
        result = Part(census, hindrances=work.plan.diagnostics)
    return result


def _unknown_runtime(request: Request, targets: Sequence[Target], state: State, part: Slice | None) -> list[Diagnostic]:
    """An error where no job is left that runs on the runtime that was asked for, which a slice cannot tell."""
    if part or not request.runtime or any(train_jobs(target) for target in targets):
        return []
    known = {file.lock.pins.runtime.name for file in state.locks.values()}
    hint = did_you_mean(request.runtime, known) or f"rendered jobs use: {', '.join(sorted(known)) or 'none'}"
    return [Diagnostic("TF705", "error", f'no rendered job uses runtime "{request.runtime}"', hint)]


def _keep(work: Work, targets: Sequence[Target]) -> None:
    """Frozen jobs stay; files that are missing are made anew, byte for byte."""
    plan, lacking = work.plan, []
    for job in work.frozen:
        held = plan.state.held(job.id)
        if isinstance(held, Held) and held.missing and not held.hindrances(job.lock.files):
            lacking.append(job)
        else:
            plan.put(job.id, _with_source(job))
    if not lacking:
        return
    assert work.outcome.catalogue is not None
    made, problems = remake(plan.repository, targets, lacking, work.outcome.catalogue)
    plan.diagnostics += problems
    for job in lacking:
        files = made.get(job.id, {})
        if digests_of_files(files) == job.lock.files:
            plan.put(job.id, _with_source(job), files)
        elif not problems:
            plan.diagnostics.append(_not_remade(job, plan))


def _with_source(job: Frozen) -> Lock:
    """The lock of a job whose TrainJob may have moved to another file."""
    return job.lock._replace(source=job.document.file)


def _not_remade(job: Frozen, plan: Plan) -> Diagnostic:
    held = plan.state.held(job.id)
    assert isinstance(held, Held)
    file = f"{held.folder}/{held.missing[0]}"
    message = "is missing, and this version of trainform would render it differently"
    hint = f"restore it: `git checkout -- {file}`; or run `trainform upgrade {'/'.join(job.id[1:])}`"
    return file_error("TF713", file, message, hint)


def _put(work: Work, targets: Sequence[Target]) -> None:
    """Jobs that were compiled, and are good."""
    for target, compilation in zip(targets, work.outcome.compilations, strict=True):
        layout = layout_of(compilation.inputs.environment)
        for job in compilation.jobs:
            if job.objects:
                files = job_files(job.objects, layout)
                lock = lock_of(job, work.presents[target.name], files)
                work.plan.put((target.name, job.namespace, job.name), lock, files)


def _result(work: Work, census: Census, request: Request, part: Slice | None) -> Part:
    plan = work.plan
    behind = group([(job.id, job.lock.pins) for job in work.frozen], work.presents)
    named = plan.named()
    for job in work.elsewhere if request.shard.is_first else ():
        lock = None if request.upgrade else frozen_lock(job, plan.state)
        named.update(digests_named(job, lock, work.presents[job.id[0]]))
    at_hand = {each.digest: each for present in work.presents.values() for each in present.snapshots()}
    plan.diagnostics += _without_snapshots(work, at_hand)
    told = work.outcome.all_diagnostics() if part is None else part.told(work.outcome)
    staged = {} if request.dry_run else _stage(plan)
    known = {job: job for job in census.names}  # each job travels once, however often it is named
    ids = [*(job.id for job in work.frozen), *map(_id, work.outcome.jobs)]
    alive = {known.get(job, job) for job in ids}
    return Part(
        census,
        alive=alive,
        rendered=alive if alive == plan.locks.keys() else {*plan.locks},
        elsewhere={job.id for job in work.elsewhere},
        unchanged=len(plan.unchanged),
        staged=staged or {},
        wrote=plan.wrote,
        removed=plan.removed,
        named=named,
        snapshots=[each for digest, each in at_hand.items() if digest in named],
        behind=behind,
        told=told,
        hindrances=plan.diagnostics,
        failures=work.outcome.failures,
        unwritable=staged is None,
        work=work if part is None else None,
    )


def _id(job: CompiledJob) -> JobId:
    return job.environment, job.namespace, job.name


def _without_snapshots(work: Work, at_hand: Collection[str]) -> list[Diagnostic]:
    """A warning for each frozen job whose snapshots are gone, and cannot be made again from what is current.

    Two branches make such a job, when one uses what the other was the last to use and upgrades.
    """
    there = {*snapshots(work.plan.repository.root), *at_hand, NOTHING} if work.frozen else set()
    return [
        Diagnostic(
            "TF712", "warning", "a snapshot that this job was rendered from is missing", _UPGRADE, place=job.document
        )
        for job in work.frozen
        if {job.lock.pins.runtime.digest, job.lock.pins.environment} - there
    ]


def _stage(plan: Plan) -> dict[JobId, Staged] | None:
    """Writes the files of every job that changes to where they wait for a word that all is well; None where the
    disk does not take them."""
    staged, folder = {}, ""
    try:
        for job, change in plan.jobs.items():
            folder = change.folder
            staged[job] = writer.stage(plan.repository.root, change)
    except OSError as error:
        plan.diagnostics.append(os_error("TF707", folder, error, "cannot be written"))
        return None
    return staged
