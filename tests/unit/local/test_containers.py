"""What a container writes is told line by line."""

from __future__ import annotations

import asyncio

import pytest

from trainform.local.containers import _copy


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, pod: str, container: str, text: str) -> None:
        self.lines.append(text)

    def event(self, text: str) -> None: ...


def told(*pieces: bytes) -> list[str]:
    output = Told()

    async def copied() -> None:
        stream = asyncio.StreamReader()
        copying = asyncio.ensure_future(_copy(stream, "pod", "node", output))
        for piece in pieces:
            stream.feed_data(piece)
            await asyncio.sleep(0)
        stream.feed_eof()
        await copying

    asyncio.run(copied())
    return output.lines


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"a\nb\n"], ["a", "b"]),
        ([b"a\n\nb"], ["a", "", "b"]),
        ([b"a", b"b\nc"], ["ab", "c"]),
        ([b"10%\r20%\r30%\n"], ["10%", "20%", "30%"]),
        ([b"a\r\nb\r", b"\nc\n"], ["a", "b", "c"]),
        ([b"\xc3", b"\xa9\n"], ["é"]),
        ([b"\xff\n"], ["\ufffd"]),
        ([], []),
    ],
)
def test_lines(pieces, lines):
    assert told(*pieces) == lines


def test_a_line_without_end_is_told_in_pieces():
    lines = told(*[b"x" * 2**16] * 40)
    assert len(lines) > 1
    assert sum(map(len, lines)) == 40 * 2**16
