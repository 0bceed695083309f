"""Key files in the folder of an Environment: `environments/<env>/keys/<namespace>.<secret>.yaml`."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trainform.api import DEFAULT_ENVIRONMENT
from trainform.core.secrets import key_files
from trainform.diagnostics import Diagnostic
from trainform.io.links import LinkError
from trainform.io.place import file_error, os_error
from trainform.io.repository import KEYS, Repository
from trainform.io.staging import Staging, writing
from trainform.io.writer import create
from trainform.keys.make import make_secret
from trainform.keys.seal import MODES, Sealing, SealingError, encrypt
from trainform.output.emitter import emit
from trainform.workspace import InvocationError
from trainform.workspace.compilation import compile_environments
from trainform.workspace.discovery import discover
from trainform.workspace.selection import select

if TYPE_CHECKING:
    from trainform.api.environment import SecretHandling
    from trainform.core.compile import Compilation, CompiledJob
    from trainform.core.secrets import KeyFiles, SecretNeed
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
    """Write the missing keys, encrypted, of jobs that have no other error. Existing files are never changed. `jobs` are
    arguments as for `select`; empty means all, also for `environments`. An error of the repository stops everything.
    Returns the errors of named jobs and of those whose keys are therefore not made; of others, only errors about keys.
    Raises InvocationError."""
    workspace = discover(root, environments)
    if workspace.problems:
        return NewKeys(diagnostics=workspace.problems)
    inputs = workspace.read()
    problems = select(workspace, inputs, jobs) if jobs else []
    outcome = compile_environments(inputs, problems, wants_job=False)
    errors = [each for each in outcome.diagnostics if each.severity == "error"]
    new = NewKeys(diagnostics=errors)
    is_stopped = bool(errors)
    with writing(root) as staging:
        for each, compilation in zip(inputs, outcome.compilations, strict=True):
            work = _MissingKeys(workspace.repository, each, compilation)
            new.diagnostics += work.told(bool(jobs))
            if not is_stopped:
                work.write(staging, new)
    return new


@dataclass(slots=True)
class _MissingKeys:
    """The missing keys of one Environment."""

    repository: Repository
    inputs: EnvironmentInputs
    compilation: Compilation
    existing: KeyFiles = field(init=False)

    def __post_init__(self) -> None:
        self.existing = key_files(document.tree for document in self.inputs.sources.documents)

    @property
    def _secrets(self) -> SecretHandling:
        return (self.inputs.environment or DEFAULT_ENVIRONMENT).spec.secrets

    def told(self, are_named: bool) -> Iterator[Diagnostic]:
        """The errors to report of jobs."""
        for job in self.compilation.jobs:
            errors = _errors(job)
            is_told = are_named or (self._secrets.mode in MODES and self._lacks_a_key(job))
            yield from errors if is_told else (each for each in errors if each.code in ABOUT_KEYS)

    def _lacks_a_key(self, job: CompiledJob) -> bool:
        return any(need.id not in self.existing for need in job.secrets)

    def write(self, staging: Staging, new: NewKeys) -> None:
        """Write the keys, and add them to `new`."""
        secrets = self._secrets
        if secrets.mode not in MODES:
            return
        sealing = _sealing(self.repository, self.inputs.folder, secrets)
        if isinstance(sealing, Diagnostic):
            new.diagnostics.append(sealing)
            return
        needs = [need for job in self.compilation.jobs if not _errors(job) for need in job.secrets]
        try:
            files = make_keys(needs, self.existing, sealing)
        except SealingError as error:
            new.diagnostics.append(_cannot_encrypt(self.inputs, secrets, str(error)))
            return
        for name, text in files.items():
            path = f"{self.inputs.folder}/{KEYS}/{name}"
            if problem := _write(staging, path, text):
                new.diagnostics.append(problem)
            else:
                new.wrote.append(path)


def _errors(job: CompiledJob) -> list[Diagnostic]:
    """The errors of a job that new keys do not fix."""
    return [each for each in job.diagnostics if each.severity == "error" and each.code != MISSING]


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
    now = datetime.now(UTC)
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


def _write(staging: Staging, path: str, text: str) -> Diagnostic | None:
    """Write a new file at `path`, relative to the root. An existing one is left alone and reported."""
    try:
        create(staging, path, text.encode())
    except FileExistsError:
        return file_error("TF706", path, "is in the way: it is not a key file", "move it away")
    except LinkError as error:
        return file_error("TF702", path, error.strerror or "", "remove the link")
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")
    return None
