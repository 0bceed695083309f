"""`trainform diff --live`: a server-side dry run of everything that is rendered for an environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainform.cluster import NotAllowed, NotFound, Rejected
from trainform.cluster.served import Served
from trainform.io.paths import folder_bytes, locked_jobs
from trainform.k8s.tree import Tree, metadata_of, name_of, text
from trainform.output.kustomization import FILE as LIST
from trainform.output.layout import job_folder
from trainform.review.live.dry_run import DryRunObject, LiveDiff, as_engines_apply, changes
from trainform.workspace import InvocationError
from trainform.workspace.diff.versions import objects_in
from trainform.workspace.discovery import discover
from trainform.workspace.live.access import cluster_of, one_environment

if TYPE_CHECKING:
    from trainform.cluster.client import Client
    from trainform.cluster.connection import Login
    from trainform.workspace.discovery import Workspace

MANAGER = "trainform"
"""The field manager of the dry runs. It owns nothing, as nothing is stored."""


class Manifest(NamedTuple):
    """A rendered object, and its file; empty where the file should have one."""

    file: str
    tree: Tree


def dry_run(root: str, asked: Sequence[str], login: Login, manager: str = MANAGER) -> LiveDiff:
    """What the cluster of one environment would do with its rendered objects. Raises InvocationError."""
    workspace = discover(root, asked)
    environment = one_environment(workspace).name
    manifests = [*_manifests(workspace, environment)]
    with cluster_of(workspace.repository.root, login) as connection:
        served = Served(connection.client)
        found = [_applied(connection.client, served, each, manager) for each in manifests]
        return LiveDiff(environment, found, connection.context, connection.server)


def _manifests(workspace: Workspace, environment: str) -> Iterator[Manifest]:
    repository = workspace.repository
    for job in locked_jobs(repository.root):
        if job[0] != environment:
            continue
        folder = job_folder(repository.settings.rendered, *job)
        try:
            files = folder_bytes(repository.root, folder)
        except OSError as error:
            raise InvocationError(f"{error.filename or folder}: {error.strerror or error}") from error
        if not files:
            yield Manifest(folder, {})
        for name, data in files.items():
            if name != LIST:
                yield from (Manifest(f"{folder}/{name}", tree) for tree in objects_in(name, data) or [{}])


def _applied(client: Client, served: Served, manifest: Manifest, manager: str) -> DryRunObject:
    tree = manifest.tree
    kind, version, namespace = text(tree, "kind"), text(tree, "apiVersion"), text(metadata_of(tree), "namespace")
    found = DryRunObject(manifest.file, kind, namespace, name_of(tree), "refused")
    if not tree:
        return found._replace(message="holds no object: run `trainform check`")
    if kind == "Secret":
        return found._replace(effect="skipped", message="the engine decrypts it first, and Secrets are not read")
    try:
        resource = served.find((version,), kind)
        if resource is None:
            return found._replace(message=f'no matches for kind "{kind}" in version "{version}": is it installed?')
        path = resource.path(namespace, name_of(tree))
        try:
            live = client.get(path)
        except NotFound:
            client.apply(resource, tree, manager)
            return found._replace(effect="create")
        after = client.apply(resource, as_engines_apply(tree, live), manager)
    except (Rejected, NotAllowed, NotFound) as error:
        return found._replace(message=str(error))
    fields = changes(live, after)
    return found._replace(effect="change" if fields else "none", fields=fields)
