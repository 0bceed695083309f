"""Objects that two jobs have: an engine would apply one over the other, and remove both with the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from trainform.io import paths
from trainform.io.place import file_error
from trainform.k8s.tree import Tree, name_of, text
from trainform.output.layout import job_folder

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.io.repository import Repository

Objects = frozenset[tuple[str, str]]
"""Kind and name of each object of a job. In the names, `*` stands for the job's at the start, so that nearly all jobs
with the same kinds of objects have equal ones, which are kept once."""

_ANY_JOB = "*"

_OBJECT = re.compile(rb"^kind: (\S+)\nmetadata:\n  name: (\S+)$", re.MULTILINE)
"""Kind and name of each object in a manifest as trainform writes it."""


def objects_of(job: str, trees: Iterable[Tree]) -> Objects:
    """The objects of the job with this name."""
    return _objects(job, ((text(tree, "kind"), name_of(tree)) for tree in trees))


def rendered_objects(repository: Repository, job: JobId) -> Objects:
    folder = job_folder(repository.settings.rendered, *job)
    found = paths.folder_bytes(repository.root, folder).values()
    named = (each for data in found if data for each in _OBJECT.findall(data))
    return _objects(job[2], ((kind.decode(errors="replace"), name.decode(errors="replace")) for kind, name in named))


def _objects(job: str, named: Iterable[tuple[str, str]]) -> Objects:
    return _once(Objects((kind, _relative(name, job)) for kind, name in named))


def _relative(name: str, job: str) -> str:
    return _ANY_JOB + name[len(job) :] if name.startswith(job) else name


@lru_cache
def _once(objects: Objects) -> Objects:
    return objects


def _named(job: str, objects: Objects) -> set[tuple[str, str]]:
    return {(kind, name.replace(_ANY_JOB, job, 1)) for kind, name in objects}


def near(job: JobId) -> Iterator[JobId]:
    """The only jobs that may have an object of this job's. Names of objects begin with their job's, so its name begins
    with theirs: `llm-4n4mkmrz` is also the hashed name of `llm`; `a-b` has its `x`, and `a` its `b-x`."""
    environment, namespace, name = job
    return ((environment, namespace, name[: found.start()]) for found in re.finditer("-", name))


def namesakes(
    jobs: Iterable[JobId],
    known: Collection[JobId],
    objects: Callable[[JobId], Objects],
    file: Callable[[JobId], str],
) -> Iterator[Diagnostic]:
    """An error at the `file` of each of these `jobs` that has an object of a `known` one."""
    named = cache(lambda job: _named(job[2], objects(job)))
    for job in jobs:
        for other in filter(known.__contains__, near(job)):
            alike = {each for each in named(other) if each[1].startswith(job[2])}
            if alike and (common := alike & named(job)):
                name = min(name for _, name in common)
                message = f'{"/".join(other[1:])} has an object called "{name}", too: one would replace the other'
                yield file_error("TF735", file(job), message, "give the TrainJob another name")
                break
