"""Select the jobs named on the command line, by `[namespace/]name` or file path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.repository import ENDINGS
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import metadata_of

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs


def job_id(inputs: EnvironmentInputs, document: Document) -> JobId:
    """Environment, namespace (default: the environment's) and name (empty if not given)."""
    given = metadata_of(document.tree)
    return inputs.name, str(given.get("namespace") or inputs.namespace), str(given.get("name") or "")


def is_selected(inputs: EnvironmentInputs, document: Document) -> bool:
    """Whether the Environment's selector matches a TrainJob's labels as written."""
    from trainform.api.selectors import matches_labels

    if inputs.environment is None:
        return inputs.document is None
    return matches_labels(inputs.environment.spec.jobs.selector, labels_of(document.tree))


def select(environments: Sequence[EnvironmentInputs], asked: Sequence[str], root: str) -> list[Diagnostic]:
    """Keep only the TrainJobs that `asked` names, and all other documents. A name without namespace matches in every
    namespace. Returns an error (TF705) for each unknown job; if there is none, problems of files without remaining
    documents are dropped."""
    missing = [job for job in asked if not any(_matching(each, job, root) for each in environments)]
    known = [(*job_id(each, job), job.file) for each in environments for job in each.train_jobs()] if missing else []
    for each in environments:
        wanted = {id(job) for name in asked for job in _matching(each, name, root)}
        problems = each.sources.diagnostics
        each.leave_out(job for job in each.train_jobs() if id(job) not in wanted)
        if missing:
            each.sources.diagnostics = problems
        else:
            files = {one.file for document in each.sources.documents for one in (document, *document.beside)}
            each.sources.diagnostics = [problem for problem in problems if problem.file in files]
    return [_unknown(job, known) for job in missing]


def _matching(inputs: EnvironmentInputs, asked: str, root: str) -> list[Document]:
    jobs = inputs.train_jobs()
    if asked.endswith(ENDINGS):
        files = _paths(asked, root)
        return [job for job in jobs if job.file in files]
    if "/" in asked:
        return [job for job in jobs if "/".join(job_id(inputs, job)[1:]) == asked]
    return [job for job in jobs if job_id(inputs, job)[2] == asked]


def _paths(path: str, root: str) -> set[str]:
    """Paths relative to the root that `path` may mean: from the current folder or from the root."""
    places = {os.path.abspath(path), os.path.join(root, path), os.path.realpath(path)}
    return {os.path.relpath(place, root).replace(os.sep, "/") for place in places}


def _unknown(asked: str, jobs: Iterable[tuple[str, str, str, str]]) -> Diagnostic:
    if asked.endswith(ENDINGS):
        known = {file for *_, file in jobs}
        message = f'no TrainJob in "{asked}"'
    else:
        known = {f"{namespace}/{name}" if "/" in asked else name for _, namespace, name, _ in jobs}
        message = f'no TrainJob is named "{asked}"'
    return Diagnostic("TF705", "error", message, did_you_mean(asked, known, len(known)) or _listed(known))


def _listed(known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return "this repository has no TrainJob"
    return "known: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
