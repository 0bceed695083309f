"""`trainform check`: verify that rendered files match their inputs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from trainform.cli import DIFFERS, FAULTY, OK
from trainform.cli.options import (
    cache_option,
    chosen_root,
    chosen_shard,
    command,
    repository_options,
    scale_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.verify.verification import Verdict

ADVICE = {
    "stale": "its TrainJob changed: run `trainform render`",
    "edited": "differs from what trainform wrote: restore it with git, or delete it and run `trainform render`",
    "missing": "not rendered, or deleted: run `trainform render`",
    "orphan": "has no TrainJob: run `trainform render`, or remove it",
    "unproven": "rendered by another version of trainform since then: run check with that version",
}

PLUGIN_ADVICE = "jobs that it rendered before are unproven; give it a version, or run `trainform upgrade --all`"


@command()
@click.option("--base", metavar="REF", help="Also verify that frozen jobs have not changed since this commit.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@cache_option
@scale_options
@repository_options
def check(
    base: str | None,
    form: str,
    no_cache: bool,
    shard: str | None,
    workers: int,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Verify that rendered/ matches its inputs.

    Each job rendered by this version of trainform is compiled again from the inputs recorded in its lockfile
    and compared byte by byte. Jobs rendered by another version are only compared with their lockfile
    ("unproven"). A job that is behind its runtime or Environment counts as current. Nothing is written.
    The exit code is 1 if anything differs, 2 if a changed job has an error.
    """
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics import Diagnostic
    from trainform.diagnostics.order import has_errors
    from trainform.io.git import GitError
    from trainform.io.lock import exclusive
    from trainform.workspace.discovery import discover
    from trainform.workspace.verify.verification import verify

    chosen = chosen_root(root)
    with exclusive(chosen):
        workspace = discover(chosen, env)
        result = verify(workspace, chosen_shard(shard), workers, cached=not no_cache)
        problems = [*workspace.problems, *result.problems]
        if has_errors(problems):
            print_diagnostics(problems, sys.stderr)
            return FAULTY
        try:
            found, unproven = _compared(result.verdicts, workspace, base)
        except GitError as error:
            hint = "name a commit that this clone has, such as origin/main"
            print_diagnostics([Diagnostic("TF718", "error", f"--base: {error}", hint)], sys.stderr)
            return FAULTY
    _print(found, unproven, form)
    for package in sorted(result.changed_plugins):
        print_line(f"the code of {package} changed without a new version: {PLUGIN_ADVICE}", sys.stderr)
    print_diagnostics(result.faults, sys.stderr)
    if result.faults:
        return FAULTY
    return DIFFERS if unproven or not all(each.is_good for each in found) else OK


def _compared(
    verdicts: Sequence[Verdict], workspace: Workspace, base: str | None
) -> tuple[Sequence[Verdict], Sequence[JobId]]:
    if base is None:
        return verdicts, ()
    from trainform.io.git import commit_of
    from trainform.workspace.verify.base import compare_with

    return compare_with(commit_of(workspace.repository.root, base), verdicts, workspace.locks)


def _print(found: Sequence[Verdict], unproven: Sequence[JobId], form: str) -> None:
    from trainform.cli.terminal import print_line, print_result

    if form == "json":
        print_result("CheckResult", jobs=[_document(each) for each in found])
        return
    for each in found:
        if not each.is_good or each.job in unproven:
            name = "/".join(filter(None, each.job))
            print_line(f"{each.state} {name}: {_advice(each)}")
            for file in each.files:
                print_line(f"  {file}")
    print_line(_counts(found))


def _advice(verdict: Verdict) -> str:
    """What to do; a missing snapshot that is no longer current can only be restored with git."""
    from trainform.io.paths import SNAPSHOTS

    if any(file.startswith(f"{SNAPSHOTS}/") for file in verdict.files):
        return "its snapshot is missing or was edited: restore it with git, or run `trainform upgrade` for the job"
    return ADVICE[verdict.state]


def _document(verdict: Verdict) -> dict[str, Any]:
    environment, namespace, name = verdict.job
    where = {"environment": environment, "namespace": namespace, "name": name}
    return {**where, "state": verdict.state, "files": list(verdict.files)}


def _counts(found: Sequence[Verdict]) -> str:
    """`3 current, 1 stale`."""
    names = sorted({each.state for each in found}, key=["current", *ADVICE].index)
    return ", ".join(f"{sum(each.state == name for each in found)} {name}" for name in names) or "nothing is rendered"
