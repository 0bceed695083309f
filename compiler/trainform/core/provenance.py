"""Provenance: which plugin set what, and which line of a document a value comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from trainform.diagnostics import Path

Origin = Literal["trainjob", "runtime", "environment"]

Source = tuple[Origin, Path]
"""A field of one of the documents of a job: `("trainjob", ("spec", "suspend"))`."""

Key = tuple[str | tuple[str, int], ...]
"""As a path, but an entry of a list is `(name, n)`: the n-th of that name, `("node", 0)`. An entry without
a name is `("", n)`, the n-th of those. A key stays the same while lists around it grow or change their order."""


class Conflict(NamedTuple):
    """Two plugins and the thing that they disagree on."""

    what: str
    first: str
    second: str


class Copy(NamedTuple):
    """The element at `key` of a rendered object was copied from `source`.

    `object` is `Kind/name`, empty for the JobSet. `value` is the element where it is written differently than in
    the document, else None. `actor` is the plugin that copied it, empty for what happened before any plugin.
    """

    source: Source
    object: str
    key: Key
    value: Any
    actor: str


@dataclass(slots=True)
class Ledger:
    """Every variable, port, volume and label that a plugin set, with the plugin's name.

    `copies` are the values that were copied from documents, recorded only while somebody observes the compile.
    """

    actor: str = ""
    entries: dict[tuple[str, ...], tuple[str, object]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    copies: list[Copy] | None = None

    def record(self, key: tuple[str, ...], value: object) -> None:
        """Note that the acting plugin set `key`, such as `("variable", "PET_NNODES", "node/node")`."""
        first, earlier = self.entries.setdefault(key, (self.actor, value))
        if first != self.actor and earlier != value:
            what = f"{key[0]} {key[1]}" + (f" of {key[2]}" if len(key) > 2 else "")
            self.conflicts.append(Conflict(what, first, self.actor))

    def record_copy(self, source: Source, key: Key, value: Any = None, object: str = "") -> None:
        """Note that the element at `key` comes from `source`."""
        if self.copies is not None:
            self.copies.append(Copy(source, object, key, value, self.actor))
