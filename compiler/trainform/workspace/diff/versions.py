"""Versions of a job for a diff: as it was, as `render` would write it now, and as if its TrainJob were unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from trainform.io.paths import JobId, folder_bytes, lockfile_path
from trainform.k8s.tree import table, text
from trainform.output.kustomization import FILE as LIST
from trainform.output.layout import job_folder
from trainform.workspace.compilation import compile_environments
from trainform.workspace.fingerprint import digest_of_job
from trainform.workspace.inputs import EnvironmentInputs, SourceDocuments, load, load_job_file
from trainform.workspace.lockfile import Lock, Pins, lock_in
from trainform.workspace.selection import job_id
from trainform.workspace.shared.beside import gather

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.diagnostics import Diagnostic
    from trainform.k8s.tree import Tree
    from trainform.workspace.diff.scope import ChangeScope
    from trainform.workspace.fingerprint import CurrentInputs
    from trainform.workspace.state import LockStore

_MANY = 100
"""From this many folders on, listing everything rendered is cheaper than listing each folder."""


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a job: its objects, its TrainJob's digest and file, and its pins."""

    objects: Sequence[Tree] = ()
    train_job: str = ""
    source: str = ""
    pins: Pins | None = None

    @classmethod
    def locked(cls, objects: Sequence[Tree], lock: Lock | None) -> Version:
        return cls(objects, lock.train_job, lock.source, lock.pins) if lock else cls(objects)


def paths_before(scope: ChangeScope, jobs: Collection[JobId]) -> dict[JobId, list[str]]:
    """The files in the folder of each job at the baseline."""
    found: dict[JobId, list[str]] = {job: [] for job in jobs}
    if not jobs:
        return found  # without a folder, git would list everything
    folders = {job_folder(scope.settings_before.rendered, *job): job for job in jobs}
    for path in scope.start.paths(list(folders) if len(folders) < _MANY else [scope.settings_before.rendered]):
        if job := folders.get(path.rpartition("/")[0]):
            found[job].append(path)
    return found


def versions_before(scope: ChangeScope, paths: Mapping[JobId, Sequence[str]]) -> dict[JobId, Version]:
    """The jobs with these files at the baseline; without objects if a job did not exist."""
    if not paths:
        return {}
    files = scope.start.read([*chain.from_iterable(paths.values()), *map(lockfile_path, paths)])
    return {
        job: Version.locked(
            [tree for path in own for tree in objects_in(path.rpartition("/")[2], files.get(path))],
            lock_in(files.get(lockfile_path(job))),
        )
        for job, own in paths.items()
    }


def version_rendered(locks: LockStore, job: JobId) -> Version:
    """A job from its folder in the working tree. Raises OSError if it cannot, or must not, be read."""
    repository = locks.repository
    folder = job_folder(repository.settings.rendered, *job)
    files = folder_bytes(repository.root, folder)
    objects = [tree for name, data in files.items() for tree in objects_in(name, data)]
    return Version.locked(objects, locks.lock(job))


def version_compiled(job: CompiledJob, current: CurrentInputs) -> Version:
    """A job without errors as `render` would write it now."""
    return Version(job.objects, digest_of_job(job.document), job.document.file, current.pins(job))


def objects_in(name: str, data: bytes | None) -> list[Tree]:
    """The objects in a file of a rendered folder; none in what is no manifest."""
    if data is None or name == LIST or not name.endswith((".yaml", ".yml", ".json")):
        return []
    trees = (document.tree for document in load(name, data).documents)
    return [tree for tree in trees if text(tree, "kind") and text(table(tree, "metadata"), "name")]


def unchanged_train_jobs(
    scope: ChangeScope,
    environments: Iterable[EnvironmentInputs],
    before: Mapping[JobId, Version],
    after: Mapping[JobId, Version],
) -> dict[JobId, Sequence[Tree] | None]:
    """The objects each job would have now with an unchanged TrainJob; None if nothing else changed."""
    changed: list[JobId] = []
    same: dict[JobId, Sequence[Tree] | None] = {}
    for job, new in after.items():
        old = before[job]
        if old.train_job and old.train_job == new.train_job:
            same[job] = new.objects
        elif old.pins and old.pins != new.pins and old.objects and new.objects:
            changed.append(job)
    return same | _compiled_as_before(scope, environments, {job: before[job] for job in changed})


def _compiled_as_before(
    scope: ChangeScope, environments: Iterable[EnvironmentInputs], before: Mapping[JobId, Version]
) -> dict[JobId, Sequence[Tree] | None]:
    """Compile the baseline's TrainJobs with all other inputs as they are now."""
    files = scope.start.read(sorted({version.source for version in before.values()})) if before else {}
    old = [_as_before(scope, each, files, before) for each in environments]
    outcome = compile_environments([each for each in old if each.train_jobs()], wants_job=False)
    return {(job.environment, job.namespace, job.name): job.objects or None for job in outcome.jobs}


def _at_base(scope: ChangeScope, file: str) -> bytes | Diagnostic:
    """A file at the baseline; empty if there is none, which makes another TrainJob."""
    return scope.start.read([file]).get(file, b"")


def _as_before(
    scope: ChangeScope, inputs: EnvironmentInputs, files: Mapping[str, bytes], before: Mapping[JobId, Version]
) -> EnvironmentInputs:
    """An environment with its TrainJobs replaced by the ones rendered before, as far as `files` have them."""
    jobs = {id(job) for job in inputs.train_jobs()}
    documents = [document for document in inputs.sources.documents if id(document) not in jobs]
    for file in dict.fromkeys(version.source for job, version in before.items() if job[0] == inputs.name):
        sources = load_job_file(file, files.get(file, b""), inputs)
        gather(sources, partial(_at_base, scope))
        for document in sources.documents:
            version = before.get(job_id(inputs, document))
            if version and digest_of_job(document) == version.train_job:
                documents.append(document)
    return replace(inputs, sources=SourceDocuments(documents), partial=True)
