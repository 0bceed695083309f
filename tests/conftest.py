"""Options of the test suite."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from trainform.testing import pytest_addoption as pytest_addoption


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people: CI only compares")


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What trainform leaves in the system's temporary folder, the lock files of repositories without git, goes here."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", folder)
        patch.setenv("TMPDIR", folder)
        yield
