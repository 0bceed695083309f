"""Which jobs a change may affect, for `diff`; the rest of the repository is not read.

A job is affected if its TrainJob's file, what stands beside it, its lockfile or its manifests changed. All jobs are if
the settings, or `jobs` or `namespace` of an Environment, changed; templates are if `values` changed. Commits after the
last rendering count as changes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainform.diagnostics import Diagnostic
from trainform.io.paths import LOCKS, JobId
from trainform.io.repository import ENDINGS, Repository, is_template
from trainform.io.settings import FILE, Settings, parse_settings
from trainform.k8s.tree import metadata_of, table
from trainform.output.layout import is_part
from trainform.workspace.inputs import load
from trainform.workspace.shared.beside import carried_by

if TYPE_CHECKING:
    from trainform.io.baseline import Baseline

ENVIRONMENT, COMPANION = "Environment", "companion"

_DECIDE_WHICH = ("jobs", "namespace")
"""The fields of an Environment's spec that decide which jobs exist and their names."""


@dataclass(frozen=True, slots=True)
class ChangeScope:
    """What a change since the baseline `start` may affect. `files` are the job files to read (None: all), `changed` all
    changed files, `unrendered` those changed since the last known rendering. `inputs` are the changed runtimes and
    Environments as `(kind, name)`; a companion has its runtime's name. `settings_before` are those of the baseline."""

    start: Baseline
    settings_before: Settings
    changed: Collection[str]
    files: Collection[str] | None
    inputs: frozenset[tuple[str, str]] = frozenset()
    unrendered: Collection[str] = ()


def change_scope(
    repository: Repository, start: Baseline, changed: Collection[str], locked: Collection[str]
) -> ChangeScope:
    """What the files `changed` since a baseline may affect. `locked` are the job files that lockfiles name."""
    settings = repository.settings
    if FILE in changed:
        earlier_settings = parse_settings(start.read([FILE]).get(FILE, b""))[0]
        watching = [*watched(settings), *watched(earlier_settings)]
        return ChangeScope(start, earlier_settings, start.changed(watching), None)
    before, after = _documents_before(repository, start, changed), _documents_now(repository, changed)
    inputs = frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    earlier = start.last_change(LOCKS)
    if earlier is start:
        files = _job_files(repository, locked, changed, before, after)
        return ChangeScope(start, settings, changed, files, inputs, changed)
    unrendered, files = _since_rendered(repository, earlier, locked)
    return ChangeScope(start, settings, changed, files, inputs, unrendered)


def _since_rendered(
    repository: Repository, earlier: Baseline | None, locked: Collection[str]
) -> tuple[Collection[str], list[str] | None]:
    """The files changed since the last rendering, and the job files to read (None: all)."""
    if earlier is None:
        return (), None
    changed = earlier.changed(watched(repository.settings))
    if FILE in changed:
        return changed, None
    before, after = _documents_before(repository, earlier, changed), _documents_now(repository, changed)
    return changed, _job_files(repository, locked, changed, before, after)


def watched(settings: Settings) -> list[str]:
    """Paths of everything that jobs are rendered from or to."""
    own = (settings.jobs, settings.runtimes, settings.environments, settings.rendered)
    return [*dict.fromkeys([*own, LOCKS]), FILE]


_Documents = dict[tuple[str, str], list[Any]]
"""Trees of changed files except jobs, by kind and name. All files in an Environment's folder count as part of it."""


def _documents_before(repository: Repository, start: Baseline, changed: Collection[str]) -> _Documents:
    found = start.read(_sources(repository.settings, changed))
    return _documents(repository.settings, found.items())


def _documents_now(repository: Repository, changed: Collection[str]) -> _Documents:
    read = ((path, repository.read(path)) for path in _sources(repository.settings, changed))
    return _documents(repository.settings, ((path, data) for path, data in read if isinstance(data, bytes)))


def _sources(settings: Settings, changed: Collection[str]) -> list[str]:
    """Changed input files, job files included, since they may contain runtimes."""
    above = tuple(f"{folder}/" for folder in (settings.runtimes, settings.environments, settings.jobs))
    return [path for path in sorted(changed) if path.startswith(above) and path.endswith(ENDINGS)]


def _documents(settings: Settings, files: Iterable[tuple[str, bytes]]) -> _Documents:
    found: _Documents = {}
    environments = f"{settings.environments}/"
    for path, data in files:
        if is_template(path):
            continue
        for document in load(path, data).documents:
            key = _key(document.tree)
            if path.startswith(environments):
                key = (ENVIRONMENT, path.removeprefix(environments).partition("/")[0])
            if key[0] != "TrainJob":
                found.setdefault(key, []).append(document.tree)
    return found


def _key(tree: dict[str, Any]) -> tuple[str, str]:
    from trainform.core.beside.companions import runtime_of

    if runtime := runtime_of(tree):
        return COMPANION, runtime
    return str(tree.get("kind")), str(metadata_of(tree).get("name"))


def _job_files(
    repository: Repository, locked: Collection[str], changed: Collection[str], before: _Documents, after: _Documents
) -> list[str] | None:
    """The job files to read: changed ones, and those that no lock names. None means all."""
    environments = [key for key in before.keys() | after.keys() if key[0] == ENVIRONMENT]
    specs = [tuple(_spec(documents.get(key, ())) for documents in (before, after)) for key in environments]
    if any(_differ(spec, _DECIDE_WHICH) for spec in specs):
        return None
    templates = any(_differ(spec, ("values",)) for spec in specs)
    files = repository.jobs().files
    depending = _depending(repository, files, [path for path in changed if path not in locked])
    return [f for f in files if f in changed or f in depending or f not in locked or (templates and is_template(f))]


def _depending(repository: Repository, files: Sequence[str], changed: Iterable[str]) -> set[str]:
    """The job files to whose jobs changed files may belong: as objects in the folder, or as files that they carry."""
    above = f"{repository.settings.jobs}/"
    beside = {path for path in changed if path.startswith(above) and not _holds_job(repository.read(path))}
    near = {posixpath.dirname(path) for path in beside if path.endswith(ENDINGS)}
    folders = {folder for path in beside for folder in _folders_of(path)}
    found = {file for file in files if posixpath.dirname(file) in near}
    for file in files if beside else ():
        if file not in found and posixpath.dirname(file) in folders:
            data = repository.read(file)
            if isinstance(data, bytes) and not beside.isdisjoint(carried_by(file, data)):
                found.add(file)
    return found


def _folders_of(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _holds_job(data: bytes | Diagnostic) -> bool:
    return isinstance(data, bytes) and _TRAIN_JOB.search(data) is not None


def _spec(trees: Iterable[Any]) -> dict[str, Any] | None:
    """The Environment's spec among its folder's changed documents; None if absent."""
    own = [tree for tree in trees if tree.get("kind") == ENVIRONMENT]
    return table(own[0], "spec") if own else None


def _differ(specs: tuple[dict[str, Any] | None, ...], keys: Iterable[str]) -> bool:
    before, after = specs
    if before is None or after is None:
        return before is not after
    return any(before.get(key) != after.get(key) for key in keys)


def may_hold_others(data: bytes | Diagnostic) -> bool:
    """Whether a job file may hold other documents than TrainJobs. Most files are plain enough to tell from their text,
    which is much faster than to parse it: each part has `kind: TrainJob` at the start of a line."""
    if isinstance(data, Diagnostic):
        return True
    parts = (part for part in _SEPARATOR.split(data) if _CONTENT.search(part))
    return not all(map(_TRAIN_JOB.search, parts))


_SEPARATOR, _CONTENT = re.compile(rb"^---", re.MULTILINE), re.compile(rb"^[^#\s]", re.MULTILINE)
_TRAIN_JOB = re.compile(rb"^kind: TrainJob[ \t\r]*$", re.MULTILINE)


def jobs_of(paths: Iterable[str], settings: Settings) -> set[JobId]:
    """The jobs that own lockfiles or manifests among `paths`; lists of shared folders belong to none."""
    found: set[JobId] = set()
    for path in paths:
        if path.startswith(f"{LOCKS}/"):
            parts = path.removeprefix(f"{LOCKS}/").removesuffix(".lock").split("/")
        elif path.startswith(f"{settings.rendered}/"):
            parts = path.removeprefix(f"{settings.rendered}/").split("/")[:-1][:3]
        else:
            continue
        if len(parts) == 3 and all(map(is_part, parts)):
            found.add((parts[0], parts[1], parts[2]))
    return found
