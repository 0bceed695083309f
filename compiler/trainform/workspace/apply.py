"""Write the changes that a build planned, in an order that is safe to interrupt at any point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from trainform.io import writer
from trainform.io.paths import LOCKS, SNAPSHOTS, lockfile_path
from trainform.io.place import os_error
from trainform.io.staging import Staging
from trainform.io.writer import Staged
from trainform.output.layout import job_folder

if TYPE_CHECKING:
    from trainform.workspace.plan import ChangeSet

_Step = tuple[str, Callable[[str], None]]
"""A path, and the function that changes it."""


def apply(plan: ChangeSet, rendered: str, staging: Staging) -> None:
    """Write all changes. An error such as a full disk is added to the plan's conflicts."""
    path = ""
    try:
        for path, do in _steps(plan, rendered, staging):
            do(path)
    except OSError as error:
        plan.conflicts.append(os_error("TF707", path, error, "cannot be written"))
        plan.wrote.clear()  # unknown which were written; the next run continues from here
        plan.removed.clear()


def _steps(plan: ChangeSet, rendered: str, staging: Staging) -> Iterator[_Step]:
    """Ordered so that an interrupted run leaves no lock without its snapshots, no namespace without its folder, and a
    lock for each partly removed job."""
    snapshots = {path: data for path, data in plan.files.items() if path.startswith(SNAPSHOTS)}
    others = {path: data for path, data in plan.files.items() if path not in snapshots}
    yield from _files(staging, {path: data for path, data in snapshots.items() if data is not None})
    yield from _new_and_changed(plan, rendered, staging)
    yield from _files(staging, others)
    yield from _jobs(plan, rendered, staging, lambda job: plan.jobs[job] is Staged.GOES)
    yield from _files(staging, {path: data for path, data in snapshots.items() if data is None})


def _new_and_changed(plan: ChangeSet, rendered: str, staging: Staging) -> Iterator[_Step]:
    together = set(_new_namespaces(plan, rendered, staging))
    for environment, namespace in sorted(together):
        locks = f"{LOCKS}/{environment}/{namespace}"
        yield f"{rendered}/{environment}/{namespace}", partial(writer.apply_together, staging, locks=locks)
    yield from _jobs(plan, rendered, staging, lambda job: plan.jobs[job] is not Staged.GOES and job[:2] not in together)


def _jobs(
    plan: ChangeSet, rendered: str, staging: Staging, wanted: Callable[[tuple[str, str, str]], bool]
) -> Iterator[_Step]:
    for job, change in plan.jobs.items():
        if wanted(job):
            yield job_folder(rendered, *job), partial(writer.apply, staging, lockfile=lockfile_path(job), change=change)


def _new_namespaces(plan: ChangeSet, rendered: str, staging: Staging) -> Iterator[tuple[str, str]]:
    """Namespaces with no files yet, as (environment, namespace): all their jobs are moved in together."""
    namespaces: dict[tuple[str, str], list[str]] = {}
    for environment, namespace, name in plan.jobs:
        namespaces.setdefault((environment, namespace), []).append(name)
    for (environment, namespace), names in namespaces.items():
        folder, locks = f"{rendered}/{environment}/{namespace}", f"{LOCKS}/{environment}/{namespace}"
        is_new = all(plan.jobs[environment, namespace, name] is Staged.NEW for name in names)
        if is_new and writer.stand_alone(staging, folder, locks, names):
            yield environment, namespace


def _files(staging: Staging, files: Mapping[str, bytes | None]) -> Iterator[_Step]:
    for path, data in files.items():
        yield path, partial(writer.remove, staging.root) if data is None else partial(writer.write, staging, data=data)
