"""Where trainform keeps what is true of this clone only: its lock, its cache, and which staging folders are its own.

That is git's own folder, or a folder of this user in the temporary one. Neither can come by a commit, so what lies
there may say that something was proven. A folder that anybody else could have placed counts as missing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from stat import S_ISDIR

from trainform.io.git import GitError, checkout_digest, git_folder

_NAME = "trainform"


def state_in_git(root: str) -> str | None:
    """The folder in git's own folder, created if missing; None without git, where it cannot be created, or where `.git`
    leads to another folder of the work tree, which a commit may have filled."""
    try:
        git = git_folder(root)
    except GitError:
        return None
    return _created(os.path.join(git, _NAME), 0o777) if os.path.isdir(git) else None


def state_folder(root: str) -> str | None:
    """The folder in git's own folder, or else this user's in the temporary folder; None if neither can be used."""
    in_git = state_in_git(root)
    if in_git is not None and os.access(in_git, os.W_OK):
        return in_git
    return _of_this_user()


def state_file(folder: str, root: str, purpose: str) -> str:
    """A file in such a folder. Several repositories in one checkout have different ones."""
    return os.path.join(folder, f"{checkout_digest(root)}{purpose}")


def _of_this_user() -> str | None:
    import tempfile

    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # elsewhere, the temporary folder is the user's own
    folder = _created(os.path.join(tempfile.gettempdir(), f"{_NAME}{user}"), 0o700)
    if folder is None or not user:
        return folder
    found = os.lstat(folder)
    return folder if found.st_uid == os.getuid() and not found.st_mode & 0o077 else None


def _created(folder: str, mode: int) -> str | None:
    """The folder, created if it is missing; None if it is a link or anything else."""
    with suppress(OSError):
        os.mkdir(folder, mode)
    try:
        return folder if S_ISDIR(os.lstat(folder).st_mode) else None
    except OSError:
        return None
