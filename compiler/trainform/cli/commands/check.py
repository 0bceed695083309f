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

    from trainform.workspace.discovery import Workspace
    from trainform.workspace.verify.verdict import Verdict
    from trainform.workspace.verify.verification import Verification

ADVICE = {
    "mispinned": "changed since the base, but is pinned to inputs that are neither current nor the base's: run "
    "`trainform upgrade {job}`, or restore its lockfile and manifests with git",
    "stale": "its TrainJob changed: run `trainform render`",
    "edited": "differs from what trainform wrote: restore it with git, or delete it and run `trainform render`",
    "missing": "not rendered, or deleted: run `trainform render`",
    "orphan": "has no TrainJob: run `trainform render`, or remove it",
    "foreign": "trainform did not write this, and an engine may apply it: move it elsewhere, or remove it",
}
"""What to do about each state that is not good."""

PLUGIN_ADVICE = "jobs rendered before are unproven; run `trainform upgrade --all` to render them again"


@command()
@click.option("--base", metavar="REF", help="Also verify what changed since this commit, such as the target branch.")
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

    \b
    With --base, a job that changed since that commit must also be
    - byte for byte the same, if its TrainJob and its pins in the lockfile are;
    - else rendered from the current runtime and Environment, or from those
      that it had at that commit ("mispinned" otherwise).

    The exit code is 1 if anything differs, 2 if a changed job has an error.
    """
    from trainform.io.lock import exclusive
    from trainform.workspace.discovery import discover
    from trainform.workspace.verify.verification import verify

    chosen = chosen_root(root)
    with exclusive(chosen):
        workspace = discover(chosen, env)
        workspace.refuse_sparse_checkout()
        return print_verdicts(
            verify(workspace, chosen_shard(shard), workers, cached=not no_cache), workspace, base, form
        )


def print_verdicts(result: Verification, workspace: Workspace, base: str | None, form: str) -> int:
    """Compare with the base, and print; returns the exit code."""
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics import Diagnostic
    from trainform.diagnostics.order import has_errors
    from trainform.io.git import GitError, NoRepository

    problems = [*workspace.problems, *result.problems]
    if has_errors(problems):
        print_diagnostics(problems, sys.stderr)
        return FAULTY
    try:
        found = _compared(result, workspace, base)
    except GitError as error:
        is_clone = not isinstance(error, NoRepository)
        hint = "name a commit that this clone has, such as origin/main" if is_clone else "run it in a clone, with git"
        print_diagnostics([Diagnostic("TF718", "error", f"--base: {error}", hint)], sys.stderr)
        return FAULTY
    _print(found, form)
    for change in sorted(result.changed_plugins):
        print_line(f"{change}: {PLUGIN_ADVICE}", sys.stderr)
    print_diagnostics([*result.faults, *result.unselected], sys.stderr)
    if has_errors([*result.faults, *result.unselected]):
        return FAULTY
    return OK if all(each.is_good for each in found) else DIFFERS


def _compared(verified: Verification, workspace: Workspace, base: str | None) -> Sequence[Verdict]:
    if base is None:
        return verified.verdicts
    from trainform.io.git import commit_of
    from trainform.workspace.verify.base import compare_with

    return compare_with(commit_of(workspace.repository.root, base), verified, workspace)


def _print(found: Sequence[Verdict], form: str) -> None:
    from trainform.cli.terminal import print_line, print_result

    if form == "json":
        print_result("CheckResult", jobs=[_document(each) for each in found])
        return
    for each in found:
        if not each.is_good:
            name = "/".join(filter(None, each.job)) or each.files[0]
            print_line(f"{each.state} {name}: {_advice(each)}")
            for pin in each.pins:
                print_line(f"  {pin.file}:{pin.line}: {pin.message}")
            for file in each.files if not each.pins else ():
                print_line(f"  {file}")
    print_line(_counts(found))


def _advice(verdict: Verdict) -> str:
    """What to do; a missing snapshot that is no longer current can only be restored with git."""
    from trainform.io.paths import SNAPSHOTS
    from trainform.output.kustomization import FILE

    if verdict.state == "stale" and any(file.endswith(f"/{FILE}") for file in verdict.files):
        return f"an earlier version of trainform wrote {FILE}: run `trainform render`, which removes it"
    if verdict.state == "stale" and not verdict.job[2]:
        return "no longer needed: run `trainform render`, which removes it"
    if any(file.startswith(f"{SNAPSHOTS}/") for file in verdict.files):
        return "its snapshot is missing or was edited: restore it with git, or run `trainform upgrade` for the job"
    return ADVICE[verdict.state].format(job="/".join(verdict.job[1:]))


def _document(verdict: Verdict) -> dict[str, Any]:
    environment, namespace, name = verdict.job
    where = {"environment": environment, "namespace": namespace, "name": name}
    pins = [pin._asdict() for pin in verdict.pins]
    return {**where, "state": verdict.state, "files": list(verdict.files), "pins": pins}


def _counts(found: Sequence[Verdict]) -> str:
    """`3 current, 1 stale`."""
    names = sorted({each.state for each in found}, key=["current", *ADVICE, "unproven"].index)
    return ", ".join(f"{sum(each.state == name for each in found)} {name}" for name in names) or "nothing is rendered"
