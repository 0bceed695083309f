"""`trainform validate`: report every problem, write nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import (
    chosen_root,
    chosen_shard,
    command,
    repository_options,
    scale_options,
)

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic, Severity
    from trainform.workspace.shards import Shard
    from trainform.workspace.validate import Validation

FORMATS = ("text", "json", "sarif", "junit", "github")


@command()
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "info"]),
    help="Exit 1 on diagnostics of this severity or higher (errors exit 2).",
)
@scale_options
@repository_options
def validate(
    paths: tuple[str, ...],
    form: str,
    fail_on: Literal["warning", "info"] | None,
    shard: str | None,
    workers: int,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Report every problem in the repository; write nothing.

    PATH is a file or a folder, which is checked together with the repository's runtimes. Without PATH, the
    whole repository is checked. "-" checks a YAML stream from stdin.

    Formats: sarif for code scanning, junit for test reports, github for workflow annotations.
    """
    from trainform.cli.errors import report_failures

    found = _stream(paths) if "-" in paths else _repository(paths, chosen_shard(shard), workers, root, env)
    if form in ("text", "json"):
        _print(found.diagnostics, form, found.documents)
    else:
        _print_for_machines(found.diagnostics, form, sorted(found.files), fail_on or "error", chosen_root(root))
    return report_failures(found.failures) or _exit_code(found.diagnostics, fail_on)


def _stream(paths: Sequence[str]) -> Validation:
    from trainform.workspace.inputs import read_stream
    from trainform.workspace.validate import validate_stream

    if len(paths) > 1:
        raise click.BadParameter('"-" cannot be combined with other paths', param_hint="PATH")
    return validate_stream(read_stream(sys.stdin.buffer.read()))


def _repository(paths: Sequence[str], shard: Shard, workers: int, root: str | None, env: tuple[str, ...]) -> Validation:
    from trainform.workspace.discovery import discover
    from trainform.workspace.validate import validate as validate_workspace

    workspace = discover(chosen_root(root), env, paths or None)
    return validate_workspace(workspace, shard, workers)


def _exit_code(diagnostics: Sequence[Diagnostic], fail_on: Literal["warning", "info"] | None) -> int:
    from trainform.diagnostics.order import at_least, has_errors

    if has_errors(diagnostics):
        return FAULTY
    return DIFFERS if fail_on and at_least(fail_on, diagnostics) else OK


def _print(diagnostics: Sequence[Diagnostic], form: str, documents: int) -> None:
    from trainform.cli.terminal import print_diagnostics, print_json, print_line
    from trainform.diagnostics.documents import validate_result
    from trainform.diagnostics.order import counted

    if form == "json":
        print_json(validate_result(diagnostics))
    elif diagnostics:
        print_diagnostics(diagnostics, sys.stdout)
    else:
        print_line(f"no problems in {counted(documents, 'document')}")


def _print_for_machines(
    diagnostics: Sequence[Diagnostic], form: str, files: Sequence[str], grave: Severity, root: str
) -> None:
    from trainform.cli.terminal import print_bytes, print_json, print_page

    if form == "sarif":
        from trainform import __version__
        from trainform.diagnostics.sarif import sarif_log

        print_json(sarif_log(diagnostics, __version__, _prefix(root)))
    elif form == "junit":
        from trainform.diagnostics.junit import render_junit

        print_page(render_junit(diagnostics, files, grave))
    else:
        from trainform.diagnostics.github import render_github

        print_bytes(render_github(diagnostics, _prefix(root)).encode())


def _prefix(root: str) -> str:
    """The path from the git checkout's root to the repository's root, ending in a slash: services that show problems in
    files identify them by their path in the checkout."""
    from trainform.io.git import GitError, find_checkout

    try:
        return find_checkout(root).prefix
    except GitError:
        return ""
