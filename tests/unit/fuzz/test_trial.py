"""What a command does to the files around it is noticed. Each command here is one that does it on purpose."""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.case import Case, Entry, Step
from fuzz.place import SECRET
from fuzz.trial import Trial

# Each command is a fork of this process, and pytest-xdist has threads; a forked command never returns to it.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def write(path: str, text: str = "x") -> Callable[[], None]:
    return lambda: void(Path(path).write_text(text))


def print_the_link() -> None:
    os.write(1, Path("link").read_bytes())


def take_memory(size: int) -> None:
    """Take new pages: what Python allocates may come from what this process has freed."""
    mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).write(bytes(size))


def void(_: object) -> None:
    """For functions that return something where nothing is wanted."""


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    def tried(does: Callable[[], None], command: str = "validate", code: int = 0) -> list[str]:
        def main() -> None:
            if sys.argv[1] == command:
                does()
                os._exit(code)
            os._exit(1)  # `check` after it

        monkeypatch.setattr("trainform.cli.main.main", main)
        files = {"jobs/x.yaml": Entry(text="a: 1"), "link": Entry("link", "../outside/secret")}
        case = Case(files, (Step((command,)),), "committed")
        return [failure.what for failure in Trial(tmp_path).failures(case)]

    return tried


@pytest.mark.parametrize(
    ("does", "command", "code", "fault"),
    [
        (write("../outside/x"), "keys", 0, "writes outside of the repository"),
        (write("../outside/secret"), "keys", 0, "writes outside of the repository"),
        (write("../home/.profile"), "keys", 0, "writes outside of the repository"),
        (write(".git/hooks/pre-commit"), "keys", 0, "writes into git's folder"),
        (write("rendered"), "validate", 0, "a command that reads writes"),
        (write("jobs/x.yaml"), "upgrade", 0, "changes its inputs"),
        (write("rendered"), "upgrade", 2, "writes although it fails"),
        (write("copy", SECRET), "keys", 0, "copies a file from outside of the repository"),
        (print_the_link, "validate", 0, "prints a file outside of the repository"),
        (lambda: None, "render", 0, "check fails after render"),
        (lambda: void(bytes(4 << 30)), "validate", 0, "internal error"),
        (lambda: take_memory(600 << 20), "validate", 0, "memory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_promise_is_noticed(does, command, code, fault, faults):
    found = faults(does, command, code)
    assert [each for each in found if each != "slow"] == [fault]  # a busy machine may be slow besides


def test_a_command_that_does_not_end_is_noticed(faults, monkeypatch):
    monkeypatch.setattr("fuzz.process.HANG", 0.5)
    assert faults(lambda: time.sleep(600)) == ["hangs"]


def test_what_a_command_may_write_is_fine(faults):
    assert faults(write("rendered"), "keys") == []
    assert faults(write(".git/index.lock"), "validate") == []
    assert faults(write("../temporary/x"), "validate") == []
