"""`trainform run`: the pods of a job as processes of this machine."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, complete
from trainform.cli.options import chosen_root, command, is_quiet, repository_options

if TYPE_CHECKING:
    from trainform.core.compile import CompiledJob
    from trainform.diagnostics.console import Style
    from trainform.local.plan.references import NotHere
    from trainform.local.run import Ready


@command()
@click.argument("job", shell_complete=complete.job)
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="Nodes, in place of trainer.numNodes.")
@click.option("--procs", type=click.IntRange(min=1), metavar="N", help="Processes per node: trainer.numProcPerNode.")
@click.option("--gpus", type=click.IntRange(min=0), metavar="N", help="GPUs of each pod that asks for any.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the job after this time, with exit code 124.",
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="NAME=DIR",
    help="A folder with the values of a Secret, a file for each key; can be repeated.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["pod", "files", "none"]),
    help="How far to isolate pods from each other. Default: chosen for the job and this machine.",
)
@click.option("--keep", is_flag=True, help="Keep the temporary folder with the volumes, and print its name.")
@click.option(
    "--image-as-is",
    is_flag=True,
    expose_value=False,
    help="Run commands in the current environment: the default, and the only way so far.",
)
@repository_options
def run(
    job: str,
    nodes: int | None,
    procs: int | None,
    gpus: int | None,
    timeout: float | None,
    secrets: tuple[str, ...],
    sandbox: str | None,
    keep: bool,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Run the pods of a job as processes on this machine.

    JOB is [namespace/]name or a file path. Images are not pulled: the commands of the job run in
    the current environment, with your rights. Run only jobs that you would run by hand.

    The exit code is the job's: 0, or that of the container that failed; 124 after a deadline, 130
    after Ctrl-C; 2 if the job cannot be run here.
    """
    if sys.platform == "win32":
        raise click.UsageError("a local run needs Linux or macOS: use WSL")
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import folded
    from trainform.local.job import Sizes, find_job
    from trainform.local.plan.references import NotHere
    from trainform.local.run import Ready, secrets_of
    from trainform.workspace.discovery import discover

    if timeout is not None and math.isnan(timeout):
        raise click.BadParameter("nan is no number of seconds", param_hint="--timeout")
    given = _named_folders(secrets)
    found = find_job(discover(chosen_root(root), env), job, Sizes(nodes, procs, gpus))
    print_diagnostics(folded(found.errors()), sys.stderr)
    failures = [failure for outcome in found.outcomes for failure in outcome.failures]
    if found.job is None or found.errors():
        return report_failures(failures) or FAULTY
    try:
        ready = Ready(found.job, sandbox, secrets_of(given))  # type: ignore[arg-type]  # click checked the choice
        return ready.run(_Printed(ready), timeout=timeout, keep=keep)
    except NotHere as reason:
        _print_reason(reason, found.job)
        return FAULTY


def _named_folders(secrets: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.partition("=") for each in secrets]
    if wrong := next((name for name, _, folder in pairs if not (name and folder)), None):
        raise click.BadParameter(f'"{wrong}" names no folder: write NAME=DIR', param_hint="--secret")
    return {name: folder for name, _, folder in pairs}


def _print_reason(reason: NotHere, job: CompiledJob) -> None:
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics import Diagnostic

    print_diagnostics([Diagnostic(reason.code, "error", str(reason), reason.hint, (), job.document)], sys.stderr)


_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


class _Printed:
    """Prints what pods write, each line after the pod's name, and on standard error what happens to the job."""

    def __init__(self, ready: Ready) -> None:
        from trainform.cli.streams import wants_colour

        self._out, self._err = sys.stdout, sys.stderr
        self._colour = wants_colour(self._out)
        self._heads = {}
        short = [pod.name.removeprefix(f"{ready.first.name}-") for pod in ready.first.pods]
        width = max(map(len, short), default=0)
        for number, (pod, name) in enumerate(zip(ready.first.pods, short, strict=True)):
            style: Style = {"fg": _COLOURS[number % len(_COLOURS)]}
            self._heads[pod.name] = (name.ljust(width), style, len(pod.containers) > 1)

    def line(self, pod: str, container: str, text: str) -> None:
        from trainform.cli.terminal import print_text
        from trainform.diagnostics.console import styled
        from trainform.diagnostics.escape import one_line

        name, style, several = self._heads[pod]
        head = styled(f"{name} {container} |" if several else f"{name} |", style, colour=self._colour)
        with suppress(BrokenPipeError):  # a signal has told the supervisor
            print_text(f"{head} {one_line(text.expandtabs())}\n", self._out)
            self._out.flush()

    def event(self, text: str) -> None:
        from trainform.cli.terminal import print_line

        if not is_quiet():
            print_line(f"trainform: {text}", self._err)
            self._err.flush()
