"""`trainform validate`: every problem, and nothing written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import chosen_environments, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.cli.targets import Target
    from trainform.diagnostics import Diagnostic


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
    from trainform.cli.compiling import compile_targets

    targets, problems = _targets(paths, root, env)
    documents = {id(document) for target in targets for document in target.inputs.documents}
    outcome = compile_targets(targets, problems, wants_job=not documents and not problems)
    diagnostics = outcome.all_diagnostics()
    _print(diagnostics, form, len(documents))
    return report_failures(outcome.failures) or _exit_code(diagnostics, fail_on)


def _targets(
    paths: tuple[str, ...], root: str | None, env: tuple[str, ...]
) -> tuple[list[Target], list[Diagnostic]]:
    from trainform.cli.targets import repository_targets, stream_target
    from trainform.io.repository import open_repository

    if "-" in paths:
        if len(paths) > 1:
            raise click.BadParameter('"-" stands alone: a stream is checked whole', param_hint="PATH")
        return [stream_target()], []
    repository, problems = open_repository(chosen_root(root))
    return repository_targets(repository, chosen_environments(env), paths or None), problems


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
