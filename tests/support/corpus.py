"""The conformance corpus: inputs, and what the real controller and API schemas answered for each."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent.parent / "conformance"

FAMILIES = sorted(file.name.removesuffix(".jsonl.gz") for file in (FOLDER / "corpus").glob("*.jsonl.gz"))


class Case(NamedTuple):
    """One YAML stream, and one answer per TrainJob in it."""

    id: str
    input: str
    expected: list[dict[str, Any]]


@cache
def cases(family: str) -> list[Case]:
    with gzip.open(FOLDER / "corpus" / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [Case(**json.loads(line)) for line in lines]


def truth(name: str) -> Any:
    """A truth table, such as `quantities`."""
    with gzip.open(FOLDER / "truth" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)
