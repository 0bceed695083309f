"""Sets up a case in a folder of its own, with bait beside it that no command may read or touch."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuzz.case import Case, Entry

SECRET = "bait-a1b2c3d4"
"""Stands in every file beside the repository: nothing that is printed or written may contain it."""

OUTSIDE = {
    "secret": f"password: {SECRET}\n",
    "jobs/other.yaml": f"# {SECRET}\nkind: TrainJob\nmetadata: {{name: {SECRET}}}\n",
    "folder/file": SECRET,
}

WHO = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
PACKAGES = os.pathsep.join(map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))))
DAY = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Place:
    """`root` holds the repository, `outside` the bait; `home` and `temporary` are the commands' own."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "repo"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    def variables(self) -> dict[str, str]:
        """The whole environment of a command: nothing of this machine's configuration reaches it."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": PACKAGES,
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "temporary"),
            "LC_ALL": "C.UTF-8",
            "TRAINFORM_DEBUG": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_AUTHOR_DATE": DAY,
            "GIT_COMMITTER_DATE": DAY,
            **dict.fromkeys(WHO, "somebody"),
        }

    def git(self, *arguments: str) -> bool:
        done = subprocess.run(["git", "-C", str(self.root), *arguments], env=self.variables(), capture_output=True)
        return done.returncode == 0

    def clear(self) -> None:
        """Remove everything, folders without permissions included."""
        for above, folders, _ in os.walk(os.fsencode(self.folder)):
            for name in folders:
                path = os.path.join(above, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(os.fsencode(self.folder), ignore_errors=True)


def set_up(case: Case, folder: Path) -> Place:
    place = Place(folder)
    place.clear()
    for name in ("repo", "home", "temporary"):
        (folder / name).mkdir(parents=True)
    for path, text in OUTSIDE.items():
        _write(place.outside, path, Entry(text=text))
    if case.git == "none":
        _write_all(place.root, case.files)
        return place
    place.git("init", "--quiet", "--initial-branch", "main")
    if case.git in ("dirty", "staged"):
        _write_all(place.root, case.base or case.files)
        _commit(place)
        _replace(place, case)
    else:
        _write_all(place.root, case.files)
        if case.git != "unborn":
            _commit(place)
    if case.git == "detached":
        place.git("checkout", "--quiet", "--detach")
    if case.git == "staged":
        place.git("add", "--all")
    return place


def _commit(place: Place) -> None:
    place.git("add", "--all")
    place.git("commit", "--quiet", "--allow-empty", "--message", "base")


def _replace(place: Place, case: Case) -> None:
    """The base becomes the case's files: what they lack is removed, what differs is written."""
    base = case.base or case.files
    for path in base.keys() - case.files.keys():
        target = os.fsencode(place.root / path)
        if os.path.islink(target) or os.path.isfile(target):
            os.unlink(target)
    _write_all(place.root, {path: entry for path, entry in case.files.items() if base.get(path) != entry})


def _write_all(root: Path, files: Mapping[str, Entry]) -> None:
    for path, entry in files.items():
        _write(root, path, entry)


def _write(root: Path, path: str, entry: Entry) -> None:
    """Write one path. One that another path rules out (a folder where a file is), or that the system does not allow, is
    left out: two mutations may contradict each other. Nothing is written through a link out of the root."""
    target = os.path.join(os.fsencode(root), os.fsencode(path))
    above = os.path.dirname(target)
    try:
        os.makedirs(above, exist_ok=True)
        if not os.path.realpath(above).startswith(os.path.realpath(os.fsencode(root))):
            return
        if os.path.lexists(target) and not os.path.isdir(target):
            os.unlink(target)
        _create(target, entry)
    except OSError:
        return


def _create(target: bytes, entry: Entry) -> None:
    match entry.kind:
        case "link":
            os.symlink(os.fsencode(entry.text), target)
        case "pipe":
            os.mkfifo(target)
        case "folder":
            os.makedirs(target, exist_ok=True)
        case "file":
            Path(os.fsdecode(target)).write_bytes(entry.data)
            if entry.mode != Entry().mode:
                os.chmod(target, entry.mode)


Listing = dict[str, str]
"""What is at each path: a digest of a file's bytes, a link's target, or the type of anything else."""


def listing(folder: Path, *, without: str = "") -> Listing:
    """Everything below a folder but empty folders, by path; `without` is a name at the top that is left out."""
    found: Listing = {}
    for above, folders, names in os.walk(folder):
        if above == str(folder):
            folders[:] = [name for name in folders if name != without]
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(above, name)))]:
            path = os.path.join(above, name)
            found[os.path.relpath(path, folder)] = _content(path)
    return found


def _content(path: str) -> str:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return f"link to {os.readlink(path)}"
    if not stat.S_ISREG(mode):
        return "special"
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def changed(before: Listing, after: Listing) -> list[str]:
    """The paths that differ, sorted."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
