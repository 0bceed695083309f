"""What to write in place of a field that the API does not know, where people expect one: fields of older dialects, and
of other kinds of job. The API server drops these silently. The tables are keyed by the path without list indexes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product

from trainform.diagnostics import Path


@dataclass(frozen=True, slots=True)
class Advice:
    """What takes the place of a field, with an example to copy."""

    instead: str
    example: str = ""
    older: bool = False
    """Once a field of the API."""

    @property
    def hint(self) -> str:
        if "\n" in self.example:
            return f"{self.instead}; for example\n{self.example}"
        example = f"; for example {self.example}" if self.example else ""
        return self.instead + example


def advice(table: dict[str, Advice], path: Path) -> Advice | None:
    """The entry of a table for `path`, or None."""
    text = "".join("[]" if isinstance(part, int) else f".{part}" for part in path)
    return table.get(text.removeprefix("."))


def spread(rows: dict[str, Advice]) -> dict[str, Advice]:
    """A table from rows whose keys may have alternatives, `spec.{queue,queueName}`; in the advice, `<field>` is the
    last field of the key. Of two rows for one field the later one counts."""
    table = {}
    for pattern, row in rows.items():
        choices = [part.split(",") for part in re.split("[{}]", pattern)]
        for path in map("".join, product(*choices)):
            table[path] = replace(row, instead=row.instead.replace("<field>", path.rpartition(".")[2]))
    return table
