"""Standard output and error while a command runs: every text that is printed passes through here and is escaped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from trainform.io.streams import EscapedStream
from trainform.io.streams import wants_colour as wants_colour


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody reads along."""
    return stream.isatty()


def draw(stream: TextIO, line: str) -> None:
    """Show a line of our own words on a terminal, in place of what was drawn there before."""
    stream.buffer.write(f"\r{line}\x1b[K".encode())
    stream.buffer.flush()


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Replace standard output and error by their escaped streams."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = EscapedStream(out), EscapedStream(err)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # `run` has reported it, if it can be
                continue
        sys.stdout, sys.stderr = out, err
