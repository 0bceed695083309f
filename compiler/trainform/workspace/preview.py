"""What a run would change, as a diff of files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainform.diagnostics.order import counted
from trainform.io.paths import JobId, folder_bytes

if TYPE_CHECKING:
    from trainform.io.writer import JobChange
    from trainform.workspace.rendering import Work


def print_preview(work: Work) -> None:
    """Why jobs would change, and how their files would differ; once for those that change alike."""
    plan = work.plan
    alike: dict[tuple[str, ...], list[JobId]] = {}
    shown: dict[JobId, str] = {}
    for job, change in plan.jobs.items():
        why, lines = _why(work, job), list(_diff(plan.repository.root, change))
        alike.setdefault((job[0], why, _without_name(lines, job)), []).append(job)
        shown[job] = f"{'/'.join(job)}: {why}\n" + ("".join(lines) or "  its files do not change\n")
    for first, *others in alike.values():
        print(shown[first], end="")
        if others:
            print(f"  same for {counted(len(others), 'job')}: {', '.join('/'.join(job[1:]) for job in others)}")
    print(f"{counted(len(plan.jobs), 'job')} would change, {len(plan.unchanged)} would not")


def _without_name(diff: Iterable[str], job: JobId) -> str:
    """What jobs that change alike have in common: all lines but the names of files, without the job's own name."""
    lines = (line for line in diff if not line.startswith(("--- ", "+++ ")))
    return re.sub(rf"\b{re.escape(job[2])}\b", "", "".join(lines))


def _why(work: Work, job: JobId) -> str:
    lock = work.plan.state.lock(job)
    causes = work.presents[job[0]].causes(lock.pins, job[1]) if lock else []
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
