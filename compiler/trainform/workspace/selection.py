"""Which jobs a command line speaks of: `[namespace/]name`, or the path of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.repository import ENDINGS

if TYPE_CHECKING:
    from trainform.source import Document
    from trainform.workspace.target import Target


def select(targets: Sequence[Target], asked: Sequence[str], root: str) -> list[Diagnostic]:
    """Leave only the TrainJobs that `asked` names, with everything that is no TrainJob.

    A name without namespace means the jobs of that name in every namespace. A job that is in no
    target is an error (TF705), which is returned. When all are there, faults of files that hold
    nothing of them are left out: they are not what was asked about.
    """
    missing = [job for job in asked if not any(_matching(target, job, root) for target in targets)]
    known = [(target, job) for target in targets for job in train_jobs(target)] if missing else []
    for target in targets:
        own = train_jobs(target)
        wanted = {id(job) for name in asked for job in _matching(target, name, root)}
        others = {id(job) for job in own} - wanted
        target.partial = target.partial or bool(others)
        inputs = target.inputs
        inputs.documents = [document for document in inputs.documents if id(document) not in others]
        if not missing:
            files = {document.file for document in inputs.documents}
            inputs.diagnostics = [each for each in inputs.diagnostics if each.file in files]
    return [_unknown(job, known) for job in missing]


def train_jobs(target: Target) -> list[Document]:
    """The TrainJobs of a target, by their kind alone."""
    return [each for each in target.inputs.documents if each.tree.get("kind") == "TrainJob"]


def _matching(target: Target, asked: str, root: str) -> list[Document]:
    jobs = train_jobs(target)
    if asked.endswith(ENDINGS):
        files = _paths(asked, root)
        return [job for job in jobs if job.file in files]
    if "/" in asked:
        return [job for job in jobs if "/".join(named(job, target)) == asked]
    return [job for job in jobs if named(job, target)[1] == asked]


def named(job: Document, target: Target) -> tuple[str, str]:
    """Namespace (the target's where the document gives none) and name, as far as the document gives it."""
    metadata = job.tree.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    return str(given.get("namespace") or target.namespace), str(given.get("name") or "")


def _paths(path: str, root: str) -> set[str]:
    """What a path on the command line may mean, relative to the root: from here, or from the root."""
    places = {os.path.abspath(path), os.path.join(root, path), os.path.realpath(path)}
    return {os.path.relpath(place, root).replace(os.sep, "/") for place in places}


def _unknown(asked: str, jobs: Iterable[tuple[Target, Document]]) -> Diagnostic:
    if asked.endswith(ENDINGS):
        known = {job.file for _, job in jobs}
        message = f'no TrainJob in "{asked}"'
    else:
        names = [named(job, target) for target, job in jobs]
        known = {"/".join(each) if "/" in asked else each[1] for each in names}
        message = f'no TrainJob is named "{asked}"'
    return Diagnostic("TF705", "error", message, did_you_mean(asked, known) or _listed(known))


def _listed(known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return "this repository has no TrainJob"
    return "known: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
