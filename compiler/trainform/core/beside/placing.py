"""Objects beside a TrainJob, in its file or its folder: what its pods mount or read is rendered with it.

A ConfigMap or an ExternalSecret is copied for each job, under the job's name: a shared object would be applied twice,
and pruned with the first job. A claim holds data, and a SealedSecret can only be decrypted under its own name. So they
are never copied, and must be called after the job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.secrets import holds_job_keys
from trainform.diagnostics import Diagnostic
from trainform.k8s.tree import Tree, name_of, table, text
from trainform.source import Document

if TYPE_CHECKING:
    pass


class Kind(NamedTuple):
    """A kind of companion: the kind of object that pods refer to for it, whether each job has its own copy, and whether
    it is rendered at all."""

    provides: str
    is_copied: bool
    is_rendered: bool = True


KINDS = {
    ("", "ConfigMap"): Kind("ConfigMap", is_copied=True),
    ("external-secrets.io", "ExternalSecret"): Kind("Secret", is_copied=True),
    ("bitnami.com", "SealedSecret"): Kind("Secret", is_copied=False),
    ("", "PersistentVolumeClaim"): Kind("PersistentVolumeClaim", is_copied=False),
    ("", "Secret"): Kind("Secret", is_copied=False, is_rendered=False),
    ("trainform.dev", "ConfigMapGenerator"): Kind("ConfigMap", is_copied=True),
}
"""By group and kind. A Secret in the clear is never rendered, but told where a job would use it. A generator is of a
stream: in a repository, its ConfigMap takes its place."""


def kind_of(tree: Tree) -> Kind | None:
    """The kind of companion that an object may be; None for any other object, and for key files of jobs."""
    group, slash, version = text(tree, "apiVersion").rpartition("/")
    kind = KINDS.get((group, text(tree, "kind"))) if version and bool(group) == bool(slash) else None
    return None if kind is None or not name_of(tree) or "sops" in tree or holds_job_keys(tree) else kind


def provided(tree: Tree) -> str:
    """The name by which pods refer to what an object provides."""
    target = table(table(tree, "spec"), "target") if tree.get("kind") == "ExternalSecret" else {}
    return text(target, "name") or name_of(tree)


Placed = tuple["list[Document]", "list[Diagnostic]"]
"""Documents, and the problems of their text."""


def with_companions(
    documents: Sequence[Document],
    problems: Iterable[Diagnostic],
    scope: Callable[[Document], str | None],
    *,
    alone: bool = False,
) -> Placed:
    """The documents, with each companion moved to the TrainJobs of its `scope` (a file, a folder, or None) that name
    it. With `alone`, the only TrainJob of a scope also takes what it does not name, since its runtime may. What nobody
    takes stays a document."""
    jobs: dict[str | None, list[Document]] = defaultdict(list)
    for document in documents:
        if document.tree.get("kind") == "TrainJob":
            jobs[scope(document)].append(document)
    found: dict[Document, list[Document]] = defaultdict(list)
    words: dict[Document, set[str]] = {}
    taken = set()
    for document in documents if jobs else ():
        place, kind = scope(document), kind_of(document.tree)
        near = jobs.get(place, ()) if place is not None else ()
        if not near or kind is None:
            continue
        takes_all = alone and len(near) == 1 and kind.is_rendered
        name = provided(document.tree)
        for job in near:
            if takes_all or name in (words.get(job) or words.setdefault(job, set(_texts(job.tree)))):
                found[job].append(document)
                taken.add(document)
    if not found:
        return [*documents], [*problems]
    new = {job: replace(job, beside=(*job.beside, *own)) for job, own in found.items()}
    kept = [new.get(document, document) for document in documents if document not in taken]
    return kept, [_moved(problem, new) for problem in problems]


def in_one_stream(documents: Sequence[Document], problems: Iterable[Diagnostic]) -> Placed:
    """As `with_companions`, for a stream, which counts as one file."""
    return with_companions(documents, problems, lambda document: document.file, alone=True)


def is_named(companion: Document, jobs: Iterable[Document]) -> bool:
    """Whether one of these TrainJobs names it."""
    return any(provided(companion.tree) in _texts(job.tree) for job in jobs)


def _moved(problem: Diagnostic, new: dict[Document, Document]) -> Diagnostic:
    now = new.get(problem.place) if isinstance(problem.place, Document) else None
    return problem._replace(place=now) if now else problem


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
