"""`trainform runtimes`: list the runtimes that a TrainJob may refer to, print one, or copy one into the repository."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK, complete
from trainform.cli.options import Command, chosen_root, repository_options

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.io.repository import Repository
    from trainform.source import Document
    from trainform.workspace.runtimes import Runtimes

FRAMEWORK = "trainer.kubeflow.org/framework"
FIELDS = ("name", "kind", "namespace", "framework", "source", "version")
REPLACES = "replaces"
"""Extra key of a row: the package whose runtime of the same name it replaces, or empty."""


class _Group(click.Group, Command):
    """Lists if no command is named."""


@click.group(cls=_Group, invoke_without_command=True, subcommand_metavar="[COMMAND]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
@click.pass_context
def runtimes(ctx: click.Context, form: str, root: str | None, env: tuple[str, ...]) -> int:  # noqa: ARG001 - shared
    """List the repository's runtimes and the shipped ones.

    A ClusterTrainingRuntime in the repository replaces a shipped one with the same name.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors

    ctx.obj = chosen_root(root)
    if ctx.invoked_subcommand:
        return OK
    entries, problems = _known(ctx.obj)
    print_diagnostics(problems, sys.stderr)
    _print(entries, form)
    return FAULTY if has_errors(problems) else OK


@runtimes.command(cls=Command)
@click.argument("name", shell_complete=complete.runtime)
@click.option("--eject", is_flag=True, help="Copy the shipped runtime into the repository, where you can change it.")
@click.pass_obj
def show(root: str, name: str, eject: bool) -> int:
    """Print the YAML of a runtime.

    With --eject, write it to a file in the repository's folder of runtimes instead. No job changes by that: frozen
    jobs keep what they have, and the copy is the same.
    """
    from trainform.cli.terminal import print_text

    repository, found, _ = _opened(root)
    if eject:
        return _eject(repository, _named(name, found._replace(own=[])))
    text = _named(name, found).part.text.strip("\n")
    print_text(f"{text}\n")
    return OK


def _named(name: str, runtimes: Runtimes) -> Document:
    from trainform.diagnostics.suggest import did_you_mean
    from trainform.workspace import InvocationError

    known = runtimes.by_name()
    if name not in known:
        hint = did_you_mean(name, known) or f"known are {', '.join(sorted(known))}"
        raise InvocationError(f'there is no runtime "{name}" here: {hint}')
    return known[name]


def _eject(repository: Repository, document: Document) -> int:
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.workspace.bootstrap.writing import NewFile, write_new

    path = f"{repository.settings.runtimes}/{document.file.rpartition('/')[2]}"
    made = write_new(repository.root, {path: NewFile(document.part.text)})
    print_diagnostics(made.diagnostics, sys.stderr)
    if made.diagnostics:
        return FAULTY
    print_line(f"wrote {path}" if made.write else f"{path} is there already")
    return OK


def _opened(root: str) -> tuple[Repository, Runtimes, list[Diagnostic]]:
    """The repository, its runtimes, and all problems."""
    from trainform.io.repository import open_repository
    from trainform.workspace.runtimes import known_runtimes

    repository, problems = open_repository(root)
    found = known_runtimes(repository)
    return repository, found, [*problems, *found.problems]


def _known(root: str) -> tuple[list[dict[str, str]], list[Diagnostic]]:
    from trainform import __version__

    _, found, problems = _opened(root)
    return _merged(_entries(found.own, "", ""), _entries(found.shipped, "trainform", __version__)), problems


def _merged(own: Iterable[dict[str, str]], shipped: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """The repository's rows, then the shipped ones that none of them replaces."""
    catalogue = {(entry["kind"], entry["name"]): entry for entry in shipped}
    entries = []
    for entry in own:
        hidden = catalogue.pop((entry["kind"], entry["name"]), None)
        entries.append({**entry, REPLACES: hidden["source"] if hidden else ""})
    return [*entries, *({**entry, REPLACES: ""} for entry in catalogue.values())]


def _entries(documents: Iterable[Document], source: str, version: str) -> Iterator[dict[str, str]]:
    """A row for each runtime; its source is the package `source`, or its own file."""
    from trainform.k8s.labels import labels_of
    from trainform.k8s.tree import metadata_of
    from trainform.workspace.runtimes import KINDS

    for document in documents:
        tree = document.tree
        if tree.get("kind") in KINDS:
            metadata = metadata_of(tree)
            told = (metadata.get("name"), tree["kind"], metadata.get("namespace"))
            framework = labels_of(tree).get(FRAMEWORK)
            row = (*told, framework, source or document.file, version)
            yield {key: str(value or "") for key, value in zip(FIELDS, row, strict=True)}


def _print(entries: Sequence[dict[str, str]], form: str) -> None:
    from trainform.cli.terminal import print_result, print_table

    if form == "json":
        print_result("RuntimeList", runtimes=list(entries))
    else:
        print_table([field.upper() for field in FIELDS], [_row(entry) for entry in entries])


def _row(entry: dict[str, str]) -> list[str]:
    source = f"{entry['source']} (replaces the shipped one)" if entry[REPLACES] else entry["source"]
    return [source if field == "source" else entry[field] for field in FIELDS]
