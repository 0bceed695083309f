"""The way from a repository to the cluster of one of its environments. Which cluster, and how to log in, comes from the
user alone: a repository that could name a kubeconfig, a context or a server could run a program, or send a token
elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainform.cluster import ClusterError
from trainform.io.links import inside
from trainform.workspace import InvocationError

if TYPE_CHECKING:
    from trainform.cluster.connection import Connection, Login
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs


@contextmanager
def cluster_of(root: str, login: Login) -> Iterator[Connection]:
    """A connection to the cluster. Raises InvocationError for all that the cluster, or the way to it, refuses."""
    from trainform.cluster.connection import connected, kubeconfig_files

    top = _top(root)
    for file in kubeconfig_files(login):
        if inside(top, os.path.realpath(file)):
            message = f"{file} lies in the repository, and a kubeconfig may start programs: use one from outside of it"
            raise InvocationError(message, "--kubeconfig" if login.files else "")
    try:
        with connected(login) as connection:
            yield connection
    except ClusterError as error:
        raise InvocationError(str(error)) from error


def _top(root: str) -> str:
    """The folder of all that a commit can bring: that of the checkout, which may hold more than the project."""
    from trainform.io.git import GitError, find_checkout

    try:
        return find_checkout(root).top
    except GitError:
        return os.path.realpath(root)


def one_environment(workspace: Workspace) -> EnvironmentInputs:
    """The environment that was asked for. Raises InvocationError if it could be another one: each is a cluster."""
    from trainform.workspace.discovery import check_asked

    known = workspace.all_environments
    check_asked(workspace.asked, known, workspace.repository)
    found = [each for each in known if not workspace.asked or each.name in workspace.asked]
    if len(found) != 1:
        names = ", ".join(each.name for each in found)
        raise InvocationError(f"each environment is a cluster of its own: name one of {names} with --env")
    return found[0]
