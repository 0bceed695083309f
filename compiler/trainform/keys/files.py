"""Key files in the folder of an Environment: `environments/<env>/keys/<namespace>.<secret>.yaml`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic, Place
from trainform.io.place import file_error, os_error
from trainform.io.repository import Repository, inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.api.environment import Secrets
    from trainform.core.compile import Compilation
    from trainform.core.secrets import KeyFiles, SecretNeed
    from trainform.workspace.target import Target

MISSING = "TF324"
ABOUT_KEYS = ("TF156", "TF325", "TF326", "TF901")
"""Errors of jobs that new keys do not mend."""


@dataclass(frozen=True, slots=True)
class KeyTask:
    """What the jobs of one Environment need of keys, and which key files it has.

    `folder` is the Environment's, relative to the root; `document` its own.
    """

    folder: str
    document: Place | None
    secrets: Secrets
    needs: list[SecretNeed]
    existing: KeyFiles


def key_tasks(
    repository: Repository, jobs: Sequence[str], env: Sequence[str]
) -> tuple[list[KeyTask], list[Diagnostic]]:
    """A task for each Environment of `env` (all, where that is empty), with what the `jobs` asked for need.

    A job needs its keys whether it compiles or not. Told are errors of the repository, with which there is no
    task, and those of jobs: of jobs asked for by name all but missing keys, of others those about keys.
    """
    from trainform.workspace.compiling import compile_targets
    from trainform.workspace.discovery import repository_targets
    from trainform.workspace.selection import select

    targets = repository_targets(repository, env)
    problems = select(targets, jobs, repository.root) if jobs else []
    outcome = compile_targets(targets, problems, wants_job=False)
    errors = [each for each in outcome.diagnostics if each.severity == "error"]
    tasks = [] if errors else [_task(*each) for each in zip(targets, outcome.compilations, strict=True)]
    faults = [each for job in outcome.jobs for each in job.diagnostics if _is_told(each, bool(jobs))]
    return tasks, [*errors, *faults]


def _is_told(problem: Diagnostic, asked: bool) -> bool:
    if asked:
        return problem.severity == "error" and problem.code != MISSING
    return problem.code in ABOUT_KEYS


def _task(target: Target, compilation: Compilation) -> KeyTask:
    from trainform.api import DEFAULT_ENVIRONMENT
    from trainform.core.secrets import key_files

    secrets = (target.environment or DEFAULT_ENVIRONMENT).spec.secrets
    needs = [need for job in compilation.jobs for need in job.secrets]
    existing = key_files(document.tree for document in target.inputs.documents)
    return KeyTask(target.folder, target.document, secrets, needs, existing)


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
        return file_error("TF706", path, "is in the way: it is not a key file", "move it away")
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")
    return None
