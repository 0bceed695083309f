"""Who set a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trainform.diagnostics import dotted

if TYPE_CHECKING:
    from trainform.diagnostics import Path

OwnerKind = Literal["trainjob", "runtime", "patch", "environment", "plugin", "default"]


class Owner(NamedTuple):
    """Who set a field.

    `name` is that of the TrainJob, runtime, Environment or plugin, the manager of a runtimePatch, or whose
    default it is. `stage` is a plugin's, or `naming`. `file` and `line` are where the value stands, if it
    stands somewhere.
    """

    kind: OwnerKind
    name: str
    stage: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""

    def __str__(self) -> str:
        stage = f" ({self.stage})" if self.stage else ""
        return f"{_WORDS[self.kind]} {self.name}{stage}"


_WORDS: dict[OwnerKind, str] = {
    "trainjob": "TrainJob",
    "runtime": "runtime",
    "patch": "patch by",
    "environment": "Environment",
    "plugin": "plugin",
    "default": "default:",
}


class Override(NamedTuple):
    """A value that did not last, and who had set it."""

    value: Any
    owner: Owner


class Field(NamedTuple):
    """One leaf of a rendered object: a scalar, or an empty map or list.

    `names` has for each entry of a list on the path what the entry is called, None where it has no name.
    `overrides` are the earlier values, the oldest first.
    """

    object: str
    path: Path
    names: tuple[str | None, ...]
    value: Any
    owner: Owner
    overrides: tuple[Override, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """One entry of an ExplainResult's `fields`."""
        return {
            "object": self.object,
            "path": dotted(self.path),
            "value": self.value,
            "owner": self.owner._asdict(),
        }
