"""Which jobs are frozen, and their files made anew from what they are pinned to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io.paths import JobId, file_bytes, snapshot_file
from trainform.io.place import file_error
from trainform.output.layout import job_files, job_folder
from trainform.workspace.fingerprint import digest_of, is_frozen
from trainform.workspace.lockfile import Lock
from trainform.workspace.selection import named, train_jobs
from trainform.workspace.state import State
from trainform.workspace.target import Target

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.io.repository import Repository
    from trainform.source import Document

NOTHING = digest_of([])
"""The digest of no document: there is no snapshot of it."""


class Frozen(NamedTuple):
    """A job that stays as it is, with the document that did not change."""

    id: JobId
    document: Document
    lock: Lock


def set_frozen_apart(target: Target, state: State, thaw: Callable[[Lock], bool]) -> list[Frozen]:
    """Takes the frozen jobs out of a target, so that only the others are compiled.

    Not frozen are those whose lock `thaw` wants anew, and those that need a compile to say what is wrong: two of
    one name, or with an error in their text.
    """
    found = [each for each in unchanged_jobs(target, state) if not thaw(each.lock)]
    apart = {id(each.document) for each in found}
    inputs = target.inputs
    inputs.documents = [document for document in inputs.documents if id(document) not in apart]
    inputs.diagnostics = [problem for problem in inputs.diagnostics if id(problem.place) not in apart]
    target.partial = target.partial or bool(found)
    return found


def leave_frozen(target: Target, state: State) -> list[Diagnostic]:
    """Takes the TrainJobs out of a target that changed or are new. What is wrong with a lock is returned: it does
    not say of which of these its job is."""
    stay = {id(job.document) for job in unchanged_jobs(target, state)}
    jobs = {id(document): (target.name, *named(document, target)) for document in train_jobs(target)}
    others = jobs.keys() - stay
    inputs = target.inputs
    inputs.documents = [document for document in inputs.documents if id(document) not in others]
    inputs.diagnostics = [problem for problem in inputs.diagnostics if id(problem.place) not in others]
    target.partial = True
    broken = [state.held(job) for job in jobs.values() if state.is_broken(job)]
    return [problem for problem in broken if isinstance(problem, Diagnostic)]


def unchanged_jobs(target: Target, state: State) -> Iterator[Frozen]:
    """The jobs of a target that are as they were when their lock was written."""
    faulty = {id(problem.place) for problem in target.inputs.diagnostics if problem.severity == "error"}
    by_id: dict[JobId, list[Document]] = {}
    for document in train_jobs(target):
        by_id.setdefault((target.name, *named(document, target)), []).append(document)
    for job, (document, *others) in by_id.items():
        lock = state.lock(job)
        sound = not others and id(document) not in faulty and is_selected(target, document)
        if lock is not None and sound and is_frozen(lock, document):
            yield Frozen(job, document, lock)


def is_selected(target: Target, document: Document) -> bool:
    """Whether the selector of the Environment takes a TrainJob, by its labels as written."""
    from trainform.api.selectors import matches_labels

    if target.environment is None:
        return target.document is None
    metadata = document.tree.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    given = labels if isinstance(labels, dict) else {}
    return matches_labels(target.environment.spec.jobs.selector, given)


def remake(
    repository: Repository, targets: Sequence[Target], jobs: Iterable[Frozen], catalogue: Catalogue
) -> tuple[dict[JobId, dict[str, bytes]], list[Diagnostic]]:
    """The files of frozen jobs, compiled by this compiler from their snapshots. A job that does not compile,
    or whose snapshots are not there, is left out; of snapshots that are not as they were, an error tells."""
    groups: dict[tuple[str, str, str], list[Frozen]] = {}
    for job in jobs:
        pins = job.lock.pins
        groups.setdefault((job.id[0], pins.environment, pins.runtime.digest), []).append(job)
    by_name = {target.name: target for target in targets}
    made: dict[JobId, dict[str, bytes]] = {}
    problems: dict[str, Diagnostic] = {}
    for (environment, *digests), group in groups.items():
        documents: list[Document] = []
        for digest in digests:
            found = _snapshot(repository, digest)
            if isinstance(found, Diagnostic):
                problems[digest] = found
            else:
                documents += found
        if not problems.keys() & set(digests):
            made |= _compiled(environment, [*documents, *_keys(by_name[environment])], group, catalogue)
    return made, list(problems.values())


def missing_snapshots(root: str, lock: Lock) -> list[str]:
    """The files of snapshots that a lock names and that are not there."""
    digests = {lock.pins.runtime.digest, lock.pins.environment} - {NOTHING}
    return sorted(snapshot_file(digest) for digest in digests if file_bytes(root, snapshot_file(digest)) is None)


def _snapshot(repository: Repository, digest: str) -> list[Document] | Diagnostic:
    from trainform import source

    if digest == NOTHING:
        return []
    path = snapshot_file(digest)
    data = repository.read(path)
    hint = f"restore it: `git checkout -- {path}`; or run `trainform upgrade` for the jobs that need it"
    if isinstance(data, Diagnostic):
        return file_error("TF712", path, "this snapshot is needed but cannot be read", hint)
    documents = source.load(data, path).documents
    if digest_of([document.tree for document in documents]) != digest:
        return file_error("TF712", path, "the content of this snapshot does not match its name", hint)
    return documents


def _keys(target: Target) -> list[Document]:
    from trainform.core.secrets import is_key_file

    return [document for document in target.inputs.documents if is_key_file(document.tree)]


def _compiled(
    environment: str, documents: list[Document], jobs: Sequence[Frozen], catalogue: Catalogue
) -> dict[JobId, dict[str, bytes]]:
    from trainform.core.compile import compile_documents
    from trainform.workspace.compiling import installed

    compilation = compile_documents(
        [*(job.document for job in jobs), *documents],
        catalogue=catalogue,
        plugins=[each.plugin for each in installed()],
        partial=True,
    )
    layout = layout_of(compilation.inputs.environment)
    return {
        (environment, job.namespace, job.name): job_files(job.objects, layout)
        for job in compilation.jobs
        if job.objects
    }


def layout_of(environment: Any) -> Any:
    """The layout that an Environment, as a compile read it, asks for."""
    model = environment.model if environment else None
    return model.spec.gitops.layout if model else "per-object"


class RenderedJob(NamedTuple):
    """A frozen job as a RenderResult tells it: with what its files hold."""

    environment: str
    namespace: str
    name: str
    objects: list[dict[str, Any]]
    diagnostics: Sequence[Diagnostic] = ()
    deviations: Sequence[str] = ()


def rendered_job(repository: Repository, job: Frozen) -> RenderedJob:
    from trainform import source
    from trainform.core.compile import kind_order
    from trainform.output.kustomization import FILE

    folder = job_folder(repository.settings.rendered, *job.id)
    texts = [repository.read(f"{folder}/{name}") for name in job.lock.files if name != FILE]
    documents = [each for text in texts if isinstance(text, bytes) for each in source.load(text, folder).documents]
    return RenderedJob(*job.id, sorted((document.tree for document in documents), key=kind_order))
