"""Sparse checkouts: a job whose lockfile is tracked but not on disk would count as new, and lose its frozen state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainform.diagnostics.order import counted
from trainform.io.git import GitError, left_out
from trainform.workspace import InvocationError
from trainform.workspace.diff.scope import watched

if TYPE_CHECKING:
    from trainform.io.repository import Repository


def refuse_sparse_checkout(repository: Repository) -> None:
    """Raises InvocationError if a sparse checkout leaves out files that jobs are rendered from or to."""
    folders = watched(repository.settings)
    try:
        missing = left_out(repository.root, folders)
    except GitError as error:
        raise InvocationError(f"cannot find out which files the sparse checkout leaves out: {error}") from error
    if missing:
        needed = [folder for folder in folders if any(file.startswith(f"{folder}/") for file in missing)]
        ways = [f"`git sparse-checkout add {' '.join(needed)}`"] if needed else []
        raise InvocationError(
            f"the sparse checkout leaves out {counted(len(missing), 'file')} that trainform needs, such as "
            f"{missing[0]}: run {' or '.join([*ways, '`git sparse-checkout disable`'])}"
        )
