"""Snapshots of repositories, as features see them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainform.diagnostics import Diagnostic, Position
from trainform.editor.project import Project
from trainform.editor.snapshot import RepositorySnapshot
from trainform.workspace.discovery import discover

CURSOR = "‸"
"""Marks the cursor in the texts of tests."""


def snapshot_of(root: Path, buffers: Mapping[str, str] | None = None) -> RepositorySnapshot:
    """The repository at `root`, with the texts of open `buffers`; without findings and index."""
    unsaved = {file: text.encode() for file, text in (buffers or {}).items()}
    return RepositorySnapshot(discover(str(root), unsaved=unsaved))


def cursor_in(text: str) -> tuple[str, Position]:
    """A text without its cursor, and where that was."""
    before, _, after = text.partition(CURSOR)
    line = before.count("\n") + 1
    return before + after, Position(line, len(before) - (before.rfind("\n") + 1) + 1)


def settled(project: Project, most: int = 10_000) -> dict[str, list[Diagnostic]]:
    """The findings by file that a project tells until nothing is left to do."""
    for _ in range(most):
        if project.is_settled:
            return project.take_changes()
        project.step()
    raise AssertionError("the project never settles")
