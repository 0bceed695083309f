"""Which jobs are rendered: those that an Environment selects, and those named on the command line, by
`[namespace/]name` or file path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.diagnostic import Position, Spot
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.repository import ENDINGS, is_template
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import metadata_of
from trainform.source import Document
from trainform.workspace.shared.reading import load_files

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

_TRAIN_JOB = re.compile(rb"^[^#\n]*\bkind[\"']?[ \t]*:[ \t]*[\"']?TrainJob\b.*$", re.MULTILINE)
"""A line of YAML or JSON that may be a TrainJob's."""


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


def _may_select(inputs: EnvironmentInputs, document: Document) -> bool:
    """As `is_selected`; an Environment that cannot be read may select anything."""
    return inputs.environment is None or is_selected(inputs, document)


def select(
    workspace: Workspace, environments: Sequence[EnvironmentInputs], asked: Sequence[str], *, selected: bool = True
) -> list[Diagnostic]:
    """Keep only the TrainJobs that `asked` names, and all other documents. A name without namespace matches in every
    namespace. Returns an error for each unknown job (TF705) and for each that no Environment selects (TF166); without
    `selected`, a job need not be one that a label selector matches. If there is no error, problems of files without
    remaining documents are dropped."""
    root = workspace.repository.root
    found = {name: [(each, job) for each in environments for job in _matching(each, name, root)] for name in asked}
    missing = [name for name, jobs in found.items() if not any(not selected or _may_select(*job) for job in jobs)]
    problems = [each for name in missing for each in _missing(workspace, environments, name)]
    for each in environments:
        wanted = {id(job) for jobs in found.values() for inputs, job in jobs if inputs is each}
        told = each.sources.diagnostics
        each.leave_out(job for job in each.train_jobs() if id(job) not in wanted)
        if problems:
            each.sources.diagnostics = told
        else:
            files = {one.file for document in each.sources.documents for one in (document, *document.beside)}
            each.sources.diagnostics = [problem for problem in told if problem.file in files]
    return problems


def _matching(inputs: EnvironmentInputs, asked: str, root: str) -> list[Document]:
    return [job for job in inputs.train_jobs() if _is_named(job.file, job_id(inputs, job), asked, root)]


def _is_named(file: str, job: JobId, asked: str, root: str) -> bool:
    """Whether `asked` means a job, by its file, `namespace/name` or name."""
    if asked.endswith(ENDINGS):
        return file in _paths(asked, root)
    return asked == ("/".join(job[1:]) if "/" in asked else job[2])


def _paths(path: str, root: str) -> set[str]:
    """Paths relative to the root that `path` may mean: from the current folder or from the root."""
    places = {os.path.abspath(path), os.path.join(root, path), os.path.realpath(path)}
    return {os.path.relpath(place, root).replace(os.sep, "/") for place in places}


def _missing(workspace: Workspace, environments: Sequence[EnvironmentInputs], asked: str) -> list[Diagnostic]:
    """Why no job of this name can be rendered: no Environment selects it, or there is none."""
    root = workspace.repository.root
    alone = [
        problem._replace(severity="error")
        for problem in unselected_jobs(workspace, environments, None)
        for inputs in environments[:1]
        if _is_named(problem.file, _id_at(inputs, problem.place), asked, root)
    ]
    if alone:
        return alone
    jobs = [
        (*job_id(each, job), job.file) for each in environments for job in each.train_jobs() if _may_select(each, job)
    ]
    return [_unknown(asked, jobs, [each.name for each in environments if workspace.asked])]


def _id_at(inputs: EnvironmentInputs, place: object) -> JobId:
    """The job of a document; a template makes jobs of any name."""
    return job_id(inputs, place) if isinstance(place, Document) else ("", "", "")


def _unknown(asked: str, jobs: Iterable[tuple[str, str, str, str]], environments: Sequence[str]) -> Diagnostic:
    """`environments` are those that were asked for: others may have the job."""
    where = f" in environment {', '.join(environments)}" if environments else ""
    if asked.endswith(ENDINGS):
        known = {file for *_, file in jobs}
        message = f'no TrainJob in "{asked}"'
    else:
        known = {f"{namespace}/{name}" if "/" in asked else name for _, namespace, name, _ in jobs}
        message = f'no TrainJob is named "{asked}"'
    return Diagnostic("TF705", "error", message + where, did_you_mean(asked, known, len(known)) or _listed(known))


def _listed(known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return "this repository has no TrainJob"
    return "known: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def unselected_jobs(
    workspace: Workspace, environments: Sequence[EnvironmentInputs], files: Iterable[str] | None
) -> list[Diagnostic]:
    """A warning (TF166) for each such job in `files` (None: all job files), of which `environments` hold what they
    read, and for each error of a file that keeps one from being read. Nothing is known if an Environment cannot be
    read: it may select anything."""
    if any(each.environment is None for each in workspace.all_environments):
        return []
    wanted = workspace.job_files if files is None else files
    left = [file for file in wanted if not workspace.takers(file)]
    return [*_by_path(workspace, left), *_by_labels(workspace, environments)]


def _by_path(workspace: Workspace, files: Iterable[str]) -> Iterator[Diagnostic]:
    """Jobs in files that are on no Environment's paths."""
    for file in files:
        data = workspace.repository.read(file)
        found = _TRAIN_JOB.search(data) if isinstance(data, bytes) else None
        if found is None or not isinstance(data, bytes):
            continue
        if is_template(file):  # of what environment would it be rendered?
            at = Position(data.count(b"\n", 0, found.start()) + 1, 1)
            yield _warning(workspace, Spot(file, at, found[0].decode(errors="replace")), path=())
            continue
        read = load_files(workspace.repository, [file])
        yield from (each._replace(severity="warning") for each in read.diagnostics if each.severity == "error")
        for document in read.documents:
            if document.tree.get("kind") == "TrainJob":
                yield _warning(workspace, document)


def _by_labels(workspace: Workspace, environments: Sequence[EnvironmentInputs]) -> Iterator[Diagnostic]:
    """Jobs that no label selector matches. Of a template, which each Environment reads differently, one stands for
    all."""
    if not any(_has_selector(each) for each in workspace.all_environments):
        return
    by_source: dict[object, list[tuple[EnvironmentInputs, Document]]] = {}
    for each in environments:
        for document in each.train_jobs():
            source = document.file if is_template(document.file) else id(document)
            by_source.setdefault(source, []).append((each, document))
    for jobs in by_source.values():
        _, document = jobs[0]
        takers = workspace.takers(document.file)
        if is_template(document.file):
            is_known = {each.name for each, _ in jobs} == {each.name for each in takers}
            is_taken = not is_known or any(is_selected(each, job) for each, job in jobs)
        else:
            is_taken = any(is_selected(each, document) for each in takers)
        if not is_taken:
            yield _warning(workspace, document)


def _has_selector(inputs: EnvironmentInputs) -> bool:
    from trainform.api.selectors import selector_text

    return inputs.environment is not None and bool(selector_text(inputs.environment.spec.jobs.selector))


def _warning(workspace: Workspace, place: Document | Spot, path: tuple[str, ...] = ("metadata", "name")) -> Diagnostic:
    from trainform.api.unselected import JobSelection, unselected

    takers = {each.name for each in workspace.takers(place.file)}
    selections = [
        JobSelection(each.document.file, each.environment.spec.jobs, each.name in takers)
        for each in workspace.all_environments
        if each.environment is not None and each.document is not None
    ]
    return unselected(place, selections, path)
