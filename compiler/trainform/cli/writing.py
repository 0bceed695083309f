"""Carries out what a run worked out, and says a word about it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainform.cli.behind import message
from trainform.diagnostics.order import counted, has_errors
from trainform.io import writer
from trainform.io.place import os_error
from trainform.io.state import SNAPSHOTS
from trainform.io.writer import Staged

if TYPE_CHECKING:
    from trainform.cli.assembling import Run


def carry_out(run: Run, *, keep_going: bool) -> bool:
    """Puts everything in place; with an error anywhere nothing (False), or only what is good to `keep_going`.

    What hinders the writing, a full disk for example, is added to the diagnostics, and stops it.
    """
    root, path = run.repository.root, ""
    may_write = not run.unwritable and (keep_going or not has_errors(run.everything_told()))
    try:
        for path, what in _in_order(run) if may_write else ():
            _do(root, path, what)
    except OSError as error:
        run.diagnostics.append(os_error("TF707", path, error, "cannot be written"))
        run.wrote.clear()  # which of them were is not known; the next run goes on from there
        run.removed.clear()
    return may_write


def _in_order(run: Run) -> Iterator[tuple[str, Staged | bytes | None]]:
    """What to do, by path. Stopped anywhere, no lock names a snapshot that is not there, no list names a
    folder that is not there, and what is left of a job that goes has its lock."""
    snapshots = {path: data for path, data in run.files.items() if path.startswith(SNAPSHOTS)}
    changes = [(change.folder, change) for change in run.jobs.values()]
    yield from ((path, data) for path, data in snapshots.items() if data is not None)
    yield from (each for each in changes if not each[1].goes)
    yield from ((path, data) for path, data in run.files.items() if path not in snapshots)
    yield from (each for each in changes if each[1].goes)
    yield from ((path, data) for path, data in snapshots.items() if data is None)


def _do(root: str, path: str, what: Staged | bytes | None) -> None:
    if isinstance(what, Staged):
        writer.apply(root, what)
    elif what is None:
        writer.remove(root, path)
    else:
        writer.write(root, path, what)


def tell(run: Run, *, wrote: bool) -> None:
    """A line on stdout for each manifest that changed, a count of the jobs that did not, and who is behind."""
    if not wrote:
        print("nothing was written, because of the errors above", file=sys.stderr)
        return
    lines = [f"wrote {path}" for path in sorted(run.wrote)]
    lines += [f"removed {path}" for path in sorted(run.removed)]
    if repinned := sum(not change.has_files and not change.goes for change in run.jobs.values()):
        lines.append(f"{counted(repinned, 'job')} pinned anew, files unchanged")
    if run.unchanged or not run.jobs:
        lines.append(f"{counted(run.unchanged, 'job')} unchanged")
    lines += [message(cause, jobs) for cause, jobs in run.behind.items()]
    if lines:
        print("\n".join(lines))
