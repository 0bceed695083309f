"""Compiled jobs to files, and a word about each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from trainform.diagnostics.order import counted, has_errors
from trainform.io import writer
from trainform.io.repository import Repository

if TYPE_CHECKING:
    from trainform.cli.compiling import Outcome
    from trainform.core.compile import CompiledJob


def write_jobs(repository: Repository, outcome: Outcome, *, keep_going: bool) -> writer.Written | None:
    """Writes all jobs; with an error anywhere none (None), or only the good ones to `keep_going`.

    What hinders the writing is added to the diagnostics of `outcome`.
    """
    if has_errors(outcome.all_diagnostics()) and not keep_going:
        return None
    good = [_folder(repository, job) for job in outcome.jobs if job.objects]
    changes = writer.plan_changes(repository.root, good)
    outcome.diagnostics.extend(changes.diagnostics)
    if changes.diagnostics and not keep_going:
        return None
    written = writer.carry_out(repository.root, changes)
    outcome.diagnostics.extend(written.diagnostics)
    return written


def _folder(repository: Repository, job: CompiledJob) -> writer.Folder:
    from trainform.output.emitter import emit

    path = writer.job_folder(repository.settings.rendered, job.environment, job.namespace, job.name)
    files = {_file_name(tree): emit(tree).encode() for tree in job.objects}
    if len(files) < len(job.objects):  # a plugin's fault: nothing that a TrainJob says leads here
        raise ValueError(f"two objects of job {job.namespace}/{job.name} share a kind and a name")
    return writer.Folder(path, files)


def _file_name(tree: dict[str, Any]) -> str:
    return writer.file_name(tree["kind"], tree["metadata"]["name"])


def tell(written: writer.Written | None) -> None:
    """One line on stdout for each file that changed, and a count of the others."""
    if written is None:
        print("nothing was written, because of the errors above", file=sys.stderr)
        return
    for path in written.wrote:
        print(f"wrote {path}")
    for path in written.removed:
        print(f"removed {path}")
    if written.unchanged or not (written.wrote or written.removed):
        print(f"{counted(written.unchanged, 'file')} unchanged")
