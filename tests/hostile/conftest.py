"""A repository to attack, and processes to run commands in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.attacks import Victim
from support.nursery import Nursery


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def victim(tmp_path: Path, nursery: Nursery) -> Victim:
    return Victim(tmp_path, nursery)
