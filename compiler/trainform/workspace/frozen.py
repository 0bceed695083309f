"""Frozen jobs, whose TrainJob is unchanged since rendering, and rebuilding their files from snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.installed import stdout_kept
from trainform.io.paths import JobId, file_bytes, snapshot_file
from trainform.io.place import file_error
from trainform.output.layout import DEFAULT_LAYOUT, Layout, job_files, job_folder
from trainform.workspace.fingerprint import NOTHING, CurrentInputs, digest_of, is_frozen
from trainform.workspace.inputs import EnvironmentInputs
from trainform.workspace.lockfile import Lock, Pins
from trainform.workspace.selection import is_selected, job_id
from trainform.workspace.state import LockStore

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.core.compile import Compilation
    from trainform.io.repository import Repository
    from trainform.source import Document


class FrozenJob(NamedTuple):
    """A frozen job with its unchanged TrainJob."""

    id: JobId
    document: Document
    lock: Lock


def frozen_jobs(inputs: EnvironmentInputs, locks: LockStore) -> Iterator[FrozenJob]:
    """The jobs of an environment whose TrainJob still matches its lock. Leaves out jobs whose name is used twice or
    whose text has errors: they must be compiled to report that."""
    faulty = {id(problem.place) for problem in inputs.sources.diagnostics if problem.severity == "error"}
    by_id: dict[JobId, list[Document]] = {}
    for document in inputs.train_jobs():
        by_id.setdefault(job_id(inputs, document), []).append(document)
    for job, (document, *others) in by_id.items():
        lock = locks.lock(job)
        whole = (document, *document.beside)
        is_sound = not others and faulty.isdisjoint(map(id, whole)) and is_selected(inputs, document)
        if lock is not None and is_sound and is_frozen(lock, document):
            yield FrozenJob(job, document, lock)


def take_frozen(
    inputs: EnvironmentInputs, locks: LockStore, thaws: Callable[[Lock], bool] = lambda lock: False
) -> list[FrozenJob]:
    """Remove and return the frozen jobs, so that only the others are compiled. Keeps jobs whose lock `thaws`."""
    found = [each for each in frozen_jobs(inputs, locks) if not thaws(each.lock)]
    inputs.leave_out(each.document for each in found)
    return found


def keep_frozen_only(inputs: EnvironmentInputs, locks: LockStore) -> list[Diagnostic]:
    """Leave out new and changed TrainJobs. Returns errors of broken lockfiles: their jobs may be frozen."""
    frozen = {id(job.document) for job in frozen_jobs(inputs, locks)}
    jobs = inputs.train_jobs()
    inputs.leave_out(document for document in jobs if id(document) not in frozen)
    inputs.partial = True
    return [problem for document in jobs if (problem := locks.broken(job_id(inputs, document)))]


class Rebuilt(NamedTuple):
    """What rendering a frozen job again gives: its files by name, and its pins."""

    files: dict[str, bytes]
    pins: Pins


def rebuild(
    repository: Repository,
    environments: Sequence[EnvironmentInputs],
    jobs: Iterable[FrozenJob],
    catalogue: Catalogue,
) -> tuple[dict[JobId, Rebuilt], list[Diagnostic]]:
    """Frozen jobs, compiled from their snapshots by this version of trainform. Jobs that do not compile or lack a
    snapshot are left out; changed snapshots and plugins that fail are errors."""
    groups: dict[tuple[str, str, str], list[FrozenJob]] = {}
    for job in jobs:
        groups.setdefault((job.id[0], *job.lock.pins.snapshots), []).append(job)
    by_name = {each.name: each for each in environments}
    rebuilt: dict[JobId, Rebuilt] = {}
    problems: dict[str, Diagnostic] = {}
    failures: list[Diagnostic] = []
    for (environment, runtime, pinned), group in groups.items():
        documents: list[Document] = []
        for digest in (pinned, runtime):
            snapshot = read_snapshot(repository, digest)
            if isinstance(snapshot, Diagnostic):
                problems[digest] = snapshot
            else:
                documents += snapshot
        if not problems.keys() & {pinned, runtime}:
            found, failed = _compiled(by_name[environment], documents, group, catalogue)
            rebuilt |= found
            failures += failed
    return rebuilt, [*problems.values(), *failures]


def missing_snapshots(root: str, jobs: Iterable[FrozenJob]) -> set[str]:
    """Files of the jobs' snapshots that are missing."""
    digests = {digest for job in jobs for digest in job.lock.pins.snapshots} - {NOTHING}
    return {file for file in map(snapshot_file, digests) if file_bytes(root, file) is None}


def read_snapshot(repository: Repository, digest: str) -> list[Document] | Diagnostic:
    """The documents of a snapshot, or an error (TF712) if it is unreadable or does not match its digest."""
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
        return file_error("TF712", path, "the contents of this snapshot do not match its name", hint)
    return documents


def key_documents(inputs: EnvironmentInputs) -> list[Document]:
    """The key files of an environment, which no snapshot holds."""
    from trainform.core.secrets import is_key_file

    return [document for document in inputs.sources.documents if is_key_file(document.tree)]


def _compiled(
    inputs: EnvironmentInputs, documents: list[Document], jobs: Sequence[FrozenJob], catalogue: Catalogue
) -> tuple[dict[JobId, Rebuilt], list[Diagnostic]]:
    """The jobs compiled from the documents of their snapshots, and the errors of plugins that fail."""
    from trainform.core.compile import compile_documents

    with stdout_kept():
        compilation = compile_documents(
            [*(job.document for job in jobs), *documents, *key_documents(inputs)],
            catalogue=catalogue,
            plugins=inputs.plugins.plugins,
            partial=True,
        )
    pins = jobs[0].lock.pins
    then = CurrentInputs(pins.compiler, pins.plugins, pins.plugin_code, compilation.inputs, catalogue)
    codes = {failure.code for failure in compilation.failures}
    failed = [each for job in compilation.jobs for each in job.diagnostics if each.code in codes]
    return files_and_pins(inputs.name, compilation, then), failed


def files_and_pins(environment: str, compilation: Compilation, inputs: CurrentInputs) -> dict[JobId, Rebuilt]:
    """What rendering gives of each compiled job that has no error."""
    layout = layout_of(compilation.inputs.environment)
    return {
        (environment, job.namespace, job.name): Rebuilt(job_files(job.objects, layout), inputs.pins(job))
        for job in compilation.jobs
        if job.objects
    }


def layout_of(environment: Any) -> Layout:
    """The layout set by a compiled Environment."""
    model = environment.model if environment else None
    if model is None:
        return DEFAULT_LAYOUT
    gitops = model.spec.gitops
    return Layout(one_file=gitops.layout == "per-job", kustomization=gitops.kustomization)


def rendered_files(repository: Repository, job: FrozenJob) -> dict[str, bytes]:
    """The files with a frozen job's objects, by path. Leaves out those that cannot be read."""
    from trainform.output.kustomization import FILE

    folder = job_folder(repository.settings.rendered, *job.id)
    texts = {file: repository.read(file) for file in (f"{folder}/{name}" for name in job.lock.files if name != FILE)}
    return {file: text for file, text in texts.items() if isinstance(text, bytes)}


def rendered_objects(repository: Repository, job: FrozenJob) -> list[dict[str, Any]]:
    """The objects in a frozen job's files, in the order of a compile; without what is none, after an edit by hand."""
    from trainform import source
    from trainform.core.finish import kind_order
    from trainform.k8s.tree import text

    files = rendered_files(repository, job)
    documents = [each for file, data in files.items() for each in source.load(data, file).documents]
    return sorted((each.tree for each in documents if text(each.tree, "kind")), key=kind_order)
