"""Pages of the documentation that are written from the code: `./dev pages`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pages.codes import index
from pages.commands import commands
from pages.given import page
from pages.keys import environment_keys, job_keys, settings_keys
from pages.plugin_api import reference

DOCS = Path(__file__).parents[2] / "docs"
PAGES: dict[str, Callable[[], str]] = {
    "codes/README.md": index,
    "commands.md": commands,
    "environment-keys.md": environment_keys,
    "job-keys.md": job_keys,
    "plugin-api.md": reference,
    "settings.md": settings_keys,
    "variables.md": page,
}


def write() -> None:
    for name, text in PAGES.items():
        (DOCS / name).write_text(text(), encoding="utf-8")


def stale() -> list[str]:
    """The pages, below `docs/`, that say something else than the code."""
    return [name for name, text in PAGES.items() if (DOCS / name).read_text(encoding="utf-8") != text()]
