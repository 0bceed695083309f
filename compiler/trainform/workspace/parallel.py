"""Process a repository's jobs in parallel chunks, keeping only the results, added up.

A job's result depends on that job and on shared inputs: runtimes, Environments, facts, keys. If `ChunkStats` shows
something that concerns several jobs, all are processed again in one piece, so the result is always that of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar

from trainform.diagnostics.diagnostic import Position, Spot
from trainform.diagnostics.order import FEW
from trainform.io.place import WholeFile
from trainform.io.workers import WorkerDied, in_processes, processors
from trainform.workspace import InvocationError
from trainform.workspace.progress import advance
from trainform.workspace.selection import job_id

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

SMALLEST, LARGEST = 100, 500
"""Files or jobs per chunk: fewer are not worth a process, more take memory."""


class Chunk(NamedTuple):
    """Some of the job files; None means all in one piece. The `first` chunk reports problems of shared inputs."""

    files: Sequence[str] | None = None
    first: bool = True

    @property
    def is_whole(self) -> bool:
        return self.files is None

    def found(self, outcome: Outcome, *, every_place: bool = False) -> list[Diagnostic]:
        """The diagnostics of this chunk's files, and of shared inputs if it is the first chunk."""
        general = self.own(outcome.diagnostics)
        return self.portable([*general, *(each for job in outcome.jobs for each in job.diagnostics)], every_place)

    def own(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Drop problems of shared inputs if another chunk reports them, unless they name jobs of this one."""
        files = set(self.files or ())
        return [each for each in diagnostics if self.first or each.jobs or each.file in files]

    def portable(self, diagnostics: Iterable[Diagnostic], every_place: bool = False) -> list[Diagnostic]:
        """Copies that can be sent between processes; unchanged if the chunk is the whole."""
        return [*diagnostics] if self.is_whole else portable(diagnostics, every_place=every_place)


@dataclass(slots=True)
class ChunkStats:
    """What a chunk holds that may concern others. `names` are its jobs, frozen ones included. `has_others`: it has
    documents other than TrainJobs. `jobs` counts the compiled and frozen jobs of each environment; `unmatched` is what
    its Environment says about jobs but no job here matched. In `compiled` environments, every job here compiled without
    errors."""

    names: list[JobId] = field(default_factory=list)
    has_others: bool = False
    failed: bool = False
    jobs: dict[str, int] = field(default_factory=dict)
    compiled: set[str] = field(default_factory=set)
    unmatched: dict[str, set[tuple[object, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, environments: Sequence[EnvironmentInputs], chunk: Chunk) -> ChunkStats:
        """Stats of a chunk's documents; empty for a whole, which concerns no other chunk."""
        stats = cls()
        if chunk.files is None:
            return stats
        files = set(chunk.files)
        for each in environments:
            jobs = each.train_jobs()
            stats.names += [job_id(each, job) for job in jobs]
            stats.has_others |= sum(document.file in files for document in each.sources.documents) != len(jobs)
        return stats

    def add_outcome(
        self, environments: Sequence[EnvironmentInputs], outcome: Outcome, left_out: Collection[JobId]
    ) -> None:
        """Add the result of a compile. `left_out` jobs were not compiled, for example because they are frozen."""
        self.failed = bool(outcome.failures)
        for each, compilation in zip(environments, outcome.compilations, strict=True):
            left = sum(job[0] == each.name for job in left_out)
            self.jobs[each.name] = len(compilation.jobs) + left
            self.unmatched[each.name] = {(problem.code, problem.path) for problem in compilation.unmatched}
            if not left and all(job.objects for job in compilation.jobs):
                self.compiled.add(each.name)

    def concerns(self, names: set[JobId]) -> bool:
        """Whether the chunk concerns others, or one that has jobs of these `names`, to which it adds its own."""
        before = len(names)
        names.update(self.names)
        has_doubles = len(names) < before + len(self.names)
        return has_doubles or self.has_others or self.failed


class ChunkResult(Protocol):
    @property
    def stats(self) -> ChunkStats: ...

    def add(self, other: Self, /) -> None:
        """Add the result of the chunk after this one; not its stats."""


Result = TypeVar("Result", bound=ChunkResult)
Item = TypeVar("Item")
Found = TypeVar("Found")
Work = Callable[["list[EnvironmentInputs]", Chunk], Result]


def map_chunks(
    workspace: Workspace,
    work: Work[Result],
    workers: int = 0,
    *,
    files: Sequence[str] | None = None,
    known: Result | None = None,
    one_piece: bool = False,
) -> Result:
    """The results of `work` for all chunks, in file order, each added to the ones before it as soon as it is there.
    `workers` is the number of processes (0: one per processor). With `files`, only those are processed, and `known` is
    the result for all others. With `one_piece`, or if something concerns several chunks, all is processed at once.
    Raises InvocationError if a worker is killed."""
    workers = workers or processors()
    chunks = _chunks(workspace.job_files if files is None else files, workers)
    if one_piece or (known is None and len(chunks) < 2):
        return work(workspace.read(), Chunk())
    whole, stats = known, [] if known is None else [known.stats]
    names = {name for each in stats for name in each.names}
    total = sum(len(chunk.files or ()) for chunk in chunks)
    done = 0
    for chunk, result in zip(chunks, _results(workspace, work, chunks, workers), strict=True):
        done += len(chunk.files or ())
        advance(done, total)
        if result.stats.concerns(names):
            break
        stats.append(result.stats)
        if whole is None:
            whole = result
        else:
            whole.add(result)
    else:
        if whole is not None and not leaves_questions(workspace.environments, stats):
            return whole
    return work(workspace.read(), Chunk())


def _chunks(files: Sequence[str], workers: int) -> list[Chunk]:
    return [Chunk(part, number == 0) for number, part in enumerate(pieces(files, workers))] or [Chunk([])]


def pieces(items: Sequence[Item], workers: int) -> list[Sequence[Item]]:
    """The items in order, as many at a time as suits this number of processes."""
    return slices(items, min(max(-(-len(items) // (2 * workers)), SMALLEST), LARGEST))


def slices(items: Sequence[Item], size: int = LARGEST) -> list[Sequence[Item]]:
    """The items in order, `size` at a time."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def _results(workspace: Workspace, work: Work[Result], chunks: Sequence[Chunk], workers: int) -> Iterable[Result]:
    if len(chunks) > 1 and workers > 1:
        _warm_up(workspace)
    yield from in_workers(partial(_work_on, workspace, work), chunks, workers)


def in_workers(work: Callable[[Item], Found], tasks: Sequence[Item], workers: int) -> Iterator[Found]:
    """As `in_processes`. Raises InvocationError if a worker is killed."""
    try:
        yield from in_processes(work, tasks, workers)
    except WorkerDied as error:
        raise InvocationError(str(error)) from error


def _work_on(workspace: Workspace, work: Work[Result], chunk: Chunk) -> Result:
    return work(workspace.read(chunk.files), chunk)


def _warm_up(workspace: Workspace) -> None:
    """Compile one file's jobs to fill caches that each worker would otherwise fill itself."""
    from trainform.workspace.compilation import compile_environments

    reads: dict[Document, Read] = {}
    compile_environments(workspace.read(workspace.job_files[:1]), cache=reads)
    shared = {document for each in workspace.environments for document in each.sources.documents}
    workspace.reads.update((document, found) for document, found in reads.items() if document in shared)


def leaves_questions(environments: Sequence[EnvironmentInputs], found: Sequence[ChunkStats]) -> bool:
    """Whether an environment has no job, or its Environment names jobs that are in no chunk."""
    for each in environments:
        own = [stats for stats in found if stats.jobs.get(each.name)]
        if not own:
            return True
        unmatched = (stats.unmatched.get(each.name, set()) for stats in own)
        if all(each.name in stats.compiled for stats in own) and set.intersection(*unmatched):
            return True
    return False


def portable(diagnostics: Iterable[Diagnostic], *, every_place: bool = False) -> list[Diagnostic]:
    """Copies that can be pickled: file and line instead of the document. Without `every_place`, looks up lines only if
    they may be shown: for errors, and for warnings in the first few files of each code (see `brief`)."""
    found = [*diagnostics]
    files: dict[str, set[str]] = {}
    for each in found:
        files.setdefault(each.code, set()).add(each.file)
    shown = {code: set(sorted(named)[:FEW]) for code, named in files.items()}
    same: dict[str, str] = {}  # equal texts become one, which is sent and kept once
    copies = []
    for each in found:
        place, at = each.place, each.at
        if place is not None and not isinstance(place, WholeFile):
            start = Position(1, 1)
            if every_place or each.severity == "error" or each.file in shown[each.code]:
                start = each.position or start
                place, at = Spot(each.file, start, place.line(start.line)), at or start
            else:
                place = Spot(each.file, start)
        message, hint = (same.setdefault(text, text) for text in (each.message, each.hint))
        copies.append(each._replace(place=place, at=at, message=message, hint=hint))
    return copies
