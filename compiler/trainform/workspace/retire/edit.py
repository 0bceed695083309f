"""Remove TrainJobs from the text of their files, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform import source
from trainform.core.beside.placing import is_named
from trainform.diagnostics import Diagnostic, Path
from trainform.io.repository import is_template
from trainform.output.rerun import CannotMark
from trainform.workspace.marking import encoded_like
from trainform.workspace.shared.beside import GENERATOR, carried_by, is_job

if TYPE_CHECKING:
    from trainform.io.repository import Repository
    from trainform.source import Document
    from trainform.workspace.retire.choice import Job


class CannotRemove(Exception):
    """The text cannot be edited safely; the message says why, `hint` what to do."""

    hint = "remove it yourself"


class MadeByTemplate(CannotRemove):
    hint = (
        "remove its value from the list in the template, or the file if the whole sweep is done: "
        'see docs/sweeps.md, "Change a sweep"'
    )


@dataclass(slots=True)
class Retirement:
    """New contents of files, not yet written: None for a file without other documents, which is deleted. `left` are
    jobs that must be removed by hand."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    left: list[Diagnostic] = field(default_factory=list)


def remove_jobs(repository: Repository, jobs: Iterable[Job], files: Iterable[str]) -> Retirement:
    """The edits that remove `jobs` from their files, with what stands beside them there and what they carry, unless
    another job names it. `files` are all job files."""
    done = Retirement()
    by_file: dict[str, list[Job]] = {}
    for job in jobs:
        by_file.setdefault(job.document.file, []).append(job)
    for file, own in by_file.items():
        try:
            done.files[file] = _without(repository, file, [job.document for job in own])
        except CannotRemove as error:
            for job in own:
                message = f"cannot remove {job.name} from its file: {error}"
                told = Diagnostic("TF717", "error", message, error.hint, ("metadata",), job.document)
                done.left.append(told)
        else:
            done.jobs += own
    done.files |= dict.fromkeys(_no_longer_carried(repository, done.files, files))
    return done


def _place(document: Document) -> tuple[int, Path]:
    return document.part.start, document.prefix


def _no_longer_carried(repository: Repository, edits: Mapping[str, bytes | None], files: Iterable[str]) -> set[str]:
    """What generators carried in the edited files, and none does any more. A file with a TrainJob is its own."""
    before = {file: repository.read(file) for file in edits}
    left = set[str]().union(*(carried_by(file, data) for file, data in before.items() if isinstance(data, bytes)))
    if left:
        now = {file: edits[file] if file in edits else repository.read(file) for file in files}
        left = left.difference(*(carried_by(file, data) for file, data in now.items() if isinstance(data, bytes)))
        if any(
            is_template(file) and isinstance(data, bytes) and GENERATOR.encode() in data for file, data in now.items()
        ):
            return set()  # what a template carries is not known
    texts = {file: repository.read(file) for file in left - edits.keys()}
    return {file for file, data in texts.items() if isinstance(data, bytes) and b"TrainJob" not in data}


_SEPARATOR = re.compile(r"\A---[^\S\n]*\n")
"""What is left at the start of a file that lost its first document: each begins with its separator."""


def _without(repository: Repository, file: str, jobs: Sequence[Document]) -> bytes | None:
    if is_template(file):
        raise MadeByTemplate("a template made it")
    data = repository.read(file)
    if isinstance(data, Diagnostic):
        raise CannotRemove(data.message)
    before = source.load(data, file)
    others = [each for each in before.documents if is_job(each) and _place(each) not in {*map(_place, jobs)}]
    beside = {_place(each): each for job in jobs for each in job.beside if each.file == file and not each.prefix}
    gone = [*jobs, *(each for each in beside.values() if is_named(each, jobs) and not is_named(each, others))]
    places = {_place(each) for each in gone}
    remaining = [each.tree for each in before.documents if _place(each) not in places]
    if not remaining:
        return None
    if any(prefix for _, prefix in places):
        raise CannotRemove("it is an item of a List")
    text = jobs[0].part.source.text
    for each in sorted(gone, key=lambda each: -each.part.start):
        text = text[: each.part.start] + text[each.part.start + len(each.part.text) :]
    text = _SEPARATOR.sub("", text)
    after = source.load(text, file)
    if after.diagnostics or [each.tree for each in after.documents] != remaining:
        raise CannotRemove("its other documents would change, too")
    try:
        return encoded_like(data, text)
    except CannotMark as error:
        raise CannotRemove("its file has mixed line endings") from error
