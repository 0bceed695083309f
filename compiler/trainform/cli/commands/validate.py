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
    is_verbose,
    repository_options,
    scale_options,
)

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic, Severity
    from trainform.workspace.shards import Shard
    from trainform.workspace.streams.validate import Validation

FORMATS = ("text", "json", "sarif", "junit", "github")


@command()
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "info"]),
    help="Exit 1 on diagnostics of this severity or higher (errors exit 2).",
)
@click.option("--all", "everything", is_flag=True, help="On a terminal, show every finding, not one of each code.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Write the warnings and infos there are now to .trainform/baseline.json, so that only new ones are shown.",
)
@scale_options
@repository_options
def validate(
    paths: tuple[str, ...],
    form: str,
    fail_on: Literal["warning", "info"] | None,
    everything: bool,
    write_baseline: bool,
    shard: str | None,
    workers: int,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Report every problem in the repository.

    PATH is a file or a folder, which is checked together with the repository's runtimes. Without PATH, the
    whole repository is checked. "-" checks a YAML stream from stdin. Nothing is written, except for --write-baseline.

    Formats: sarif for code scanning, junit for test reports, github for workflow annotations.
    """
    if write_baseline:
        if paths or shard or env:
            raise click.UsageError("--write-baseline cannot be combined with PATH, --shard or --env")
        return _write_baseline(chosen_root(root), workers)
    found = _stream(paths) if "-" in paths else _repository(paths, chosen_shard(shard), workers, root, env)
    return print_findings(found, form, fail_on, root, everything=everything)


def print_findings(
    found: Validation,
    form: str,
    fail_on: Literal["warning", "info"] | None,
    root: str | None,
    *,
    everything: bool = False,
) -> int:
    """Print every problem; returns the exit code."""
    from trainform.cli.errors import report_failures
    from trainform.cli.streams import is_terminal

    if form == "text":
        _print(found, short=is_terminal(sys.stdout) and not (everything or is_verbose()))
    else:
        _print_for_machines(found, form, fail_on or "error", root)
    return report_failures(found.failures) or _exit_code(found.diagnostics, fail_on)


def _stream(paths: Sequence[str]) -> Validation:
    from trainform.workspace.inputs import read_stream
    from trainform.workspace.streams.validate import validate_stream

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


def _write_baseline(root: str, workers: int) -> int:
    """Make today's findings known. Errors are none: they are printed, and nothing is written."""
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import counted
    from trainform.io.paths import BASELINE
    from trainform.workspace.validate import write_baseline

    found = write_baseline(root, workers)
    errors = [each for each in found.diagnostics if each.severity == "error"]
    print_diagnostics(errors, sys.stderr)
    if not errors:
        print_line(f"wrote {BASELINE}: {counted(len(found.judged.findings), 'known finding')}")
    return FAULTY if errors else OK


def _print(found: Validation, *, short: bool) -> None:
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import counted

    if found.diagnostics:
        print_diagnostics(found.diagnostics, sys.stdout, short=short)
    else:
        print_line(f"no problems in {counted(found.documents, 'document')}")
    if known := len({each.diagnostic for each in found.judged.suppressed if each.kind == "external"}):
        from trainform.io.paths import BASELINE

        print_line(f"{counted(known, 'known finding')} not shown: see {BASELINE}")


def _print_for_machines(found: Validation, form: str, grave: Severity, root: str | None) -> None:
    from trainform.cli.terminal import print_bytes, print_json, print_page

    if form == "json":
        from trainform.diagnostics.documents import validate_result

        print_json(validate_result(found.diagnostics, found.judged.suppressed))
    elif form == "sarif":
        from trainform import __version__
        from trainform.diagnostics.sarif import sarif_log
        from trainform.io.resources import code_page, documentation

        suppressed = found.judged.suppressed
        print_json(sarif_log(found.diagnostics, __version__, _prefix(root), suppressed, code_page, documentation()))
    elif form == "junit":
        from trainform.diagnostics.junit import render_junit

        print_page(render_junit(found.diagnostics, sorted(found.files), grave))
    else:
        from trainform.diagnostics.github import render_github

        print_bytes(render_github(found.diagnostics, _prefix(root)).encode())


def _prefix(root: str | None) -> str:
    """The path from the git checkout's root to the repository's root, ending in a slash: services that show problems in
    files identify them by their path in the checkout."""
    from trainform.io.git import GitError, find_checkout

    try:
        return find_checkout(chosen_root(root)).prefix
    except GitError:
        return ""
