"""The staging folder of a run: a run may be killed at any point, and the next one clears up after it.

It lies in the work tree, since files can be moved into place in one step only within one file system, and git's own
folder may be on another one. Its name is random, so no commit can bring it along. An empty file in the folder of our
own state, made before it and removed after it, records that it is ours: only folders with a record are recovered.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from trainform.io.exchange import ASIDE
from trainform.io.files import write_bytes
from trainform.io.links import beneath, located
from trainform.io.lock import exclusive
from trainform.io.own_state import state_file, state_folder

_PARENT = ".trainform"
_PREFIX = "staging-"
_IGNORE = b"*\n"
"""A `.gitignore` in the folder: `git add` in between does not take it."""


class Staging(NamedTuple):
    """The staging folder of a run in the repository at `root`; it exists once something was staged. `record` says that
    it is ours; empty where nothing can be recorded."""

    root: str
    name: str
    record: str

    @property
    def folder(self) -> str:
        return f"{self.root}/{_PARENT}/{self.name}"

    def path(self, path: str) -> str:
        """Where to stage what will be at `path`, relative to the root."""
        return f"{self.folder}/{path}"

    def create(self) -> None:
        """Create the folder, unless it exists. Raises OSError."""
        if os.path.isdir(self.folder):
            return
        located(self.root, _PARENT)  # raises for a link that leads out
        if self.record:
            write_bytes(self.record, b"")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        write_bytes(self.path(".gitignore"), _IGNORE)

    def clear(self) -> None:
        """Remove the folder, after moving back jobs that had been moved aside. Raises OSError."""
        if os.path.isdir(self.folder) and not os.path.islink(self.folder):
            for job in self._moved_aside():
                _move_back(self.path(job) + ASIDE, beneath(self.root, job))
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):
                os.rmdir(os.path.dirname(self.folder))
        if self.record and not os.path.lexists(self.folder):
            with suppress(FileNotFoundError):
                os.remove(self.record)

    def _moved_aside(self) -> list[str]:
        """The folders of jobs that a killed run had moved aside to replace them."""
        found = [os.path.join(above, name) for above, names, _ in os.walk(self.folder) for name in names]
        paths = [os.path.relpath(path, self.folder).replace(os.sep, "/") for path in found if path.endswith(ASIDE)]
        rendered = _rendered(self.root) if paths else ""
        return [job for path in paths if _is_job_folder(job := path.removesuffix(ASIDE), rendered)]


@contextmanager
def writing(root: str) -> Iterator[Staging]:
    """Alone in the repository at `root`, clear up what killed runs left, and use a staging folder, which is removed at
    the end. Raises OSError."""
    with exclusive(root) as is_alone:
        root, state = os.path.realpath(root), state_folder(root)
        if state and is_alone:
            _recover(root, state)
        name = f"{_PREFIX}{os.urandom(16).hex()}"
        staging = Staging(root, name, state_file(state, root, f"-{name}") if state else "")
        try:
            yield staging
        finally:
            _clear(staging)


def _recover(root: str, state: str) -> None:
    start = os.path.basename(state_file(state, root, f"-{_PREFIX}"))
    for record in sorted(name for name in os.listdir(state) if name.startswith(start)):
        _clear(Staging(root, _PREFIX + record.removeprefix(start), os.path.join(state, record)))


def _clear(staging: Staging) -> None:
    with suppress(OSError):  # the next run tries again
        staging.clear()


def _rendered(root: str) -> str:
    from trainform.io.repository import open_repository

    return open_repository(root)[0].settings.rendered


def _is_job_folder(path: str, rendered: str) -> bool:
    parts = path.removeprefix(f"{rendered}/").split("/")
    return path.startswith(f"{rendered}/") and len(parts) == 3 and not any(part.startswith(".") for part in parts)


def _move_back(aside: str, target: str) -> None:
    if not os.path.lexists(target):
        os.rename(aside, target)
