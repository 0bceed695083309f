"""Who set what: finds two plugins that want different values at one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Conflict(NamedTuple):
    """Two plugins and the thing that they disagree on."""

    what: str
    first: str
    second: str


@dataclass(slots=True)
class Ledger:
    """Every variable, port, volume and label that a plugin set, with the plugin's name."""

    actor: str = ""
    entries: dict[tuple[str, ...], tuple[str, object]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def record(self, key: tuple[str, ...], value: object) -> None:
        """Note that the acting plugin set `key`, such as `("variable", "PET_NNODES", "node/node")`."""
        first, earlier = self.entries.setdefault(key, (self.actor, value))
        if first != self.actor and earlier != value:
            what = f"{key[0]} {key[1]}" + (f" of {key[2]}" if len(key) > 2 else "")
            self.conflicts.append(Conflict(what, first, self.actor))
