"""What is compiled for which environment: the files of a repository, sorted by destination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.place import WholeFile, file_error
from trainform.io.repository import KEYS, Repository, is_template
from trainform.workspace.target import Inputs, Target, load

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.source import Document


class Survey(NamedTuple):
    """A repository as far as it is read for every job: environments, facts, keys and runtimes. Of the files of
    jobs, only the names are known: those that go to each target, and all of them in order."""

    repository: Repository
    targets: list[Target]
    files: list[str]
    own_files: list[list[str]]
    reads: dict[Document, Read]

    def whole(self) -> list[Target]:
        """The targets with all of their jobs."""
        return self._read(self.files, partial=False)

    def part(self, files: Sequence[str]) -> list[Target]:
        """The targets with the jobs of some files."""
        return self._read(files, partial=True)

    def _read(self, files: Sequence[str], *, partial: bool) -> list[Target]:
        shared, wanted = _Files(self.repository), set(files)
        targets = []
        for target, own in zip(self.targets, self.own_files, strict=True):
            inputs = Inputs([*target.inputs.documents], [*target.inputs.diagnostics])
            inputs.add(shared.read([file for file in own if file in wanted], target))
            targets.append(replace(target, inputs=inputs, partial=partial, reads=self.reads))
        return targets


def repository_targets(
    repository: Repository, asked: Sequence[str], paths: Sequence[str] | None = None
) -> list[Target]:
    """The environments of a repository (only those `asked` for, where any are), each with its jobs.

    Without an Environment there is the one called `default`. With `paths`, the jobs are those of the
    files and folders that they name, instead of all.
    """
    return survey(repository, asked, paths).whole()


def survey(repository: Repository, asked: Sequence[str], paths: Sequence[str] | None = None) -> Survey:
    """What `repository_targets` gives, before the jobs are read."""
    targets = _environments(repository)
    _check_asked(asked, targets, repository)
    runtimes = repository.runtimes()
    jobs = [repository.jobs()] if paths is None else [repository.at(path) for path in paths]
    shared = _Files(repository)
    problems = [problem for listing in (runtimes, *jobs) for problem in listing.diagnostics]
    for target in targets:
        target.inputs.diagnostics += problems
        target.inputs.add(shared.read(runtimes.files, target))
    targets = [target for target in targets if not asked or target.name in asked]
    known = set(runtimes.files)
    files = [file for file in dict.fromkeys(file for listing in jobs for file in listing.files) if file not in known]
    return Survey(repository, targets, files, [_own(target, files, repository) for target in targets], {})


def load_all(repository: Repository, files: Iterable[str]) -> Inputs:
    """The documents of plain files, each file read once."""
    inputs = Inputs()
    for file in dict.fromkeys(files):
        data = repository.read(file)
        inputs.add(Inputs([], [data]) if isinstance(data, Diagnostic) else load(file, data))
    inputs.diagnostics += _keys_in_the_clear(inputs.documents)
    return inputs


def _keys_in_the_clear(documents: Iterable[Document]) -> list[Diagnostic]:
    """An error for each private key that lies in the repository without encryption, whether or not a job that is
    compiled asks for it: frozen jobs are not. Nothing of the file but its name is told."""
    secrets = [document for document in documents if document.tree.get("kind") == "Secret"]
    if not secrets:
        return []
    from trainform.core.secrets import is_in_the_clear, is_key_file

    hint = "consider it compromised: remove the file and create new keys with `trainform keys`"
    found = [document.file for document in secrets if is_key_file(document.tree) and is_in_the_clear(document.tree)]
    return [file_error("TF156", file, "contains an unencrypted key", hint) for file in dict.fromkeys(found)]


class _Files:
    """Reads files for several environments: a plain file once, a template with each one's values."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._plain: dict[str, Inputs] = {}

    def read(self, files: Iterable[str], target: Target) -> Inputs:
        inputs = Inputs()
        for file in dict.fromkeys(files):
            if is_template(file):
                inputs.add(self._template(file, target))
                continue
            if file not in self._plain:
                self._plain[file] = load_all(self._repository, [file])
            inputs.add(self._plain[file])
        return inputs

    def _template(self, file: str, target: Target) -> Inputs:
        from trainform.source.templates.load import load_template

        data = self._repository.read(file)
        if isinstance(data, Diagnostic):
            return Inputs([], [data])
        values = target.environment.spec.values if target.environment else {}
        loaded = load_template(data, file, values)
        return Inputs(loaded.documents, loaded.diagnostics)


def _environments(repository: Repository) -> list[Target]:
    """A target for each folder below `environments/` that holds an Environment, with its facts and keys, or
    something that may have been meant for one."""
    targets = [_environment(repository, folder) for folder in repository.environments()]
    return [target for target in targets if target is not None] or [Target()]


def _environment(repository: Repository, folder: str) -> Target | None:
    from trainform.api import Environment, read
    from trainform.api.kinds import is_of_ours, subject
    from trainform.api.selectors import matches_path

    name = folder.rsplit("/", 1)[-1]
    listing = repository.listed(folder)
    inputs = Inputs([], list(listing.diagnostics))
    inputs.add(load_all(repository, [file for file in listing.files if not is_template(file)]))
    inputs.diagnostics = [_without_key_lines(each, f"{folder}/{KEYS}/") for each in inputs.diagnostics]
    own = [document for document in inputs.documents if subject(document.tree)[0] == "environment"]
    if not own:
        meant = [document for document in inputs.documents if is_of_ours(document.tree)]
        return Target(name, folder, inputs=Inputs(meant, inputs.diagnostics)) if meant or inputs.diagnostics else None
    model = read(own[0]).model
    environment = model if isinstance(model, Environment) else None
    if environment is not None and environment.name != name:
        inputs.diagnostics.append(_misnamed(own[0], environment.name, name))
    patterns = environment.spec.cluster.files if environment else None
    kept = [*own]
    for document in inputs.documents:
        within = document.file.removeprefix(f"{folder}/")
        is_key = within.startswith(f"{KEYS}/")
        if document not in own and (is_key or patterns is None or matches_path(patterns, within)):
            kept.append(document)
    return Target(name, folder, environment, own[0], Inputs(kept, inputs.diagnostics))


def _without_key_lines(problem: Diagnostic, folder: str) -> Diagnostic:
    """A problem of a key file without the line that it stands in: a key may be there in the clear."""
    if not problem.file.startswith(folder):
        return problem
    return problem._replace(place=WholeFile(problem.file), at=problem.position)


def _misnamed(document: Document, name: str, folder: str) -> Diagnostic:
    message = f"Environment {name!r} is in folder {folder!r}, but both must have the same name"
    hint = f"write name: {folder}, or rename the folder"
    return Diagnostic("TF709", "error", message, hint, ("metadata", "name"), document)


def _own(target: Target, files: Sequence[str], repository: Repository) -> list[str]:
    """Those of the files of jobs that go to a target."""
    from trainform.api.selectors import matching_paths

    if target.environment is None:
        return [*files] if target.document is not None or not target.folder else []
    jobs = target.environment.spec.jobs
    patterns = jobs.paths if "paths" in jobs.model_fields_set else [f"{repository.settings.jobs}/**"]
    return matching_paths(patterns, files)


def _check_asked(asked: Sequence[str], targets: Sequence[Target], repository: Repository) -> None:
    known, folders = [target.name for target in targets], repository.environments()
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
            if (folder := f"{repository.settings.environments}/{name}") in folders:
                hint = f"{folder} has no document of kind: Environment; write one in {folder}/environment.yaml"
            raise click.BadParameter(f'no environment "{name}": {hint}', param_hint="--env")
