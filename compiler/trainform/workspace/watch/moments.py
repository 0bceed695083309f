"""The moments when a repository is to be rendered again."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from typing import NamedTuple

from trainform.diagnostics.order import counted
from trainform.workspace import InvocationError
from trainform.workspace.watch.places import Places, is_input, is_missing, places_of

INSTALL = 'pip install "trainform[editor]"'

TICK = 0.2
"""Seconds between looks at what no event tells: the settings, and what git is doing."""

SETTLE = 1.0
"""Seconds for which a file must stay away before its jobs count as deleted: their lockfiles, and so what they are
frozen to, would be lost."""

PATIENCE = 1.0
"""Seconds until it is told that git is waited for."""

ATTEMPTS = 3
"""How often in a row a watch may fail before it has told anything."""

Changes = Callable[[Collection[str]], Generator[Collection[str]]]
"""The paths that change in these folders, bundled; nothing at least every tick. Raises FileNotFoundError if a folder is
gone, and WatchFailed."""


class WatchFailed(Exception):
    """A system that watches no more folders, or a change that the package cannot tell, such as one of a file whose name
    is not UTF-8."""


class Moment(NamedTuple):
    """Time to render, or a message that says what is waited for."""

    waits: str = ""


def need_watchfiles() -> None:
    """Raises InvocationError if the package that watches folders is missing."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise InvocationError(f"--watch needs the package watchfiles: {INSTALL}") from error


def changes_in(folders: Collection[str]) -> Generator[Collection[str]]:
    """What `watchfiles` tells."""
    from watchfiles import watch

    found = watch(
        *folders,
        watch_filter=lambda _, path: is_input(path),
        recursive=False,  # else, it would follow links to anywhere
        rust_timeout=int(TICK * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    try:
        with closing(found):
            for batch in found:
                yield [path for _, path in batch]
    except RuntimeError as error:  # whatever notify reports
        advice = "on Linux, raise fs.inotify.max_user_watches and max_user_instances"
        advice += ", or set WATCHFILES_FORCE_POLLING=true"
        raise WatchFailed(f"cannot watch {counted(len(folders), 'folder')}: {error}; {advice}") from error


def moments(root: str, changes: Changes = changes_in, clock: Callable[[], float] = time.monotonic) -> Generator[Moment]:
    """A moment at once, and one after each change of what jobs are rendered from. What changes while the repository
    is rendered makes another moment. Raises InvocationError once the repository is gone."""
    waiting = _Waiting(clock)
    while True:
        places = places_of(root)
        marks = places.marks()
        if marks[places.root] is None:
            raise InvocationError(f"{root} is gone")
        try:
            with closing(changes(places.folders)) as batches:
                yield from _until_moved(places, batches, waiting)
        except FileNotFoundError:  # since we looked
            continue
        except WatchFailed as error:
            waiting.failed(error)


def _until_moved(places: Places, batches: Iterator[Collection[str]], waiting: _Waiting) -> Iterator[Moment]:
    """The moments until other folders are to be watched, or those of another repository at this path."""
    marks = places.marks()
    for number, batch in enumerate(batches):
        waiting.take(batch)
        now = places.marks()
        if now != marks or ((batch or not number) and places_of(places.given) != places):
            waiting.is_due = True
            return
        yield from waiting.over(places.underway())


class _Waiting:
    """Whether something is to be rendered, and what speaks against doing it now."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.is_due = True
        self._missing: dict[str, float] = {}
        """Since when files are away."""
        self._underway_since: float | None = None
        self._told = ""
        self._failures = 0

    def take(self, batch: Collection[str]) -> None:
        """Something changed, or nothing."""
        self._failures = 0
        self.is_due |= bool(batch)
        self._missing |= dict.fromkeys(filter(is_missing, batch), self._clock())

    def failed(self, error: WatchFailed) -> None:
        """Something changed, nobody knows what. Raises InvocationError if nothing is ever told."""
        self._failures += 1
        self.is_due = True
        if self._failures >= ATTEMPTS:
            raise InvocationError(str(error)) from error

    def over(self, underway: str) -> Iterator[Moment]:
        """The moment to render, if it is now; or once, what git does for so long."""
        if not self.is_due:
            return
        now = self._clock()
        if underway:
            if self._underway_since is None:
                self._underway_since = now
            if now - self._underway_since >= PATIENCE and self._told != underway:
                self._told = underway
                yield Moment(underway)
            return
        waits = {path: since for path, since in self._missing.items() if now - since < SETTLE and is_missing(path)}
        self._missing = waits
        if not waits:
            self.is_due, self._underway_since, self._told = False, None, ""
            yield Moment()
