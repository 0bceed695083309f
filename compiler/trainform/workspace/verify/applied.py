"""Judge the manifests of jobs that are behind: their inputs may be clean while an engine still applies what is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.installed import PluginSet, stdout_kept
from trainform.workspace.frozen import FrozenJob, rendered_files
from trainform.workspace.inputs import PRIVATE_KEY, load

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.io.repository import Repository
    from trainform.workspace.fingerprint import CurrentInputs


def judge_behind(
    repository: Repository,
    frozen: Iterable[FrozenJob],
    current: Mapping[str, CurrentInputs],
    plugins: PluginSet,
) -> dict[JobId, list[Diagnostic]]:
    """What is wrong with the manifests of the `frozen` jobs that are behind, by today's Environment. The manifests of
    the others are what today's inputs give, so nothing is found there that compiling them does not tell."""
    behind: dict[str, list[FrozenJob]] = {}
    for job in frozen:
        if current[job.id[0]].causes(job.lock.pins, job.id[1]):
            behind.setdefault(job.id[0], []).append(job)
    if not behind:
        return {}
    from trainform.core.applied import Applied, judge

    found: dict[JobId, list[Diagnostic]] = {}
    for environment, jobs in behind.items():
        read = [[load(*file) for file in rendered_files(repository, job).items()] for job in jobs]
        applied = [
            Applied(job.document, [document for file in files for document in file.documents])
            for job, files in zip(jobs, read, strict=True)
        ]
        with stdout_kept():
            judged = judge(applied, current[environment].inputs, plugins.plugins)
        for told, files in zip(judged, read, strict=True):
            told += [problem for file in files for problem in file.diagnostics if problem.code == PRIVATE_KEY]
        found |= {
            job.id: [_with_way_out(job, each) for each in told] for job, told in zip(jobs, judged, strict=True) if told
        }
    return found


def _with_way_out(job: FrozenJob, problem: Diagnostic) -> Diagnostic:
    """Nobody edits rendered files: the way out leads through the job."""
    _, namespace, name = job.id
    hint = (
        f"the job is frozen: run `trainform upgrade {namespace}/{name}` to render it from today's inputs, or change it"
    )
    return problem._replace(hint=hint)
