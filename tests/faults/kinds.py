"""The kinds of faults, and all the ways in which each can strike a run."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from faults.scenes import Scene, played
from support.inject import Calls, Fault
from support.nursery import Ended, Nursery
from support.repositories import Repository

MOMENTS = 200
"""Moments per scene at which a run is killed, and at which runs start beside others."""
CROWD = 4
"""Runs at once, at most."""
NEVER = 1 << 40
"""A call that no run comes to: its fault only counts."""


class Stage(NamedTuple):
    """Where scenes are played: `folder` for all files, and processes to run in, one for each run at once."""

    folder: Path
    nurseries: Sequence[Nursery]

    @property
    def nursery(self) -> Nursery:
        return self.nurseries[0]

    def play(self, scene: Scene) -> AbstractContextManager[Repository]:
        """A repository for one run. One scene is played at a time."""
        return played(scene.script, self.folder, self.nursery)


class Blow(Protocol):
    """One fault."""

    def strike(self, stage: Stage, scene: Scene, repository: Repository) -> list[Ended]:
        """Run the command of the scene, and break it."""


class AtCall(NamedTuple):
    """A system call fails, or is not survived."""

    calls: Calls
    at: int
    error: int
    stays: bool = False

    def strike(self, stage: Stage, scene: Scene, repository: Repository) -> list[Ended]:
        fault = Fault(str(stage.folder), self.calls, self.at, self.error, self.stays)
        return [stage.nursery.run(repository.root, *scene.arguments, fault=fault)]


class AtMoment(NamedTuple):
    """Killed after some seconds."""

    seconds: float

    def strike(self, stage: Stage, scene: Scene, repository: Repository) -> list[Ended]:
        return [stage.nursery.run(repository.root, *scene.arguments, kill_after=self.seconds)]


class WithMode(NamedTuple):
    """A file or folder has a mode that forbids something."""

    path: str
    mode: int

    def strike(self, stage: Stage, scene: Scene, repository: Repository) -> list[Ended]:
        path = repository.root / self.path
        was = path.stat().st_mode
        path.chmod(self.mode)
        try:
            return [stage.nursery.run(repository.root, *scene.arguments, modes=True)]
        finally:
            if path.exists():
                path.chmod(was)


class AtOnce(NamedTuple):
    """Other commands run beside that of the scene. One of all may be killed after some seconds."""

    others: tuple[tuple[str, ...], ...]
    killed: int = -1
    seconds: float = 0

    def strike(self, stage: Stage, scene: Scene, repository: Repository) -> list[Ended]:
        commands = [scene.arguments, *self.others]

        def run(number: int) -> Ended:
            seconds = self.seconds if number == self.killed else 0
            return stage.nurseries[number].run(repository.root, *commands[number], kill_after=seconds)

        with ThreadPoolExecutor(len(commands)) as pool:
            return list(pool.map(run, range(len(commands))))


Blows = Callable[[Stage, Scene, Random], Iterator[Blow]]


def _at_calls(calls: Calls, error: int, *, once: bool = True, stays: bool = False) -> Blows:
    """Each call of some kinds that the run of a scene makes."""

    def blows(stage: Stage, scene: Scene, _: Random) -> Iterator[Blow]:
        with stage.play(scene) as repository:
            [ended] = AtCall(calls, NEVER, error).strike(stage, scene, repository)
        for number in range(1, ended.calls + 1):
            if once:
                yield AtCall(calls, number, error)
            if stays:
                yield AtCall(calls, number, error, stays=True)

    return blows


def _moments(stage: Stage, scene: Scene, chance: Random) -> Iterator[Blow]:
    for _ in range(MOMENTS):
        yield AtMoment(chance.uniform(0.001, 0.06))


FOLDER_MODES, FILE_MODES = (0o000, 0o500, 0o300), (0o000, 0o400, 0o200)
"""Nothing; no writing; no reading."""


def _modes(stage: Stage, scene: Scene, _: Random) -> Iterator[Blow]:
    """Each path of a repository with each mode; in git's own folder, only what is trainform's."""
    with stage.play(scene) as repository:
        names = {path.relative_to(repository.root).as_posix(): path.is_dir() for path in repository.root.rglob("*")}
    for name, is_folder in sorted(names.items()):
        if not name.startswith(".git/") or name.startswith(".git/trainform"):
            yield from (WithMode(name, mode) for mode in (FOLDER_MODES if is_folder else FILE_MODES))


def _crowds(stage: Stage, scene: Scene, chance: Random) -> Iterator[Blow]:
    """The same command two and four times; others beside it; one of them killed."""
    same = scene.arguments
    beside = [(same,), (same,) * (CROWD - 1), (("check",),), (("diff",), ("validate",))]
    if scene.writes:
        beside.append((("render",),))
    for _ in range(MOMENTS):
        others = chance.choice(beside)
        killed = chance.choice([-1, chance.randrange(len(others) + 1)])
        yield AtOnce(others, killed, chance.uniform(0.001, 0.06))


class Kind(NamedTuple):
    """What happens, in the words of the documentation, and how."""

    what: str
    blows: Blows


KINDS: Mapping[str, Kind] = {
    "kill": Kind(
        "SIGKILL at a system call that changes the disk, a write half done included", _at_calls(Calls.CHANGES, 0)
    ),
    "moment": Kind("SIGKILL at a random moment", _moments),
    "disk-full": Kind(
        "ENOSPC from a call that needs space, half of a write done; from this call, or from all that follow",
        _at_calls(Calls.CREATES | Calls.WRITES, errno.ENOSPC, stays=True),
    ),
    "io-error": Kind("EIO from any call", _at_calls(Calls.ANY, errno.EIO)),
    "descriptors": Kind(
        "EMFILE from a call that opens, or from all that follow", _at_calls(Calls.OPENS, errno.EMFILE, stays=True)
    ),
    "denied": Kind("EACCES from a call that names a file", _at_calls(Calls.NAMES, errno.EACCES)),
    "read-only": Kind(
        "EROFS from a call that changes the disk, and from all that follow",
        _at_calls(Calls.CHANGES, errno.EROFS, once=False, stays=True),
    ),
    "modes": Kind("a file or folder that may not be read, written or entered", _modes),
    "at-once": Kind("two to four runs at once, one of them killed or none", _crowds),
}
