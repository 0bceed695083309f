"""Key files in the folder of an Environment: `environments/<env>/keys/<namespace>.<secret>.yaml`."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trainform.api import DEFAULT_ENVIRONMENT
from trainform.core.secrets import key_files
from trainform.diagnostics import Diagnostic
from trainform.io.place import file_error, os_error
from trainform.io.repository import KEYS, Repository, inside
from trainform.keys.make import make_secret
from trainform.keys.seal import MODES, Sealing, SealingError, encrypt
from trainform.output.emitter import emit
from trainform.workspace import InvocationError
from trainform.workspace.compilation import compile_environments
from trainform.workspace.discovery import discover
from trainform.workspace.selection import select

if TYPE_CHECKING:
    from trainform.api.environment import SecretHandling
    from trainform.core.compile import Compilation
    from trainform.core.secrets import SecretNeed
    from trainform.workspace.inputs import EnvironmentInputs

MISSING = "TF324"
ABOUT_KEYS = ("TF156", "TF325", "TF326", "TF901")
"""Errors about keys that new keys do not fix."""


@dataclass(slots=True)
class NewKeys:
    """The key files that were written, relative to the root, and what went wrong."""

    wrote: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def write_missing_keys(root: str, jobs: Sequence[str], environments: Sequence[str]) -> NewKeys:
    """Write the missing keys of jobs, encrypted, even for jobs that do not compile. Existing files are never changed.
    `jobs` are arguments as for `select`; empty means all, also for `environments`. An error of the repository stops
    everything. Returns all errors of named jobs except missing keys; of others, only errors about keys. Raises
    InvocationError."""
    workspace = discover(root, environments)
    if workspace.problems:
        return NewKeys(diagnostics=workspace.problems)
    inputs = workspace.read()
    problems = select(inputs, jobs, workspace.repository.root) if jobs else []
    outcome = compile_environments(inputs, problems, wants_job=False)
    errors = [each for each in outcome.diagnostics if each.severity == "error"]
    of_jobs = [each for job in outcome.jobs for each in job.diagnostics if _is_reported(each, bool(jobs))]
    new = NewKeys(diagnostics=[*errors, *of_jobs])
    if not errors:
        for each, compilation in zip(inputs, outcome.compilations, strict=True):
            _write_for(workspace.repository, each, compilation, new)
    return new


def _is_reported(problem: Diagnostic, is_named: bool) -> bool:
    if is_named:
        return problem.severity == "error" and problem.code != MISSING
    return problem.code in ABOUT_KEYS


def _write_for(repository: Repository, inputs: EnvironmentInputs, compilation: Compilation, new: NewKeys) -> None:
    """Write the missing keys of one Environment, and add them to `new`."""
    secrets = (inputs.environment or DEFAULT_ENVIRONMENT).spec.secrets
    if secrets.mode not in MODES:
        return
    sealing = _sealing(repository, inputs.folder, secrets)
    if isinstance(sealing, Diagnostic):
        new.diagnostics.append(sealing)
        return
    needs = [need for job in compilation.jobs for need in job.secrets]
    try:
        files = make_keys(needs, key_files(document.tree for document in inputs.sources.documents), sealing)
    except SealingError as error:
        new.diagnostics.append(_cannot_encrypt(inputs, secrets, str(error)))
        return
    for name, text in files.items():
        path = f"{inputs.folder}/{KEYS}/{name}"
        if problem := _write(repository, path, text):
            new.diagnostics.append(problem)
        else:
            new.wrote.append(path)


def _sealing(repository: Repository, folder: str, secrets: SecretHandling) -> Sealing | Diagnostic:
    if secrets.mode == "sops":
        return Sealing(secrets.mode, recipients=tuple(secrets.recipients))
    data = repository.read(f"{folder}/{secrets.certificate}")
    return Sealing(secrets.mode, data) if isinstance(data, bytes) else data


def make_keys(needs: Iterable[SecretNeed], existing: Container[tuple[str, str]], sealing: Sealing) -> dict[str, str]:
    """New keys for the `needs` not in `existing`: encrypted text by file name. Raises SealingError if `sealing` is
    unusable, InvocationError for a missing package."""
    missing = {need.id: need for need in needs if need.id not in existing}.values()
    if missing:
        _require_libraries()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {need.file: emit(encrypt(make_secret(need), sealing, os.urandom, now)) for need in missing}


def _require_libraries() -> None:
    for name in ("cryptography", "pyrage"):
        if find_spec(name) is None:
            hint = 'pip install "trainform[secrets]"'
            raise InvocationError(f"creating keys needs the package {name}: {hint}")


def _cannot_encrypt(inputs: EnvironmentInputs, secrets: SecretHandling, reason: str) -> Diagnostic:
    if secrets.mode == "sops":
        name, hint = "recipients", "write the public key that `age-keygen -y` prints"
    else:
        name, hint = "certificate", "write there what `kubeseal --fetch-cert` prints"
        reason = f"{secrets.certificate} {reason}"
    return Diagnostic("TF708", "error", reason, hint, ("spec", "secrets", name), inputs.document)


def _write(repository: Repository, path: str, text: str) -> Diagnostic | None:
    """Write a new file at `path`, relative to the root. An existing one is left alone and reported."""
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
