"""`trainform ci`: validate, check and diff of a pull request in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os.path import realpath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from trainform.cli import DIFFERS, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.workspace.diff.difference import Difference
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.pull_request.examination import Examined

FINDINGS = {".sarif": "sarif", ".xml": "junit", ".json": "json", ".txt": "text"}
VERDICTS = {".json": "json", ".txt": "text"}
CHANGES = {".md": "markdown", ".html": "html", ".json": "json", ".txt": "text"}
"""The format of a file by how its name ends."""


class Printout(NamedTuple):
    """A file to write, and the format that its name asks for."""

    file: str
    form: str


def _targets(formats: dict[str, str], ctx: click.Context, param: click.Parameter, files: Any) -> list[Printout]:
    found = []
    for file in files:
        form = formats.get(PurePath(file).suffix)
        if form is None:
            raise click.BadParameter(f'"{file}": the name must end in {", ".join(formats)}', ctx, param)
        found.append(Printout(file, form))
    return found


def _files(name: str, formats: dict[str, str], what: str) -> Callable[[Any], Any]:
    shown = ", ".join(f"{ending} ({form})" for ending, form in formats.items())
    text = f"Write {what} to this file, in the format of its ending: {shown}. Can be repeated."
    return click.option(name, multiple=True, metavar="FILE", callback=partial(_targets, formats), help=text)


@command()
@click.option("--base", default="HEAD", show_default=True, metavar="REF", help="The commit to compare with.")
@_files("--validate", FINDINGS, "the problems that `validate` finds")
@_files("--check", VERDICTS, "what `check --base` says")
@_files("--diff", CHANGES, "what `diff` says")
@click.option(
    "--annotate",
    type=click.Choice(["github"]),
    help="Print problems as workflow annotations, whether or not there is a file for them.",
)
@click.option("--fail-on", type=click.Choice(["warning", "info"]), help="Exit 1 on problems of this severity too.")
@click.option("--changes-pass", is_flag=True, help="Exit 0 if jobs change and nothing is wrong.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Number of processes. Default: one each.")
@repository_options
def ci(
    base: str,
    validate: list[Printout],
    check: list[Printout],
    diff: list[Printout],
    annotate: str | None,
    fail_on: Literal["warning", "info"] | None,
    changes_pass: bool,
    workers: int | None,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Validate, check and diff a pull request in one process.

    Says what `validate`, `check --base REF` and `diff --base REF` say, but reads and compiles the repository once.
    Each part is printed, unless you name a file for it:

    \b
      trainform ci --base origin/main --validate findings.sarif --diff comment.md

    The exit code is the highest of the three, so it is 1 if a job changes; with --changes-pass, a change alone
    does not count.
    """
    from trainform.cli.commands.check import print_verdicts
    from trainform.cli.commands.diff import print_difference
    from trainform.cli.commands.validate import print_findings

    _refuse_double([*validate, *check, *diff])
    chosen = chosen_root(root)
    workspace, examined, compared, commit = _read(chosen, base, env, workers or 0)
    findings = partial(print_findings, examined.validation, fail_on=fail_on, root=chosen, everything=True)
    if annotate and validate:
        findings(annotate)
    verdicts = partial(print_verdicts, examined.verification, workspace, commit)
    changes = partial(print_difference, compared.diff, compared.outcome)
    codes = [
        _tell(findings, validate, annotate or "text", chosen),
        _tell(verdicts, check, "text", chosen),
        _tell(changes, diff, "text", chosen),
    ]
    if changes_pass and codes[2] == DIFFERS:
        codes[2] = OK
    return max(codes)


def _refuse_double(targets: Sequence[Printout]) -> None:
    """Raises UsageError if two parts go to one file: the second would replace the first."""
    first: dict[str, str] = {}
    for file, _ in targets:
        place = realpath(file)
        if place in first:
            raise click.UsageError(f"{first[place]} and {file} are one file: give each part a file of its own")
        first[place] = file


class PullRequest(NamedTuple):
    """All that is to be told, and the commit that `base` is; None before the first commit."""

    workspace: Workspace
    examined: Examined
    compared: Difference
    commit: str | None


def _read(root: str, base: str, env: tuple[str, ...], workers: int) -> PullRequest:
    from trainform.io.git import GitError, NoRepository
    from trainform.io.lock import exclusive
    from trainform.workspace.diff.difference import diff as compare
    from trainform.workspace.discovery import discover
    from trainform.workspace.pull_request.examination import examine

    with exclusive(root):
        workspace = discover(root, env)
        workspace.refuse_sparse_checkout()
        try:
            commit = _commit(root, base)
            compared = compare(workspace.repository, workspace.problems, commit or base, env, cached=False)
        except GitError as error:
            source = click.get_current_context().get_parameter_source("base")
            if isinstance(error, NoRepository) and source is click.core.ParameterSource.DEFAULT:
                raise click.ClickException(f"ci compares with a commit of git, and {error}") from error
            raise click.BadParameter(str(error), param_hint="--base") from error
        except OSError as error:
            raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error
        return PullRequest(workspace, examine(workspace, workers), compared, commit)


def _commit(root: str, base: str) -> str | None:
    """The commit of a ref, which may move while we read; None if nothing is committed and none was asked for."""
    from trainform.io.git import NoCommit, commit_of

    try:
        return commit_of(root, base)
    except NoCommit:
        if click.get_current_context().get_parameter_source("base") is click.core.ParameterSource.DEFAULT:
            return None
        raise


def _tell(part: Callable[[str], int], targets: Sequence[Printout], form: str, root: str) -> int:
    """Print one part, or write it to each of its files; returns its exit code."""
    from trainform.io.streams import captured
    from trainform.io.writer import write_output

    if not targets:
        return part(form)
    code = OK
    for target in targets:
        code, data = captured(partial(part, target.form))
        try:
            write_output(root, target.file, data)
        except OSError as error:
            raise click.ClickException(f"{target.file}: {error.strerror or error}") from error
    return code
