"""The environments of a repository: the Environment in each folder, its facts and its key files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.io.place import WholeFile
from trainform.io.repository import KEYS, Repository, is_template
from trainform.io.settings import FILE
from trainform.workspace.inputs import EnvironmentInputs, SourceDocuments, private_keys
from trainform.workspace.shared.reading import load_files

if TYPE_CHECKING:
    from trainform.api import Environment
    from trainform.source import Document


def environments_of(repository: Repository) -> list[EnvironmentInputs]:
    """One for each folder below `environments/` with an Environment, another trainform document, or an unreadable file,
    which may be an Environment."""
    found = [_environment(repository, folder) for folder in repository.environments()]
    return [each for each in found if each is not None] or [EnvironmentInputs()]


def _environment(repository: Repository, folder: str) -> EnvironmentInputs | None:
    from trainform.api import Environment, read
    from trainform.api.kinds import is_of_ours, subject

    name = folder.rsplit("/", 1)[-1]
    sources = _folder_sources(repository, folder)
    own = [document for document in sources.documents if subject(document.tree)[0] == "environment"]
    if not own:
        meant = [document for document in sources.documents if is_of_ours(document.tree)]
        if not (meant or sources.diagnostics):
            return None
        return EnvironmentInputs(name=name, folder=folder, sources=SourceDocuments(meant, sources.diagnostics))
    model = read(own[0]).model
    environment = model if isinstance(model, Environment) else None
    if environment is not None and environment.name != name:
        sources.diagnostics.append(_misnamed(own[0], environment.name, name))
    if environment is not None and environment.spec.gitops.engine != "none":
        sources.diagnostics += _misplaced(repository, own[0])
    facts = _facts(environment, folder, [each for each in sources.documents if each not in own])
    return EnvironmentInputs(
        name=name,
        folder=folder,
        environment=environment,
        document=own[0],
        sources=SourceDocuments([*own, *facts], sources.diagnostics),
    )


def _folder_sources(repository: Repository, folder: str) -> SourceDocuments:
    """The documents of the plain files in an environment's folder."""
    listing = repository.listed(folder)
    sources = SourceDocuments([], list(listing.diagnostics))
    loaded = [file for file in listing.files if not is_template(file)]
    sources.add(load_files(repository, loaded))
    for file in sorted({*repository.key_files(folder)} - {*loaded}):
        data = repository.read(file)
        sources.diagnostics += private_keys(file, data) if isinstance(data, bytes) else [data]
    sources.diagnostics = [_without_key_lines(each, f"{folder}/{KEYS}/") for each in sources.diagnostics]
    return sources


def _facts(environment: Environment | None, folder: str, documents: Iterable[Document]) -> list[Document]:
    """The key files and the facts that the Environment lists; without a list, all other documents."""
    from trainform.api.selectors import matches_path

    patterns = environment.spec.cluster.files if environment else None
    if patterns is None:
        return list(documents)
    named = ((each.file.removeprefix(f"{folder}/"), each) for each in documents)
    return [each for file, each in named if file.startswith(f"{KEYS}/") or matches_path(patterns, file)]


def _without_key_lines(problem: Diagnostic, folder: str) -> Diagnostic:
    """Drop the source line of a key file's problem: it may show an unencrypted key."""
    if not problem.file.startswith(folder):
        return problem
    return problem._replace(place=WholeFile(problem.file), at=problem.position)


def _misnamed(document: Document, name: str, folder: str) -> Diagnostic:
    message = f"Environment {name!r} is in folder {folder!r}, but both must have the same name"
    hint = f"write name: {folder}, or rename the folder"
    return Diagnostic("TF709", "error", message, hint, ("metadata", "name"), document)


def _misplaced(repository: Repository, document: Document) -> list[Diagnostic]:
    """A warning where `repositoryPath` differs from where git sees the root: the engine would look elsewhere."""
    from trainform.io.git import GitError, find_checkout

    try:
        place = find_checkout(repository.root).prefix.rstrip("/")
    except GitError:
        return []
    said = repository.settings.repository_path
    if place == said:
        return []
    message = f'the engine looks for manifests in "{repository.settings.rendered_in_git}" of the git repository, '
    message += f'but this folder is its "{place}"' if place else "but this folder is its top"
    hint = f'write "repositoryPath: {place}" in {FILE}, and run `trainform render`'
    if not place:
        hint = f"remove repositoryPath from {FILE}, and run `trainform render`"
    return [Diagnostic("TF750", "warning", message, hint, ("spec", "gitops", "engine"), document)]
