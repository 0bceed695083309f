"""Glances at all jobs as an earlier `diff` or `check` had them, so that the next `diff` reads only what changed since.

The record stands in git's own folder, like those of `proven`, and says of a commit what a glance at each of its jobs
finds. A lock and a folder that git knows, and that have the same object ids now, give the same glance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trainform.io.baseline import Commit
from trainform.io.git import GitError
from trainform.io.paths import LOCKS
from trainform.review.diff.totals import Ask
from trainform.workspace import proven
from trainform.workspace.fleet import Fleet, Glance, Seen, Table, look_at
from trainform.workspace.lockfile import Pins, RuntimePin
from trainform.workspace.reach import jobs_of, looked_at
from trainform.workspace.state import read_state

if TYPE_CHECKING:
    from trainform.io.baseline import Baseline
    from trainform.io.repository import Repository

SEEN = "seen"
"""The purpose of a record: what a glance at each job finds."""


def overview(repository: Repository, start: Baseline) -> tuple[Fleet, set[str]]:
    """Glances at all jobs as they are now, and the files that changed since the start. Raises GitError."""
    if isinstance(start, Commit) and (recalled := _recalled(repository, start)):
        return recalled
    fleet = Fleet(read_state(repository))
    look_at(fleet, fleet.state.ids())
    changed = start.changed(looked_at(repository.settings))  # only now: what it does not name is what was looked at
    if isinstance(start, Commit):
        remember(fleet, start, changed)
    return fleet, changed


def _recalled(repository: Repository, start: Commit) -> tuple[Fleet, set[str]] | None:
    """The same by a record; None where there is none that spares much."""
    settings, known = repository.settings, proven.recorded(SEEN, repository.root)
    if known is None or known.get("rendered") != settings.rendered:
        return None
    changes = start.looking(looked_at(settings))
    fleet = Fleet(read_state(repository))
    _add_recorded(fleet, known)
    changed = changes()
    try:
        since = start.differing(str(known["commit"]), [settings.rendered, LOCKS])
    except GitError:
        return None  # git forgot the commit
    for job in jobs_of(since | changed, settings):
        fleet.glances.pop(job, None)
    fresh = fleet.others()
    if len(fresh) > len(fleet.state.ids()) // 4:
        return None
    look_at(fleet, fresh)
    return fleet, changed


def remember(fleet: Fleet, start: Commit, changed: Collection[str]) -> None:
    """Keeps the glances at jobs that are as the commit has them, of which git knows every file."""
    settings = fleet.state.repository.settings
    if len(fleet.glances) < proven.LEAST:
        return
    try:
        touched, jobs = jobs_of(changed, settings), dict[str, dict[str, dict[str, Glance]]]()
        for job in proven.known_jobs(start, fleet.state):
            if job not in touched and (glance := fleet.glances.get(job)):
                jobs.setdefault(job[0], {}).setdefault(job[1], {})[job[2]] = glance
        pins = [{**each._asdict(), "runtime": each.runtime._asdict()} for each in fleet.pins.entries]
        asks = [[asdict(ask) for ask in each] for each in fleet.asks.entries]
        proven.keep(SEEN, start, {"rendered": settings.rendered, "pins": pins, "asks": asks, "jobs": jobs})
    except (GitError, OSError):
        return  # a help for the next run, and no more


def _add_recorded(fleet: Fleet, known: Mapping[str, Any]) -> None:
    """Adds what a record says of the jobs that there are still."""
    jobs, recorded = fleet.state.ids(), known["jobs"]
    glances = (recorded.get(job[0], {}).get(job[1], {}).get(job[2]) for job in jobs)
    pins = [Pins(**{**tree, "runtime": RuntimePin(**tree["runtime"])}) for tree in known["pins"]]
    asks = [tuple(Ask(**tree) for tree in each) for each in known["asks"]]
    fleet.add(jobs, Seen([Glance(*each) if each else None for each in glances], Table(pins), Table(asks)))
