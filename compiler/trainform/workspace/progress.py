"""How far a long run is, for whoever listens: the command line, if somebody reads along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]
"""Called with how many job files are done, and how many there are."""

_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


def advance(done: int, total: int) -> None:
    """Tell whoever listens."""
    if listener := _listener.get():
        listener(done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` for what is done in here. Workers have no listener: the process that waits for them tells."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
