"""All jobs that have a lock, at a glance: what a difference needs of those that nothing concerns.

A glance is small, and what many jobs have in common stands in tables, so that a hundred thousand of them fit in memory,
travel between processes, and are soon read again (see `recalled`). All else that locks and folders hold is forgotten as
soon as it was looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import click

from trainform.io.paths import JobId, file_bytes
from trainform.io.workers import WorkerDied, answers, can_fork, processors
from trainform.output.layout import MANIFESTS, job_folder
from trainform.review.diff.totals import Ask, Asks
from trainform.workspace.state import State

if TYPE_CHECKING:
    from trainform.workspace.lockfile import Lock, Pins

LARGEST = 2_000
"""How many jobs a process looks at before it tells of them: fewer are not worth a process."""

Entry = TypeVar("Entry")


class Glance(NamedTuple):
    """The file that a job stands in, as its lock says; what it is pinned to and asks for, as places in tables."""

    source: str
    pins: int
    asks: int


@dataclass(slots=True)
class Table(Generic[Entry]):
    """Things that many jobs have in common, each once."""

    entries: list[Entry] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def place(self, entry: Entry, key: Hashable) -> int:
        """Where the entry with this key stands."""
        found = self._places.setdefault(key, len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found


@dataclass(slots=True)
class Seen:
    """Glances at some jobs, in their order: None for a job that a glance says too little of.

    Such a job's lock is broken, or of a run that was stopped, or something of it cannot be read.
    """

    glances: list[Glance | None] = field(default_factory=list)
    pins: Table[Pins] = field(default_factory=Table)
    asks: Table[tuple[Ask, ...]] = field(default_factory=Table)

    def glance(self, source: str, pins: Pins, asks: tuple[Ask, ...]) -> Glance:
        return Glance(source, self.pins.place(pins, _key_of_pins(pins)), self.asks.place(asks, _key_of_asks(asks)))


def _key_of_pins(pins: Pins) -> Hashable:
    return pins.compiler, pins.runtime, pins.environment, (*pins.plugins.items(),), (*pins.keys.items(),)


def _key_of_asks(asks: tuple[Ask, ...]) -> Hashable:
    return tuple((ask.queue, ask.pods, *ask.resources.items()) for ask in asks)


@dataclass(slots=True)
class Fleet:
    """All jobs that have a lock; those that there is no glance at are for the state to tell of."""

    state: State
    glances: dict[JobId, Glance] = field(default_factory=dict)
    pins: Table[Pins] = field(default_factory=Table)
    asks: Table[tuple[Ask, ...]] = field(default_factory=Table)

    def add(self, jobs: Sequence[JobId], seen: Seen) -> None:
        """Adds glances at some jobs, whose places are those of other tables."""
        pins = [self.pins.place(each, _key_of_pins(each)) for each in seen.pins.entries]
        asks = [self.asks.place(each, _key_of_asks(each)) for each in seen.asks.entries]
        for job, each in zip(jobs, seen.glances, strict=True):
            if each is not None:
                self.glances[job] = Glance(each.source, pins[each.pins], asks[each.asks])

    def jobs(self) -> Iterator[JobId]:
        """Those whose lock is sound, in order."""
        return (job for job in self.state.ids() if job in self.glances or self.state.lock_file(job) is not None)

    def others(self) -> list[JobId]:
        """Those that there is no glance at."""
        return [job for job in self.state.ids() if job not in self.glances]

    def sources(self) -> set[str]:
        """The files that jobs stand in, as sound locks say."""
        files = filter(None, map(self.state.lock_file, self.others()))
        return {*(glance.source for glance in self.glances.values()), *(file.lock.source for file in files)}

    def source(self, job: JobId) -> str | None:
        """The file that a job stands in, by the lock that holds for it."""
        if glance := self.glances.get(job):
            return glance.source
        lock = self.state.lock(job)
        return lock.source if lock else None

    def pins_of(self, job: JobId) -> Pins | None:
        """What a job is pinned to, by the lock that holds for it."""
        if glance := self.glances.get(job):
            return self.pins.entries[glance.pins]
        lock = self.state.lock(job)
        return lock.pins if lock else None

    def asked(self, jobs: Sequence[JobId]) -> Iterator[tuple[str, Ask, int]]:
        """What the JobSets ask for that some jobs were rendered to, by environment, and how many ask for it. Raises
        OSError for what cannot be read."""
        known = ((job[0], self.glances[job].asks) for job in jobs if job in self.glances)
        for (environment, place), count in Counter(known).items():
            yield from ((environment, ask, count) for ask in self.asks.entries[place])
        for job in jobs:
            if job not in self.glances and (lock := self.state.lock(job)):
                yield from ((job[0], ask, 1) for ask in _asks(self.state, job, lock, Asks()))


def look_at(fleet: Fleet, jobs: Sequence[JobId]) -> None:
    """Adds glances at some jobs, by several processes where there are many of them."""
    asks, state = Asks(), fleet.state

    def look(part: Sequence[JobId]) -> Seen:
        return glances(state.fresh(), part, asks)

    parts = [jobs[start : start + LARGEST] for start in range(0, len(jobs), LARGEST)]
    if len(parts) < 2 or not can_fork():
        for part in parts:
            fleet.add(part, look(part))
        return
    try:
        with answers(parts, look, processors()) as found:
            for part, seen in zip(parts, found, strict=True):
                fleet.add(part, seen)
    except WorkerDied as error:
        raise click.ClickException(str(error)) from error


def glances(state: State, jobs: Sequence[JobId], asks: Asks) -> Seen:
    """Glances at some jobs; `asks` remembers what it learns of their manifests."""
    seen = Seen()
    for job in jobs:
        file = state.lock_file(job)
        seen.glances.append(_glance(seen, state, job, file.lock, asks) if file and not file.underway else None)
    return seen


def _glance(seen: Seen, state: State, job: JobId, lock: Lock, asks: Asks) -> Glance | None:
    try:
        return seen.glance(lock.source, lock.pins, _asks(state, job, lock, asks))
    except OSError:
        return None


def _asks(state: State, job: JobId, lock: Lock, asks: Asks) -> tuple[Ask, ...]:
    folder = job_folder(state.repository.settings.rendered, *job)
    names = [name for name in lock.files if name == MANIFESTS or name.startswith("jobset")]
    files = (file_bytes(state.repository.root, f"{folder}/{name}") for name in names)
    return tuple(ask for data in files if data and (ask := asks.of(data)))
