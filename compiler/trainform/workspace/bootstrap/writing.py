"""Write new files into a repository: all of them, or none if a different one is in the way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io.links import LinkError, read_file
from trainform.io.paths import exists
from trainform.io.place import file_error, os_error

Taken = Literal["refuse", "append", "tell", "replace"]


class NewFile(NamedTuple):
    """A file to write. `taken` says what to do where a different one exists: refuse to write anything, append to it,
    tell what to add to it, as it is shared with other tools, or replace it, as nobody else writes it."""

    text: str
    taken: Taken = "refuse"


@dataclass(slots=True)
class Bootstrap:
    """What to write, by path, and what exists already. `told` holds what the user must add to a file that is shared
    with other tools. If there are diagnostics, nothing is written."""

    write: list[tuple[str, bytes]] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def write_new(root: str, files: Mapping[str, NewFile]) -> Bootstrap:
    """Write files, by path, that are not there yet."""
    made = _plan(root, files)
    if not made.diagnostics:
        made.diagnostics += _write(root, made)
    return made


def _write(root: str, changes: Bootstrap) -> list[Diagnostic]:
    from trainform.io.staging import writing
    from trainform.io.writer import rewrite, write

    if not changes.write:
        return []
    path = changes.write[0][0]
    try:
        os.makedirs(root, exist_ok=True)
        with writing(root) as staging:
            for path, data in changes.write:
                (rewrite if exists(root, path) else write)(staging, path, data)
    except OSError as error:
        return [os_error("TF707", path, error, "cannot be written")]
    return []


def _plan(root: str, files: Mapping[str, NewFile]) -> Bootstrap:
    """What to write, and a problem for each path taken by a different file."""
    changes = Bootstrap()
    for path, file in files.items():
        found = _present(root, path)
        if isinstance(found, Diagnostic):
            changes.diagnostics.append(found)
        elif found is None or (file.taken == "replace" and found != file.text.encode()):
            changes.write.append((path, file.text.encode()))
        elif found == file.text.encode() or (file.taken == "append" and file.text.encode() in found):
            changes.unchanged += 1
        elif file.taken == "append":
            changes.write.append((path, _appended(found, file.text.encode())))
        elif file.taken == "tell":
            changes.told.append((path, file.text))
        else:
            hint = "move it away, or choose another folder"
            problem = file_error("TF706", path, "is in the way: it differs from what would be written", hint)
            changes.diagnostics.append(problem)
    return changes


def _appended(found: bytes, text: bytes) -> bytes:
    """In git's attributes the last line that fits a file counts."""
    return found + (b"" if not found or found.endswith(b"\n") else b"\n") + text


def _present(root: str, path: str) -> bytes | Diagnostic | None:
    """The bytes at `path`, None if nothing is there, or why we cannot write there."""
    try:
        return read_file(root, path)
    except FileNotFoundError:
        return file_error("TF706", path, "is a link that leads nowhere", "remove it") if exists(root, path) else None
    except LinkError as error:
        return file_error("TF702", path, error.strerror or "", "remove the link")
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")
