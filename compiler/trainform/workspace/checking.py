"""What `trainform check` finds out, slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.io.paths import JobId
from trainform.workspace import proven
from trainform.workspace.compiling import compile_targets
from trainform.workspace.proven import Changes, changes, look, remember
from trainform.workspace.selection import train_jobs
from trainform.workspace.shards import ALL, Shard, set_others_apart
from trainform.workspace.slices import Census, Slice, count, in_slices, settle, travelling
from trainform.workspace.uptodate import set_frozen_apart
from trainform.workspace.verify import Examination, Verdict, of_no_job

if TYPE_CHECKING:
    from trainform.io.baseline import Commit
    from trainform.review.diff.totals import Asks
    from trainform.workspace.discovery import Survey
    from trainform.workspace.fleet import Seen
    from trainform.workspace.state import State
    from trainform.workspace.target import Target


@dataclass(slots=True)
class Checked:
    """What is found of some jobs, or of all.

    `problems` are those of files that cannot be read right, `faults` errors of jobs that are to be rendered anew:
    `render` would not mend what differs. `asked` are the jobs that have a TrainJob, in whichever shard. `since` is
    what changed, where only that was looked at. `seen` are glances at the jobs of the verdicts, for the next `diff`.
    """

    census: Census = field(default_factory=Census)
    problems: list[Diagnostic] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    asked: set[JobId] = field(default_factory=set)
    since: Changes | None = None
    seen: Seen | None = None

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong."""
        wrong = (each.state not in ("current", "unproven") for each in self.verdicts)
        return not (self.faults or has_errors(self.problems) or any(wrong))


CHECKED = "checked"
"""The purpose of a record: every job's files follow from what it is pinned to."""


def examine(
    survey: Survey,
    state: State,
    environments: Collection[str],
    shard: Shard,
    workers: int,
    commit: Commit | None,
) -> Checked:
    """One verdict for each job of these environments (all, where there are none) and this shard; the first shard
    has one for each file that is wrong and no job's, too. `commit` was checked out before anything was read."""
    is_of_everything = not environments and shard == ALL
    since = changes(look(CHECKED, survey.repository), survey, state) if is_of_everything else None
    asks = _asks() if is_of_everything and since is None and len(survey.files) >= proven.LEAST else None
    work = partial(_examine, state, shard, asks)
    parts = _of_changes(survey, since, state, work) if since else in_slices(survey, work, workers)
    whole = Checked(since=since)
    for part in parts:
        whole.problems += part.problems
        whole.verdicts += part.verdicts
        whole.faults += part.faults
        whole.asked |= part.asked
    if shard.is_first:
        found = of_no_job(state, whole.asked, since.paths if since else None)
        whole.verdicts += (each for each in found if not environments or each.job[0] in environments)
    jobs = whole.asked.union(state.ids())
    whole.verdicts.sort(key=lambda verdict: (verdict.job not in jobs, verdict.job))
    if is_of_everything and len(parts) > 1 and whole.is_well:
        unproven = [each.job for each in whole.verdicts if each.state == "unproven"]
        kept = remember(CHECKED, survey, state, {"unproven": unproven}, since, commit)
        if kept is not None and asks is not None:
            _remember_glances(state, parts, kept)
    return whole


def _of_changes(
    survey: Survey, since: Changes, state: State, work: Callable[[list[Target], Slice | None], Checked]
) -> list[Checked]:
    """The jobs that a change may concern, examined, and the others as they were proven."""
    untouched = since.untouched(state)
    unproven = {(a, b, c) for a, b, c in since.known["unproven"]}
    verdicts = [Verdict(job, "unproven" if job in unproven else "current") for job in untouched]
    part = Slice(since.files, first=True)
    return [Checked(verdicts=verdicts, asked=untouched), work(survey.part(since.files), part)]


def _asks() -> Asks:
    from trainform.review.diff.totals import Asks

    return Asks()


def _remember_glances(state: State, parts: Sequence[Checked], commit: Commit) -> None:
    from trainform.workspace import fleet, recalled

    whole = fleet.Fleet(state)
    for part in parts:
        if part.seen is not None:
            whole.add([verdict.job for verdict in part.verdicts], part.seen)
    recalled.remember(whole, commit, ())


def _glances(state: State, verdicts: Sequence[Verdict], asks: Asks) -> Seen:
    from trainform.workspace.fleet import glances

    return glances(state, [verdict.job for verdict in verdicts], asks)


def _examine(state: State, shard: Shard, asks: Asks | None, targets: list[Target], part: Slice | None) -> Checked:
    state = state.fresh()
    census = count(targets, part)
    problems = [problem for target in targets for problem in target.inputs.diagnostics]
    elsewhere = [job.id for target in targets for job in set_others_apart(target, shard)]
    examination = Examination.of(targets, state)
    verdicts = examination.verdicts()
    faults = _faults(targets, state, census, [*examination.frozen, *elsewhere])
    if part:
        problems, faults = travelling(part.own(problems)), travelling(faults)
    seen = _glances(state, verdicts, asks) if asks is not None and part is not None else None
    return Checked(census, problems, verdicts, faults, {*examination.asked, *elsewhere}, seen=seen)


def _faults(targets: Sequence[Target], state: State, census: Census, settled: Sequence[JobId]) -> list[Diagnostic]:
    """What hinders `render`. Where every job is frozen, nothing is compiled."""
    for target in targets:
        set_frozen_apart(target, state, lambda lock: False)
    if not any(train_jobs(target) for target in targets):
        census.jobs = {target.name: sum(job[0] == target.name for job in settled) for target in targets}
        return []
    outcome = compile_targets(targets)
    settle(census, targets, outcome, settled)
    return [each for each in outcome.all_diagnostics() if each.severity == "error"]
