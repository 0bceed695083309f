"""Builds a model from the valid elements of a tree; invalid ones become problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from trainform.api.problems import Problem, more_problems
from trainform.api.repair import filled, source_path, without
from trainform.api.runtime import Runtime
from trainform.api.trainjob import TrainJob
from trainform.diagnostics import Path

if TYPE_CHECKING:
    from trainform.api.environment import Environment
    from trainform.api.generator import ConfigMapGenerator
    from trainform.source import Document

MOST_PROBLEMS = 1000
"""Most problems of a document that are reported."""

M = TypeVar("M", TrainJob, Runtime, "Environment", "ConfigMapGenerator")


class Shape(NamedTuple, Generic[M]):
    """The model of `tree` without the elements at `gone`; None if nothing is usable. Elements at `put_off` have a
    placeholder, so that the rules can check the rest."""

    model: M | None
    tree: Any
    problems: tuple[Problem, ...] = ()
    gone: tuple[Path, ...] = ()
    put_off: tuple[Path, ...] = ()


def shape(kind: type[M], document: Document) -> Shape[M]:
    """The document as a `kind`, for the rules; a valid one costs one validation and no copy."""
    model, error = _validated(kind, document.tree)
    if error is None:
        return Shape(model, document.tree)
    from trainform.api.validation_errors import Reading  # only needed for mistakes

    problems: tuple[Problem, ...] = tuple(Reading(kind, document.written).problems(error))
    if len(problems) > MOST_PROBLEMS:  # looking on takes longer than anyone reads
        return Shape(None, document.tree, (*problems[:MOST_PROBLEMS], more_problems(len(problems) - MOST_PROBLEMS)))
    tree = filled(document.tree, {problem.path: problem.fill for problem in problems if problem.fill})
    return _settled(_without(Shape(None, tree, problems), problems), kind, _without)


def without_faults(shape: Shape[M], kind: type[M], faulty: Iterable[Path]) -> Shape[M]:
    """The shape for later stages, without the elements at `faulty`, the put-off ones, and what depends on them."""
    gone = (*shape.gone, *shape.put_off, *faulty)
    return _settled(shape._replace(gone=gone, put_off=()), kind, _left_out)


def _settled(shape: Shape[M], kind: type[M], mend: Callable[[Shape[M], Sequence[Problem]], Shape[M]]) -> Shape[M]:
    """The shape with a model, repaired as often as needed; without one if nothing is left."""
    from trainform.api.validation_errors import Reading  # only needed for mistakes

    while () not in shape.gone:
        model, error = _validated(kind, without(shape.tree, shape.gone))
        if error is None:
            return shape._replace(model=model)
        found = Reading(kind, lambda path: None).problems(error)
        mended = mend(shape, [in_source(problem, shape.gone) for problem in found])
        if mended == shape:
            break
        shape = mended
    return shape._replace(model=None)


def _without(shape: Shape[M], problems: Sequence[Problem]) -> Shape[M]:
    """The shape without the elements with these problems, or with placeholders in their place."""
    stand_ins = dict(problem.stand_in for problem in problems if problem.stand_in)
    mended = shape._replace(
        tree=filled(shape.tree, stand_ins),
        gone=tuple(path for path in shape.gone if path not in stand_ins),
        put_off=(*shape.put_off, *left_out(problem for problem in problems if problem.stand_in)),
    )
    return _left_out(mended, [problem for problem in problems if not problem.stand_in])


def _left_out(shape: Shape[M], problems: Sequence[Problem]) -> Shape[M]:
    """The shape without the elements with these problems, or without their parents if they are already gone."""
    more = left_out(problems)
    new: list[Path] = [path for path in more if path not in shape.gone] or [path[:-1] for path in more]
    return shape._replace(gone=(*shape.gone, *new))


def left_out(problems: Iterable[Problem]) -> list[Path]:
    """Elements to leave out so that the model can be built."""
    return [path for problem in problems for path in problem.gone]


def in_source(problem: Problem, gone: tuple[Path, ...]) -> Problem:
    """A problem in a copy without `gone`, with its paths mapped to the source."""
    return problem.moved(lambda path: source_path(path, gone)) if gone else problem


def _validated(kind: type[M], tree: Any) -> tuple[M, None] | tuple[None, ValidationError]:
    try:
        return kind.model_validate(tree), None
    except ValidationError as error:
        return None, error
