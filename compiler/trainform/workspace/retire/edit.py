"""Remove TrainJobs from the text of their files, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform import source
from trainform.diagnostics import Diagnostic
from trainform.io.repository import is_template
from trainform.output.rerun import CannotMark
from trainform.workspace.marking import encoded_like

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


def remove_jobs(repository: Repository, jobs: Iterable[Job]) -> Retirement:
    """The edits that remove `jobs` from their files."""
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
    return done


_SEPARATOR = re.compile(r"\A---[^\S\n]*\n")
"""What is left at the start of a file that lost its first document: each begins with its separator."""


def _without(repository: Repository, file: str, jobs: Sequence[Document]) -> bytes | None:
    if is_template(file):
        raise MadeByTemplate("a template made it")
    data = repository.read(file)
    if isinstance(data, Diagnostic):
        raise CannotRemove(data.message)
    places = {(job.part.start, job.prefix) for job in jobs}
    before = source.load(data, file)
    remaining = [each.tree for each in before.documents if (each.part.start, each.prefix) not in places]
    if not remaining:
        return None
    if any(prefix for _, prefix in places):
        raise CannotRemove("it is an item of a List")
    text = jobs[0].part.source.text
    for job in sorted(jobs, key=lambda job: -job.part.start):
        text = text[: job.part.start] + text[job.part.start + len(job.part.text) :]
    text = _SEPARATOR.sub("", text)
    after = source.load(text, file)
    if after.diagnostics or [each.tree for each in after.documents] != remaining:
        raise CannotRemove("its other documents would change, too")
    try:
        return encoded_like(data, text)
    except CannotMark as error:
        raise CannotRemove("its file has mixed line endings") from error
