"""What `render --format json` and `upgrade --dry-run` show of a build: its jobs, and how their files would change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform import source
from trainform.diagnostics.documents import RenderedJob, render_result
from trainform.diagnostics.escape import one_line
from trainform.io.paths import folder_bytes
from trainform.k8s.tree import name_of
from trainform.workspace.frozen import rendered_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.io.writer import JobChange
    from trainform.workspace.build import Built
    from trainform.workspace.plan import Details


class _RenderedJob(NamedTuple):
    """A frozen job in a RenderResult, with the objects in its files."""

    environment: str
    namespace: str
    name: str
    objects: list[dict[str, Any]]
    diagnostics: Sequence[Diagnostic] = ()
    deviations: Sequence[str] = ()


def result_of(built: Built) -> dict[str, Any]:
    """The RenderResult document of a build with details."""
    details = built.plan.details
    jobs: list[RenderedJob] = []
    general = built.plan.conflicts
    if details is not None:
        jobs += details.outcome.jobs
        jobs += [_RenderedJob(*job.id, rendered_objects(built.repository, job)) for job in details.frozen]
        jobs.sort(key=lambda job: (job.environment, job.namespace, job.name))
        general = [*details.outcome.diagnostics, *general]
    return render_result(jobs, general)


class Preview(NamedTuple):
    """What would change in a job's files, as text, and the jobs that change alike."""

    text: str
    others: list[JobId]


def previews(built: Built) -> list[Preview]:
    """Why jobs would change, and their diffs, once for jobs that change alike."""
    details = built.plan.details
    alike: dict[tuple[str, ...], list[JobId]] = {}
    shown: dict[JobId, str] = {}
    for job, change in details.changes.items() if details else ():
        assert details is not None
        why, lines = _why(details, job), list(_diff(built.repository.root, job, change))
        alike.setdefault((job[0], why, _without_name(lines, job)), []).append(job)
        shown[job] = f"{one_line('/'.join(job) + ': ' + why)}\n" + ("".join(lines) or "  its files do not change\n")
    return [Preview(shown[first], others) for first, *others in alike.values()]


def _without_name(diff: Iterable[str], job: JobId) -> str:
    """The diff without file names and the job's own name, to find jobs that change alike."""
    lines = (line for line in diff if not line.startswith(("--- ", "+++ ")))
    return re.sub(rf"\b{re.escape(job[2])}\b", "", "".join(lines))


def _why(details: Details, job: JobId) -> str:
    lock = details.locks.lock(job)
    causes = details.current[job[0]].causes(lock.pins, job[1]) if lock else []
    return "; ".join(cause.message for cause in causes) or "its TrainJob changed"


class _File(NamedTuple):
    """A manifest: its path, and its text as it would be without a content hash."""

    path: str
    text: bytes = b""


def _diff(root: str, job: JobId, change: JobChange) -> Iterator[str]:
    """The diff of a job's manifests. A content hash in names is left out, so that a job that becomes a new object is
    compared with the old one."""
    if change.files is None:
        return
    on_disk = {name: data or b"" for name, data in folder_bytes(root, change.folder).items()}
    before, after = (_without_hash(files, job, change.folder) for files in (on_disk, change.files))
    for name in sorted({*before, *after}):
        old = before.get(name) or _File(after[name].path)
        new = after.get(name) or _File(before[name].path)
        paths = f"a/{one_line(old.path)}", f"b/{one_line(new.path)}"
        yield from difflib.unified_diff(_lines(old.text), _lines(new.text), *paths, n=2)


def _without_hash(files: Mapping[str, bytes], job: JobId, folder: str) -> dict[str, _File]:
    """A job's manifests, by their names without a content hash."""
    trees = (document.tree for name, data in files.items() for document in source.load(data, name).documents)
    called = next((name_of(tree) for tree in trees if tree.get("kind") == "JobSet"), "") or job[2]
    return {
        name.replace(called, job[2]): _File(f"{folder}/{name}", data.replace(called.encode(), job[2].encode()))
        for name, data in files.items()
    }


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").splitlines(keepends=True)
