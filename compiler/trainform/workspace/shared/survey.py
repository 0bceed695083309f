"""What lies in `rendered/` outside of the jobs' own folders, compared byte by byte with what belongs there.

No file lists what several jobs own, so branches never collide in one. Each namespace has a few small files of its own:
one keeps its folder in git when its last job goes, since an engine prunes nothing from a path that is missing. Another
does so for the folder of its locks: git takes files that moved out of an emptied folder for a folder that was renamed,
and would ask where to put what another branch added there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform.io import paths
from trainform.io.links import DEEPEST
from trainform.io.paths import LOCKS, JobId
from trainform.output import flux
from trainform.output.kustomization import FILE, is_earlier_list
from trainform.output.layout import is_part, job_folder

if TYPE_CHECKING:
    from trainform.io.repository import Repository
    from trainform.workspace.discovery import Workspace

KEEP = ".gitkeep"
"""Keeps an empty folder in git. Every engine overlooks it: it is neither YAML nor JSON."""

Namespace = tuple[str, str]
"""Environment and name of a namespace."""


class Finding(NamedTuple):
    """A file that is not as it should be. `missing`: not there. `edited`: it holds something else than `wanted`.
    `outdated`: trainform wrote it, and it is no longer needed. `foreign`: trainform did not write it."""

    path: str
    state: Literal["missing", "edited", "outdated", "foreign"]
    wanted: bytes = b""


@dataclass(frozen=True, slots=True)
class Survey:
    """The layout that `jobs` should have. `engines` has the engine of each known environment, None if its Environment
    has errors."""

    repository: Repository
    jobs: Collection[JobId]
    engines: Mapping[str, str | None]

    @classmethod
    def of(cls, workspace: Workspace, jobs: Collection[JobId]) -> Survey:
        engines: dict[str, str | None] = {}
        for each in workspace.environments:
            known = each.environment is not None or each.document is None
            gitops = each.environment.spec.gitops if each.environment else None
            engines[each.name] = (gitops.engine if gitops else "none") if known else None
        return cls(workspace.repository, jobs, engines)

    @property
    def _rendered(self) -> str:
        return self.repository.settings.rendered

    def namespaces(self) -> set[Namespace]:
        """Those that have jobs, or had some: an engine still looks at their folder."""
        rendered = self._rendered
        found = {
            (environment, name)
            for environment in _folders(self.repository, rendered)
            for name in _folders(self.repository, f"{rendered}/{environment}")
        }
        kept = {each for each in found if paths.exists(self.repository.root, f"{rendered}/{'/'.join(each)}/{KEEP}")}
        return kept | {job[:2] for job in self.jobs}

    def lacking(self, namespaces: Collection[Namespace]) -> Iterator[Finding]:
        """The files of these namespaces that are missing or edited."""
        root = self.repository.root
        for path, wanted in self._wanted(namespaces).items():
            if not paths.exists(root, path):
                yield Finding(path, "missing", wanted)
            elif paths.file_bytes(root, path) != wanted:
                yield Finding(path, "edited", wanted)

    def findings(self, unrendered: Collection[JobId] = ()) -> Iterator[Finding]:
        """Everything that is wrong, in order of path within each kind. The folders of `unrendered` jobs are theirs."""
        namespaces = self.namespaces()
        yield from self.lacking(sorted(namespaces))
        wanted, root, rendered = self._wanted(namespaces), self.repository.root, self._rendered
        folders = {job_folder(rendered, *job) for job in self.jobs} | {"/".join((rendered, *job)) for job in unrendered}
        for path in [*_outside(root, rendered, folders), *_keepers(self.repository)]:
            if path not in wanted and not self._is_undecided(path):
                yield Finding(path, "outdated" if self._is_outdated(path) else "foreign")
        yield from (Finding(folder, "foreign") for folder in left_behind(self.repository, self.jobs))

    def _wanted(self, namespaces: Collection[Namespace]) -> dict[str, bytes]:
        """The files that the namespaces own, by path."""
        files: dict[str, bytes] = {}
        for environment, name in sorted(namespaces):
            files[f"{self._rendered}/{environment}/{name}/{KEEP}"] = b""
            files[f"{LOCKS}/{environment}/{name}/{KEEP}"] = b""
            if self.engines.get(environment) == "flux":
                files[self._flux_file(environment, name)] = self._flux_bytes(environment, name)
        return files

    def _flux_file(self, environment: str, name: str) -> str:
        return f"{self._rendered}/{flux.FOLDER}/{environment}/{name}.yaml"

    def _flux_bytes(self, environment: str, name: str) -> bytes:
        return flux.namespace_file(self.repository.settings.rendered_in_git, environment, name)

    def _is_undecided(self, path: str) -> bool:
        """Whether it is a file for Flux of an environment whose engine is unknown: it has errors, or is gone."""
        folder, environment, *_ = [*path.removeprefix(f"{self._rendered}/").split("/"), ""]
        return folder == flux.FOLDER and self.engines.get(environment) is None and self._is_flux_file(path)

    def _is_flux_file(self, path: str) -> bool:
        parts = path.removeprefix(f"{self._rendered}/{flux.FOLDER}/").removesuffix(".yaml").split("/")
        if len(parts) != 2 or not all(map(is_part, parts)) or path != self._flux_file(*parts):
            return False
        return paths.file_bytes(self.repository.root, path) == self._flux_bytes(*parts)

    def _is_outdated(self, path: str) -> bool:
        """Whether trainform wrote these very bytes: for a namespace that is gone, or as an earlier version."""
        if path.startswith(f"{LOCKS}/"):
            return paths.file_bytes(self.repository.root, path) == b""
        depth = path.removeprefix(f"{self._rendered}/").count("/")
        if path.endswith(f"/{FILE}") and depth in (1, 2):
            data = paths.file_bytes(self.repository.root, path)
            return data is not None and is_earlier_list(data)
        return self._is_flux_file(path)


def left_behind(repository: Repository, jobs: Collection[JobId]) -> list[str]:
    """Folders that still hold manifests of jobs that `trainform.yaml` now renders elsewhere. An engine that looks there
    goes on applying them. Looks at the default folder and at all folders at the root."""
    root, settings = repository.root, repository.settings
    others = {name for name in _folders(repository, ".") if name not in {f.split("/")[0] for f in settings.folders}}
    old = "rendered" if settings.rendered.split("/")[0] != "rendered" else ""
    candidates = sorted({*others, old} - {""})
    return [
        folder
        for folder in candidates
        if any(os.path.isdir(f"{root}/{folder}/{environment}/{name}/{job}") for environment, name, job in jobs)
    ]


def _folders(repository: Repository, folder: str) -> list[str]:
    """Real folders that are not hidden, sorted."""
    try:
        with os.scandir(os.path.join(repository.root, folder)) as found:
            names = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if not name.startswith(".") and is_part(name))


def _outside(root: str, folder: str, without: Collection[str]) -> Iterator[str]:
    """Every file and link below a folder, sorted, except in the folders `without`, and each folder that is too deep.
    Links are not followed: a link in the place of one of those folders is found, too."""
    if folder.count("/") >= DEEPEST or os.path.islink(f"{root}/{folder}"):
        yield folder
        return
    try:
        with os.scandir(f"{root}/{folder}") as found:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
    except FileNotFoundError:
        return
    except OSError:  # no folder, or one that nobody can look into
        yield folder
        return
    for name, is_folder in entries:
        path = f"{folder}/{name}"
        if not is_folder:
            yield path
        elif path not in without:
            yield from _outside(root, path, without)


def _keepers(repository: Repository) -> Iterator[str]:
    """What keeps folders of locks in git."""
    for environment in _folders(repository, LOCKS):
        for name in _folders(repository, f"{LOCKS}/{environment}"):
            if paths.exists(repository.root, path := f"{LOCKS}/{environment}/{name}/{KEEP}"):
                yield path
