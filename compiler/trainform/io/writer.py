"""Rendered objects as files: `<rendered>/<environment>/<namespace>/<job>/<kind>-<name>.yaml`.

Every file begins with `HEADER`: that is how a file of ours is known from one that somebody else
put there. A file without it is never overwritten and never removed. Removal reaches no further
than the folder of a job that is being written: there, files with the header that the job no
longer needs are removed. The folder of a job that no longer exists is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from trainform.diagnostics import Diagnostic
from trainform.io.place import file_error, os_error
from trainform.io.repository import inside

HEADER = b"# Written by trainform. Change the TrainJob instead: changes made here are overwritten.\n"


@dataclass(frozen=True, slots=True)
class Folder:
    """What the folder of one job should hold: a path relative to the root; bytes by file name."""

    path: str
    files: dict[str, bytes]


@dataclass(slots=True)
class Changes:
    """What to do to the files, in paths relative to the root; nothing of it is done yet."""

    write: list[tuple[str, bytes]] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    unchanged: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, folder: Changes) -> None:
        """Takes in the changes of one folder; of a folder with a problem, the problem alone."""
        self.diagnostics += folder.diagnostics
        if not folder.diagnostics:
            self.write += folder.write
            self.remove += folder.remove
            self.unchanged += folder.unchanged


@dataclass(slots=True)
class Written:
    """What was done to the files, in paths relative to the root."""

    wrote: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def job_folder(rendered: str, environment: str, namespace: str, job: str) -> str:
    return "/".join([rendered, *map(_part, (environment, namespace, job))])


def file_name(kind: str, name: str) -> str:
    """`jobset-llm.yaml`, for a JobSet called `llm`."""
    return _part(f"{kind.lower()}-{name}.yaml")


def _part(name: str) -> str:
    """One part of a path. Names were checked long before: one that climbs is a bug, not a mistake."""
    if not name or name.startswith(".") or "/" in name or os.sep in name:
        raise ValueError(f"not a file name: {name!r}")
    return name


def plan_changes(root: str, folders: Iterable[Folder]) -> Changes:
    """Compares the folders with what is on disk. Reading costs a tenth of rewriting.

    A folder with a problem is left as it is, whole; the others are still planned.
    """
    changes = Changes()
    for folder in folders:
        changes.add(_plan_folder(root, folder))
    return changes


def _plan_folder(root: str, folder: Folder) -> Changes:
    path = os.path.join(root, folder.path)
    result = Changes()
    if not inside(root, os.path.realpath(path)):
        hint = "remove the link, or name another folder in trainform.yaml"
        return Changes(diagnostics=[file_error("TF702", folder.path, "leads out of the repository", hint)])
    try:
        present = _present(path)
        for name, data in folder.files.items():
            _plan_file(root, f"{folder.path}/{name}", HEADER + data, name in present, result)
        stale = [name for name in present if name not in folder.files]
        result.remove = [f"{folder.path}/{name}" for name in stale if _is_ours(os.path.join(path, name))]
    except OSError as error:
        result.diagnostics.append(os_error("TF707", folder.path, error, "cannot be written"))
    return result


def _present(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []


def _plan_file(root: str, path: str, data: bytes, present: bool, result: Changes) -> None:
    before = _bytes(os.path.join(root, path)) if present else None
    if before == data:
        result.unchanged += 1
    elif before is None or before.startswith(HEADER):
        result.write.append((path, data))
    else:
        hint = "move it away, or remove it if it may be replaced"
        message = "is in the way: trainform did not write this file"
        result.diagnostics.append(file_error("TF706", path, message, hint))


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def _is_ours(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path) or not path.endswith(".yaml"):
        return False
    with open(path, "rb", buffering=0) as file:
        return file.read(len(HEADER)) == HEADER


def carry_out(root: str, changes: Changes) -> Written:
    """Writes, then removes. Stops at the first failure, a full disk for example, and tells it."""
    done = Written(unchanged=changes.unchanged)
    made: set[str] = set()
    path = ""
    try:
        for path, data in changes.write:
            _make_folder(os.path.dirname(os.path.join(root, path)), made)
            _write(os.path.join(root, path), data)
            done.wrote.append(path)
        for path in changes.remove:
            os.remove(os.path.join(root, path))
            done.removed.append(path)
    except OSError as error:
        done.diagnostics.append(os_error("TF707", path, error, "cannot be written"))
    return done


def _make_folder(folder: str, made: set[str]) -> None:
    if folder not in made:
        os.makedirs(folder, exist_ok=True)
        made.add(folder)


def _write(path: str, data: bytes) -> None:
    """Whole or not at all: a reader, or a crash, never sees half a file."""
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        if os.path.lexists(draft):
            os.remove(draft)
        raise
