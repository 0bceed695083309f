"""A line that shows how far a long run is. Only on a terminal, and only once a second has passed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from trainform.cli.streams import draw
from trainform.workspace.progress import listening

PATIENCE = 1.0
"""Seconds that a run may take without saying anything."""


@contextmanager
def shown(stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Show the progress of what is done in here on `stream` (default: standard error), and remove the line at the
    end."""
    meter = Meter(stream or sys.stderr, clock)
    with listening(meter.advance):
        try:
            yield
        finally:
            meter.clear()


class Meter:
    """Writes `1,500 of 10,000 job files, 700/s, 12 s left`."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._drawn = False

    def advance(self, done: int, total: int) -> None:
        took = self._clock() - self._start
        if took < PATIENCE or not done:
            return
        rate = done / took
        left = f", {round((total - done) / rate):,} s left" if done < total else ""
        draw(self._stream, f"{done:,} of {total:,} job files, {rate:,.0f}/s{left}")
        self._drawn = True

    def clear(self) -> None:
        if self._drawn:
            draw(self._stream, "")
