"""`trainform job new`: write a TrainJob."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import Command, chosen_root, is_quiet, root_option

if TYPE_CHECKING:
    from trainform.workspace.bootstrap.writing import Bootstrap


@click.group()
def job() -> None:
    """Write TrainJobs."""


@job.command(cls=Command)
@click.argument("name", required=False)
@click.option(
    "--runtime",
    default="torch-distributed",
    show_default=True,
    metavar="NAME",
    shell_complete=complete.runtime,
    help="The runtime that it runs in.",
)
@click.option("--namespace", default="", metavar="NAME", help="Default: the Environment's.")
@click.option(
    "--queue",
    default="",
    metavar="NAME",
    shell_complete=complete.queue,
    help="Kueue's LocalQueue. Default: the Environment's.",
)
@click.option("--image", default="", metavar="IMAGE", help="The image of the training code. Default: the runtime's.")
@click.option("--command", "words", default="", metavar="TEXT", help='What runs, as in a shell: "torchrun train.py".')
@click.option(
    "--from-function",
    "function",
    default="",
    metavar="FILE:NAME",
    help="A Python function to run instead: its source goes into a script beside the job.",
)
@click.option(
    "--nodes", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="How many pods train."
)
@click.option("--gpus", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="GPUs of each pod.")
@click.option("--cpu", default="4", show_default=True, metavar="QUANTITY", help="CPUs of each pod.")
@click.option("--memory", default="16Gi", show_default=True, metavar="QUANTITY", help="Memory of each pod.")
@click.option("--variable", "variables", multiple=True, metavar="NAME=VALUE", help="A variable; can be repeated.")
@click.option("--file", default="", metavar="PATH", help="Where it goes, from the root. Default: jobs/NAME.yaml.")
@root_option
def new(name: str | None, words: str, root: str | None, **given: Any) -> int:
    """Write a TrainJob with comments that teach, and validate it.

    NAME is its name. Without it, on a terminal, you are asked. Nothing that exists is changed.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.workspace.new_job.program import NewJob, new_job

    if name is None:
        name, words, given = _asked(given)
    _check(name, given)
    try:
        command = shlex.split(words)
    except ValueError as error:
        raise click.BadParameter(f"{words}: {error}", param_hint="--command") from error
    pairs = [tuple(each.split("=", 1)) for each in given.pop("variables")]
    chosen = chosen_root(root)
    made = new_job(chosen, NewJob(name, command=command, variables=pairs, **given))
    print_diagnostics(made.diagnostics, sys.stderr)
    if made.diagnostics:
        return FAULTY
    return _tell(made, chosen, name)


def _asked(given: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Name, command and options as answers to questions; an empty line takes the default."""
    from trainform.cli.streams import is_terminal

    if not is_terminal(sys.stdin):
        raise click.UsageError("name the job: trainform job new NAME")
    name = click.prompt("Name of the job")
    given["runtime"] = click.prompt("Runtime (`trainform runtimes` lists them)", given["runtime"])
    given["image"] = click.prompt("Image; empty for the runtime's", given["image"], show_default=False)
    words = "" if given["function"] else click.prompt("Command", "torchrun train.py")
    given["nodes"] = click.prompt("Pods that train", given["nodes"], type=click.IntRange(min=1))
    given["gpus"] = click.prompt("GPUs of each", given["gpus"], type=click.IntRange(min=0))
    return name, words, given


def _check(name: str, given: dict[str, Any]) -> None:
    """What goes into the file's text is what it claims to be."""
    from trainform.k8s.names import dns1123_label, dns1123_subdomain
    from trainform.k8s.quantity import QuantityError, parse

    names = (
        ("NAME", name, dns1123_label),
        ("--namespace", given["namespace"], dns1123_label),
        ("--queue", given["queue"], dns1123_subdomain),
    )
    for hint, text, problem_of in names:
        if text and (problem := problem_of(text)):
            raise click.BadParameter(f'"{text}" {problem}', param_hint=hint)
    for option in ("cpu", "memory"):
        try:
            parse(given[option])
        except QuantityError as error:
            raise click.BadParameter(str(error), param_hint=f"--{option}") from error
    for each in given["variables"]:
        if "=" not in each:
            raise click.BadParameter(f'"{each}": write NAME=VALUE', param_hint="--variable")


def _tell(made: Bootstrap, root: str, name: str) -> int:
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.discovery import discover
    from trainform.workspace.shards import ALL
    from trainform.workspace.validate import validate

    for path, _ in made.write if not is_quiet() else ():
        print_line(f"wrote {path}")
    file = made.write[-1][0] if made.write else ""
    found = validate(discover(root, paths=[f"{root}/{file}"]), ALL, 1) if file else None
    own = [each for each in found.diagnostics if each.file == file] if found else []
    print_diagnostics(own, sys.stderr)
    if not is_quiet():
        print_line("")
        print_line("next:")
        for line in _next(name):
            print_line(f"  {line}")
    return FAULTY if has_errors(own) else OK


def _next(name: str) -> Iterator[str]:
    yield f"trainform explain {name}"
    yield "trainform diff"
    yield f'trainform render && git add --all && git commit --message "Add {name}"'
