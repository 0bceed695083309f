"""From a tree to a model: what fits becomes the model, what does not becomes problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from trainform.api.problem import Problem
from trainform.api.repair import filled, source_path, without
from trainform.api.runtime import Runtime
from trainform.api.trainjob import TrainJob
from trainform.diagnostics import Path

if TYPE_CHECKING:
    from trainform.api.environment import Environment
    from trainform.source import Document

M = TypeVar("M", TrainJob, Runtime, "Environment")


class Shape(NamedTuple, Generic[M]):
    """The model of what is usable in `tree`, without the elements at `gone`; None when that is nothing."""

    model: M | None
    tree: Any
    problems: tuple[Problem, ...] = ()
    gone: tuple[Path, ...] = ()


def shape(kind: type[M], document: Document) -> Shape[M]:
    """The document as a `kind`; a faultless one costs one validation and no copy."""
    model, error = _validated(kind, document.tree)
    if error is None:
        return Shape(model, document.tree)
    from trainform.api.problems import Reading  # only mistakes need it

    problems = tuple(Reading(kind, document.written).problems(error))
    tree = filled(document.tree, {problem.path: problem.fill for problem in problems if problem.fill})
    return without_faults(Shape(None, tree, problems), kind, left_out(problems))


def without_faults(shape: Shape[M], kind: type[M], faulty: Iterable[Path]) -> Shape[M]:
    """The shape without the elements at `faulty` either, nor what cannot do without them."""
    from trainform.api.problems import Reading  # only mistakes need it

    gone = [*shape.gone, *faulty]
    while () not in gone:
        model, error = _validated(kind, without(shape.tree, gone))
        if error is None:
            return Shape(model, shape.tree, shape.problems, tuple(gone))
        found = Reading(kind, lambda path: None).problems(error)
        more = left_out([in_source(problem, tuple(gone)) for problem in found])
        gone += [path for path in more if path not in gone] or [path[:-1] for path in more] or [()]
    return Shape(None, shape.tree, shape.problems, tuple(gone))


def left_out(problems: Iterable[Problem]) -> list[Path]:
    """The elements without which the model can be built in spite of `problems`."""
    return [path for problem in problems for path in problem.gone]


def in_source(problem: Problem, gone: tuple[Path, ...]) -> Problem:
    """A problem of a copy without `gone`, with its paths as the source has them."""
    return problem.moved(lambda path: source_path(path, gone)) if gone else problem


def _validated(kind: type[M], tree: Any) -> tuple[M, None] | tuple[None, ValidationError]:
    try:
        return kind.model_validate(tree), None
    except ValidationError as error:
        return None, error
