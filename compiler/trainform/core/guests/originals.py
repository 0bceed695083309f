"""Inputs that outlive a job, watched while third-party plugins run. A plugin that edits one in place would change the
jobs after it, and what `check` compares with."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.api import read
from trainform.diagnostics import dotted

if TYPE_CHECKING:
    from trainform.api import Environment, Runtime, TrainJob
    from trainform.core.inputs import Input, Inputs
    from trainform.diagnostics import Path
    from trainform.k8s.tree import Tree

    Model = TrainJob | Runtime | Environment


class Edit(NamedTuple):
    """An input that was edited, such as `runtime torch-distributed`, and where."""

    what: str
    path: Path

    def __str__(self) -> str:
        return f"{self.what} at {dotted(self.path)}" if self.path else self.what


class Original(NamedTuple):
    """A document's tree, and the input with its model if it has one; with bytes that stand for their content before any
    plugin ran."""

    what: str
    tree: Tree
    item: Input | None
    pickled: bytes | None
    serialized: bytes | None

    @classmethod
    def of(cls, what: str, tree: Tree, item: Input | None = None) -> Original:
        return cls(what, tree, item, _pickled(tree), _serialized(item))

    @property
    def is_edited(self) -> bool:
        return _pickled(self.tree) != self.pickled or _serialized(self.item) != self.serialized

    def undo(self) -> Edit:
        """Put back what was there, and tell what was edited."""
        before: Tree = pickle.loads(self.pickled or b"")
        edit = Edit(self.what, first_difference(before, self.tree) or self._difference_of_models())
        self.tree.clear()
        self.tree.update(before)
        if self.item is not None and self.item.model is not None:
            vars(self.item.model).update(vars(read(self.item.document).model))
        return edit

    def _difference_of_models(self) -> Path:
        now = _serialized(self.item)
        return first_difference(json.loads(self.serialized), json.loads(now)) if self.serialized and now else ()


@dataclass(slots=True)
class Originals:
    """All inputs that plugins can reach through a plan and that other jobs use as well."""

    known: dict[int, Original] = field(default_factory=dict)
    _shared: list[Original] = field(default_factory=list)

    def watch_shared(self, inputs: Inputs) -> None:
        """Watch what all jobs share: the Environment, cluster facts and key files."""
        environment = inputs.environment
        self._shared = [self._add("the Environment", environment.document.tree, environment)] if environment else []
        self._shared += [
            self._add(f"cluster fact {key[0]} {key[2]}", tree) for key, tree in inputs.facts.objects.items()
        ]
        self._shared += [self._add(f"key file {key[1]}", tree) for key, tree in inputs.keys.items()]

    def watch(self, job: Input, runtime: Input) -> list[Original]:
        """Watch a job and its runtime; returns everything that plugins can reach from this job."""
        own = self._add("the TrainJob", job.document.tree, job)
        return [own, self._add(f"runtime {runtime.key[2]}", runtime.document.tree, runtime), *self._shared]

    def _add(self, what: str, tree: Tree, item: Input | None = None) -> Original:
        if id(tree) not in self.known:
            self.known[id(tree)] = Original.of(what, tree, item)
        return self.known[id(tree)]

    def undo(self) -> list[Edit]:
        """Undo all edits, and return them."""
        return undo(self.known.values())


def undo(originals: Iterable[Original]) -> list[Edit]:
    """Undo the edits of these inputs, and return them."""
    return [each.undo() for each in originals if each.is_edited]


def first_difference(before: object, after: object) -> Path:
    """The path of the first element that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key not in before or key not in after:
                return (key,)
            if before[key] != after[key]:
                return (key, *first_difference(before[key], after[key]))
    if isinstance(before, list) and isinstance(after, list):
        for index, (one, other) in enumerate(zip(before, after, strict=False)):
            if one != other:
                return (index, *first_difference(one, other))
    return ()


def _pickled(tree: Tree) -> bytes | None:
    """Bytes that stand for the tree; None for one that holds what no document can."""
    try:
        return pickle.dumps(tree, pickle.HIGHEST_PROTOCOL)
    except Exception:
        return None


def _serialized(item: Input | None) -> bytes | None:
    """Bytes that stand for the model: by pydantic's serializer, which takes a tenth of the time of pickle."""
    if item is None or item.model is None:
        return None
    try:
        return item.model.__pydantic_serializer__.to_json(item.model, by_alias=True, warnings=False)
    except Exception:
        return None
