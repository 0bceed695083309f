"""Decodes files and splits documents: encodings, lines, offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from trainform.diagnostics import Diagnostic, Path, Position

MAX_SIZE = 16 * 2**20
"""Maximum bytes (characters, if given text) of a file."""

_WIDE = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe\x00\x00": "UTF-32",
}
_POINTER = "version https://git-lfs.github.com/spec/"
_MARKER = re.compile(r"\n(---|\.\.\.)(?=[ \t\n]|\Z)")
_CONTENT = r"^[ \t]*[^%#\s]"


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one file; the place of problems outside any document."""

    file: str
    text: str

    is_template: ClassVar[bool] = False
    """Whether a template made the text, maybe several times from one line."""

    def position(self, path: Path) -> Position:
        """The start of the file, which has no elements."""
        return Position(1, 1)

    def position_at(self, offset: int) -> Position:
        """Line and column, from 1, of the character at `offset`, from 0."""
        number = bisect_right(self._starts, offset)
        return Position(number, offset - self._starts[number - 1] + 1)

    def line(self, number: int) -> str:
        """One line, counted from 1, without its line ending; empty past the last."""
        if not 0 < number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)]

    @cached_property
    def _starts(self) -> list[int]:
        """Offsets of line starts, computed on the first problem: a file may have thousands."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]


def decode(text: str | bytes, file: str) -> tuple[Source, Diagnostic | None]:
    """The text of a file with `\\n` line endings, or why it cannot be read."""
    if len(text) > MAX_SIZE:
        message = f"the file is larger than {MAX_SIZE >> 20} MiB"
        return _refused(file, "TF004", message, "split it into several files")
    if text[: len(_POINTER)] in (_POINTER, _POINTER.encode()):
        message = "this is a pointer of Git LFS, not the file itself"
        return _refused(file, "TF017", message, "run `git lfs pull`, or keep the file out of LFS: it is small text")
    if isinstance(text, str):
        return Source(file, _with_newlines(text)), None
    if encoding := _wide_encoding(text):
        return _refused(file, "TF002", f"the file is encoded in {encoding}", "save it as UTF-8")
    try:
        return Source(file, _with_newlines(text.decode())), None
    except UnicodeDecodeError as error:
        return _not_utf8(text, file, error)


def _with_newlines(text: str) -> str:
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32, by BOM or the zero bytes of an ASCII letter; else empty."""
    marks = [name for mark, name in _WIDE.items() if data.startswith(mark)]
    if marks:
        return marks[-1]
    zeros = data[:4].count(0)
    return {2: "UTF-16", 3: "UTF-32"}.get(zeros, "") if len(data) >= 4 else ""


def _refused(file: str, code: str, message: str, hint: str) -> tuple[Source, Diagnostic]:
    source = Source(file, "")
    return source, Diagnostic(code, "error", message, hint, place=source)


def _not_utf8(data: bytes, file: str, error: UnicodeDecodeError) -> tuple[Source, Diagnostic]:
    if b"\0" in data:
        hint = "remove it, or rename it so that it does not end in a YAML or JSON extension"
        return _refused(file, "TF002", "the file is binary, not text", hint)
    source = Source(file, _with_newlines(data.decode(errors="replace")))
    problem = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
    at = source.position_at(len(_with_newlines(data[: error.start].decode())))
    return source, Diagnostic("TF002", "error", problem, "save the file as UTF-8", place=source, at=at)


def split_documents(text: str) -> Iterator[tuple[int, str]]:
    """Each document of a stream with its offset; some may be only blanks and comments. YAML cannot hide a line that
    starts with `---` or `...`, so splitting there is safe and isolates broken documents. Directives stay with the
    document below."""
    start = 0
    for marker in _MARKER.finditer(text):
        part = text[start : marker.start(1)]
        if "%" in part and marker[1] == "---" and not re.search(_CONTENT, part, re.MULTILINE):
            continue
        yield start, part
        start = marker.start(1) if marker[1] == "---" else marker.end()
    yield start, text[start:]
