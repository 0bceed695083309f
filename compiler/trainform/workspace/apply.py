"""Carries out what a run worked out, and says a word about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from trainform.diagnostics.order import counted, has_errors
from trainform.io import writer
from trainform.io.paths import LOCKS, SNAPSHOTS, lock_file
from trainform.io.place import os_error
from trainform.io.writer import Staged
from trainform.output.layout import job_folder
from trainform.workspace.staleness import message

if TYPE_CHECKING:
    from trainform.workspace.assembling import Run


def carry_out(run: Run, *, keep_going: bool) -> bool:
    """Puts everything in place; with an error anywhere nothing (False), or only what is good to `keep_going`.

    What hinders the writing, a full disk for example, is added to the diagnostics, and stops it.
    """
    path = ""
    may_write = not run.unwritable and (keep_going or not has_errors(run.everything_told()))
    try:
        for path, do in _in_order(run) if may_write else ():
            do(path)
    except OSError as error:
        run.diagnostics.append(os_error("TF707", path, error, "cannot be written"))
        run.wrote.clear()  # which of them were is not known; the next run goes on from there
        run.removed.clear()
    return may_write


def _in_order(run: Run) -> Iterator[tuple[str, Callable[[str], None]]]:
    """What to do with which path. Stopped anywhere, no lock names a snapshot that is not there, no list names a
    folder that is not there, and what is left of a job that goes has its lock."""
    snapshots = {path: data for path, data in run.files.items() if path.startswith(SNAPSHOTS)}
    lists = {path: data for path, data in run.files.items() if path not in snapshots}
    yield from _files(run, {path: data for path, data in snapshots.items() if data is not None})
    yield from _jobs(run, going=False)
    yield from _files(run, lists)
    yield from _jobs(run, going=True)
    yield from _files(run, {path: data for path, data in snapshots.items() if data is None})


def _jobs(run: Run, *, going: bool) -> Iterator[tuple[str, Callable[[str], None]]]:
    root, rendered = run.repository.root, run.repository.settings.rendered
    together = set() if going else set(_new_namespaces(run))
    for environment, namespace in sorted(together):
        yield (
            f"{rendered}/{environment}/{namespace}",
            partial(writer.apply_together, root, locks=f"{LOCKS}/{environment}/{namespace}"),
        )
    for job, change in run.jobs.items():
        if (change is Staged.GOES) == going and job[:2] not in together:
            yield job_folder(rendered, *job), partial(writer.apply, root, lock_file=lock_file(job), change=change)


def _new_namespaces(run: Run) -> Iterator[tuple[str, str]]:
    """The namespaces, each in its environment, that there is nothing of as yet: their jobs come in one step."""
    root, rendered = run.repository.root, run.repository.settings.rendered
    namespaces: dict[tuple[str, str], list[str]] = {}
    for environment, namespace, name in run.jobs:
        namespaces.setdefault((environment, namespace), []).append(name)
    for (environment, namespace), names in namespaces.items():
        folder, locks = f"{rendered}/{environment}/{namespace}", f"{LOCKS}/{environment}/{namespace}"
        if all(run.jobs[environment, namespace, name] is Staged.NEW for name in names) and writer.stand_alone(
            root, folder, locks, names
        ):
            yield environment, namespace


def _files(run: Run, files: Mapping[str, bytes | None]) -> Iterator[tuple[str, Callable[[str], None]]]:
    root = run.repository.root
    for path, data in files.items():
        yield path, partial(writer.remove, root) if data is None else partial(writer.write, root, data=data)


def tell(run: Run, *, wrote: bool) -> None:
    """A line on stdout for each manifest that changed, a count of the jobs that did not, and who is behind."""
    if not wrote:
        print("nothing was written because of the errors above", file=sys.stderr)
        return
    run.wrote.sort()
    run.removed.sort()
    sys.stdout.writelines(f"wrote {path}\n" for path in run.wrote)
    sys.stdout.writelines(f"removed {path}\n" for path in run.removed)
    lines = []
    if repinned := sum(change is Staged.LOCK for change in run.jobs.values()):
        lines.append(f"{counted(repinned, 'lockfile')} updated, manifests unchanged")
    if run.unchanged or not run.jobs:
        lines.append(f"{counted(run.unchanged, 'job')} unchanged")
    lines += [message(cause, jobs) for cause, jobs in run.behind.items()]
    if lines:
        print("\n".join(lines))
