"""What `render` and `upgrade` print about a build."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.cli import FAULTY, OK
from trainform.cli.errors import report_failures
from trainform.cli.options import is_quiet, is_verbose
from trainform.cli.terminal import print_brief, print_diagnostics, print_json, print_line, print_text
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.order import counted, has_errors
from trainform.io.writer import Staged
from trainform.workspace.behind import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.diagnostics import Diagnostic
    from trainform.io.paths import JobId
    from trainform.io.writer import JobChange
    from trainform.workspace.build import Built
    from trainform.workspace.plan import BuildOptions, ChangeSet, Details


def report(built: Built, options: BuildOptions) -> int:
    """Print the result of a build; returns the exit code."""
    plan = built.plan
    if is_verbose():
        print_diagnostics([*plan.diagnostics, *plan.conflicts], sys.stderr)
    else:
        print_brief(plan.diagnostics, plan.conflicts, sys.stderr)
    if options.detailed:
        _print_json(built)
    elif options.dry_run:
        _print_preview(built)
    elif built.written:
        if not is_quiet():
            _print_changes(plan)
    else:
        print_line("nothing was written because of the errors above", sys.stderr)
    return report_failures(plan.failures) or (FAULTY if has_errors(plan.problems()) else OK)


def _print_changes(plan: ChangeSet) -> None:
    """Print each changed manifest, the number of unchanged jobs, and which jobs are behind."""
    lines = [f"wrote {path}" for path in sorted(plan.wrote)]
    lines += [f"removed {path}" for path in sorted(plan.removed)]
    if repinned := sum(change is Staged.LOCK for change in plan.jobs.values()):
        lines.append(f"{counted(repinned, 'job')} re-pinned, files unchanged")
    if plan.unchanged or not plan.jobs:
        lines.append(f"{counted(plan.unchanged, 'job')} unchanged")
    lines += [message(cause, jobs) for cause, jobs in plan.behind.items()]
    for line in lines:
        print_line(line)


class _RenderedJob(NamedTuple):
    """A frozen job in a RenderResult, with the objects in its files."""

    environment: str
    namespace: str
    name: str
    objects: list[dict[str, Any]]
    diagnostics: Sequence[Diagnostic] = ()
    deviations: Sequence[str] = ()


def _print_json(built: Built) -> None:
    from trainform.diagnostics.documents import RenderedJob, render_result
    from trainform.workspace.frozen import rendered_objects

    plan, details = built.plan, built.plan.details
    jobs: list[RenderedJob] = []
    general = plan.conflicts
    if details is not None:
        jobs += details.outcome.jobs
        jobs += [_RenderedJob(*job.id, rendered_objects(built.repository, job)) for job in details.frozen]
        jobs.sort(key=lambda job: (job.environment, job.namespace, job.name))
        general = [*details.outcome.diagnostics, *general]
    print_json(render_result(jobs, general))


def _print_preview(built: Built) -> None:
    """Print why jobs would change, and their diffs, once for jobs that change alike."""
    details = built.plan.details
    alike: dict[tuple[str, ...], list[JobId]] = {}
    shown: dict[JobId, str] = {}
    for job, change in details.changes.items() if details else ():
        assert details is not None
        why, lines = _why(details, job), list(_diff(built.repository.root, job, change))
        alike.setdefault((job[0], why, _without_name(lines, job)), []).append(job)
        shown[job] = f"{one_line('/'.join(job) + ': ' + why)}\n" + ("".join(lines) or "  its files do not change\n")
    for first, *others in alike.values():
        print_text(shown[first])
        if others:
            print_line(f"  same for {counted(len(others), 'job')}: {', '.join('/'.join(job[1:]) for job in others)}")
    print_line(f"{counted(len(shown), 'job')} would change, {built.plan.unchanged} would not")


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
    import difflib

    from trainform.io.paths import folder_bytes

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
    from trainform import source
    from trainform.k8s.tree import name_of

    trees = (document.tree for name, data in files.items() for document in source.load(data, name).documents)
    called = next((name_of(tree) for tree in trees if tree.get("kind") == "JobSet"), "") or job[2]
    return {
        name.replace(called, job[2]): _File(f"{folder}/{name}", data.replace(called.encode(), job[2].encode()))
        for name, data in files.items()
    }


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").splitlines(keepends=True)
