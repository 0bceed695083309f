"""What a run would change, as a diff of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainform.diagnostics.order import counted
from trainform.io.state import JobId, folder_bytes

if TYPE_CHECKING:
    from trainform.cli.rendering import Rendering
    from trainform.io.writer import JobChange


def print_preview(rendering: Rendering) -> None:
    """For each job that would change: why, and how its files would differ."""
    plan = rendering.plan
    for job, change in plan.jobs.items():
        print(f"{'/'.join(job)}: {_why(rendering, job)}")
        print("".join(_diff(plan.repository.root, change)) or "  its files stay as they are\n", end="")
    print(f"{counted(len(plan.jobs), 'job')} would change, {len(plan.unchanged)} would not")


def _why(rendering: Rendering, job: JobId) -> str:
    lock = rendering.plan.state.lock(job)
    causes = rendering.presents[job[0]].causes(lock.pins, job[1]) if lock else []
    return "; ".join(cause.message for cause in causes) or "its TrainJob changed"


def _diff(root: str, change: JobChange) -> Iterable[str]:
    import difflib

    if change.files is None:
        return
    before = {name: data or b"" for name, data in folder_bytes(root, change.folder).items()}
    for name in sorted({*before, *change.files}):
        path = f"{change.folder}/{name}"
        old, new = (_lines(files.get(name, b"")) for files in (before, change.files))
        yield from difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=2)


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").splitlines(keepends=True)
