"""What an element of a TrainJob does: the job is compiled once more without it, and what differs is its effect.

This also finds what no table could know: `numNodes` changes the number of pods, variables of the framework and the size
of the gang, as plugins decide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.repair import without
from trainform.k8s.tree import value_at
from trainform.review.explain.owners import Recorder, explain
from trainform.workspace.compilation import compile_environments
from trainform.workspace.inputs import SourceDocuments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.diagnostics import Path
    from trainform.editor.snapshot import JobInEditor, RepositorySnapshot
    from trainform.review.explain.owner import Field

Key = tuple[str, tuple[object, ...]]


class Change(NamedTuple):
    """A field of a rendered object, and what it is without the element: None if it is not there."""

    field: Field
    without: Field | None


def effect(snapshot: RepositorySnapshot, job: JobInEditor, path: Path) -> list[Change] | None:
    """What the element at `path` of a TrainJob changes, in order; None where the job does not compile, with it or
    without it."""
    if not job.compiled.objects or value_at(job.document.tree, path) is None:
        return None
    before = _fields_without(snapshot, job, path)
    if not before:
        return None
    then = {_key(each): each for each in before}
    renamed = _new_name(job.fields, before)
    changes = [Change(each, then.get(_key(each))) for each in job.fields]
    return [each for each in changes if not each.without or not _same(each.field, each.without, renamed)]


def _fields_without(snapshot: RepositorySnapshot, job: JobInEditor, path: Path) -> Sequence[Field]:
    inputs = next((each for each in snapshot.environments if each.name == job.id[0]), None)
    if inputs is None:
        return ()
    variant = replace(job.document, tree=without(job.document.tree, [path]))
    others = [each for each in job.documents if each.tree.get("kind") != "TrainJob"]
    alone = replace(inputs, sources=SourceDocuments([variant, *others]), partial=True, reads=snapshot.workspace.reads)
    recorder = Recorder()
    outcome = compile_environments([alone], wants_job=False, observe=recorder)
    return [field for each in outcome.jobs for field in explain(each, recorder, alone.sources.documents)]


def _key(field: Field) -> Key:
    """The field by its kind of object, its keys and the names of list entries, which stay where the list changes."""
    names = iter(field.names)
    steps = tuple((part, next(names)) if isinstance(part, int) else part for part in field.path)
    return field.object.partition("/")[0], tuple(step[1] or step if isinstance(step, tuple) else step for step in steps)


def _new_name(now: Sequence[Field], before: Sequence[Field]) -> tuple[str, str]:
    """The name of the JobSet with and without the element: both end in a hash where an Environment wants one."""
    return _jobset(now), _jobset(before)


def _jobset(fields: Sequence[Field]) -> str:
    return next((each.object.partition("/")[2] for each in fields if each.object.startswith("JobSet/")), "")


def _same(field: Field, other: Field, renamed: tuple[str, str]) -> bool:
    """Whether both have the same value, but for the hash in names."""
    return field.value == other.value or str(field.value).replace(*renamed) == str(other.value)
