"""`trainform keys`: create the missing keys of jobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.keys.files import NewKeys


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def keys(jobs: tuple[str, ...], form: str, root: str | None, env: tuple[str, ...]) -> int:
    """Create the missing keys of MPI and Flux jobs, encrypted.

    SSH keys and CURVE certificates are written to environments/<env>/keys/.

    JOB is [namespace/]name or a file path; without JOB, the missing keys of all jobs are created. Only
    environments with secrets mode sealed-secret or sops need key files. Existing files are never changed:
    to replace a key, delete its file first.
    """
    from trainform.diagnostics.order import has_errors
    from trainform.keys.files import write_missing_keys

    new = write_missing_keys(chosen_root(root), jobs, env)
    _print(new, form)
    return FAULTY if has_errors(new.diagnostics) else OK


def _print(new: NewKeys, form: str) -> None:
    from trainform.cli.terminal import print_diagnostics, print_line, print_result
    from trainform.diagnostics.order import in_order

    if form == "json":
        told = [problem.to_json() for problem in in_order(new.diagnostics)]
        print_result("KeysResult", wrote=new.wrote, diagnostics=told)
        return
    print_diagnostics(new.diagnostics, sys.stderr)
    for path in new.wrote:
        print_line(f"wrote {path}")
    if not new.wrote and not new.diagnostics:
        print_line("no key is missing")
