"""One document in, one model out, with everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.api import rules as job_rules
from trainform.api import runtime_rules
from trainform.api.kinds import Subject, subject
from trainform.api.problems import Problem
from trainform.api.repair import source_path
from trainform.api.runtime import Runtime
from trainform.api.shape import M, Shape, in_source, left_out, shape, without_faults
from trainform.api.trainjob import TrainJob
from trainform.diagnostics import Diagnostic, Path

if TYPE_CHECKING:
    from trainform.api.environment import Environment
    from trainform.source import Document


class Read(NamedTuple):
    """A document as its kind wants it.

    `model` lacks the elements with errors, so that later stages can report their own problems in the same run; None for
    kinds without a model, or if nothing usable is left. `gone`: the paths of those elements in the source. `whole`:
    False if there is an error that no default of the cluster would fix.
    """

    subject: Subject
    model: TrainJob | Runtime | Environment | None
    diagnostics: list[Diagnostic]
    gone: tuple[Path, ...] = ()
    whole: bool = True

    def source_path(self, path: Path) -> Path:
        """A path into the model's document as one into the source: list entries before it may be gone."""
        return source_path(path, self.gone) if self.gone else path


def read(document: Document) -> Read:
    """Reads a document of any kind; never raises for what someone wrote."""
    about, head = subject(document.tree)
    if about == "job":
        return _read(document, about, head, TrainJob)
    if about == "runtime":
        return _read(document, about, head, Runtime)
    if about == "environment":
        from trainform.api.environment import Environment  # its validators take long to build

        return _read(document, about, head, Environment)
    return Read(about, None, [problem.of(document) for problem in head])


def _read(document: Document, about: Subject, head: list[Problem], kind: type[M]) -> Read:
    shaped: Shape[M] = shape(kind, document)
    problems = [*head, *shaped.problems]
    if shaped.model:
        rules = _rules(about, (*shaped.gone, *shaped.put_off))
        found = [in_source(problem, shaped.gone) for rule in rules for problem in rule(shaped.model)]
        problems += found
        if (faulty := left_out(found)) or shaped.put_off:
            shaped = without_faults(shaped, kind, faulty)
    whole = not any(problem.severity == "error" and not problem.fill for problem in problems)
    return Read(about, shaped.model, [problem.of(document) for problem in problems], shaped.gone, whole)


def _rules(about: Subject, hidden: tuple[Path, ...]) -> Sequence[Callable[[Any], Iterator[Problem]]]:
    """The rules for a kind; without those on what a runtime lacks where its jobs, or some, are hidden."""
    if about == "job":
        return job_rules.RULES
    if about == "environment":
        from trainform.api.environment_rules import RULES

        return RULES
    hides_jobs = any("replicatedJobs" in path or runtime_rules.JOBS[: len(path)] == path for path in hidden)
    return runtime_rules.RULES if hides_jobs else runtime_rules.ALL_RULES
