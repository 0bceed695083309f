"""`trainform upgrade`: frozen jobs take what is current."""

from __future__ import annotations

import click

from trainform.cli.options import chosen_environments, chosen_root, chosen_shard, repository_options, scale_options


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--runtime", metavar="[NAMESPACE/]NAME", help="Only jobs that use this runtime.")
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
    workers: int | None,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Re-render frozen jobs with the current runtime, Environment and trainform.

    Normally a job is rendered again only if its own TrainJob changed. This command re-renders jobs that did not
    change. Select them with JOB ([namespace/]name or a file path), --runtime and --env (combined with AND), or
    --all. Other jobs are left alone.
    """
    from trainform.workspace.rendering import Request
    from trainform.workspace.runs import run_in

    environments = chosen_environments(env)
    if not (jobs or runtime or everything or environments):
        raise click.UsageError("name jobs, --runtime, --env or --all")
    if shard and (jobs or keep_going):
        raise click.UsageError("--shard is for all jobs, and all must be good: without JOB and --keep-going")
    request = Request(
        whole=False,
        environments=environments,
        keep_going=keep_going,
        upgrade=True,
        runtime=runtime or "",
        only_frozen=not jobs,
        dry_run=dry_run,
        shard=chosen_shard(shard),
    )
    return run_in(chosen_root(root), jobs, request, form, workers or 0)
