"""A copy of a repository, to find out what an edit would do before it is made."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from trainform.io.files import write_bytes
from trainform.io.links import DEEPEST


@contextmanager
def edited_copy(root: str, paths: Iterable[str], edits: Mapping[str, bytes | None]) -> Iterator[str]:
    """A temporary folder with the files and folders `paths` of a repository, in which `edits` are made: new contents of
    files by path, None for one that is removed. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="trainform-") as folder:
        copy = os.path.realpath(folder)
        for path in paths:
            _copy(os.path.join(root, path), os.path.join(copy, path))
        for file, data in edits.items():
            os.remove(os.path.join(copy, file))
            if data is not None:
                write_bytes(os.path.join(copy, file), data)
        yield copy


def _copy(source: str, target: str) -> None:
    """Copy a file or folder, if it exists, without what is too deep to be read; links stay links. Several of the paths
    may be inside each other."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source) and not os.path.islink(source):
        deepest = source.count(os.sep) + DEEPEST

        def too_deep(folder: str, names: list[str]) -> list[str]:
            return names if folder.count(os.sep) > deepest else []

        shutil.copytree(source, target, symlinks=True, ignore=too_deep, dirs_exist_ok=True, copy_function=_link)
    else:
        with suppress(FileNotFoundError):
            _link(source, target)


def _link(source: str, target: str) -> None:
    """A second name for the same file costs no time: what is edited gets a file of its own."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        return
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target, follow_symlinks=False)
