"""A repository on disk: its root, its settings and its files."""

from __future__ import annotations

import os
from operator import attrgetter
from typing import NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.io.files import read_bytes
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


class Repository(NamedTuple):
    """`root` is an absolute path without links."""

    root: str
    settings: Settings = Settings()

    def jobs(self) -> Listing:
        return list_files(self.root, self.settings.jobs)

    def runtimes(self) -> Listing:
        return list_files(self.root, self.settings.runtimes)

    def all(self) -> Listing:
        runtimes, jobs = self.runtimes(), self.jobs()
        return Listing(runtimes.files + jobs.files, runtimes.diagnostics + jobs.diagnostics)

    def environments(self) -> list[str]:
        """The folders that may hold an Environment, sorted."""
        folder = self.settings.environments
        try:
            with os.scandir(os.path.join(self.root, folder)) as found:
                names = sorted(entry.name for entry in found if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [f"{folder}/{name}" for name in names if not name.startswith(".")]

    def listed(self, folder: str) -> Listing:
        """Every YAML or JSON file below a folder of the repository."""
        return list_files(self.root, folder)

    def at(self, path: str) -> Listing:
        """The file `path`, or the files below it; `path` is relative to the current folder, else to the root. Files
        outside the repository get absolute paths. The root itself stands for the repository's inputs, without
        output."""
        found = next(filter(os.path.exists, (path, os.path.join(self.root, path))), None)
        if found is None:
            return Listing([], [file_error("TF704", path, "no such file or folder")])
        real = os.path.realpath(found)
        if real == self.root:
            return self.all()
        within = inside(self.root, real)
        name = os.path.relpath(real, self.root).replace(os.sep, "/") if within else real
        if os.path.isdir(real):
            return list_files(self.root if within else real, name)
        return Listing([name], [])

    def read(self, file: str) -> bytes | Diagnostic:
        return read_file(self.root, file)


def is_template(file: str) -> bool:
    return file.endswith(TEMPLATES)


def find_root(start: str) -> str:
    """`start` or the nearest folder above it with a `trainform.yaml`; `start` if there is none."""
    folder = here = os.path.realpath(start)
    while not os.path.isfile(os.path.join(folder, FILE)):
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return folder


def open_repository(root: str) -> tuple[Repository, list[Diagnostic]]:
    """The repository at `root`; if `trainform.yaml` has errors, those and the default settings."""
    root = os.path.realpath(root)
    if not os.path.lexists(os.path.join(root, FILE)):
        return Repository(root), []
    data = read_file(root, FILE)
    if isinstance(data, Diagnostic):
        return Repository(root), [data]
    settings, problems = parse_settings(data)
    return Repository(root, settings), problems


def read_file(root: str, file: str) -> bytes | Diagnostic:
    """The contents of `file`, a path relative to `root`; a diagnostic (TF701) if it cannot be read."""
    try:
        return read_bytes(f"{root}/{file}")
    except OSError as error:
        return os_error("TF701", file, error, "cannot be read")


def list_files(root: str, folder: str) -> Listing:
    """All YAML and JSON files below `folder` that are not hidden; none if it is missing. Follows links only inside
    `root`: an untrusted repository must not make the compiler read, and print, other files of the machine."""
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


def _walk(root: str, folder: str, above: tuple[str, ...], listing: Listing) -> None:
    real = os.path.realpath(os.path.join(root, folder))
    if not inside(root, real):
        listing.diagnostics.append(_leads_out(folder))
        return
    if real in above:
        return  # a link to a folder above
    try:
        with os.scandir(real) as found:
            entries = sorted(found, key=attrgetter("name"))
    except OSError as error:
        listing.diagnostics.append(os_error("TF701", folder, error, "cannot be listed"))
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
    if entry.is_dir():
        _walk(root, path, above, listing)
    elif entry.name.endswith(ENDINGS):
        if entry.is_symlink() and not inside(root, os.path.realpath(entry.path)):
            listing.diagnostics.append(_leads_out(path))
        elif entry.is_symlink() or entry.is_file():
            listing.files.append(path)


def inside(root: str, path: str) -> bool:
    """Whether `path` is `root` or lies below it; both are absolute and without links."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _leads_out(path: str) -> Diagnostic:
    hint = "copy its target into the repository"
    return file_error("TF702", path, "is a link that leads out of the repository", hint)
