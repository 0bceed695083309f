"""A stream that escapes what is written to it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import IO, TextIO, TypeVar

from trainform.diagnostics.escape import log

Result = TypeVar("Result")


class EscapedStream(io.TextIOBase):
    """Writes text to `stream` without what a terminal or a CI system would obey. It writes whole lines, so that no
    command gets through in pieces; `flush` writes the rest."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pending: list[str] = []
        self._styles = wants_colour(stream)

    def write(self, text: str, /) -> int:
        head, newline, tail = text.rpartition("\n")
        if newline:
            self._pending.append(head + newline)
            self._write_pending()
        self._pending.append(tail)
        return len(text)

    def _write_pending(self) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        self._stream.write(log(text, styles=self._styles))

    def close(self) -> None:
        """Left to whoever opened the stream below: Python 3.13 would flush here, and tell an error a second time."""

    def flush(self) -> None:
        self._write_pending()
        self._stream.flush()

    @property
    def buffer(self) -> IO[bytes]:
        """For bytes that are escaped already, in their own language."""
        self.flush()
        return self._stream.buffer

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors


def captured(work: Callable[[], Result]) -> tuple[Result, bytes]:
    """The result of `work`, and what it prints, escaped as on standard output."""
    data = io.BytesIO()
    below = io.TextIOWrapper(data, encoding="utf-8", newline="\n", write_through=True)
    stream = EscapedStream(below)
    with redirect_stdout(stream):
        result = work()
    stream.flush()
    return result, data.getvalue()


def wants_colour(stream: TextIO) -> bool:
    """Whether to color text: only on a terminal that supports it, and not if NO_COLOR is set."""
    dumb = os.environ.get("TERM") == "dumb"
    return stream.isatty() and not dumb and not os.environ.get("NO_COLOR")
