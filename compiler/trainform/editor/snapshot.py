"""A repository as an editor has it at one moment: what every feature sees. See the room's docstring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from trainform.core.beside.companions import runtime_of
from trainform.core.beside.placing import kind_of
from trainform.core.secrets import is_key_file
from trainform.diagnostics import Diagnostic, Position
from trainform.editor.names import FileNames, names_of
from trainform.editor.positions import Lines, Span
from trainform.io.paths import JobId
from trainform.io.repository import is_template
from trainform.io.settings import FILE
from trainform.workspace.compilation import compile_environments, shipped_catalogue
from trainform.workspace.discovery import discover
from trainform.workspace.inputs import load, load_job_file
from trainform.workspace.parallel import Chunk
from trainform.workspace.shards import ALL
from trainform.workspace.validate import seen_together, validate_chunk

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.core.cluster.facts import Facts, ObjectKey
    from trainform.core.compile import CompiledJob
    from trainform.core.inputs import Inputs
    from trainform.io.repository import Repository
    from trainform.review.explain.owner import Field
    from trainform.review.explain.owners import Recorder
    from trainform.source import Document
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

SMALL = 20
"""Job files of a repository that is tried as a whole."""

Role = Literal["job", "runtime", "environment", "fact", "key", "companion", "generator", "other"]


class DocumentEntry(NamedTuple):
    """One object of a file, and what it is for a compile. A companion belongs to a runtime or stands beside a job."""

    document: Document
    role: Role
    span: Span


class JobEntry(NamedTuple):
    """A job of the repository, without its text. `runtime` is the key of the one it uses, if that exists; `patches` are
    the indexes of the Environment's patches that change it."""

    id: JobId
    file: str
    runtime: ObjectKey | None
    patches: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class JobInEditor:
    """A job in one Environment, compiled with a record of who set what. `documents` are all that it was compiled from,
    `inputs` the same, sorted by kind."""

    compiled: CompiledJob
    inputs: Inputs
    documents: Sequence[Document]
    recorder: Recorder

    @property
    def id(self) -> JobId:
        return self.compiled.environment, self.compiled.namespace, self.compiled.name

    @property
    def document(self) -> Document:
        return self.compiled.document

    @property
    def facts(self) -> Facts:
        return self.inputs.facts

    @cached_property
    def fields(self) -> Sequence[Field]:
        """Every field of the job's objects with who set it; none for a job with an error."""
        from trainform.review.explain.owners import explain

        return explain(self.compiled, self.recorder, self.documents)


def read_lines(repository: Repository, file: str) -> Lines | None:
    """The text of a file; None if it cannot be read as UTF-8."""
    data = repository.read(file)
    try:
        return Lines(data.decode()) if isinstance(data, bytes) else None
    except UnicodeDecodeError:
        return None


def read_names(repository: Repository, file: str) -> FileNames:
    """What a file declares and names; nothing if it cannot be read."""
    lines = read_lines(repository, file)
    return names_of(lines.text) if lines else FileNames()


Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class RepositorySnapshot:
    """The repository at one moment. `findings` and `index` are those of the last finished compile."""

    workspace: Workspace
    findings: Mapping[str, Sequence[Diagnostic]] = field(default_factory=dict)
    index: Sequence[JobEntry] = ()
    beside: Callable[[str], Sequence[str]] | None = field(default=None, repr=False)
    """The files of a file's folder that hold no TrainJob, if that is known already."""
    known_names: dict[str, FileNames] = field(default_factory=dict, repr=False)
    """Of files, as far as they are known; others are added."""
    _kept: dict[tuple[str, str], object] = field(default_factory=dict, repr=False)

    @property
    def repository(self) -> Repository:
        return self.workspace.repository

    @property
    def root(self) -> str:
        return self.repository.root

    @property
    def catalogue(self) -> Catalogue:
        return shipped_catalogue()

    @property
    def environments(self) -> Sequence[EnvironmentInputs]:
        """Each Environment with its documents: facts, keys, and the repository's runtimes; without jobs."""
        return self.workspace.environments

    @cached_property
    def files(self) -> list[str]:
        """Every input file, sorted: runtimes, jobs, Environments and what stands with them, trainform.yaml."""
        repository, workspace = self.repository, self.workspace
        shared = repository.listed(repository.settings.environments).files
        is_there = isinstance(repository.read(FILE), bytes)
        return sorted({*workspace.runtime_files, *workspace.job_files, *shared, *([FILE] if is_there else [])})

    def lines(self, file: str) -> Lines | None:
        """The text of a file: of its buffer, or on disk; None if it cannot be read as UTF-8."""
        return self._once("lines", file, lambda: read_lines(self.repository, file))

    def names(self, file: str) -> FileNames:
        """What a file declares and names, also one that does not parse."""
        if file not in self.known_names:
            self.known_names[file] = read_names(self.repository, file)
        return self.known_names[file]

    def entries(self, file: str) -> Sequence[DocumentEntry]:
        """The objects of a file, in order; none where the text does not parse."""
        return self._once("entries", file, lambda: self._read_entries(file))

    def _read_entries(self, file: str) -> Sequence[DocumentEntry]:
        data = self.repository.read(file)
        if not isinstance(data, bytes) or file == FILE:
            return ()
        if is_template(file):
            documents = load_job_file(file, data, self.environments[0]).documents if self.environments else []
        else:
            documents = load(file, data).documents
        starts = [document.position(()) for document in documents]
        end = Position(data.count(b"\n") + 2, 1)
        has_job = any(each.tree.get("kind") == "TrainJob" for each in documents)
        return tuple(
            DocumentEntry(document, _role(document, has_job=has_job), Span(start, after))
            for document, start, after in zip(documents, starts, [*starts[1:], end], strict=False)
        )

    def entry_at(self, file: str, at: Position) -> DocumentEntry | None:
        """The object that holds a place; the one before it, for a place between two."""
        return next((each for each in reversed(self.entries(file)) if each.span.start <= at), None)

    def jobs(self, file: str) -> Sequence[JobInEditor]:
        """The jobs of a file in each Environment that selects them, also those with errors."""
        return self._once("jobs", file, lambda: self._compile(file))

    def _compile(self, file: str) -> Sequence[JobInEditor]:
        from trainform.review.explain.owners import Recorder

        beside = self.workspace.beside(file) if self.beside is None else self.beside(file)
        environments, recorder = self.workspace.read([file], beside=beside), Recorder()
        outcome = compile_environments(environments, wants_job=False, observe=recorder)
        return tuple(
            JobInEditor(job, compilation.inputs, inputs.sources.documents, recorder)
            for inputs, compilation in zip(environments, outcome.compilations, strict=True)
            for job in compilation.jobs
            if job.document.file == file
        )

    def shared(self, environment: str) -> Inputs:
        """What the jobs of an Environment share, sorted by kind: facts, runtimes, keys. Raises KeyError for a name
        that is no Environment."""
        return self._once("shared", "", self._sort_shared)[environment]

    def _sort_shared(self) -> dict[str, Inputs]:
        environments = self.workspace.read([])
        outcome = compile_environments(environments, wants_job=False)
        return {each.name: found.inputs for each, found in zip(environments, outcome.compilations, strict=True)}

    def said_with(self, file: str, text: str, jobs: Sequence[str]) -> list[Diagnostic]:
        """What a compile would say if a file had this text: about that file, and about the files of these `jobs`,
        which it may concern. A small repository is compiled as a whole."""
        unsaved = {**self.repository.unsaved, file: text.encode(errors="surrogatepass")}
        is_job = file in self.workspace.job_files
        workspace = self.workspace.reopened(unsaved) if is_job else discover(self.root, unsaved=unsaved)
        if len(workspace.job_files) <= SMALL:
            whole = validate_chunk(workspace, ALL, workspace.read(), Chunk()).validation
            return [*whole.diagnostics, *seen_together(whole, workspace, ALL)]
        chunks = [Chunk([each], first=False) for each in dict.fromkeys([*([file] if is_job else []), *jobs])]
        parts = [(chunk, workspace.read(chunk.files, beside=self._near(chunk))) for chunk in chunks]
        if not is_job:
            parts.append((Chunk([], first=True), workspace.read([])))
        return [each for chunk, read in parts for each in validate_chunk(workspace, ALL, read, chunk)[0].diagnostics]

    def _near(self, chunk: Chunk) -> Sequence[str]:
        beside = self.workspace.beside if self.beside is None else self.beside
        return [each for file in chunk.files or () for each in beside(file)]

    def _once(self, question: str, file: str, answer: Callable[[], Found]) -> Found:
        key = (question, file)
        if key not in self._kept:
            self._kept[key] = answer()
        return self._kept[key]  # type: ignore[return-value]  # what `answer` gave


_ROLES: dict[str, Role] = {"job": "job", "runtime": "runtime", "environment": "environment", "generator": "generator"}


def _role(document: Document, *, has_job: bool) -> Role:
    from trainform.api.kinds import subject

    if runtime_of(document.tree):
        return "companion"
    if is_key_file(document.tree):
        return "key"
    about, _ = subject(document.tree)
    if about in _ROLES:
        return _ROLES[about]
    if has_job and kind_of(document.tree):
        return "companion"
    return "fact" if about == "fact" else "other"
