"""A process that goes on beside a test. Where coverage is measured, its lines count."""

from __future__ import annotations

import sys
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parents[2]


def command_of_trainform() -> tuple[str, ...]:
    """What starts trainform with this interpreter; arguments follow."""
    measuring = Coverage.current()
    if measuring is None:
        return sys.executable, "-m", "trainform"
    data = ROOT / str(measuring.get_option("run:data_file"))  # in parallel: the process adds a suffix of its own
    options = f"--rcfile={ROOT / 'pyproject.toml'}", f"--data-file={data}"
    return sys.executable, "-m", "coverage", "run", *options, "-m", "trainform"
