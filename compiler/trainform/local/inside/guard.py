"""The parent of one container: enters namespaces, mounts what the container sees, starts its command, passes signals
on, and lets no process outlive the command or `trainform run` itself.

    python -I -S guard.py SPECIFICATION

The specification is a JSON file, see `Specification`, and is deleted when it has been read: it may hold secrets.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, TypedDict

CANNOT_START = 125
"""Exit code if the container's surroundings cannot be made."""

START_ERROR = 128
"""Exit code of a container whose program is missing or cannot be executed. Kubernetes counts it as any failure, and
policies of a Job see it. Source: containerd `internal/cri/server/helpers.go`, errorStartExitCode."""

NEWNS, NEWUTS, NEWUSER = 0x20000, 0x4000000, 0x10000000
READ_ONLY, REMOUNT, BIND, MOVE, RECURSIVE, UNBINDABLE, PRIVATE = (
    1, 32, 4096, 8192, 16384, 1 << 17, 1 << 18,
)  # fmt: skip
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_KEPT = {1: 1, 2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of a mount, as `statvfs` tells them, that a remount must repeat."""

KILL_ALL = signal.SIGALRM
"""Tells this program to kill the container's processes at once."""

GRACE = 5.0
"""Seconds that processes get to end when `trainform run` itself was killed."""


class MountedPath(TypedDict):
    path: str
    source: str
    read_only: bool


class Specification(TypedDict):
    """`root`: an empty folder for the container's own root, with `mounts`; empty to use the machine's files as they
    are. `join`: files of namespaces to enter first: of users, then of the network. `new_user`: make a user namespace.
    `parent` is the process id of `trainform run`."""

    command: list[str]
    variables: dict[str, str]
    folder: str
    root: str
    mounts: list[MountedPath]
    hostname: str
    join: list[str]
    new_user: bool
    parent: int


def main(path: str) -> int:
    with open(path, encoding="utf-8") as file:
        specification: Specification = json.load(file)
    os.unlink(path)
    _end_with_parent(specification["parent"])
    try:
        if specification["root"]:
            _enter(specification)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot make what the container sees: {_told(error)}\n")
        return CANNOT_START
    return _watch(_start(specification))


# Namespaces and mounts


def _call(name: str, *arguments: Any, of: str = "") -> None:
    """A function of the C library. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}", of)


def _mount(source: str, target: str, kind: str = "", flags: int = 0) -> None:
    texts = (each.encode() if each else None for each in (source, target, kind))
    _call("mount", *texts, ctypes.c_ulong(flags), None, of=target)


def _enter(specification: Specification) -> None:
    """A mount and a host name namespace of its own, in a user namespace where that takes one."""
    for file in specification["join"]:
        with open(file, "rb") as namespace:
            _call("setns", namespace.fileno(), 0, of=file)
    user, group = os.getuid(), os.getgid()
    _call("unshare", NEWNS | NEWUTS | (NEWUSER if specification["new_user"] else 0))
    if specification["new_user"]:
        map_user(user, group)
    hostname = specification["hostname"].encode()
    _call("sethostname", hostname, len(hostname))
    _mount("", "/", flags=RECURSIVE | PRIVATE)
    root = specification["root"]
    _mount("tmpfs", root, "tmpfs")
    _mount("", root, flags=UNBINDABLE)
    points = Points.of(specification["mounts"])
    _fill("/", root, points, skip=root)
    for each in specification["mounts"]:
        if each["read_only"]:
            _make_read_only(root + os.path.realpath(each["path"]))
    os.chdir(root)
    _mount(root, "/", flags=MOVE)
    os.chroot(".")
    os.chdir("/")


def map_user(user: int, group: int) -> None:
    """In a new user namespace, this user is who it was."""
    for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{file}", "w", encoding="ascii") as out:
            out.write(text)


class Points:
    """Mount points as a tree: what is mounted here, and below."""

    def __init__(self) -> None:
        self.source = ""
        self.below: dict[str, Points] = {}

    @classmethod
    def of(cls, mounts: list[MountedPath]) -> Points:
        top = cls()
        for each in mounts:
            point = top
            for name in os.path.realpath(each["path"]).strip("/").split("/"):
                point = point.below.setdefault(name, cls())
            point.source = each["source"]
        return top


def _fill(source: str, target: str, points: Points, skip: str = "") -> None:
    """Make the folder `target` look like `source`, with the mounts in it. Where a mount point is missing, the folder
    around it becomes one in memory that holds what was there."""
    entries = _entries(source)
    if target == skip or any(name not in entries for name in points.below):
        if target != skip:
            _mount("tmpfs", target, "tmpfs")
        _copy_rights(source, target)
        for name, entry in entries.items():
            _mirror(entry, os.path.join(target, name))
    for name, point in points.below.items():
        below = os.path.join(target, name)
        _make_point(below, is_folder=not point.source or os.path.isdir(point.source))
        if point.source:
            _mount(point.source, below, flags=BIND | RECURSIVE)
        if point.below:
            _fill(point.source or os.path.join(source, name), below, point)


def _entries(folder: str) -> dict[str, os.DirEntry[str]]:
    """What is in a folder; nothing if there is none, or if this user may not look."""
    try:
        with os.scandir(folder) as found:
            return {each.name: each for each in found}
    except OSError:
        return {}


def _mirror(entry: os.DirEntry[str], target: str) -> None:
    if entry.is_symlink():
        os.symlink(os.readlink(entry.path), target)
        return
    _make_point(target, is_folder=entry.is_dir())
    try:
        _mount(entry.path, target, flags=BIND | RECURSIVE)
    except OSError:  # what this user may not even mount stays empty
        return


def _copy_rights(source: str, target: str) -> None:
    """The owner and mode of a folder; those of this user where there is none."""
    try:
        found = os.stat(source)
        os.chmod(target, found.st_mode & 0o7777)
        os.chown(target, found.st_uid, found.st_gid)
    except FileNotFoundError:
        os.chmod(target, 0o755)
    except OSError:  # an owner that this user namespace does not know
        return


def _make_point(path: str, *, is_folder: bool) -> None:
    if os.path.lexists(path):
        return
    if is_folder:
        os.mkdir(path, 0o755)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _make_read_only(path: str) -> None:
    flags = os.statvfs(path).f_flag
    kept = sum(mount for told, mount in _KEPT.items() if flags & told)
    _mount("", path, flags=BIND | REMOUNT | READ_ONLY | kept)


# Processes


def _end_with_parent(parent: int) -> None:
    """SIGTERM when `trainform run` dies, and the children of the container's processes become ours. Linux only."""
    if sys.platform != "linux":
        return
    for option, value in ((PR_SET_PDEATHSIG, signal.SIGTERM), (PR_SET_CHILD_SUBREAPER, 1)):
        with contextlib.suppress(OSError):  # kernels that only resemble Linux may have neither
            _call("prctl", option, value, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(CANNOT_START)


def _start(specification: Specification) -> int:
    """The container's first process."""
    child = os.fork()
    if child:
        return child
    try:
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(specification["folder"])
        command = specification["command"]
        os.execvpe(command[0], command, specification["variables"])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot start {_why(specification, error)}\n")
        sys.stderr.flush()
        os._exit(START_ERROR)


def _told(error: OSError | ValueError) -> str:
    """A ValueError is that of a NUL character, which the system can be given nowhere."""
    if isinstance(error, ValueError):
        return str(error)
    file = os.fsdecode(error.filename) if error.filename else ""
    return f"{file}: {error.strerror}" if file else str(error.strerror)


def _why(specification: Specification, error: OSError | ValueError) -> str:
    """The program or folder at fault, and what is wrong with it. A program is looked for in each folder of PATH, and
    the error is that of the last one: it would mislead. A ValueError is that of a NUL character."""
    program = specification["command"][0]
    if isinstance(error, ValueError):
        return f"{program}: {_told(error)}"
    if error.filename == specification["folder"]:
        return f"{program} in {error.filename}: {error.strerror}"
    if isinstance(error, FileNotFoundError) and "/" not in program:
        return f"{program}: it is in no folder of PATH; activate the environment that has it"
    return f"{program}: {error.strerror}"


def _watch(child: int) -> int:
    """Wait for the container's first process, pass signals on to it, then end all that it left; its exit code."""
    parent = os.getppid()

    def pass_on(number: int, _frame: object) -> None:
        if os.getppid() != parent:
            signal.setitimer(signal.ITIMER_REAL, GRACE)
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(child, number)

    def kill_now(_number: int, _frame: object) -> None:
        kill_descendants()
        signal.setitimer(signal.ITIMER_REAL, 0.05)  # until none is left

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, pass_on)
    signal.signal(KILL_ALL, kill_now)
    ended = status = 0
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, KILL_ALL):
        signal.signal(number, signal.SIG_IGN)
    end_all()
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def end_all() -> None:
    """Kill every descendant, again until there is none."""
    while kill_descendants():
        _reap()
        time.sleep(0.01)


def kill_descendants(but: frozenset[int] = frozenset()) -> list[int]:
    """Kill all that are below this process, except those that are below it through `but`. Elsewhere than on Linux
    they are not known, and the process group gets SIGTERM."""
    if sys.platform != "linux":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        return []
    found = [*descendants(os.getpid(), but)]
    for each in found:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return found


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


def descendants(of: int, but: frozenset[int] = frozenset()) -> Iterator[int]:
    """The processes below one, from /proc; not `but` and those below them."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (parent := _parent(name)):
            children.setdefault(parent, []).append(int(name))
    left = children.get(of, [])
    while left:
        each = left.pop()
        if each not in but:
            yield each
            left += children.get(each, [])


def _parent(process: str) -> int:
    """0 for a process that is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
