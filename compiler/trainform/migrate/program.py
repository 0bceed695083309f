"""All documents of some files, migrated: the TrainJobs, the runtimes that they share, and what is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.trainjob import MULTIKUEUE
from trainform.core.beside.placing import kind_of, provided
from trainform.diagnostics import Diagnostic
from trainform.k8s.tree import Tree, metadata_of, name_of, object_name, text
from trainform.migrate.dialect import is_trainers, modernize
from trainform.migrate.job import Migrated, migrate_job
from trainform.migrate.old import GROUP, KINDS
from trainform.output.emitter import emit

if TYPE_CHECKING:
    from trainform.source import Document

PLACEHOLDER = re.compile(r"\{\{[^{}\n]{1,200}\}\}|\$\{trialParameters\.\w{1,200}\}")
"""What Helm, or a trial of Katib, fills in."""

KUSTOMIZE = "kustomize.config.k8s.io"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
"""Files that need not say what they are. Source: kubernetes-sigs/kustomize, RecognizedKustomizationFileNames."""


class NewText(NamedTuple):
    """A file to write: a TrainJob with what stood beside it, or a runtime. `origins` are the jobs that it comes
    from."""

    name: str
    namespace: str
    text: str
    origins: tuple[Document, ...]


class Migration(NamedTuple):
    """The result for some files. `edited` has new texts of files that hold TrainJobs of earlier versions."""

    jobs: list[NewText]
    runtimes: list[NewText]
    edited: dict[str, str]
    diagnostics: list[Diagnostic]


def migrate(documents: Sequence[Document], problems: Iterable[Diagnostic] = ()) -> Migration:
    """Migrate the documents of some files. `problems`: those of their text. Never raises for bad input."""
    told = [*problems, *_placeholders(documents)]
    jobs = [migrate_job(each) for each in documents if is_old_job(each.tree)]
    renewed = modernize([each for each in documents if is_trainers(each.tree)])
    told += [problem for job in jobs for problem in job.diagnostics] + renewed.diagnostics
    others = [each for each in documents if not (is_old_job(each.tree) or is_trainers(each.tree))]
    beside = {id(job): [each for each in others if _goes_along(each, job)] for job in jobs}
    taken = {id(each) for own in beside.values() for each in own}
    told += [_left(each, jobs) for each in others if id(each) not in taken]
    files = [_file(job, job.train_job, beside[id(job)]) for job in jobs if job.train_job]
    return Migration(files, _runtimes(jobs), renewed.files, told)


def is_old_job(tree: Tree) -> bool:
    """Whether an object is of one of the old kinds, in any version of its group."""
    group = text(tree, "apiVersion").rpartition("/")[0]
    return group == GROUP and text(tree, "kind") in KINDS


def _file(job: Migrated, tree: Tree, beside: Iterable[Document]) -> NewText:
    """The TrainJob's file: comments above the old job, the TrainJob, and what stands beside it."""
    parts = [_head(job.document) + emit(tree), *map(_as_written, beside)]
    return NewText(name_of(tree), text(metadata_of(tree), "namespace"), "---\n".join(parts), (job.document,))


def _runtimes(migrated: Iterable[Migrated]) -> list[NewText]:
    """Each runtime once: of one name, the content is one, too."""
    found: dict[str, tuple[Tree, list[Document]]] = {}
    for job in migrated:
        if job.runtime is not None:
            found.setdefault(name_of(job.runtime), (job.runtime, []))[1].append(job.document)
    return [NewText(name, "", emit(tree), tuple(jobs)) for name, (tree, jobs) in sorted(found.items())]


def _goes_along(document: Document, job: Migrated) -> bool:
    """Whether the document is rendered with the job."""
    return job.train_job is not None and _names(job, document) and not _obstacle(document, job.train_job)


def _names(job: Migrated, document: Document) -> bool:
    """Whether the document is a ConfigMap, or the like, in the job's file that its pods name."""
    kind = kind_of(document.tree)
    may_stand_beside = kind is not None and kind.is_rendered and kind.is_copied
    return may_stand_beside and document.file == job.document.file and provided(document.tree) in job.names


def _obstacle(document: Document, train_job: Tree) -> str:
    """Why an object that the job's pods name cannot stand beside it; empty if it can."""
    namespace, own = (text(metadata_of(tree), "namespace") for tree in (document.tree, train_job))
    if namespace not in ("", own):
        return f"it is in namespace {namespace}, and the job that names it in {own or 'none'}"
    if train_job["spec"].get("managedBy") == MULTIKUEUE:
        return "MultiKueue copies nothing but the JobSet of the job that names it"
    return ""


_COMMENTS = re.compile(r"(?:[ \t]*(?:#.*)?\n)*")


def _head(document: Document) -> str:
    """The comments above a document."""
    found = _COMMENTS.match(_body(document)) if not document.prefix else None
    lines = (line.strip() for line in found[0].splitlines()) if found else ()
    return "".join(f"{line}\n" for line in lines if line)


def _body(document: Document) -> str:
    return document.part.text.removeprefix("---").lstrip("\n")


def _as_written(document: Document) -> str:
    """A document's own text, with its comments; of an item of a List, what it says."""
    return emit(document.tree) if document.prefix else f"{_body(document).rstrip()}\n"


def _left(document: Document, jobs: Iterable[Migrated]) -> Diagnostic:
    group, kind = text(document.tree, "apiVersion").rpartition("/")[0], text(document.tree, "kind")
    if group == KUSTOMIZE or document.file.rpartition("/")[2] in KUSTOMIZATIONS:
        message = "kustomize changes what this file lists: the migrated jobs lack its namespace, names and patches"
        hint = "migrate what it makes: `kustomize build FOLDER | trainform migrate -`"
        return Diagnostic("TF865", "warning", message, hint, ("kind",), document)
    left = f"{object_name(document.tree) if kind else 'this document'} is left where it is"
    if kind.endswith("Job"):
        known = f"{', '.join(KINDS)} of {GROUP}"
        message = f"{left}: no job of the kind {kind}{f' ({group})' if group else ''} is migrated"
        return Diagnostic("TF861", "warning", message, f"those that are: {known}", ("kind",), document)
    named_by = [job.train_job for job in jobs if job.train_job and _names(job, document)]
    reason = _obstacle(document, named_by[0]) if named_by else "it is no job"
    hint = "apply it as you do now, or see docs/companions.md for what can stand beside a TrainJob"
    return Diagnostic("TF861", "info", f"{left}: {reason}", hint, ("kind",), document)


def _placeholders(documents: Iterable[Document]) -> Iterable[Diagnostic]:
    """Text that another tool should have filled in before."""
    for document in documents:
        if not (is_old_job(document.tree) or is_trainers(document.tree)):
            continue
        match = PLACEHOLDER.search(document.part.text)
        if match:
            at = document.part.position_at(match.start())
            message = f"{match[0]} is filled in by another tool: the migrated job keeps it as text"
            hint = "migrate what the tool makes (`helm template`), or write a template, .yaml.j2: see docs/sweeps.md"
            yield Diagnostic("TF865", "warning", message, hint, (), document, at)
