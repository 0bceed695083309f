"""The environments, runtimes and job files of a repository, read on demand."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted
from trainform.diagnostics.suggest import did_you_mean
from trainform.installed import PluginSet, unmet
from trainform.io.paths import BASELINE, file_bytes
from trainform.io.place import file_error, os_error
from trainform.io.repository import (
    ALL_SAVED,
    Listing,
    Repository,
    Unsaved,
    open_repository,
)
from trainform.io.settings import FILE
from trainform.workspace import InvocationError
from trainform.workspace.diff.scope import watched
from trainform.workspace.inputs import (
    EnvironmentInputs,
    SourceDocuments,
)
from trainform.workspace.lints import Kind, Lints, read_baseline
from trainform.workspace.shared.beside import gather_in_folders, is_job
from trainform.workspace.shared.environments import environments_of
from trainform.workspace.shared.reading import FileReader
from trainform.workspace.state import LockStore

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.source import Document


def discover(
    root: str,
    environments: Sequence[str] = (),
    paths: Sequence[str] | None = None,
    *,
    all_known: bool = False,
    unsaved: Unsaved = ALL_SAVED,
) -> Workspace:
    """Open the repository at `root`. `environments` limits it; `paths` replace the jobs folder of the settings.
    `all_known`: take every finding for known, to write a new baseline. `unsaved` texts replace files."""
    repository, problems = open_repository(root, unsaved)
    return Workspace(repository, problems, environments, paths, all_known=all_known)


class Workspace:
    """A repository and its lockfiles, read on demand and only once. `problems` are those of `trainform.yaml`; `asked`
    names the environments to use (empty: all)."""

    def __init__(
        self,
        repository: Repository,
        problems: Sequence[Diagnostic] = (),
        asked: Sequence[str] = (),
        paths: Sequence[str] | None = None,
        *,
        all_known: bool = False,
    ) -> None:
        self.repository = repository
        self.lints, unusable = _lints(repository, all_known)
        rules, installed = repository.settings.plugins, PluginSet.installed()
        self.plugins = installed.following(rules)
        self.problems = [*problems, *unusable, *unmet(rules, installed)]
        self.asked = asked
        self.locks = LockStore(repository)
        self.reads: dict[Document, Read] = {}
        self._paths = paths

    def reopened(self, unsaved: Unsaved) -> Workspace:
        """The same with other texts of job files. What jobs share, and which files there are, stays as it was read."""
        other = copy(self)
        other.repository = self.repository._replace(unsaved=unsaved)
        return other

    @cached_property
    def environments(self) -> list[EnvironmentInputs]:
        """Each environment that was asked for, without its jobs. Raises InvocationError for an unknown environment
        name."""
        check_asked(self.asked, self.all_environments, self.repository)
        found = [each for each in self.all_environments if not self.asked or each.name in self.asked]
        reader = FileReader(self.repository)
        for each in found:
            each.lints, each.plugins = self.lints, self.plugins
            each.sources.diagnostics += self.listing_problems
            each.sources.add(reader.read(self._runtimes.files, each))
        return found

    @cached_property
    def all_environments(self) -> list[EnvironmentInputs]:
        """Each environment of the repository, without runtimes and jobs."""
        return environments_of(self.repository)

    @cached_property
    def job_files(self) -> list[str]:
        """The job files, in order."""
        runtimes = set(self._runtimes.files)
        files = dict.fromkeys(file for listing in self._job_listings for file in listing.files)
        return [file for file in files if file not in runtimes]

    @property
    def runtime_files(self) -> list[str]:
        """The files of the repository's runtimes, in order."""
        return self._runtimes.files

    @property
    def is_complete(self) -> bool:
        """Whether every job of every environment is read."""
        return self._paths is None and not self.asked

    @property
    def listing_problems(self) -> list[Diagnostic]:
        """Errors from listing the files of runtimes and jobs."""
        listings = [self._runtimes, *self._job_listings]
        return [problem for listing in listings for problem in listing.diagnostics]

    @cached_property
    def _runtimes(self) -> Listing:
        return self.repository.runtimes()

    @cached_property
    def _job_listings(self) -> list[Listing]:
        if self._paths is None:
            return [self.repository.jobs()]
        return [self.repository.at(path) for path in self._paths]

    @cached_property
    def own_files(self) -> list[list[str]]:
        """The job files of each environment."""
        return [_own(each, self.job_files, self.repository) for each in self.environments]

    def takers(self, file: str) -> list[EnvironmentInputs]:
        """The environments, asked for or not, whose paths include a job file."""
        return [each for each, own in self._all_own_files if file in own]

    @cached_property
    def _all_own_files(self) -> list[tuple[EnvironmentInputs, set[str]]]:
        return [(each, {*_own(each, self.job_files, self.repository)}) for each in self.all_environments]

    def refuse_sparse_checkout(self) -> None:
        """Raises InvocationError if a sparse checkout leaves out what jobs are rendered from or to: a job whose lock
        is not on disk would count as new, and be rendered again."""
        from trainform.io.git import GitError, left_out

        root, folders = self.repository.root, watched(self.repository.settings)
        try:
            missing = left_out(root, folders)
        except GitError as error:
            raise InvocationError(f"cannot find out what the sparse checkout leaves out: {error}") from error
        if missing:
            needed = [folder for folder in folders if any(file.startswith(f"{folder}/") for file in missing)]
            ways = [f"`git sparse-checkout add {' '.join(needed)}`"] if needed else []
            raise InvocationError(
                f"the sparse checkout leaves out {counted(len(missing), 'file')} that trainform needs, such as "
                f"{missing[0]}: run {' or '.join([*ways, '`git sparse-checkout disable`'])}"
            )

    def read(self, files: Sequence[str] | None = None, *, beside: Sequence[str] = ()) -> list[EnvironmentInputs]:
        """The environments with the jobs in `files`; None means all files. Files `beside` them, without TrainJobs, give
        these jobs the objects that they name."""
        wanted = None if files is None else {*files, *beside}
        reader, environments = FileReader(self.repository), []
        for each, own in zip(self.environments, self.own_files, strict=True):
            sources = SourceDocuments([*each.sources.documents], [*each.sources.diagnostics], {})
            read = [file for file in own if wanted is None or file in wanted]
            sources.add(reader.read(read, each))
            if self._paths is not None:
                sources.add(reader.beside(read, each))
            if self._paths is not None or beside or wanted is None:
                gather_in_folders(sources)
            environments.append(replace(each, sources=sources, partial=wanted is not None, reads=self.reads))
        return environments

    def beside(self, file: str) -> list[str]:
        """The job files in the folder of `file` that hold objects, but no TrainJob."""
        reader, folder = FileReader(self.repository), posixpath.dirname(file)
        near = [each for each in self.job_files if posixpath.dirname(each) == folder and each != file]
        found = {each: [reader.read([each], inputs).documents for inputs in self.environments] for each in near}
        return [each for each, read in found.items() if any(read) and not any(is_job(d) for ds in read for d in ds)]


def _lints(repository: Repository, all_known: bool) -> tuple[Lints, list[Diagnostic]]:
    """The team's settings and its baseline, and why they cannot be used."""
    from trainform.api.selectors import matches_path

    rules, problems = repository.settings.lints, []
    try:
        for rule in rules:
            matches_path(rule.paths or (), "")
    except re.error as error:
        problems.append(file_error("TF703", FILE, f"lintsByPath has an invalid pattern: {error}"))
        rules = ()
    known: dict[Kind, int] = {}
    try:
        if not all_known:
            known, unreadable = read_baseline(file_bytes(repository.root, BASELINE))
            problems += unreadable
    except OSError as error:
        problems.append(os_error("TF701", BASELINE, error, "cannot be read"))
    return Lints(rules, known, all_known), problems


def _own(inputs: EnvironmentInputs, files: Sequence[str], repository: Repository) -> list[str]:
    """The job files that an environment uses."""
    from trainform.api.selectors import matching_paths

    if inputs.environment is None:
        return [*files] if inputs.document is not None or not inputs.folder else []
    jobs = inputs.environment.spec.jobs
    patterns = jobs.paths if "paths" in jobs.model_fields_set else [f"{repository.settings.jobs}/**"]
    return matching_paths(patterns, files)


def check_asked(asked: Sequence[str], found: Sequence[EnvironmentInputs], repository: Repository) -> None:
    """Raises InvocationError for a name that is no environment."""
    known, folders = [each.name for each in found], repository.environments()
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
            if (folder := f"{repository.settings.environments}/{name}") in folders:
                hint = f"{folder} has no document of kind: Environment; write one in {folder}/environment.yaml"
            raise InvocationError(f'no environment "{name}": {hint}', "--env")
