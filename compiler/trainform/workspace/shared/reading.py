"""Reads plain files once for all environments, and renders templates for each."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.io.repository import Repository, is_template
from trainform.k8s.tree import text
from trainform.workspace.inputs import (
    PRIVATE_KEY,
    EnvironmentInputs,
    SourceDocuments,
    in_the_clear,
    load,
    load_job_file,
)
from trainform.workspace.shared.beside import carried_by, gather, is_job

if TYPE_CHECKING:
    from trainform.source import Document


class FileReader:
    """Reads a plain file once for all environments, and renders a template for each."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._plain: dict[str, SourceDocuments] = {}
        self._known: dict[str, set[str]] = {}

    def read(self, files: Iterable[str], inputs: EnvironmentInputs) -> SourceDocuments:
        sources = SourceDocuments()
        for file in dict.fromkeys(files):
            if is_template(file):
                sources.add(self._template(file, inputs))
                continue
            if file not in self._plain:
                self._plain[file] = self._of_plain(file)
            sources.add(self._plain[file])
        return sources

    def beside(self, files: Sequence[str], inputs: EnvironmentInputs) -> SourceDocuments:
        """The documents in files without a TrainJob, in the folders of `files`."""
        folders = set(map(posixpath.dirname, files))
        sources = SourceDocuments()
        for file in self._jobs if folders else ():
            if file not in files and posixpath.dirname(file) in folders:
                found = self.read([file], inputs)
                if found.documents and not any(map(is_job, found.documents)):
                    sources.add(found)
        return sources

    def _of_plain(self, file: str) -> SourceDocuments:
        found = load_files(self._repository, [file])
        gather(found, self._repository.read)
        is_plain = not found.diagnostics and all(text(each.tree, "apiVersion") for each in found.documents)
        if not is_plain and file in self._carried(posixpath.dirname(file)):
            return SourceDocuments(unsettled={file})
        return found

    def _template(self, file: str, inputs: EnvironmentInputs) -> SourceDocuments:
        data = self._repository.read(file)
        if isinstance(data, Diagnostic):
            return SourceDocuments([], [data])
        found = load_job_file(file, data, inputs)
        gather(found, self._repository.read)
        return found

    @cached_property
    def _jobs(self) -> list[str]:
        return self._repository.jobs().files

    def _carried(self, folder: str) -> set[str]:
        """The files that job files in a folder, and in those above it, carry: they hold no objects."""
        if folder not in self._known:
            parent = posixpath.dirname(folder)
            above = self._carried(parent) if parent != folder else set()
            here = [file for file in self._jobs if posixpath.dirname(file) == folder and not is_template(file)]
            read = ((file, self._repository.read(file)) for file in here)
            self._known[folder] = above.union(
                *(carried_by(file, data) for file, data in read if isinstance(data, bytes))
            )
        return self._known[folder]


def load_files(repository: Repository, files: Iterable[str]) -> SourceDocuments:
    """The documents of plain files, each file read once."""
    sources = SourceDocuments()
    for file in dict.fromkeys(files):
        data = repository.read(file)
        sources.add(SourceDocuments([], [data]) if isinstance(data, Diagnostic) else load(file, data))
    told = {problem.file for problem in sources.diagnostics if problem.code == PRIVATE_KEY}
    sources.diagnostics += [each for each in _private_keys(sources.documents) if each.file not in told]
    return sources


def _private_keys(documents: Iterable[Document]) -> list[Diagnostic]:
    """An error for each file with a Secret for jobs that is not encrypted, even if no compiled job uses it. Shows only
    its name."""
    secrets = [document for document in documents if document.tree.get("kind") == "Secret"]
    if not secrets:
        return []
    from trainform.core.secrets import is_in_the_clear, is_key_file

    found = [document.file for document in secrets if is_key_file(document.tree) and is_in_the_clear(document.tree)]
    return [in_the_clear(file) for file in dict.fromkeys(found)]
