"""A run that writes: what stays frozen, what is compiled, and what is removed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trainform.cli.behind import Groups, group, presents_of
from trainform.cli.compiling import Outcome, compile_targets
from trainform.cli.frozen import NOTHING, Frozen, layout_of, leave_frozen, remake, set_frozen_apart
from trainform.cli.planning import Plan
from trainform.cli.selection import train_jobs
from trainform.cli.shared_files import plan_attributes, plan_lists
from trainform.cli.state import Held, State, read_state
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.place import file_error, os_error
from trainform.io.state import JobId, snapshots
from trainform.output.freezing import digests_of_files, lock_of
from trainform.output.layout import job_files

if TYPE_CHECKING:
    from trainform.cli.targets import Target
    from trainform.core.compile import CompiledJob
    from trainform.io.repository import Repository
    from trainform.output.freezing import Present
    from trainform.output.locks import Lock


_UPGRADE = "nothing can prove how it was rendered: run `trainform upgrade` for it, or bring the file back with git"


@dataclass(frozen=True, slots=True)
class Request:
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

    def thaws(self, lock: Lock) -> bool:
        """Whether a frozen job is to be rendered anew."""
        pin = lock.pins.runtime
        return self.upgrade and self.runtime in ("", pin.name, f"{pin.namespace}/{pin.name}")


@dataclass(slots=True)
class Rendering:
    """A run worked out: nothing is written yet. With an error and without `keep_going`, nothing may be."""

    plan: Plan
    outcome: Outcome
    frozen: list[Frozen]
    presents: dict[str, Present]

    def diagnostics(self) -> list[Diagnostic]:
        return [*self.outcome.all_diagnostics(), *self.plan.diagnostics]

    def behind(self) -> Groups:
        return group([(job.id, job.lock.pins) for job in self.frozen], self.presents)


def work_out(
    repository: Repository, targets: Sequence[Target], problems: Sequence[Diagnostic], request: Request
) -> Rendering:
    """Everything that a run will do, and whatever hinders it."""
    state = read_state(repository)
    frozen = [job for target in targets for job in set_frozen_apart(target, state, request.thaws)]
    if request.upgrade:
        frozen = []  # those that are not upgraded are none of this run's business
        problems = [*problems, *_leave_upgraded(request, targets, state)]
    outcome = compile_targets(targets, problems, wants_job=not problems and not request.allow_empty)
    rendering = Rendering(Plan(state), outcome, frozen, presents_of(targets, outcome))
    try:
        _keep(rendering, targets)
        _put(rendering, targets)
        if request.whole:
            _drop(rendering, request)
        _plan_the_rest(rendering, request)
    except OSError as error:
        rendering.plan.diagnostics.append(os_error("TF701", error.filename or "", error, "cannot be read"))
    return rendering


def _leave_upgraded(request: Request, targets: Sequence[Target], state: State) -> list[Diagnostic]:
    """Leaves the jobs that are to be upgraded; an error where no job runs on the runtime that was asked for."""
    for target in targets:
        if request.only_frozen:
            leave_frozen(target, state)
    if not request.runtime or any(train_jobs(target) for target in targets):
        return []
    known = {file.lock.pins.runtime.name for file in state.locks.values()}
    hint = did_you_mean(request.runtime, known) or f"they run on {', '.join(sorted(known)) or 'none'}"
    return [Diagnostic("TF705", "error", f'no rendered job runs on runtime "{request.runtime}"', hint)]


def _keep(rendering: Rendering, targets: Sequence[Target]) -> None:
    """Frozen jobs stay; files that are missing are made anew, byte for byte."""
    plan, lacking = rendering.plan, []
    for job in rendering.frozen:
        held = plan.state.held(job.id)
        if isinstance(held, Held) and held.missing and not held.hindrances(job.lock.files):
            lacking.append(job)
        else:
            plan.put(job.id, _with_source(job))
    if not lacking:
        return
    assert rendering.outcome.catalogue is not None
    made, problems = remake(plan.repository, targets, lacking, rendering.outcome.catalogue)
    plan.diagnostics += problems
    for job in lacking:
        files = made.get(job.id, {})
        if digests_of_files(files) == job.lock.files:
            plan.put(job.id, _with_source(job), files)
        elif not problems:
            plan.diagnostics.append(_not_remade(job, plan))


def _with_source(job: Frozen) -> Lock:
    """The lock of a job whose TrainJob may have moved to another file."""
    return replace(job.lock, source=job.document.file)


def _not_remade(job: Frozen, plan: Plan) -> Diagnostic:
    held = plan.state.held(job.id)
    assert isinstance(held, Held)
    file = f"{held.folder}/{held.missing[0]}"
    message = "is missing, and this trainform does not make it as it was"
    hint = f"restore it: `git checkout -- {file}`; or run `trainform upgrade {'/'.join(job.id[1:])}`"
    return file_error("TF713", file, message, hint)


def _put(rendering: Rendering, targets: Sequence[Target]) -> None:
    """Jobs that were compiled, and are good."""
    for target, compilation in zip(targets, rendering.outcome.compilations, strict=True):
        layout = layout_of(compilation.inputs.environment)
        for job in compilation.jobs:
            if job.objects:
                files = job_files(job.objects, layout)
                lock = lock_of(job, rendering.presents[target.name], files)
                rendering.plan.put((target.name, job.namespace, job.name), lock, files)


def _drop(rendering: Rendering, request: Request) -> None:
    """Jobs that are gone. An error may be what hides one, so that nothing is removed while there is any."""
    plan = rendering.plan
    alive = {job.id for job in rendering.frozen} | {_id(job) for job in rendering.outcome.jobs}
    known = [job for job in plan.state.ids() if not request.environments or job[0] in request.environments]
    gone = [job for job in known if job not in alive]
    if not request.allow_empty:
        emptied = {job[0] for job in gone} - {job[0] for job in alive}
        plan.diagnostics += [_emptied(name, gone) for name in sorted(emptied)]
    if not has_errors(rendering.diagnostics()):
        for job in gone:
            plan.drop(job)


def _id(job: CompiledJob) -> JobId:
    return job.environment, job.namespace, job.name


def _emptied(environment: str, gone: Collection[JobId]) -> Diagnostic:
    jobs = counted(sum(job[0] == environment for job in gone), "job")
    message = f"nothing is rendered for environment {environment!r}, which has {jobs}"
    hint = "if they are to be deleted, say so: --allow-empty; else see where its TrainJobs went"
    return Diagnostic("TF714", "error", message, hint)


def _plan_the_rest(rendering: Rendering, request: Request) -> None:
    plan = rendering.plan
    named = request.environments or {job[0] for job in plan.state.ids()} if request.whole else ()
    plan_lists(plan, {*named, *(job[0] for job in plan.jobs)})
    plan.diagnostics += _without_snapshots(rendering)
    plan.keep_snapshots([each for present in rendering.presents.values() for each in present.snapshots()])
    plan_attributes(plan)


def _without_snapshots(rendering: Rendering) -> list[Diagnostic]:
    """A warning for each frozen job whose snapshots are gone, and cannot be made again from what is current.

    Two branches make such a job, when one uses what the other was the last to use and upgrades.
    """
    made = {each.digest for present in rendering.presents.values() for each in present.snapshots()}
    there = {*snapshots(rendering.plan.repository.root), *made, NOTHING}
    return [
        Diagnostic(
            "TF712", "warning", "a snapshot that this job is pinned to is not there", _UPGRADE, place=job.document
        )
        for job in rendering.frozen
        if {job.lock.pins.runtime.digest, job.lock.pins.environment} - there
    ]
