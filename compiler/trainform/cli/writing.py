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
from trainform.io.writer import JobChange

if TYPE_CHECKING:
    from trainform.cli.planning import Plan
    from trainform.cli.rendering import Rendering


def carry_out(rendering: Rendering, *, keep_going: bool) -> bool:
    """Writes everything; with an error anywhere nothing (False), or only what is good to `keep_going`.

    What hinders the writing, a full disk for example, is added to the diagnostics, and stops it.
    """
    if has_errors(rendering.diagnostics()) and not keep_going:
        return False
    plan = rendering.plan
    root, path = plan.repository.root, ""
    try:
        for path, what in _in_order(plan):
            _do(root, path, what)
        writer.recover(root)
    except OSError as error:
        plan.diagnostics.append(os_error("TF707", path, error, "cannot be written"))
        plan.wrote.clear()  # which of them were is not known; the next run goes on from there
        plan.removed.clear()
    return True


def _in_order(plan: Plan) -> Iterator[tuple[str, JobChange | bytes | None]]:
    """What to do, by path. Stopped anywhere, no lock names a snapshot that is not there, no list names a
    folder that is not there, and what is left of a job that goes has its lock."""
    snapshots = {path: data for path, data in plan.files.items() if path.startswith(SNAPSHOTS)}
    changes = [(change.folder, change) for change in plan.jobs.values()]
    yield from ((path, data) for path, data in snapshots.items() if data is not None)
    yield from (each for each in changes if each[1].lock)
    yield from ((path, data) for path, data in plan.files.items() if path not in snapshots)
    yield from (each for each in changes if not each[1].lock)
    yield from ((path, data) for path, data in snapshots.items() if data is None)


def _do(root: str, path: str, what: JobChange | bytes | None) -> None:
    if isinstance(what, JobChange):
        writer.apply(root, what)
    elif what is None:
        writer.remove(root, path)
    else:
        writer.write(root, path, what)


def tell(rendering: Rendering, *, wrote: bool) -> None:
    """A line on stdout for each manifest that changed, a count of the jobs that did not, and who is behind."""
    if not wrote:
        print("nothing was written, because of the errors above", file=sys.stderr)
        return
    plan = rendering.plan
    for path in plan.wrote:
        print(f"wrote {path}")
    for path in plan.removed:
        print(f"removed {path}")
    if repinned := sum(change.files is None for change in plan.jobs.values()):
        print(f"{counted(repinned, 'job')} pinned anew, files unchanged")
    if plan.unchanged or not plan.jobs:
        print(f"{counted(len(plan.unchanged), 'job')} unchanged")
    for cause, jobs in rendering.behind().items():
        print(message(cause, jobs))
