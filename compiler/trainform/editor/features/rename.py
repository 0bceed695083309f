"""Rename a job: its `metadata.name`, and what an Environment's patches say of it.

A name is an identity. Under another one, a rendered job is another job: the engine deletes what runs and starts anew.
So only a job that was never rendered is renamed; for any other, the refusal says what a rename would do.
"""

from __future__ import annotations

from operator import ne
from typing import TYPE_CHECKING, NamedTuple

from trainform.core.beside.placing import kind_of
from trainform.editor.at_hand import jobs_at
from trainform.editor.features.edits import TextEdit, applied
from trainform.editor.links import kind_of_root, name_node, thing_of
from trainform.editor.outline import outline
from trainform.editor.outline_node import OutlineNode
from trainform.editor.place import Cursor, cursor_at
from trainform.editor.positions import Lines
from trainform.editor.search import environment_of, lines_of, text_of
from trainform.io.repository import is_template
from trainform.k8s.names import dns1035_label
from trainform.k8s.tree import name_of, text
from trainform.review.explain.leaves import leaves_of
from trainform.source import load
from trainform.source.scalars import suspicious
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
    jobs = jobs_at(snapshot, file, at)
    _refuse_unknown(jobs, name.text)
    _refuse_rendered(snapshot, jobs)
    return name.value.span


def rename(snapshot: RepositorySnapshot, file: str, at: Position, new: str) -> list[FileEdit]:
    """The edits that give the job at a place another name. Raises RenameRefused."""
    name = _name(snapshot, file, at)
    if name is None or name.value is None:
        raise RenameRefused("only the name of a TrainJob can be renamed: put the cursor on its metadata.name")
    jobs = jobs_at(snapshot, file, at)
    _refuse_unknown(jobs, name.text)
    _refuse_rendered(snapshot, jobs)
    if reason := dns1035_label(new):
        raise RenameRefused(f'"{new}" {reason}')
    own = thing_of(name.root)
    if any(each.id[1:] == (job.id[1], new) for job in jobs for each in snapshot.index):
        raise RenameRefused(f"there is a TrainJob {new} already")
    _refuse_companions(jobs, own.name)
    edits = [FileEdit(file, _edit(snapshot, file, name, new))]
    for job in jobs:
        edits += _in_patches(snapshot, job, new)
    edits = [*dict.fromkeys(edits)]
    for each in dict.fromkeys(each.file for each in edits):
        _refuse_side_effects(snapshot, each, [edit for other, edit in edits if other == each])
    return edits


def _name(snapshot: RepositorySnapshot, file: str, at: Position) -> OutlineNode | None:
    """The element with the job's name, if the cursor is on it."""
    lines = snapshot.lines(file)
    cursor: Cursor | None = cursor_at(lines.text, at) if lines else None
    if cursor is None or kind_of_root(cursor.root) != "TrainJob":
        return None
    name = name_node(cursor.root)
    return name if name is not None and cursor.whole is name and name.text else None


def _refuse_unknown(jobs: Sequence[JobInEditor], name: str) -> None:
    """What is rendered, and which patches name a job, only a compile tells."""
    if not jobs:
        raise RenameRefused(f"{name} cannot be compiled at the moment: mend the errors in its file first")
    if any(job.id[2] != name for job in jobs):
        raise RenameRefused(f"a template makes the name of {jobs[0].id[2]}: change it there by hand")


def _refuse_side_effects(snapshot: RepositorySnapshot, file: str, edits: Sequence[TextEdit]) -> None:
    """Where an anchor stands before a name, other fields have it by its alias."""
    if is_template(file):
        return
    before = after = text_of(snapshot, file)
    for edit in sorted(edits, reverse=True):
        after = applied(Lines(after), edit)
    old, new = (
        [leaf[1:] for document in load(each, file).documents for leaf in leaves_of(document.tree)]
        for each in (before, after)
    )
    if len(old) != len(new) or sum(map(ne, old, new)) != len(edits):
        raise RenameRefused(f"{file} has the name also in other fields, by an anchor: change it by hand")


def _edit(snapshot: RepositorySnapshot, file: str, node: OutlineNode, new: str) -> TextEdit:
    """Another name in the place of one, in its quotes; in new ones where YAML would take it for something else."""
    assert node.value is not None  # it has a text
    span = node.value.span
    quote = lines_of(snapshot, file).part(span)[:1]
    if quote not in ("'", '"'):
        quote = '"' if suspicious(new) else ""
    return TextEdit(span, f"{quote}{new}{quote}")


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


def _in_patches(snapshot: RepositorySnapshot, job: JobInEditor, new: str) -> Iterator[FileEdit]:
    """Where patches of the job's Environment name it: as a whole, since a pattern may mean others, too."""
    environment, namespace, old = job.id
    for file in snapshot.files:
        if environment_of(snapshot, file) != environment:
            continue
        for root in outline(text_of(snapshot, file)):
            for node in _names_in(root, job) if kind_of_root(root) == "Environment" else ():
                others = [each.id[1] for each in snapshot.index if each.id[::2] == (environment, old)]
                if other := next((each for each in others if each != namespace), None):
                    raise RenameRefused(f"a patch in {file} also means {other}/{old}: change the names by hand")
                yield FileEdit(file, _edit(snapshot, file, node, new))


def _names_in(root: OutlineNode, job: JobInEditor) -> Iterator[OutlineNode]:
    """Where the patches of an Environment say the name of a job, and mean an object that is called after it."""
    kinds = {"", "JobSet", *(tree["kind"] for tree in job.compiled.objects if name_of(tree) == job.id[2])}
    patches = root.at("spec", "patches")
    for patch in patches.children if patches else ():
        for path in (("target",), ("patch",)):
            known = patch.at(*path)
            place = known.at("metadata") if known and path == ("patch",) else known
            name = place.child("name") if place else None
            kind, namespace = (_text(known, "kind"), _text(place, "namespace"))
            if name is not None and name.text == job.id[2] and kind in kinds and namespace in ("", job.id[1]):
                yield name


def _text(node: OutlineNode | None, key: str) -> str:
    child = node.child(key) if node else None
    return child.text if child else ""
