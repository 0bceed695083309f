"""The jobs that a place in a file is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.diagnostics import Position
    from trainform.editor.snapshot import JobInEditor, RepositorySnapshot


def jobs_at(snapshot: RepositorySnapshot, file: str, at: Position) -> Sequence[JobInEditor]:
    """The job that a place of its file belongs to, once for each Environment that selects it; of a template's loop, its
    first."""
    jobs = [(job.document.position(()), job) for job in snapshot.jobs(file)]
    starts = sorted({start for start, _ in jobs})
    nearest = next((start for start in reversed(starts) if start <= at), starts[0] if starts else None)
    found = [job for start, job in jobs if start == nearest]
    return [job for job in found if job.id[1:] == found[0].id[1:]]
