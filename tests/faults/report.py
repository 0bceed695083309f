"""What a run of faults has found: for the terminal, for other programs, and for docs/reliability.md."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from faults.kinds import KINDS

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "reliability.md"
RESULTS = PROJECT / ".bench" / "faults.json"
BEGIN, END = "<!-- counts: begin. `./dev faults --write-docs` writes what follows -->\n", "<!-- counts: end -->\n"


@dataclass(slots=True)
class Cell:
    """A kind of fault in a scene: how many ways there are, and how many were tried."""

    possible: int
    rounds: int = 0


class Broken(NamedTuple):
    """A promise that was not kept after a fault."""

    kind: str
    scene: str
    fault: str
    breach: str


@dataclass(frozen=True, slots=True)
class Result:
    """All cells, by kind and scene."""

    cells: Mapping[tuple[str, str], Cell]
    broken: Sequence[Broken]
    seconds: float
    seed: int

    @property
    def rounds(self) -> int:
        return sum(cell.rounds for cell in self.cells.values())

    def of_kind(self, kind: str) -> Cell:
        cells = [cell for (each, _), cell in self.cells.items() if each == kind]
        return Cell(sum(cell.possible for cell in cells), sum(cell.rounds for cell in cells))

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(kind for kind, _ in self.cells))

    @property
    def scenes(self) -> list[str]:
        return list(dict.fromkeys(scene for _, scene in self.cells))


def as_document(result: Result) -> dict[str, object]:
    return {
        "rounds": result.rounds,
        "seconds": round(result.seconds),
        "seed": result.seed,
        "cells": [{"kind": kind, "scene": scene, **asdict(cell)} for (kind, scene), cell in result.cells.items()],
        "broken": [each._asdict() for each in result.broken],
    }


def write_results(result: Result, path: Path = RESULTS) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(as_document(result), indent=2) + "\n")


def as_text(result: Result) -> str:
    """Counts by kind, then each broken promise with the fault that broke it."""
    width = max(map(len, result.kinds))
    lines = []
    for kind in result.kinds:
        cell = result.of_kind(kind)
        broken = len({each.fault + each.scene for each in result.broken if each.kind == kind})
        lines.append(f"{kind.ljust(width)}  {cell.rounds:7,} of {cell.possible:7,}   {broken:4,} broke a promise")
    lines.append(f"{result.rounds:,} rounds in {result.seconds:,.0f} s")
    lines += [f"\n{each.kind} in {each.scene}: {each.fault}\n  {each.breach}" for each in result.broken]
    return "\n".join(lines)


def write_docs(result: Result) -> None:
    """The part of docs/reliability.md between its marks."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{PAGE.name} has lost the marks around its counts")
    PAGE.write_text(f"{before}{BEGIN}{as_markdown(result)}{END}{after}")


def as_markdown(result: Result) -> str:
    rows = [["fault", "rounds", "of all ways", "broken promises"]]
    for kind in result.kinds:
        cell = result.of_kind(kind)
        broken = sum(each.kind == kind for each in result.broken)
        rows.append([KINDS[kind].what, f"{cell.rounds:,}", f"{cell.rounds / cell.possible:.0%}", f"{broken:,}"])
    total = ["all", f"{result.rounds:,}", "", f"{len(result.broken):,}"]
    facts = f"{result.seconds / 60:.0f} minutes, seed {result.seed}, Python {platform.python_version()}"
    scenes = ", ".join(result.scenes)
    return f"{_table([*rows, total])}\n{facts}. Scenes: {scenes}.\n"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = rows
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rest]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
