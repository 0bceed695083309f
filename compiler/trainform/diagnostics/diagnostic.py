"""One problem and its location in a source document."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

Severity = Literal["error", "warning", "info"]

Path = tuple[str | int, ...]
"""Keys and list indexes from the root of a tree: `("spec", "env", 0, "name")`."""


JobRef = tuple[str, str, str]
"""Environment, namespace and name of a job."""


TEMPLATE = ".j2"
"""How the name of a template ends: each line of it may be one of many jobs."""


class Position(NamedTuple):
    """Line and column in a file, counted from 1."""

    line: int
    column: int


class Place(Protocol):
    """Maps the elements of a tree to positions in a file."""

    @property
    def file(self) -> str: ...

    def position(self, path: Path) -> Position | None:
        """Position of the element at `path`, or of its nearest parent if it is absent; None for a whole file."""

    def line(self, number: int) -> str:
        """One line of the file, counted from 1, without its line ending."""


class Spot(NamedTuple):
    """A small `Place` of one position and the text of its line."""

    file: str
    at: Position
    text: str = ""

    def position(self, path: Path) -> Position:
        return self.at

    def line(self, number: int) -> str:
        return self.text if number == self.at.line else ""


class Diagnostic(NamedTuple):
    """A problem, its cause and how to fix it.

    `path` is in the source document `place`. `object` and `object_path` name the rendered object if the problem shows
    only there; `others` counts more such objects, and `alike` more jobs of a template whose problems differ in a value.
    `also` are files and lines elsewhere with the same problem. `jobs` are those that a problem outside of their own
    documents concerns: an error stops them. `at` overrides the position from `place`, which is looked up lazily.
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
    alike: int = 0
    also: tuple[tuple[str, int], ...] = ()
    jobs: tuple[JobRef, ...] = ()

    @property
    def file(self) -> str:
        return self.place.file if self.place else ""

    @property
    def position(self) -> Position | None:
        """Line and column to show; None if the problem has no single location."""
        if self.at or self.place is None:
            return self.at
        return self.place.position(self.path)

    def to_json(self) -> dict[str, Any]:
        """The `Diagnostic` document of the JSON contract; missing locations are null."""
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
            "jobs": [dict(zip(("environment", "namespace", "name"), job, strict=True)) for job in self.jobs],
        }


def dotted(path: Path) -> str:
    """A path in API notation: `spec.trainer.env[0].name`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
