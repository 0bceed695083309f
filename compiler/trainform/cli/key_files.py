"""Key files in the folder of an Environment: `environments/<env>/keys/<namespace>.<secret>.yaml`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainform.cli.targets import load
from trainform.diagnostics import Diagnostic, Place
from trainform.io.place import WholeFile, file_error, os_error
from trainform.io.repository import Repository, inside, list_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.api.environment import Secrets
    from trainform.core.secrets import KeyFiles, SecretNeed

KEYS = "keys"
"""Their folder, within the Environment's."""


@dataclass(frozen=True, slots=True)
class KeyTask:
    """One Environment, its folder relative to the root, its document, and what its jobs need of keys."""

    environment: str
    folder: str
    document: Place | None
    secrets: Secrets
    needs: list[SecretNeed] = field(default_factory=list)


def key_tasks(
    repository: Repository, jobs: Sequence[str], env: Sequence[str]
) -> tuple[list[KeyTask], list[Diagnostic]]:
    """A task for each Environment of `env` (all, where that is empty), with what the `jobs` asked for need.

    A job needs its keys whether it compiles or not: a missing key file is an error of the compile.
    The diagnostics are those that leave needs unknown.
    """
    from trainform.api import DEFAULT_ENVIRONMENT
    from trainform.cli.compiling import compile_targets
    from trainform.cli.selection import select
    from trainform.cli.targets import repository_targets

    targets = repository_targets(repository, env)
    problems = select(targets, jobs, repository.root) if jobs else []
    outcome = compile_targets(targets, problems)
    tasks = []
    for target, compilation in zip(targets, outcome.compilations, strict=True):
        environment = target.environment or DEFAULT_ENVIRONMENT
        needs = [need for job in compilation.jobs for need in job.secrets]
        tasks.append(KeyTask(target.name, target.folder, target.document, environment.spec.secrets, needs))
    return tasks, [problem for problem in outcome.diagnostics if problem.severity == "error"]


def read_keys(repository: Repository, folder: str) -> tuple[KeyFiles, list[Diagnostic]]:
    """The encrypted Secrets among the files of `<folder>/keys`. Problems never show a line of these files."""
    from trainform.core.secrets import key_files

    listing = list_files(repository.root, f"{folder}/{KEYS}")
    trees, problems = [], listing.diagnostics
    for file in listing.files:
        data = repository.read(file)
        if isinstance(data, Diagnostic):
            problems.append(data)
            continue
        loaded = load(file, data)
        trees += [document.tree for document in loaded.documents]
        problems += [_without_excerpt(problem, file) for problem in loaded.diagnostics]
    return key_files(trees), problems


def _without_excerpt(problem: Diagnostic, file: str) -> Diagnostic:
    return replace(problem, place=WholeFile(file), at=problem.position)


def write_key(repository: Repository, path: str, text: str) -> Diagnostic | None:
    """Write a new file, `path` being relative to the root; what is there already is left alone and told."""
    target = os.path.join(repository.root, path)
    folder = os.path.dirname(target)
    if not inside(repository.root, os.path.realpath(folder)):
        return file_error("TF702", path, "leads out of the repository", "remove the link")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(target, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return file_error("TF706", path, "is in the way: it is not the key file of that name", "move it away")
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")
    return None
