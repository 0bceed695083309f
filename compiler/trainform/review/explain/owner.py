"""Who set a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trainform.diagnostics import dotted

if TYPE_CHECKING:
    from trainform.diagnostics import Path

OwnerKind = Literal["trainjob", "runtime", "patch", "environment", "plugin", "default"]


class Owner(NamedTuple):
    """Who set a field. `name` is the TrainJob's, runtime's, Environment's or plugin's, a runtimePatch's manager, or the
    source of a default. `stage` is a plugin's, or `naming`. `file` and `line` locate the value if a document has it."""

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
    """A value that was replaced, and who had set it."""

    value: Any
    owner: Owner


class Field(NamedTuple):
    """One leaf of a rendered object: a scalar, or an empty map or list. `names` holds the name of each list entry on
    the path, None if it has none. `overrides` are the earlier values, oldest first. `key` is where the owner's document
    has the value; empty if none has it."""

    object: str
    path: Path
    names: tuple[str | None, ...]
    value: Any
    owner: Owner
    overrides: tuple[Override, ...] = ()
    key: Path = ()

    def to_json(self) -> dict[str, Any]:
        """One entry of an ExplainResult's `fields`."""
        return {
            "object": self.object,
            "path": dotted(self.path),
            "value": self.value,
            "owner": self.owner._asdict(),
        }
