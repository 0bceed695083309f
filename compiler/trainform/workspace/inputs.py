"""The inputs of one environment: documents, and the problems of their files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic, Position
from trainform.installed import PluginSet
from trainform.io.place import file_error
from trainform.source.limits import MAX_DOCUMENTS, MAX_STREAMED
from trainform.workspace.lints import Lints

if TYPE_CHECKING:
    from trainform.api import Environment, Read
    from trainform.source import Document

STDIN = "<stdin>"
DEFAULT = "default"
"""The environment's name in a repository that declares none."""

PRIVATE_KEY = "TF156"


@dataclass(slots=True)
class SourceDocuments:
    """Documents and the problems of their files. `digests` has the digest of each file that holds exactly one document
    and no problem. `unsettled` are files whose documents depend on other files."""

    documents: list[Document] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    unsettled: set[str] = field(default_factory=set)

    def copied(self) -> SourceDocuments:
        """Other lists of the same documents."""
        return SourceDocuments([*self.documents], [*self.diagnostics], {**self.digests}, {*self.unsettled})

    def add(self, other: SourceDocuments) -> None:
        self.documents += other.documents
        self.diagnostics += other.diagnostics
        self.digests.update(other.digests)
        self.unsettled |= other.unsettled


@dataclass(slots=True, kw_only=True)
class EnvironmentInputs:
    """Everything compiled for one environment: the Environment, its facts and keys, runtimes, jobs. `folder` is empty
    for `default`; a folder without `document` has an unreadable Environment. `partial`: there are more jobs than these.
    `reads` holds documents parsed earlier. `lints`: how the team wants findings told. `plugins` are those in use."""

    name: str = DEFAULT
    folder: str = ""
    environment: Environment | None = None
    document: Document | None = None
    sources: SourceDocuments = field(default_factory=SourceDocuments)
    partial: bool = False
    reads: Mapping[Document, Read] = field(default_factory=dict)
    lints: Lints = field(default_factory=Lints)
    plugins: PluginSet = field(default_factory=PluginSet.installed)

    @property
    def namespace(self) -> str:
        """The namespace of jobs that name none."""
        return (self.environment.spec.namespace if self.environment else None) or "default"

    def train_jobs(self) -> list[Document]:
        """Documents of kind TrainJob, not validated."""
        return [each for each in self.sources.documents if each.tree.get("kind") == "TrainJob"]

    def leave_out(self, documents: Iterable[Document]) -> None:
        """Remove documents and their problems, and mark the inputs as partial."""
        gone = [*documents]
        if gone:
            sources, out = self.sources, {id(document) for document in gone}
            sources.documents = [each for each in sources.documents if id(each) not in out]
            out.update(id(each) for document in gone for each in document.beside)
            out.difference_update(id(each) for document in sources.documents for each in document.beside)
            sources.diagnostics = [each for each in sources.diagnostics if id(each.place) not in out]
            self.partial = True


def load(file: str, data: bytes, most: int = MAX_DOCUMENTS) -> SourceDocuments:
    from trainform import source

    loaded = source.load(data, file, most)
    problems = [*loaded.diagnostics, *private_keys(file, data)]
    is_single = len(loaded.documents) == 1 and not (loaded.documents[0].prefix or problems)
    return SourceDocuments(loaded.documents, problems, {file: digest_of_file(data)} if is_single else {})


def digest_of_file(data: bytes) -> str:
    """SHA-256 (hex), as in locks."""
    return hashlib.sha256(data).hexdigest()


def private_keys(file: str, data: bytes) -> list[Diagnostic]:
    """An error (TF156) if a file holds an unencrypted private key, in whatever field. Never shows the line."""
    from trainform.core.secrets import find_private_key

    start = find_private_key(data)
    return [] if start is None else [in_the_clear(file, Position(data.count(b"\n", 0, start) + 1, 1))]


def in_the_clear(file: str, at: Position | None = None) -> Diagnostic:
    hint = "consider the key compromised: remove it, and make new keys with `trainform keys`"
    return file_error(PRIVATE_KEY, file, "holds an unencrypted private key", hint)._replace(at=at)


def read_stream(data: bytes) -> EnvironmentInputs:
    """The documents of a stream, which may include an Environment."""
    from trainform.core.beside.placing import in_one_stream

    sources = load(STDIN, data, MAX_STREAMED)
    sources.documents, sources.diagnostics = in_one_stream(sources.documents, sources.diagnostics)
    return EnvironmentInputs(sources=sources)


def load_job_file(file: str, data: bytes, inputs: EnvironmentInputs) -> SourceDocuments:
    """The documents of a job file. A template is rendered with the environment's values."""
    from trainform.io.repository import is_template

    if not is_template(file):
        return load(file, data)
    from trainform.source.templates.load import load_template

    values = inputs.environment.spec.values if inputs.environment else {}
    loaded = load_template(data, file, values)
    return SourceDocuments(loaded.documents, [*loaded.diagnostics, *private_keys(file, data)])
