"""Read old jobs, migrate them, and write what they become."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.hints import better_name
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.io.place import file_error, os_error
from trainform.io.repository import is_template, open_repository
from trainform.io.staging import writing
from trainform.io.writer import rewrite
from trainform.k8s.names import dns1123_label
from trainform.k8s.tree import metadata_of, name_of, text
from trainform.migrate.dialect import is_trainers
from trainform.migrate.program import Migration, is_old_job, migrate
from trainform.output.rerun import CannotMark
from trainform.workspace.bootstrap.writing import NewFile, write_new
from trainform.workspace.inputs import PRIVATE_KEY, STDIN, load
from trainform.workspace.marking import encoded_like

if TYPE_CHECKING:
    from trainform.io.repository import Repository
    from trainform.io.settings import Settings
    from trainform.source import Document


class MigratedFile(NamedTuple):
    """A file of the repository, by its path from the root: a new one, or an edited one. `origins` are the jobs that it
    comes from."""

    file: str
    text: str
    is_new: bool
    origins: tuple[Document, ...] = ()


class Outcome(NamedTuple):
    """What the jobs become, and which of these files were written: with errors none, else those that were not there.
    `outlived` are files in the folder for jobs whose old jobs have TrainJobs now. `misplaced` are edited files that no
    other command reads, by the folder where it would."""

    changes: list[MigratedFile]
    problems: list[Diagnostic]
    written: frozenset[str] = frozenset()
    outlived: Sequence[str] = ()
    misplaced: Mapping[str, Sequence[str]] = {}


def migrate_files(root: str, files: Sequence[str], stdin: bytes | None, *, write: bool) -> Outcome:
    """Migrate the jobs in files, in the files of folders, and in `stdin`."""
    repository, problems = open_repository(root)
    contents = dict(_read(repository, files, problems))
    if stdin is not None:
        contents[STDIN] = stdin
    documents: list[Document] = []
    for file, data in contents.items():
        sources = load(file, data)
        problems += sources.diagnostics
        if not any(each.code == PRIVATE_KEY for each in sources.diagnostics):  # nothing of it is shown
            documents += sources.documents
    found = migrate(documents, problems)
    changes = [*_new_files(repository, found, documents), *_edited(found, documents)]
    told = [*found.diagnostics, *_twice(changes), *_nothing(documents, contents, found.diagnostics)]
    if not write or has_errors(told):
        return Outcome(changes, told)
    return _written(repository, changes, contents, told)


def _read(repository: Repository, files: Iterable[str], problems: list[Diagnostic]) -> Iterator[tuple[str, bytes]]:
    for path in files:
        listing = repository.at(path)
        problems += listing.diagnostics
        for file in listing.files:
            data = repository.read(file)
            if isinstance(data, Diagnostic):
                problems.append(data)
            elif is_template(file):
                hint = "migrate one job that it makes, and write the template anew from that"
                problems.append(file_error("TF865", file, "a template is no job before it is rendered", hint))
            else:
                yield file, data


class _Place(NamedTuple):
    """Where a new file would stand: in a folder of the repository, called after an object. `documents` are those that
    it comes from."""

    folder: str
    name: str
    namespace: str
    text: str
    documents: tuple[Document, ...]


def _new_files(repository: Repository, found: Migration, documents: Sequence[Document]) -> Iterator[MigratedFile]:
    """Objects of one name, in several namespaces, get a folder for each."""
    settings = repository.settings
    places = [_Place(settings.runtimes, each.name, "", each.text, each.origins) for each in found.runtimes]
    places += [_Place(settings.jobs, each.name, each.namespace, each.text, each.origins) for each in found.jobs]
    for file, new in found.edited.items():
        if _is_elsewhere(file):
            own = _trainers_of(file, documents)
            main = next((each.tree for each in own if each.tree.get("kind") == "TrainJob"), own[0].tree)
            name, namespace = better_name(name_of(main)), text(metadata_of(main), "namespace")
            places.append(_Place(_folder(settings, own), name, namespace, new, own))
    wanted = Counter((each.folder, each.name) for each in places)
    for place in places:
        is_shared = wanted[place.folder, place.name] > 1 and not dns1123_label(place.namespace)
        folder = f"{place.folder}/{place.namespace}" if is_shared else place.folder
        yield MigratedFile(f"{folder}/{place.name}.yaml", place.text, True, place.documents)


def _edited(found: Migration, documents: Sequence[Document]) -> Iterator[MigratedFile]:
    """Files of the repository are edited where they are; what comes from elsewhere is a new file in it."""
    for file, new in found.edited.items():
        if not _is_elsewhere(file):
            yield MigratedFile(file, new, False, _trainers_of(file, documents))


def _is_elsewhere(file: str) -> bool:
    return file == STDIN or os.path.isabs(file)


def _trainers_of(file: str, documents: Iterable[Document]) -> tuple[Document, ...]:
    return tuple(each for each in documents if each.file == file and is_trainers(each.tree))


def _folder(settings: Settings, documents: Iterable[Document]) -> str:
    """Where objects of the Trainer belong that share a file."""
    has_job = any(each.tree.get("kind") == "TrainJob" for each in documents)
    return settings.jobs if has_job else settings.runtimes


def _misplaced(settings: Settings, changes: Iterable[MigratedFile]) -> dict[str, list[str]]:
    read = tuple(f"{folder}/" for folder in (settings.jobs, settings.runtimes, settings.environments))
    found: dict[str, list[str]] = {}
    for each in changes:
        if not each.is_new and not each.file.startswith(read):
            found.setdefault(_folder(settings, each.origins), []).append(each.file)
    return found


def _twice(files: Iterable[MigratedFile]) -> Iterator[Diagnostic]:
    """Objects that would be written to one file, because they have one name."""
    first: dict[str, Document] = {}
    for each in files:
        document = each.origins[0]
        earlier = first.setdefault(each.file, document)
        if earlier is not document:
            where = f"{earlier.file}:{earlier.position(()).line}"
            noun = "runtime" if text(document.tree, "kind").endswith("Runtime") else "job"
            name = each.file.rpartition("/")[2].removesuffix(".yaml")
            message = f"another {noun} is called {name}, too: the one at {where}"
            hint = f"each {noun} of a namespace needs a name of its own"
            yield Diagnostic("TF203", "error", message, hint, ("metadata", "name"), document)


def _nothing(
    documents: Iterable[Document], contents: Mapping[str, bytes], told: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """An error if there is nothing to migrate: it would be a mistake in the command line."""
    if any(is_old_job(each.tree) or is_trainers(each.tree) for each in documents) or has_errors(told):
        return
    names = ", ".join(contents) or "the files"
    hint = "name files with jobs of kubeflow.org, such as a PyTorchJob, or with TrainJobs"
    yield Diagnostic("TF202", "error", f"there is no job in {names}", hint)


def _written(
    repository: Repository, changes: Sequence[MigratedFile], contents: Mapping[str, bytes], told: list[Diagnostic]
) -> Outcome:
    edits: dict[str, bytes] = {}
    for each in changes:
        if not each.is_new:
            try:
                edits[each.file] = encoded_like(contents[each.file], each.text)
            except CannotMark:
                hint = "convert them to one kind, and run this again"
                told.append(file_error("TF867", each.file, "has mixed line endings, and is not edited", hint))
    if has_errors(told):
        return Outcome([*changes], told)
    made = write_new(repository.root, {each.file: NewFile(each.text) for each in changes if each.is_new})
    told += made.diagnostics
    if not has_errors(told):
        told += _rewritten(repository.root, edits)
    written = frozenset() if has_errors(told) else frozenset([*edits, *(file for file, _ in made.write)])
    folder = f"{repository.settings.jobs}/"
    old = {each.file for change in changes if change.is_new for each in change.origins}
    outlived = sorted(file for file in old if file.startswith(folder))
    return Outcome([*changes], told, written, outlived, _misplaced(repository.settings, changes))


def _rewritten(root: str, edits: Mapping[str, bytes]) -> list[Diagnostic]:
    file = ""
    try:
        with writing(root) as staging:
            for file, data in edits.items():
                rewrite(staging, file, data)
    except OSError as error:
        return [os_error("TF707", file, error, "cannot be written")]
    return []


def name_of_origin(document: Document) -> str:
    """The name of an old job, or how its generated names begin: `nightly-…`."""
    return name_of(document.tree) or f"{text(metadata_of(document.tree), 'generateName')}…"


def kind_of_origin(document: Document) -> str:
    """`PyTorchJob (kubeflow.org/v1)`."""
    return f"{text(document.tree, 'kind')} ({text(document.tree, 'apiVersion')})"
