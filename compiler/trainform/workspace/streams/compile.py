"""Compile a stream of jobs from standard input, batch by batch: of each batch only what is printed is kept, so that
50,000 jobs fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from trainform.core.compile import CompiledJob, Prepared, Stopped, compile_documents, compile_job, prepare, stopped_by
from trainform.core.destination import Matched
from trainform.core.inputs import sort
from trainform.core.pipeline import Pipeline
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.installed import stdout_kept
from trainform.workspace.compilation import shipped_catalogue
from trainform.workspace.lints import Judge, Judgement, Lints, Silences, flat, silences_of

if TYPE_CHECKING:
    from trainform.core.plugin import PluginFailure
    from trainform.workspace.inputs import EnvironmentInputs

BATCH = 500
"""Jobs per batch: fewer are not worth a process, more take memory."""

Kept = TypeVar("Kept")
Keep = Callable[[Sequence[CompiledJob]], Kept]


@dataclass(slots=True, kw_only=True)
class StreamOutcome(Generic[Kept]):
    """The problems of a stream, those that belong to no job first, and what was `kept` of each batch of jobs."""

    general: list[Diagnostic] = field(default_factory=list)
    of_jobs: list[Diagnostic] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    failures: list[PluginFailure] = field(default_factory=list)
    judged: Judgement = field(default_factory=Judgement)

    def all_diagnostics(self) -> list[Diagnostic]:
        return [*self.general, *self.of_jobs]


def compile_stream(inputs: EnvironmentInputs, keep: Keep[Kept], *, wants_job: bool = True) -> StreamOutcome[Kept]:
    """Compile all jobs of a stream, with one process per processor if there are many. `keep` is called with the jobs of
    each batch. `wants_job`: report if there is no TrainJob. Raises PluginError if a plugin does not load."""
    sources, outcome = inputs.sources, StreamOutcome[Kept]()
    pipeline = Pipeline.of(inputs.plugins.plugins)
    silences = silences_of(sources.documents)
    outcome.judged.silences = flat(silences)
    with stdout_kept():
        told = (_compile_whole if pipeline.guests else _compile_batches)(inputs, pipeline, silences, keep, outcome)
    if not wants_job or has_errors(sources.diagnostics):
        told = [each for each in told if each.code != "TF202"]
    outcome.general = list(dict.fromkeys(told))
    return outcome


def _compile_batches(
    inputs: EnvironmentInputs, pipeline: Pipeline, silences: Silences, keep: Keep[Kept], outcome: StreamOutcome[Kept]
) -> list[Diagnostic]:
    """Compile batch by batch; returns the problems that belong to no job."""
    sources = inputs.sources
    prepared = prepare(sort(sources.documents, sources.diagnostics, {}), shipped_catalogue(), pipeline)
    work = partial(_compile_batch, prepared, silences, keep)
    stopped: Stopped = {}
    for batch in _batches(work, range(len(prepared.selected))):
        outcome.kept.append(batch.kept)
        outcome.of_jobs += batch.diagnostics
        outcome.judged.add(batch.judged)
        outcome.failures += batch.failures
        prepared.shared.destination.matched.add(batch.matched)
        for key, jobs in batch.stopped.items():
            stopped.setdefault(key, []).extend(jobs)
    compilation = prepared.compilation(stopped, failed=has_errors(outcome.of_jobs))
    return Judge(Lints(), silences, outcome.judged).compilation(compilation).diagnostics


def _compile_whole(
    inputs: EnvironmentInputs, pipeline: Pipeline, silences: Silences, keep: Keep[Kept], outcome: StreamOutcome[Kept]
) -> list[Diagnostic]:
    """Compile in one piece: what a third-party plugin edits in place is found after the last job."""
    sources = inputs.sources
    compilation = compile_documents(
        sources.documents, catalogue=shipped_catalogue(), plugins=pipeline.plugins, source=sources.diagnostics
    )
    told = Judge(Lints(), silences, outcome.judged).compilation(compilation)
    outcome.kept.append(keep(told.jobs))
    outcome.of_jobs += (each for job in told.jobs for each in job.diagnostics)
    outcome.failures += told.failures
    return told.diagnostics


class _Batch(NamedTuple, Generic[Kept]):
    """What is left of a batch."""

    kept: Kept
    diagnostics: list[Diagnostic]
    judged: Judgement
    failures: list[PluginFailure]
    matched: Matched
    stopped: Stopped


_Work = Callable[[Sequence[int]], _Batch[Kept]]


def _batches(work: _Work[Kept], numbers: Sequence[int]) -> Iterator[_Batch[Kept]]:
    """The result of each batch, in order. Few jobs need neither copies nor what makes them."""
    if len(numbers) <= BATCH:
        yield from [work(numbers)] if numbers else ()
        return
    from trainform.io.workers import START_METHOD, processors
    from trainform.workspace.parallel import in_workers, slices

    # What a stream is compiled with is as large as the stream: new interpreters are not sent it.
    workers = processors() if START_METHOD == "fork" else 1
    yield from in_workers(partial(_reduced, work), slices(numbers, BATCH), workers)


def _reduced(work: _Work[Kept], numbers: Sequence[int]) -> _Batch[Kept]:
    """A batch without its documents: it can be sent to another process, and takes less memory."""
    from trainform.workspace.parallel import portable

    portably = partial(portable, every_place=True)
    batch = work(numbers)
    return batch._replace(diagnostics=portably(batch.diagnostics), judged=batch.judged.mapped(portably))


def _compile_batch(prepared: Prepared, silences: Silences, keep: Keep[Kept], numbers: Iterable[int]) -> _Batch[Kept]:
    shared = prepared.shared
    compiled = [compile_job(prepared.selected[number], shared) for number in numbers]
    failures, shared.failures[:] = [*shared.failures], []
    matched, shared.destination.matched = shared.destination.matched, Matched()
    judged = Judgement()
    jobs = Judge(Lints(), silences, judged).jobs(compiled)
    told = [each for job in jobs for each in job.diagnostics]
    return _Batch(keep(jobs), told, judged, failures, matched, stopped_by(compiled, shared.inputs))
