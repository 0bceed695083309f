"""`trainform validate`: every problem, and nothing written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import check_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.cli.compiling import Inputs
    from trainform.diagnostics import Diagnostic
    from trainform.io.repository import Repository


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "info"]),
    help="Exit 1 when there is no error but something as grave as this.",
)
@repository_options
def validate(
    paths: tuple[str, ...],
    form: str,
    fail_on: Literal["warning", "info"] | None,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Print every problem of the jobs and runtimes, and write nothing.

    PATH is a file or a folder, checked together with the repository's runtimes; without one,
    the whole repository is checked. "-" checks one YAML stream from stdin.
    """
    from trainform.cli.bug import report_failures
    from trainform.cli.compiling import compile_inputs
    from trainform.diagnostics.order import has_errors

    check_environments(env)
    inputs = _inputs(paths, chosen_root(root))
    outcome = compile_inputs(inputs, wants_job=not (inputs.documents or has_errors(inputs.diagnostics)))
    diagnostics = outcome.all_diagnostics()
    _print(diagnostics, form, len(inputs.documents))
    return report_failures(outcome.failures) or _exit_code(diagnostics, fail_on)


def _inputs(paths: tuple[str, ...], root: str) -> Inputs:
    from trainform.cli.compiling import read_repository, read_stream
    from trainform.io.repository import open_repository

    if "-" in paths:
        if len(paths) > 1:
            raise click.BadParameter('"-" stands alone: a stream is checked whole', param_hint="PATH")
        return read_stream()
    repository, problems = open_repository(root)
    inputs = _at(paths, repository) if paths else read_repository(repository)
    inputs.diagnostics[:0] = problems
    return inputs


def _at(paths: tuple[str, ...], repository: Repository) -> Inputs:
    """What `paths` name, with the repository's runtimes, which the jobs there will want."""
    from trainform.cli.compiling import read_files

    listings = [repository.runtimes(), *(repository.at(path) for path in paths)]
    inputs = read_files(repository, [file for listing in listings for file in listing.files])
    inputs.diagnostics[:0] = [problem for listing in listings for problem in listing.diagnostics]
    return inputs


def _exit_code(diagnostics: Sequence[Diagnostic], fail_on: Literal["warning", "info"] | None) -> int:
    from trainform.diagnostics.order import at_least, has_errors

    if has_errors(diagnostics):
        return FAULTY
    return DIFFERS if fail_on and at_least(fail_on, diagnostics) else OK


def _print(diagnostics: Sequence[Diagnostic], form: str, documents: int) -> None:
    from trainform.cli.terminal import print_diagnostics, print_json
    from trainform.diagnostics.documents import validate_result
    from trainform.diagnostics.order import counted

    if form == "json":
        print_json(validate_result(diagnostics))
    elif diagnostics:
        print_diagnostics(diagnostics, sys.stdout)
    else:
        print(f"no problems in {counted(documents, 'document')}")
