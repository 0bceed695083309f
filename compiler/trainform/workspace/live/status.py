"""`trainform status`: what is rendered, against the JobSets of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainform.diagnostics.suggest import did_you_mean
from trainform.io.paths import locked_jobs
from trainform.k8s.tree import Tree, name_of
from trainform.workspace import InvocationError
from trainform.workspace.diff.versions import version_rendered
from trainform.workspace.discovery import discover
from trainform.workspace.live.access import cluster_of, one_environment
from trainform.workspace.live.standing import Named, RenderedJobSets, Standing

if TYPE_CHECKING:
    from trainform.cluster.connection import Login
    from trainform.io.paths import JobId
    from trainform.review.live.model import LiveStatus
    from trainform.workspace.discovery import Workspace


def status(root: str, asked: Sequence[str], jobs: Sequence[str], login: Login) -> LiveStatus:
    """The jobs of one environment, or those that are named, and then no orphans. Raises InvocationError."""
    with standing(root, asked, jobs, login) as found:
        return found.status()


@contextmanager
def standing(root: str, asked: Sequence[str], jobs: Sequence[str], login: Login) -> Iterator[Standing]:
    """The same while it changes, as long as the connection stays. Raises InvocationError, in here for all that a
    cluster refuses."""
    workspace = discover(root, asked)
    environment = one_environment(workspace).name
    rendered = _rendered(workspace, environment)
    chosen = _chosen(rendered.own, jobs)
    with cluster_of(workspace.repository.root, login) as connection:
        yield Standing(environment, rendered, chosen, connection, with_orphans=not jobs)


def _rendered(workspace: Workspace, environment: str) -> RenderedJobSets:
    """Raises InvocationError if a rendered folder cannot be read."""
    own: dict[JobId, Tree] = {}
    others: set[Named] = set()
    unreadable: list[JobId] = []
    for job in locked_jobs(workspace.repository.root):
        try:
            objects = version_rendered(workspace.locks, job).objects
        except OSError as error:
            raise InvocationError(f"{error.filename or '/'.join(job)}: {error.strerror or error}") from error
        tree = next((each for each in objects if each.get("kind") == "JobSet"), None)
        if job[0] != environment:
            others.update({(job[1], name_of(tree))} if tree else ())
        elif tree is None:
            unreadable.append(job)
        else:
            own[job] = tree
    return RenderedJobSets(own, frozenset(others), unreadable)


def _chosen(own: Mapping[JobId, Tree], asked: Sequence[str]) -> list[JobId]:
    if not asked:
        return [*own]
    known = {name for _, namespace, job in own for name in (job, f"{namespace}/{job}")}
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InvocationError(f'no rendered job is named "{name}"{f": {hint}" if hint else ""}')
    return [job for job in own if job[2] in asked or f"{job[1]}/{job[2]}" in asked]
