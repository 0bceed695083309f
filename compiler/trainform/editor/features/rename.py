"""Rename a job: its `metadata.name`, and what an Environment's patches say of it.

A name is an identity. Under another one, a rendered job is another job: the engine deletes what runs and starts anew.
So only a job that was never rendered is renamed; for any other, the refusal says what a rename would do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.core.beside.placing import kind_of
from trainform.editor.at_hand import jobs_at
from trainform.editor.features.edits import TextEdit
from trainform.editor.links import kind_of_root, name_node, thing_of
from trainform.editor.outline import OutlineNode, outline
from trainform.editor.place import Cursor, cursor_at
from trainform.editor.search import environment_of, text_of
from trainform.k8s.names import dns1035_label
from trainform.k8s.tree import text
from trainform.workspace.state import LockStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainform.diagnostics import Position
    from trainform.editor.positions import Span
    from trainform.editor.snapshot import JobInEditor, RepositorySnapshot


class RenameRefused(Exception):
    """Why a job is not renamed, as a sentence."""


class FileEdit(NamedTuple):
    """An edit of one of several files."""

    file: str
    edit: TextEdit


def renamable(snapshot: RepositorySnapshot, file: str, at: Position) -> Span | None:
    """The name of the job at a place, if that can be renamed; None where there is none. Raises RenameRefused."""
    name = _name(snapshot, file, at)
    if name is None or name.value is None:
        return None
    _refuse_rendered(snapshot, jobs_at(snapshot, file, at))
    return name.value.span


def rename(snapshot: RepositorySnapshot, file: str, at: Position, new: str) -> list[FileEdit]:
    """The edits that give the job at a place another name. Raises RenameRefused."""
    name = _name(snapshot, file, at)
    if name is None or name.value is None:
        raise RenameRefused("only the name of a TrainJob can be renamed: put the cursor on its metadata.name")
    jobs = jobs_at(snapshot, file, at)
    _refuse_rendered(snapshot, jobs)
    if reason := dns1035_label(new):
        raise RenameRefused(f'"{new}" {reason}')
    own = thing_of(name.root)
    if any(each.id[1:] == (job.id[1], new) for job in jobs for each in snapshot.index):
        raise RenameRefused(f"there is a TrainJob {new} already")
    _refuse_companions(jobs, own.name)
    edits = [FileEdit(file, TextEdit(name.value.span, new))]
    for job in jobs:
        edits += _in_patches(snapshot, job, own.name, new)
    return [*dict.fromkeys(edits)]


def _name(snapshot: RepositorySnapshot, file: str, at: Position) -> OutlineNode | None:
    """The element with the job's name, if the cursor is on it."""
    lines = snapshot.lines(file)
    cursor: Cursor | None = cursor_at(lines.text, at) if lines else None
    if cursor is None or kind_of_root(cursor.root) != "TrainJob":
        return None
    name = name_node(cursor.root)
    return name if name is not None and cursor.whole is name and name.text else None


def _refuse_rendered(snapshot: RepositorySnapshot, jobs: Sequence[JobInEditor]) -> None:
    locks = LockStore(snapshot.repository)
    rendered = [job for job in jobs if locks.lockfile(job.id) is not None]
    if rendered:
        names = ", ".join(dict.fromkeys(job.id[0] for job in rendered))
        raise RenameRefused(
            f"{rendered[0].id[2]} is rendered (in {names}): under another name it would be a new job, and what runs "
            "now would be deleted. If that is what you want, change metadata.name by hand and run `trainform render`"
        )


def _refuse_companions(jobs: Sequence[JobInEditor], name: str) -> None:
    """A claim or a sealed Secret must be called after its job, and holds what is under its own name."""
    for job in jobs:
        for each in job.document.beside:
            kind = kind_of(each.tree)
            if kind is not None and kind.is_rendered and not kind.is_copied:
                what = f"{text(each.tree, 'kind')} in {each.file}"
                raise RenameRefused(f"the {what} is called after {name}, and cannot be renamed with its contents")


def _in_patches(snapshot: RepositorySnapshot, job: JobInEditor, old: str, new: str) -> Iterator[FileEdit]:
    """Where patches of the job's Environment name it: as a whole, since a pattern may mean others, too."""
    for file in snapshot.files:
        if environment_of(snapshot, file) != job.id[0]:
            continue
        for root in outline(text_of(snapshot, file)):
            for node in _names_in(root) if kind_of_root(root) == "Environment" else ():
                if node.text == old and node.value is not None:
                    yield FileEdit(file, TextEdit(node.value.span, new))


def _names_in(root: OutlineNode) -> Iterator[OutlineNode]:
    patches = root.at("spec", "patches")
    for patch in patches.children if patches else ():
        for path in (("target", "name"), ("patch", "metadata", "name")):
            if (node := patch.at(*path)) is not None:
                yield node
