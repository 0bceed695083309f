"""Reads a document into a model, with all its problems."""

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
    from trainform.api.generator import ConfigMapGenerator
    from trainform.source import Document


class Read(NamedTuple):
    """The result of reading a document.

    `model` lacks elements with errors, so that later stages can report more in the same run; None for kinds without a
    model, or if nothing is usable. `gone`: source paths of those elements. `whole`: False after an error that no
    cluster default fixes.
    """

    subject: Subject
    model: TrainJob | Runtime | Environment | ConfigMapGenerator | None
    diagnostics: list[Diagnostic]
    gone: tuple[Path, ...] = ()
    whole: bool = True

    def source_path(self, path: Path) -> Path:
        """The source path of a path in the model, whose lists may have lost entries."""
        return source_path(path, self.gone) if self.gone else path


def read(document: Document) -> Read:
    """Reads a document of any kind; never raises for bad input."""
    about, head = subject(document.tree)
    if about == "job":
        return _read(document, about, head, TrainJob)
    if about == "runtime":
        return _read(document, about, head, Runtime)
    if about == "environment":
        from trainform.api.environment import Environment  # its validators are slow to build

        return _read(document, about, head, Environment)
    if about == "generator":
        from trainform.api.generator import ConfigMapGenerator

        return _read(document, about, head, ConfigMapGenerator)
    return Read(about, None, [problem.of(document) for problem in head])


def _read(document: Document, about: Subject, head: list[Problem], kind: type[M]) -> Read:
    shaped: Shape[M] = shape(kind, document)
    problems = [*head, *shaped.problems]
    if shaped.model:
        rules = _rules(about, (*shaped.gone, *shaped.put_off))
        given = (in_source(problem, shaped.gone) for rule in rules for problem in rule(shaped.model))
        found = [problem for problem in given if not (problem.lacks and _is_mutilated(problem.path, shaped.gone))]
        problems += found
        if (faulty := left_out(found)) or shaped.put_off:
            shaped = without_faults(shaped, kind, faulty)
    whole = not any(problem.severity == "error" and not problem.fill for problem in problems)
    return Read(about, shaped.model, [problem.of(document) for problem in problems], shaped.gone, whole)


def _is_mutilated(path: Path, gone: tuple[Path, ...]) -> bool:
    """Whether something below `path` was left out."""
    return any(each[: len(path)] == path for each in gone)


def _rules(about: Subject, hidden: tuple[Path, ...]) -> Sequence[Callable[[Any], Iterator[Problem]]]:
    """The rules for a kind; if jobs of a runtime are hidden, without those on missing ones."""
    if about == "job":
        return job_rules.RULES
    if about == "environment":
        from trainform.api.environment_rules import RULES

        return RULES
    if about == "generator":
        from trainform.api import generator

        return generator.RULES
    hides_jobs = any("replicatedJobs" in path or runtime_rules.JOBS[: len(path)] == path for path in hidden)
    return runtime_rules.RULES if hides_jobs else runtime_rules.ALL_RULES
