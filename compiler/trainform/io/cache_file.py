"""A file in git's own folder: local to this clone, never committed, and safe to delete."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from errno import ENOENT
from stat import S_IFDIR, S_IFMT, S_IFREG
from typing import Any, NamedTuple

from trainform.io.files import read_plain, write_bytes
from trainform.io.own_state import state_file, state_in_git


def read(root: str, purpose: str) -> dict[str, Any] | None:
    """The document for a purpose; None if it is missing or was not written by `write`."""
    try:
        digest, _, text = read_plain(_path(root, purpose), limit=None).partition(b"\n")
    except OSError:
        return None
    is_ours = digest.decode(errors="replace") == hashlib.sha256(text).hexdigest()
    tree = json.loads(text) if is_ours else None
    return tree if isinstance(tree, dict) else None


def write(root: str, purpose: str, tree: dict[str, Any]) -> None:
    """Write a document, completely or not at all. Raises OSError."""
    path = _path(root, purpose)
    draft = f"{path}.new"  # one name for all processes: a killed one leaves no more than this; `read` rejects a mixture
    text = json.dumps(tree, separators=(",", ":")).encode()
    try:
        write_bytes(draft, f"{hashlib.sha256(text).hexdigest()}\n".encode() + text)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.remove(draft)
        raise


def clock(root: str) -> int | None:
    """The file system's time in nanoseconds, as its clock may be another machine's; None if nothing can be written."""
    try:
        path = _path(root, "clock")
        write_bytes(path, b"")
        os.utime(path)
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


_KINDS = frozenset([S_IFREG, S_IFDIR])


class Identity(NamedTuple):
    """Identifies the state of some files; `newest` is the time of the last change (nanoseconds)."""

    number: int
    newest: int


def identity(paths: Iterable[str]) -> Identity | None:
    """The identity of files and folders, as in git's index: type, size, change times and inode; None if one is missing
    or a link. A folder changes with the names in it."""
    told: list[int] = []
    newest = 0
    for path in paths:
        try:
            found = os.lstat(path)
        except OSError:
            return None
        mode, modified, changed = found.st_mode, found.st_mtime_ns, found.st_ctime_ns
        if S_IFMT(mode) not in _KINDS:
            return None
        told += (mode, found.st_size, modified, changed, found.st_ino)
        newest = max(newest, modified, changed)
    return Identity(hash(tuple(told)), newest)  # of integers, a hash is the same in every process


def _path(root: str, purpose: str) -> str:
    folder = state_in_git(root)
    if folder is None:
        raise FileNotFoundError(ENOENT, "there is no git repository to keep it in", root)
    return state_file(folder, root, f"-{purpose}.json")
