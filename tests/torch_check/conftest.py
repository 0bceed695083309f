"""torch's launcher, for the tests that ask it."""

from __future__ import annotations

import pytest

from support.torchrun import Torchrun


@pytest.fixture(scope="session")
def torchrun() -> Torchrun:
    return Torchrun()
