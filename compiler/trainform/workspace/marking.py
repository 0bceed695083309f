"""Mark TrainJobs in their files to run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform import source
from trainform.diagnostics import Diagnostic
from trainform.io.repository import is_template
from trainform.output.rerun import CannotMark, mark
from trainform.workspace.selection import job_id

if TYPE_CHECKING:
    from trainform.io.repository import Repository
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs

_BOM = b"\xef\xbb\xbf"


class MarkedJob(NamedTuple):
    """A job marked for its `number`th rerun, and its environments."""

    document: Document
    number: int
    environments: list[EnvironmentInputs]


@dataclass(slots=True)
class Marking:
    """New file contents, not yet written, and the problems that prevent writing."""

    files: dict[str, bytes] = field(default_factory=dict)
    jobs: list[MarkedJob] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def mark_jobs(repository: Repository, environments: Sequence[EnvironmentInputs]) -> Marking:
    """Mark every TrainJob of the environments once in its file's text."""
    marking = Marking()
    found: dict[tuple[str, int, object], tuple[Document, list[EnvironmentInputs]]] = {}
    for inputs in environments:
        for document in inputs.train_jobs():
            where = (document.file, document.part.start, document.prefix)
            found.setdefault(where, (document, []))[1].append(inputs)
    for document, its_environments in found.values():
        try:
            number = _mark(repository, document, marking)
        except CannotMark as error:
            name = "/".join(job_id(its_environments[0], document)[1:])
            told = Diagnostic("TF717", "error", f"cannot mark {name} to run again", str(error), ("metadata",), document)
            marking.diagnostics.append(told)
        else:
            marking.jobs.append(MarkedJob(document, number, its_environments))
    return marking


def _mark(repository: Repository, document: Document, marking: Marking) -> int:
    if is_template(document.file):
        raise CannotMark("this is a template: add the annotation trainform.dev/rerun yourself")
    data = marking.files.get(document.file) or repository.read(document.file)
    if isinstance(data, Diagnostic):
        raise CannotMark(data.message)
    before = source.load(document.part.source.text, document.file).documents
    place = [(each.part.start, each.prefix) for each in before].index((document.part.start, document.prefix))
    marked = mark(source.load(data, document.file).documents[place])
    marking.files[document.file] = encoded_like(data, marked.text)
    return marked.number


def encoded_like(data: bytes, text: str) -> bytes:
    """Encode `text` with the line endings and byte order mark of the original file. Raises CannotMark if these are
    mixed."""
    ends = data.count(b"\r\n")
    if data.count(b"\r") != ends or ends not in (0, data.count(b"\n")):
        raise CannotMark("this file has mixed line endings: convert them, or add the annotation yourself")
    new = text.replace("\n", "\r\n") if ends else text
    return (_BOM if data.startswith(_BOM) else b"") + new.encode()
