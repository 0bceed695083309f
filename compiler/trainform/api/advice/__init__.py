"""Replacements for unknown fields that people expect, from older dialects and other job kinds; the API server drops
such fields silently. Tables are keyed by path without list indexes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product

from trainform.diagnostics import Path

MIGRATE = "run `trainform migrate FILE`"
"""How to rewrite fields that the API once had."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The replacement for a field, with an example to copy."""

    instead: str
    example: str = ""
    older: bool = False
    """Whether the API once had the field."""

    @property
    def hint(self) -> str:
        if "\n" in self.example:
            return f"{self.instead}; for example\n{self.example}"
        example = f"; for example {self.example}" if self.example else ""
        return self.instead + example


def advice(table: dict[str, Advice], path: Path) -> Advice | None:
    """The advice for `path`, or None."""
    text = "".join("[]" if isinstance(part, int) else f".{part}" for part in path)
    return table.get(text.removeprefix("."))


def spread(rows: dict[str, Advice]) -> dict[str, Advice]:
    """A table from rows whose keys may have alternatives, `spec.{queue,queueName}`; later rows win. In the advice,
    `<field>` is the key's last field."""
    table = {}
    for pattern, row in rows.items():
        choices = [part.split(",") for part in re.split("[{}]", pattern)]
        for path in map("".join, product(*choices)):
            table[path] = replace(row, instead=row.instead.replace("<field>", path.rpartition(".")[2]))
    return table
