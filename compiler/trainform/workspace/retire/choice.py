"""Which jobs to retire: by name, by age, by what became of them in a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from trainform.io.git import last_changes
from trainform.k8s.tree import name_of, table, text
from trainform.workspace.diff.versions import version_rendered
from trainform.workspace.selection import job_id
from trainform.workspace.shared.beside import carried_with

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.k8s.tree import Tree
    from trainform.review.live.model import LiveStatus
    from trainform.source import Document
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

Finished = Mapping[str, Mapping[tuple[str, str], str]]
"""`Completed` or `Failed` by environment, then by namespace and name of the JobSet."""


class Criteria(NamedTuple):
    """All that are given must hold. `before`: files that git changed last before this time, in seconds since 1970.
    `finished` and `outcomes`: jobs whose JobSets ended so. `keep` has patterns of names that stay."""

    before: float | None = None
    finished: Finished | None = None
    outcomes: Collection[str] = ("Completed",)
    keep: Sequence[str] = ()


class Job(NamedTuple):
    """A TrainJob, and its environments."""

    document: Document
    environments: list[EnvironmentInputs]

    def ids(self) -> list[JobId]:
        return [job_id(each, self.document) for each in self.environments]

    @property
    def name(self) -> str:
        """`namespace/name`, as in the first environment."""
        return "/".join(self.ids()[0][1:])


def jobs_of(environments: Iterable[EnvironmentInputs]) -> list[Job]:
    """Every TrainJob once, in order."""
    found: dict[tuple[str, int, object], Job] = {}
    for inputs in environments:
        for document in inputs.train_jobs():
            where = (document.file, document.part.start, document.prefix)
            found.setdefault(where, Job(document, [])).environments.append(inputs)
    return list(found.values())


def choose(workspace: Workspace, jobs: Iterable[Job], criteria: Criteria) -> list[Job]:
    """The jobs that meet all criteria. Raises GitError, OSError."""
    left = [job for job in jobs if not _is_kept(job, criteria.keep)]
    if criteria.finished is not None:
        left = [job for job in left if _has_ended(workspace, job, criteria.finished, criteria.outcomes)]
    before = criteria.before
    if before is not None and left:
        files = {id(job): carried_with(job.document, workspace.repository.read) for job in left}
        changed = last_changes(workspace.repository.root, set[str]().union(*files.values()))
        left = [job for job in left if all(changed.get(each, before) < before for each in files[id(job)])]
    return left


def _is_kept(job: Job, patterns: Sequence[str]) -> bool:
    names = {each for _, namespace, name in job.ids() for each in (name, f"{namespace}/{name}")}
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _has_ended(workspace: Workspace, job: Job, finished: Finished, outcomes: Collection[str]) -> bool:
    """Whether its JobSet ended in each environment that it is rendered to. Where it was never rendered, or its
    environment was not asked about, it may still run."""
    for environment, namespace, name in job.ids():
        objects = version_rendered(workspace.locks, (environment, namespace, name)).objects
        names = [name_of(tree) for tree in objects if tree.get("kind") == "JobSet"]
        known = finished.get(environment, {})
        if not names or any(known.get((namespace, each)) not in outcomes for each in names):
            return False
    return True


def outcomes_in(status: LiveStatus) -> dict[tuple[str, str], str]:
    """The same from the document that `trainform status` prints."""
    words = {"finished": "Completed", "failed": "Failed"}
    return {(job.namespace, job.jobset): words[job.state] for job in status.jobs if job.state in words}


def outcomes_of(jobsets: Iterable[Tree]) -> dict[tuple[str, str], str]:
    """How JobSets ended, by namespace and name; those that did not are left out. JobSet sets a condition of type
    Completed or Failed (jobset.x-k8s.io/v1alpha2, `JobSetConditionType`)."""
    found = {}
    for tree in jobsets:
        conditions = table(tree, "status").get("conditions")
        ended = [
            text(each, "type")
            for each in (conditions if isinstance(conditions, list) else ())
            if isinstance(each, dict) and each.get("status") == "True" and each.get("type") in ("Completed", "Failed")
        ]
        if ended:
            found[text(table(tree, "metadata"), "namespace"), name_of(tree)] = ended[-1]
    return found
