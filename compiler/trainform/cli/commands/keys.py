"""`trainform keys`: make the keys that jobs lack, encrypted."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic, Path
    from trainform.io.repository import Repository
    from trainform.keys.files import KeyTask
    from trainform.keys.making import Sealing

SECRETS: Path = ("spec", "secrets")


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def keys(jobs: tuple[str, ...], form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Create the missing keys of MPI and Flux jobs, encrypted.

    SSH keys and CURVE certificates are written to environments/<env>/keys/.

    JOB is [namespace/]name or a file path; without JOB, the missing keys of all jobs are created. Only
    environments with secrets mode sealed-secret or sops need key files. Existing files are never changed:
    to replace a key, delete its file first.
    """
    from trainform.io.repository import open_repository
    from trainform.keys.files import key_tasks

    repository, problems = open_repository(chosen_root(root))
    if problems:
        return _tell([], problems, form)
    tasks, problems = key_tasks(repository, jobs, chosen_environments(env))
    wrote = [path for task in tasks for path in _run(repository, task, problems)]
    return _tell(wrote, problems, form)


def _run(repository: Repository, task: KeyTask, problems: list[Diagnostic]) -> list[str]:
    """Writes the missing key files of one Environment: their paths. Adds what goes wrong to `problems`."""
    from trainform.io.repository import KEYS
    from trainform.keys.files import write_key
    from trainform.keys.making import MODES, Sealing, make_keys
    from trainform.keys.seal import SealingError

    if task.secrets.mode not in MODES:
        return []
    sealing = _sealing(repository, task)
    if not isinstance(sealing, Sealing):
        problems.append(sealing)
        return []
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        made = make_keys(task.needs, task.existing, sealing, os.urandom, now)
    except SealingError as error:
        problems.append(_refused(task, str(error)))
        return []
    files = {f"{task.folder}/{KEYS}/{name}": text for name, text in made}
    failed = {path: problem for path, text in files.items() if (problem := write_key(repository, path, text))}
    problems += failed.values()
    return [path for path in files if path not in failed]


def _sealing(repository: Repository, task: KeyTask) -> Sealing | Diagnostic:
    from trainform.keys.making import Sealing

    mode, certificate = task.secrets.mode, task.secrets.certificate
    if mode == "sops":
        return Sealing(mode, recipients=tuple(task.secrets.recipients))
    data = repository.read(f"{task.folder}/{certificate}")
    return Sealing(mode, data) if isinstance(data, bytes) else data


def _refused(task: KeyTask, reason: str) -> Diagnostic:
    from trainform.diagnostics import Diagnostic

    if task.secrets.mode == "sops":
        path, hint = (*SECRETS, "recipients"), "write the public key that `age-keygen -y` prints"
    else:
        path, hint = (*SECRETS, "certificate"), "write there what `kubeseal --fetch-cert` prints"
        reason = f"{task.secrets.certificate} {reason}"
    return Diagnostic("TF708", "error", reason, hint, path, task.document)


def _tell(wrote: list[str], problems: list[Diagnostic], form: str) -> int:
    from trainform.cli.terminal import print_diagnostics, print_json
    from trainform.diagnostics.documents import API_VERSION
    from trainform.diagnostics.order import has_errors, in_order

    if form == "json":
        told = [problem.to_json() for problem in in_order(problems)]
        print_json({"apiVersion": API_VERSION, "kind": "KeysResult", "wrote": wrote, "diagnostics": told})
    else:
        print_diagnostics(problems, sys.stderr)
        for path in wrote:
            print(f"wrote {path}")
        if not wrote and not problems:
            print("no key is missing")
    return FAULTY if has_errors(problems) else OK
