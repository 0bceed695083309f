"""Where the paths of a repository lead. Links within it are followed; nothing is read, written or listed outside of it
or in git's own folder, whatever the repository contains."""

from __future__ import annotations

import errno
import os
from stat import S_ISLNK

from trainform.io.files import NotPlainFile, read_plain

_HFS_IGNORES = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
"""Code points that HFS+ ignores in names. Source: git's `utf8.c`."""

DEEPEST = 100
"""Most folders that a path may have. Git holds two thousand, which is more than a walk through folders can call."""

_CIRCLE = "is a link that leads back to itself"
_IN_GIT = "lies in git's own folder", "choose another name: some file systems take this one for .git"


class LinkError(OSError):
    """A path that leads out of the repository, into git's own folder, or (ELOOP) in a circle; `strerror` says which,
    `hint` what to do."""

    def __init__(self, path: str, where: str, hint: str = "copy its target into the repository") -> None:
        super().__init__(errno.ELOOP if where == _CIRCLE else errno.EPERM, where, path)
        self.hint = hint


def inside(root: str, path: str) -> bool:
    """Whether `path` is `root` or lies below it; both are absolute and without links."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def is_git_name(name: str) -> bool:
    """Whether some file system takes a part of a path for `.git`: one that ignores case, NTFS (short names, streams,
    blanks and dots at the end) or HFS+. Source: git's `is_ntfs_dotgit` and `is_hfs_dotgit`."""
    return folded(name) in (".git", "git~1")


def folded(name: str) -> str:
    """A name as the most tolerant file system compares it."""
    return name.translate(_HFS_IGNORES).casefold().partition(":")[0].rstrip(" .")


def names_git(path: str) -> bool:
    """Whether a part of `path` is a name for git's own folder."""
    if path.isascii() and "git" not in path.lower():
        return False  # nearly every path
    return any(map(is_git_name, path.replace("\\", "/").split("/")))


def located(root: str, path: str) -> str:
    """The real path of `path`, which is relative to `root` and need not exist. `root` is absolute and without links.
    Raises LinkError, and OSError for a folder that must not be searched or that is too deep."""
    if names_git(path):
        raise LinkError(path, *_IN_GIT)
    if path.count("/") >= DEEPEST:
        raise OSError(errno.ENAMETOOLONG, f"lies more than {DEEPEST} folders deep", path)
    if ".." in path.split("/") or not _has_no_link(root, path):
        return _followed(root, path)
    return f"{root}/{path}"


_known: set[str] = set()
"""Folders that hold other folders, and have no link in their path. One look at each is enough for a command: a commit
changes nothing while it runs, and we make no links."""


def look_again() -> None:
    """Forget what is known of folders: another command begins."""
    _known.clear()


def _has_no_link(root: str, path: str) -> bool:
    above = path.rpartition("/")[0]
    if above and (folder := f"{root}/{above}") not in _known:
        if not _has_no_link(root, above):
            return False
        _known.add(folder)
    try:
        return not S_ISLNK(os.lstat(f"{root}/{path}").st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except ValueError as error:  # a zero byte, a lone surrogate
        raise OSError(errno.EINVAL, "not a valid path", path) from error


def beneath(root: str, path: str) -> str:
    """Like `located`, but if `path` itself is a link, it is not followed: where to write, remove or look."""
    above, _, name = path.rpartition("/")
    if names_git(name):
        raise LinkError(path, *_IN_GIT)
    return f"{located(root, above)}/{name}" if above else f"{root}/{name}"


def leads_out(root: str, path: str) -> bool:
    """Whether links in `path` lead out of the repository, into git's own folder, or in a circle."""
    try:
        located(root, path)
    except OSError as error:
        return isinstance(error, LinkError)
    return False


def read_file(root: str, path: str) -> bytes:
    """The contents of a regular file of the repository at `root`, or at the end of a link within it. Raises LinkError,
    NotPlainFile and other errors of `OSError`."""
    try:
        place = beneath(root, path)
        try:
            return read_plain(place)
        except NotPlainFile:
            if not os.path.islink(place):
                raise
        return read_plain(located(root, path))
    except ValueError as error:
        raise OSError(errno.EINVAL, "not a valid path", path) from error


def _followed(root: str, path: str) -> str:
    place = os.path.join(root, path)
    try:
        real = os.path.realpath(place, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        real = os.path.realpath(place)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkError(path, _CIRCLE, "remove it") from error
        raise
    if not inside(root, real):
        raise LinkError(path, "leads out of the repository")
    if names_git(os.path.relpath(real, root).replace(os.sep, "/")):
        raise LinkError(path, "leads into git's own folder")
    return real
