"""Facts of each job with a lock, compact enough for a hundred thousand jobs: values that jobs share are stored once,
and the other contents of lockfiles and manifests are dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.workspace.fingerprint import Cause
from trainform.workspace.lockfile import Lock, Pins, RuntimePin

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.review.diff.totals import Ask
    from trainform.workspace.behind import Behind


class Proof(IntEnum):
    """How thoroughly a job was checked."""

    READ = 0
    """Its lockfile and manifests were read."""
    UNCHANGED = 1
    """Also, its manifests match its lock, and its TrainJob has not changed."""
    UNPROVEN = 2
    """Also, `check` cannot prove it: another version of trainform or of a plugin rendered it."""
    CURRENT = 3
    """Also, `check` compiled it again to the same bytes."""


class JobFacts(NamedTuple):
    """`source` is the file of its TrainJob, `files` are the names of its manifests. `causes` say why it is behind,
    `asks` what its JobSets request; None if not determined."""

    source: str
    files: tuple[str, ...]
    pins: Pins
    proof: Proof = Proof.READ
    causes: tuple[Cause, ...] | None = None
    asks: tuple[Ask, ...] | None = None

    @classmethod
    def of(cls, lock: Lock, proof: Proof, **found: Any) -> JobFacts:
        return cls(lock.source, tuple(lock.files), lock.pins, proof, **found)

    def joined(self, earlier: JobFacts) -> JobFacts:
        """Combined with earlier facts about the same state of the job."""
        return self._replace(
            proof=max(self.proof, earlier.proof),
            causes=earlier.causes if self.causes is None else self.causes,
            asks=earlier.asks if self.asks is None else self.asks,
        )


Key = Callable[[Any], Hashable]


@dataclass(slots=True)
class Table:
    """Values that jobs share, each stored once. `key` tells them apart; None is at place -1."""

    key: Key
    entries: list[Any] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def place(self, entry: Any) -> int:
        if entry is None:
            return -1
        found = self._places.setdefault(self.key(entry), len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found

    def at(self, place: int) -> Any:
        return None if place < 0 else self.entries[place]


def _itself(entry: Hashable) -> Hashable:
    return entry


def _key_of_pins(pins: Pins) -> Hashable:
    return (*pins[:3], *(tuple(each.items()) for each in pins[3:]))


def _key_of_asks(asks: tuple[Ask, ...]) -> Hashable:
    return tuple((ask.queue, ask.pods, *ask.resources.items()) for ask in asks)


_ANY_JOB = "*"
"""Stands for the job's name in file names; no object can have this name."""

Row = tuple[str, int, int, int, int, int]
"""A job's source, its proof, and the places of its files, pins, causes and asks."""


class JobTable:
    """Facts of jobs. Jobs with equal pins share one Pins object."""

    def __init__(self) -> None:
        self._rows: dict[JobId, Row] = {}
        self._tables = (Table(_itself), Table(_key_of_pins), Table(_itself), Table(_key_of_asks))

    def __contains__(self, job: JobId) -> bool:
        return job in self._rows

    def __iter__(self) -> Iterator[JobId]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, job: JobId) -> JobFacts:
        source, proof, *places = self._rows[job]
        _, pins, causes, asks = (table.at(place) for table, place in zip(self._tables, places, strict=True))
        return JobFacts(source, tuple(self.files(job)), pins, Proof(proof), causes, asks)

    def add(self, job: JobId, facts: JobFacts) -> None:
        names = tuple(name.replace(job[2], _ANY_JOB) for name in facts.files)
        values = (names, facts.pins, facts.causes, facts.asks)
        a, b, c, d = (table.place(value) for table, value in zip(self._tables, values, strict=True))
        self._rows[job] = (facts.source, facts.proof, a, b, c, d)

    def drop(self, job: JobId) -> None:
        self._rows.pop(job, None)

    def only(self, jobs: Iterable[JobId]) -> JobTable:
        """Some of the jobs, with the same tables."""
        found = JobTable()
        found._tables = self._tables
        found._rows = {job: self._rows[job] for job in jobs}
        return found

    def forget_proofs(self) -> None:
        """Keep only what was read from the jobs' own files."""
        self._rows = {job: (row[0], Proof.READ, row[2], row[3], -1, row[5]) for job, row in self._rows.items()}

    def update(self, other: JobTable) -> None:
        """Add the facts of another table, which has its own places."""
        if not other._rows:
            return
        used = map(set, zip(*(row[2:] for row in other._rows.values()), strict=True))
        tables = zip(used, self._tables, other._tables, strict=True)
        a, b, c, d = ({place: mine.place(others.at(place)) for place in places} for places, mine, others in tables)
        for job, (source, proof, *places) in other._rows.items():
            self._rows[job] = (source, proof, a[places[0]], b[places[1]], c[places[2]], d[places[3]])

    def source(self, job: JobId) -> str:
        return self._rows[job][0]

    def files(self, job: JobId) -> list[str]:
        """The names of its manifests."""
        return [name.replace(_ANY_JOB, job[2]) for name in self._tables[0].entries[self._rows[job][2]]]

    def proof(self, job: JobId) -> Proof:
        return Proof(self._rows[job][1])

    def pins(self, job: JobId) -> Pins:
        pins: Pins = self._tables[1].entries[self._rows[job][3]]
        return pins

    def has_causes(self, job: JobId) -> bool:
        return self._rows[job][4] >= 0

    def has_asks(self, job: JobId) -> bool:
        return self._rows[job][5] >= 0

    def pinned(self) -> Counter[str]:
        """How many jobs are pinned to each snapshot digest."""
        counted = Counter(row[3] for row in self._rows.values())
        pinned: Counter[str] = Counter()
        for place, count in counted.items():
            for digest in self._tables[1].entries[place].snapshots:
                pinned[digest] += count
        return pinned

    def behind(self) -> Behind:
        """The jobs that are behind, by cause."""
        found: Behind = {}
        for job, row in self._rows.items():
            for cause in self._tables[2].at(row[4]) or ():
                found.setdefault(cause, []).append(job)
        return {cause: found[cause] for cause in sorted(found)}

    def asked(self, jobs: Iterable[JobId]) -> Iterator[tuple[str, str, Ask, int]]:
        """What the JobSets of `jobs` request: environment, namespace, request, number of jobs."""
        places = Counter((*job[:2], self._rows[job][5]) for job in jobs)
        for (environment, namespace, place), count in places.items():
            yield from ((environment, namespace, ask, count) for ask in self._tables[3].at(place) or ())

    def to_json(self) -> dict[str, Any]:
        """A document that `of_json` reads."""
        rows: dict[str, dict[str, dict[str, Row]]] = {}
        for (environment, namespace, name), row in self._rows.items():
            rows.setdefault(environment, {}).setdefault(namespace, {})[name] = row
        files, pins, causes, asks = (table.entries for table in self._tables)
        return {
            "rows": rows,
            "files": files,
            "pins": [{**each._asdict(), "runtime": each.runtime._asdict()} for each in pins],
            "causes": causes,
            "asks": [[asdict(ask) for ask in each] for each in asks],
        }

    @classmethod
    def of_json(cls, tree: Mapping[str, Any]) -> JobTable:
        from trainform.review.diff.totals import Ask

        table = cls()
        table._rows = {
            (environment, namespace, name): row
            for environment, namespaces in tree["rows"].items()
            for namespace, jobs in namespaces.items()
            for name, row in jobs.items()
        }
        entries: tuple[list[Any], ...] = (
            [tuple(each) for each in tree["files"]],
            [Pins(**{**each, "runtime": RuntimePin(**each["runtime"])}) for each in tree["pins"]],
            [tuple(Cause(*cause) for cause in each) for each in tree["causes"]],
            [tuple(Ask(**ask) for ask in each) for each in tree["asks"]],
        )
        for each, found in zip(table._tables, entries, strict=True):
            for entry in found:
                each.place(entry)
        return table
