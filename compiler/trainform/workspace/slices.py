"""The jobs of a repository in slices: worked out side by side, and forgotten as soon as their result is known.

What a compile says of one job depends on that job and on what all share: runtimes, Environments, facts, keys. What
depends on several jobs shows in the `Census` of each slice: where there is such a thing, all jobs are worked out
once more in one piece, so that the answer is always that of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import click

from trainform.diagnostics.diagnostic import Position, Spot
from trainform.diagnostics.order import FEW
from trainform.io.workers import WorkerDied, answers, can_fork, processors
from trainform.workspace.selection import named, train_jobs

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.compiling import Outcome
    from trainform.workspace.discovery import Survey
    from trainform.workspace.target import Target

SMALLEST, LARGEST = 100, 500
"""How many files a slice has: fewer are not worth a process, more take memory."""


class Slice(NamedTuple):
    """Some of the files of jobs. `first` is true for one slice of all: it tells what is wrong with what all share."""

    files: Sequence[str]
    first: bool

    def told(self, outcome: Outcome, *, whole: bool = False) -> list[Diagnostic]:
        """What this slice has to tell of what was found in it and in what all share, small enough to travel:
        `whole`, with every place of a problem."""
        general = self.own(outcome.diagnostics)
        return travelling([*general, *(each for job in outcome.jobs for each in job.diagnostics)], whole=whole)

    def own(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Less what is wrong with what all share, where that is another slice's to tell."""
        files = set(self.files)
        return [each for each in diagnostics if self.first or each.file in files]


@dataclass(slots=True)
class Census:
    """What a slice holds that may concern others.

    `jobs` counts those of each target that are compiled or frozen; `unmatched` is what its Environment says of jobs
    and no job here met, for the targets of which every job was compiled, and well.
    """

    names: list[JobId] = field(default_factory=list)
    others: bool = False
    failed: bool = False
    jobs: dict[str, int] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    unmatched: dict[str, set[tuple[object, ...]]] = field(default_factory=dict)


class Counted(Protocol):
    """The result of a slice."""

    @property
    def census(self) -> Census: ...


Result = TypeVar("Result", bound=Counted)


def in_slices(survey: Survey, work: Callable[[list[Target], Slice | None], Result], workers: int = 0) -> list[Result]:
    """What `work` makes of the jobs of each slice, in the order of their files; of all in one piece (None for a
    slice) where there are few of them, or something among them concerns several slices.

    `workers` is the number of processes; 0 for as many as there are processors.
    """
    slices = _slices(survey.files, workers or processors())
    if len(slices) < 2 or not can_fork():
        return [work(survey.whole(), None)]
    try:
        return _worked_out(survey, work, slices, workers or processors())
    except WorkerDied as error:
        raise click.ClickException(str(error)) from error


def _worked_out(
    survey: Survey, work: Callable[[list[Target], Slice | None], Result], slices: Sequence[Slice], workers: int
) -> list[Result]:
    _warm_up(survey)
    results: list[Result] = []

    def work_on(part: Slice) -> Result:
        return work(survey.part(part.files), part)

    names: set[JobId] = set()
    with answers(slices, work_on, workers) as found:
        for result in found:
            before = len(names)
            names.update(result.census.names)
            doubled = len(names) < before + len(result.census.names)
            if doubled or result.census.others or result.census.failed:
                return [work(survey.whole(), None)]
            result.census.names.clear()
            results.append(result)
    if _leaves_questions(survey.targets, [result.census for result in results]):
        return [work(survey.whole(), None)]
    return results


def _warm_up(survey: Survey) -> None:
    """Compiles the jobs of one file, for what that leaves in memory: every worker would have to fetch it itself."""
    from trainform.workspace.compiling import compile_targets

    reads: dict[Document, Read] = {}
    compile_targets(survey.part(survey.files[:1]), cache=reads)
    shared = {document for target in survey.targets for document in target.inputs.documents}
    survey.reads.update((document, found) for document, found in reads.items() if document in shared)


def _slices(files: Sequence[str], workers: int) -> list[Slice]:
    size = min(max(-(-len(files) // (2 * workers)), SMALLEST), LARGEST)
    return [Slice(files[start : start + size], start == 0) for start in range(0, len(files), size)]


def _leaves_questions(targets: Sequence[Target], census: Sequence[Census]) -> bool:
    """Whether a target has no job at all, or its Environment speaks of jobs that are in none of the slices."""
    for target in targets:
        concerned = [each for each in census if each.jobs.get(target.name)]
        if not concerned:
            return True
        if all(target.name in each.settled for each in concerned) and set.intersection(
            *(each.unmatched.get(target.name, set()) for each in concerned)
        ):
            return True
    return False


def travelling(diagnostics: Iterable[Diagnostic], *, whole: bool = False) -> list[Diagnostic]:
    """The same without the documents that they speak of. Unless `whole`, a place is looked up only where it may be
    shown: that of errors, and of the first few warnings of each kind (see `brief`), which are in the first few files
    of those that have any."""
    told = [*diagnostics]
    files: dict[str, set[str]] = {}
    for each in told:
        files.setdefault(each.code, set()).add(each.file)
    shown = {code: set(sorted(named)[:FEW]) for code, named in files.items()}
    small = []
    for each in told:
        if each.place is None:
            small.append(each)
        elif whole or each.severity == "error" or each.file in shown[each.code]:
            at = each.position or Position(1, 1)
            small.append(each._replace(place=Spot(each.file, at, each.place.line(at.line)), at=each.at or at))
        else:
            small.append(each._replace(place=Spot(each.file, Position(1, 1))))
    return small


def count(targets: Sequence[Target], part: Slice | None) -> Census:
    """The census of the documents of a slice, before frozen jobs are set apart."""
    census = Census()
    if part is None:
        return census
    files = set(part.files)
    for target in targets:
        jobs = train_jobs(target)
        census.names += [(target.name, *named(job, target)) for job in jobs]
        here = sum(document.file in files for document in target.inputs.documents)
        census.others |= here != len(jobs)
    return census


def settle(census: Census, targets: Sequence[Target], outcome: Outcome, frozen: Collection[JobId]) -> None:
    """Completes the census with what became of the jobs."""
    census.failed = bool(outcome.failures)
    for target, compilation in zip(targets, outcome.compilations, strict=True):
        left = sum(job[0] == target.name for job in frozen)
        census.jobs[target.name] = len(compilation.jobs) + left
        census.unmatched[target.name] = {(each.code, each.path) for each in compilation.unmatched}
        if not left and all(job.objects for job in compilation.jobs):
            census.settled.add(target.name)
