"""A repository on disk: its root, its settings and its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from errno import ELOOP
from operator import attrgetter
from typing import NamedTuple
from unicodedata import normalize

from trainform.diagnostics import Diagnostic
from trainform.io.files import read_plain
from trainform.io.links import LinkError, inside, located, look_again
from trainform.io.links import read_file as read_inside
from trainform.io.place import file_error, os_error
from trainform.io.settings import FILE, Settings, parse_settings

TEMPLATES = (".yaml.j2", ".yml.j2")
ENDINGS = (".yaml", ".yml", ".json", *TEMPLATES)

KEYS = "keys"
"""The folder for encrypted Secrets in an Environment's folder."""


class Listing(NamedTuple):
    """Sorted files, as paths relative to the root with `/`, and the problems of the search."""

    files: list[str]
    diagnostics: list[Diagnostic]


Unsaved = Mapping[str, bytes]
"""Texts that count instead of the files on disk, or in place of missing ones: the open buffers of an editor."""

ALL_SAVED: Unsaved = {}


class Repository(NamedTuple):
    """`root` is an absolute path without links. Inputs are read from `unsaved` first; what trainform wrote itself, such
    as lockfiles and manifests, is read from disk."""

    root: str
    settings: Settings = Settings()
    unsaved: Unsaved = ALL_SAVED

    def jobs(self) -> Listing:
        return self.listed(self.settings.jobs)

    def runtimes(self) -> Listing:
        return self.listed(self.settings.runtimes)

    def all(self) -> Listing:
        runtimes, jobs = self.runtimes(), self.jobs()
        return Listing(runtimes.files + jobs.files, runtimes.diagnostics + jobs.diagnostics)

    def environments(self) -> list[str]:
        """The folders that may hold an Environment, sorted."""
        folder = self.settings.environments
        try:
            with os.scandir(located(self.root, folder)) as found:
                names = sorted(entry.name for entry in found if _is_folder(entry))
        except (FileNotFoundError, NotADirectoryError, LinkError):
            names = []  # `open_repository` reports a link
        names = sorted({*names, *(path.split("/")[0] for path in self._unsaved_below(folder) if "/" in path)})
        return [f"{folder}/{name}" for name in names if not name.startswith(".")]

    def listed(self, folder: str) -> Listing:
        """Every YAML or JSON file below a folder of the repository."""
        return list_files(self.root, folder, [path for path in self._unsaved_below(folder) if path.endswith(ENDINGS)])

    def _unsaved_below(self, folder: str) -> list[str]:
        """Unsaved texts that are not hidden, as paths relative to `folder`."""
        above = f"{folder}/"
        below = [file.removeprefix(above) for file in self.unsaved if file.startswith(above)]
        return [path for path in below if not any(part.startswith(".") for part in path.split("/"))]

    def key_files(self, folder: str) -> list[str]:
        """Every file in the folder for keys of an Environment's `folder`, whatever its name ends with, sorted."""
        path = f"{folder}/{KEYS}"
        try:
            with os.scandir(located(self.root, path)) as found:
                names = sorted(entry.name for entry in found if entry.is_file(follow_symlinks=False))
        except OSError:
            names = []  # `listed` reports what is wrong with the folder
        unsaved = [name for name in self._unsaved_below(path) if "/" not in name]
        return [f"{path}/{name}" for name in sorted({*names, *unsaved})]

    def at(self, path: str) -> Listing:
        """The file `path`, or the files below it; `path` is relative to the current folder, else to the root. Files
        outside the repository get absolute paths; a link of the repository does not lead there. The root itself stands
        for the repository's inputs, without output."""
        found = next(filter(os.path.lexists, (path, os.path.join(self.root, path))), None)
        if found is None:
            return Listing([], [file_error("TF704", path, "no such file or folder")])
        real = os.path.realpath(found)
        if real == self.root:
            return self.all()
        within = inside(self.root, real)
        if not within and self._holds(found):
            return Listing([], [_link_error(path, LinkError(path, "leads out of the repository"))])
        name = os.path.relpath(real, self.root).replace(os.sep, "/") if within else real
        if not os.path.isdir(real):
            return Listing([name], [])
        if within:
            return self.listed(name)
        listing = list_files(real, ".")
        return Listing([os.path.normpath(os.path.join(real, file)) for file in listing.files], listing.diagnostics)

    def _holds(self, path: str) -> bool:
        """Whether `path`, or a folder above it, lies in the repository."""
        folder = os.path.abspath(path)
        while not inside(self.root, os.path.realpath(os.path.dirname(folder))):
            if folder == (folder := os.path.dirname(folder)):
                return False
        return True

    def read(self, file: str) -> bytes | Diagnostic:
        text = self.unsaved.get(file)
        return read_file(self.root, file) if text is None else text


def is_template(file: str) -> bool:
    return file.endswith(TEMPLATES)


def find_root(start: str) -> str:
    """`start` or the nearest folder above it with a `trainform.yaml`; `start` if there is none."""
    folder = here = os.path.realpath(start)
    while not os.path.lexists(os.path.join(folder, FILE)):
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return folder


def open_repository(root: str, unsaved: Unsaved = ALL_SAVED) -> tuple[Repository, list[Diagnostic]]:
    """The repository at `root`; if `trainform.yaml` has errors, those and the default settings."""
    look_again()
    root = os.path.realpath(root)
    settings, problems = Settings(), list[Diagnostic]()
    if FILE in unsaved or os.path.lexists(os.path.join(root, FILE)):
        data = Repository(root, unsaved=unsaved).read(FILE)
        settings, problems = (settings, [data]) if isinstance(data, Diagnostic) else parse_settings(data)
    try:
        located(root, settings.environments)
    except OSError as error:
        problems.append(_unreadable(settings.environments, error, "cannot be listed"))
    return Repository(root, settings, unsaved), problems


def read_file(root: str, file: str) -> bytes | Diagnostic:
    """The contents of `file`, a path relative to `root`, or an absolute one that a user named; a diagnostic (TF701,
    TF702) if it cannot be read."""
    try:
        return read_plain(file) if os.path.isabs(file) else read_inside(root, file)
    except OSError as error:
        return _unreadable(file, error, "cannot be read")


def list_files(root: str, folder: str, unsaved: Iterable[str] = ()) -> Listing:
    """All YAML and JSON files below `folder` that are not hidden; none if it is missing. Follows links only inside
    `root`: an untrusted repository must not make the compiler read, and print, other files of the machine. `unsaved`
    files below the folder, which need not be on disk, are among them."""
    listing = _on_disk(root, folder)
    if new := {f"{folder}/{path}" for path in unsaved}.difference(listing.files):
        listing.files[:] = sorted({*listing.files, *new}, key=lambda file: file.split("/"))
    listing.diagnostics.extend(_colliding(listing.files))
    return listing


def _on_disk(root: str, folder: str) -> Listing:
    listing = Listing([], [])
    try:
        os.lstat(os.path.join(root, folder))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return listing
    except OSError as error:  # a folder that cannot be looked at is not an empty one: its jobs would be removed
        listing.diagnostics.append(os_error("TF701", folder, error, "cannot be listed"))
        return listing
    _walk(root, folder, (), listing)
    return listing


def _colliding(files: list[str]) -> Iterator[Diagnostic]:
    """An error for each file that others shadow where case, or the form of an accent, does not count: a checkout there
    has only one of them, and the jobs of the others would be deleted."""
    first: dict[str, str] = {}
    for file in files:
        other = first.setdefault(_same_everywhere(file), file)
        if other is not file:
            message = f'is the same file as "{other}" on macOS and Windows'
            yield file_error("TF736", file, message, "rename one of the two")


def _same_everywhere(path: str) -> str:
    return path.lower() if path.isascii() else normalize("NFC", normalize("NFD", path).casefold())


def _walk(root: str, folder: str, above: tuple[str, ...], listing: Listing) -> None:
    try:
        real = located(root, folder)
        if real in above:
            return  # a link to a folder above
        with os.scandir(real) as found:
            entries = sorted(found, key=attrgetter("name"))
    except OSError as error:
        listing.diagnostics.append(_unreadable(folder, error, "cannot be listed"))
        return
    for entry in entries:
        name = entry.name
        if name.startswith("."):
            continue
        if name.endswith(ENDINGS) and entry.is_file(follow_symlinks=False):
            listing.files.append(f"{folder}/{name}")  # the usual case
        else:
            _list_entry(root, f"{folder}/{name}", entry, (*above, real), listing)


def _list_entry(root: str, path: str, entry: os.DirEntry[str], above: tuple[str, ...], listing: Listing) -> None:
    is_folder, is_ours = _is_folder(entry), entry.name.endswith(ENDINGS)
    problem = _link_problem(root, path) if entry.is_symlink() else None
    if problem and (is_folder or is_ours or problem.errno == ELOOP):
        listing.diagnostics.append(_unreadable(path, problem, "cannot be read"))
    elif is_folder:
        _walk(root, path, above, listing)
    elif is_ours:
        listing.files.append(path)


def _link_problem(root: str, path: str) -> OSError | None:
    """Why a link must not be followed; None for one that leads nowhere, which is reported when it is read."""
    try:
        located(root, path)
    except OSError as error:
        return error
    return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, or through a folder that may not be read
        return False


def _unreadable(path: str, error: OSError, doing: str) -> Diagnostic:
    return _link_error(path, error) if isinstance(error, LinkError) else os_error("TF701", path, error, doing)


def _link_error(path: str, error: LinkError) -> Diagnostic:
    return file_error("TF702", path, error.strerror or "", error.hint)
