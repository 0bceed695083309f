"""A page of the documentation that a script writes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def written(page: Path, text: Callable[[], str], script: str) -> int:
    """Write the page; with `--verify`, only tell whether it is current. Returns the exit code."""
    if "--verify" not in sys.argv[1:]:
        page.write_text(text(), encoding="utf-8")
        return 0
    if page.read_text(encoding="utf-8") == text():
        return 0
    print(f"{page} is not current: run python scripts/{script}", file=sys.stderr)
    return 1
