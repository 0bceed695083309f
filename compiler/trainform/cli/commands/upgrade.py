"""`trainform upgrade`: re-render frozen jobs with the current inputs."""

from __future__ import annotations

import click

from trainform.cli import complete
from trainform.cli.options import (
    chosen_root,
    chosen_shard,
    command,
    repository_options,
    scale_options,
)


@command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete.job)
@click.option(
    "--runtime",
    metavar="[NAMESPACE/]NAME",
    shell_complete=complete.runtime,
    help="Only jobs that use this runtime.",
)
@click.option("--all", "everything", is_flag=True, help="Upgrade all jobs.")
@click.option("--dry-run", is_flag=True, help="Print the changes as a diff and write nothing.")
@click.option("--keep-going", is_flag=True, help="Write valid jobs even if others have errors (still exits 2).")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@scale_options
@repository_options
def upgrade(
    jobs: tuple[str, ...],
    runtime: str | None,
    everything: bool,
    dry_run: bool,
    keep_going: bool,
    form: str,
    shard: str | None,
    workers: int,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Re-render frozen jobs from what is current.

    A job stays as it was rendered until its own TrainJob changes. This renders jobs anew that did not change:
    those of JOB ([namespace/]name or the path of a file), --runtime and --env, or --all. Selectors are combined
    with AND. Nothing else is touched.
    """
    from trainform.cli.built import report
    from trainform.workspace.build import build
    from trainform.workspace.plan import BuildOptions

    environments = env
    if not (jobs or runtime or everything or environments):
        raise click.UsageError("name jobs, --runtime, --env or --all")
    if shard and (jobs or keep_going):
        raise click.UsageError(
            "--shard cannot be combined with JOB or --keep-going: every job of every shard must be good"
        )
    options = BuildOptions(
        jobs=jobs,
        environments=environments,
        upgrade=True,
        runtime=runtime or "",
        keep_going=keep_going,
        dry_run=dry_run,
        detailed=form == "json",
        shard=chosen_shard(shard),
        workers=workers,
    )
    return report(build(chosen_root(root), options), options)
