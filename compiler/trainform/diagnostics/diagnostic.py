"""One problem, and the place in a source document that it speaks of."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

Severity = Literal["error", "warning", "info"]

Path = tuple[str | int, ...]
"""Where in a tree: keys and list indexes from the root, `("spec", "env", 0, "name")`."""


class Position(NamedTuple):
    """Line and column in a file, both counted from 1."""

    line: int
    column: int


class Place(Protocol):
    """Something that knows where the elements of a tree stand in a file."""

    @property
    def file(self) -> str: ...

    def position(self, path: Path) -> Position | None:
        """Where the element at `path` stands, or its nearest parent when it is absent; None for a file as a whole."""

    def line(self, number: int) -> str:
        """The text of one line of the file, counted from 1, without its end."""


class Spot(NamedTuple):
    """One position in a file with the text of its line: a `Place` that is small, and holds nothing else."""

    file: str
    at: Position
    text: str = ""

    def position(self, path: Path) -> Position:
        return self.at

    def line(self, number: int) -> str:
        return self.text if number == self.at.line else ""


class Diagnostic(NamedTuple):
    """A problem with its cause in plain words and what to write instead.

    `path` is in the source document `place`; `object` and `object_path` name a rendered object if the problem shows
    only there, and `others` counts more objects with the same problem. `at` overrides the position from `place`, which
    is looked up only when a diagnostic is shown.
    """

    code: str
    severity: Severity
    message: str
    hint: str = ""
    path: Path = ()
    place: Place | None = None
    at: Position | None = None
    plugin: str = ""
    object: str = ""
    object_path: Path = ()
    others: int = 0

    @property
    def file(self) -> str:
        return self.place.file if self.place else ""

    @property
    def position(self) -> Position | None:
        """The line and column to show, or None for a problem of no single place."""
        if self.at or self.place is None:
            return self.at
        return self.place.position(self.path)

    def to_json(self) -> dict[str, str | int | None]:
        """The `Diagnostic` document of the JSON contract; absent places are null."""
        position = self.position
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "field": dotted(self.path),
            "file": self.file or None,
            "line": position.line if position else None,
            "column": position.column if position else None,
            "hint": self.hint,
            "plugin": self.plugin or None,
            "object": self.object or None,
            "objectField": dotted(self.object_path) or None,
        }


def dotted(path: Path) -> str:
    """A path in the API's words: `spec.trainer.env[0].name`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
