"""`trainform render`: compile, and write what changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK, complete
from trainform.cli.options import (
    cache_option,
    chosen_root,
    chosen_shard,
    command,
    repository_options,
    scale_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainform.core.compile import CompiledJob
    from trainform.io.repository import Repository
    from trainform.workspace.streams.compile import StreamOutcome


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "yaml", "json"]),
    help="Output format. Default: text (yaml for stdin).",
)
@click.option("--keep-going", is_flag=True, help="Write the good jobs even if others fail (still exits 2).")
@click.option("--allow-empty", is_flag=True, help="Allow deleting all jobs of an environment.")
@click.option(
    "--prune-snapshots",
    is_flag=True,
    help="Delete snapshots that no lockfile refers to. Jobs of branches that are not merged yet may need them.",
)
@click.option(
    "--require-added",
    is_flag=True,
    help="Exit 1 if git's index lacks a file that was read or written: a commit would lack it too.",
)
@click.option("--watch", is_flag=True, help="Render again after each change, and tell what it means, until Ctrl-C.")
@cache_option
@scale_options
@repository_options
def render(
    jobs: tuple[str, ...],
    form: str | None,
    keep_going: bool,
    allow_empty: bool,
    prune_snapshots: bool,
    require_added: bool,
    watch: bool,
    no_cache: bool,
    shard: str | None,
    workers: int,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Compile TrainJobs and write the manifests that changed.

    They are written to rendered/. JOB is [namespace/]name or the path of a file; without one, every job is rendered,
    and the files of deleted jobs are removed. If anything has an error, nothing is written.

    Jobs are frozen: a job is rendered again only if its own TrainJob changed, not if its runtime, its
    Environment or trainform did. To re-render frozen jobs, use "trainform upgrade".

    With "-" as JOB, one YAML stream is read from stdin and the manifests go to stdout.
    """
    if watch:
        _refuse_with_watch(jobs, form)
        from trainform.cli.watching.loop import WatchedRender, watch_and_render

        return watch_and_render(WatchedRender(chosen_root(root), jobs, env, keep_going, no_cache, workers))
    if "-" in jobs:
        return _stream(jobs, form or "yaml", keep_going)
    if form == "yaml":
        raise click.BadParameter('yaml is for streams: "trainform render -"', param_hint="--format")
    from trainform.cli.built import report
    from trainform.workspace.build import build
    from trainform.workspace.plan import BuildOptions

    if prune_snapshots and (jobs or env or shard):
        raise click.UsageError("--prune-snapshots cannot be combined with JOB, --env or --shard")
    if shard and (jobs or keep_going):
        raise click.UsageError(
            "--shard cannot be combined with JOB or --keep-going: every job of every shard must be good"
        )
    options = BuildOptions(
        jobs=jobs,
        environments=env,
        keep_going=keep_going,
        allow_empty=allow_empty,
        prune_snapshots=prune_snapshots,
        detailed=form == "json",
        shard=chosen_shard(shard),
        workers=workers,
        cached=not no_cache,
    )
    built = build(chosen_root(root), options)
    code = report(built, options)
    return code or (_not_added(built.repository) if require_added else OK)


_NOT_WITH_WATCH = {
    "allow_empty": "a checkout may take away all jobs for a moment",
    "prune_snapshots": "run it once, by itself",
    "require_added": "it is for hooks and CI",
    "shard": "it is for hooks and CI",
}


def _refuse_with_watch(jobs: Sequence[str], form: str | None) -> None:
    given = click.get_current_context().params
    for name, why in _NOT_WITH_WATCH.items():
        if given[name]:
            raise click.UsageError(f"--watch cannot be combined with --{name.replace('_', '-')}: {why}")
    if "-" in jobs:
        raise click.UsageError("--watch reads files: a stream from stdin has only one end")
    if form in ("json", "yaml"):
        raise click.UsageError("--watch prints text: it is for people, not for programs")


def _not_added(repository: Repository) -> int:
    """Name the files that a commit would lack."""
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics import Diagnostic
    from trainform.diagnostics.console import MOST_LINES
    from trainform.diagnostics.order import counted
    from trainform.io.git import GitError
    from trainform.workspace.verify.tracked import files_not_added

    try:
        missing = files_not_added(repository)
    except GitError as error:
        print_diagnostics([Diagnostic("TF718", "error", f"--require-added: {error}")], sys.stderr)
        return FAULTY
    if not missing:
        return OK
    print_line(f"the commit would lack {counted(len(missing), 'file')}; add or remove:", sys.stderr)
    for file in missing[:MOST_LINES]:
        print_line(f"  {file}", sys.stderr)
    if more := missing[MOST_LINES:]:
        print_line(f"  and {len(more)} more", sys.stderr)
    return DIFFERS


def _stream(jobs: tuple[str, ...], form: str, keep_going: bool) -> int:
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics, print_parts
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.inputs import read_stream
    from trainform.workspace.streams.compile import compile_stream

    if len(jobs) > 1:
        raise click.BadParameter('"-" cannot be combined with other jobs', param_hint="JOB")
    if form == "text":
        raise click.BadParameter("a stream is printed as yaml or json", param_hint="--format")
    as_json = form == "json"
    outcome = compile_stream(read_stream(sys.stdin.buffer.read()), _json_of if as_json else _yaml_of)
    diagnostics = outcome.all_diagnostics()
    print_diagnostics(diagnostics, sys.stderr)
    code = report_failures(outcome.failures) or (FAULTY if has_errors(diagnostics) else OK)
    if as_json:
        _print_json(outcome)
    elif keep_going or code == OK:
        print_parts(_joined("---\n", outcome.kept))
    return code


def _yaml_of(jobs: Sequence[CompiledJob]) -> str:
    from trainform.output.emitter import emit_stream

    return emit_stream(tree for job in jobs for tree in job.objects)


def _json_of(jobs: Sequence[CompiledJob]) -> str:
    """Items of the list `jobs` of a RenderResult."""
    from trainform.cli.terminal import json_of
    from trainform.diagnostics.documents import rendered_job

    return json_of([rendered_job(job) for job in jobs]).removeprefix("[").removesuffix("\n]").replace("\n", "\n  ")


def _print_json(outcome: StreamOutcome[str]) -> None:
    """Print the RenderResult; its jobs are text already."""
    from trainform.cli.terminal import json_of, print_json, print_parts
    from trainform.diagnostics.documents import render_result

    without_jobs = render_result([], outcome.general)
    if not outcome.kept:
        print_json(without_jobs)
        return
    head, tail = json_of(without_jobs).split("[]", 1)
    print_parts([f"{head}[", *_joined(",", outcome.kept), f"\n  ]{tail}\n"])


def _joined(separator: str, texts: Iterable[str]) -> Iterator[str]:
    """The texts that are not empty, one after the other: together they may be large."""
    for number, text in enumerate(filter(None, texts)):
        yield separator + text if number else text
