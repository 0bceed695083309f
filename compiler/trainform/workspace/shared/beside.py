"""What stands beside TrainJobs: other objects in their file or folder, and files that a ConfigMapGenerator carries."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic, Path
from trainform.io.place import file_error
from trainform.k8s.config_map import MOST_BYTES, SMALLER, too_large
from trainform.k8s.tree import text, texts

if TYPE_CHECKING:
    from trainform.source import Document
    from trainform.workspace.inputs import SourceDocuments

Read = Callable[[str], "bytes | Diagnostic"]
"""Reads a file of the repository, by its path from the root."""

GENERATOR = "ConfigMapGenerator"

LIMIT = 64 * 2**20
"""Maximum bytes of all files that the generators of one file carry."""


def gather(sources: SourceDocuments, read: Read) -> None:
    """In the documents of one file: make the ConfigMaps of generators, and give companions to their TrainJobs."""
    made = [text(each.tree, "kind") == GENERATOR for each in sources.documents]
    if any(made):
        reader = _Reader(read)
        sources.unsettled.update(each.file for each in sources.documents)
        sources.documents = [
            _generated(each, reader, sources.diagnostics) if is_made else each
            for each, is_made in zip(sources.documents, made, strict=True)
        ]
    if len(sources.documents) > 1:
        from trainform.core.beside.placing import with_companions

        sources.documents, sources.diagnostics = with_companions(
            sources.documents, sources.diagnostics, lambda document: document.file, alone=True
        )


def gather_in_folders(sources: SourceDocuments) -> None:
    """Give companions in files without a TrainJob to the TrainJobs of their folder that name them. Such a TrainJob is
    more than the bytes of its file, so its digest is not known by them."""
    busy = {each.file for each in sources.documents if is_job(each)}
    if all(each.file in busy for each in sources.documents):
        return
    from trainform.core.beside.placing import with_companions

    def scope(document: Document) -> str | None:
        return posixpath.dirname(document.file) if is_job(document) or document.file not in busy else None

    sources.documents, sources.diagnostics = with_companions(sources.documents, sources.diagnostics, scope)
    for document in sources.documents:
        if any(each.file != document.file for each in document.beside):
            sources.digests.pop(document.file, None)


def is_job(document: Document) -> bool:
    return document.tree.get("kind") == "TrainJob"


def carried_by(file: str, data: bytes) -> set[str]:
    """The files that generators in a job file carry, as paths from the root."""
    if GENERATOR.encode() not in data:
        return set()
    from trainform.api.generator import carried
    from trainform.source import load

    generators = [each.tree for each in load(data, file).documents if text(each.tree, "kind") == GENERATOR]
    return {_path(file, carried(entry).path) for tree in generators for entry in texts(tree, "files")}


def carried_with(document: Document, read: Read) -> set[str]:
    """The files that a TrainJob and what stands beside it are in, and those that generators there carry."""
    files = {each.file for each in (document, *document.beside)}
    data = {file: read(file) for file in files}
    return files.union(*(carried_by(file, each) for file, each in data.items() if isinstance(each, bytes)))


def _path(file: str, below: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), below))


@dataclass(slots=True)
class _Reader:
    """Reads what the generators of one file carry, up to `left` bytes: many may name one large file."""

    read: Read
    left: int = LIMIT

    def __call__(self, path: str) -> bytes | Diagnostic:
        if self.left < 0:
            return file_error(
                "TF649", path, f"is more than the {LIMIT >> 20} MiB that the generators of a file may carry"
            )
        data = self.read(path)
        self.left -= len(data) if isinstance(data, bytes) else 0
        return data


def _generated(document: Document, read: Read, problems: list[Diagnostic]) -> Document:
    """The generator's ConfigMap, without the files that cannot be carried: those are errors."""
    from trainform.api.generator import ConfigMapGenerator
    from trainform.api.reader import read as read_document
    from trainform.core.beside.generator import generated
    from trainform.core.secrets import find_private_key

    found = read_document(document)
    if not isinstance(found.model, ConfigMapGenerator):  # the job that takes it does not read it again
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": document.tree.get("metadata")}
        made = replace(document, tree=head)
        problems[:] = [_at(problem, document, made) for problem in (*problems, *found.diagnostics)]
        return made
    files: dict[str, bytes] = {}
    told: list[Diagnostic] = [*found.diagnostics]
    for index, each in enumerate(found.model.carried()):
        at = found.source_path(("files", index))
        path = _path(document.file, each.path)
        data = read(path)
        if isinstance(data, Diagnostic):
            told.append(_problem(document, at, "TF649", f"{path} {data.message}", data.hint))
        elif find_private_key(data) is not None:
            message = f"{path} holds an unencrypted private key"
            hint = "consider the key compromised: remove it, and create a new one outside of git"
            told.append(_problem(document, at, "TF156", message, hint))
        elif sum(map(len, files.values())) + len(data) > MOST_BYTES:
            size = sum(map(len, files.values())) + len(data)
            told.append(_problem(document, at, "TF647", too_large(size), SMALLER))
        else:
            files[each.key] = data
    made = generated(document, found.model, files)
    problems[:] = [_at(problem, document, made) for problem in problems]
    problems += [_at(problem, document, made) for problem in told]
    return made


def _problem(document: Document, at: Path, code: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(code, "error", message, hint, at, document)


def _at(problem: Diagnostic, before: Document, now: Document) -> Diagnostic:
    return problem._replace(place=now) if problem.place is before else problem
