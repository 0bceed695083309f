"""`trainform runtimes`: list the runtimes that a TrainJob may refer to."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, repository_options

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.source import Document

FRAMEWORK = "trainer.kubeflow.org/framework"
FIELDS = ("name", "kind", "namespace", "framework", "source", "version")
REPLACES = "replaces"
"""Extra key of a row: the package whose runtime of the same name it replaces, or empty."""

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


@command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def runtimes(form: str, root: str | None, env: tuple[str, ...]) -> int:  # noqa: ARG001 - of the shared options
    """List the repository's runtimes and the shipped ones.

    A ClusterTrainingRuntime in the repository replaces a shipped one with the same name.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors

    entries, problems = _known(chosen_root(root))
    print_diagnostics(problems, sys.stderr)
    _print(entries, form)
    return FAULTY if has_errors(problems) else OK


def _known(root: str) -> tuple[list[dict[str, str]], list[Diagnostic]]:
    from trainform import __version__
    from trainform.io.repository import open_repository
    from trainform.io.resources import shipped_runtimes
    from trainform.workspace.discovery import load_files
    from trainform.workspace.inputs import load

    repository, problems = open_repository(root)
    listing = repository.runtimes()
    own = load_files(repository, listing.files)
    shipped = [each for name, text in shipped_runtimes() for each in load(name, text.encode()).documents]
    entries = _merged(_entries(own.documents, "", ""), _entries(shipped, "trainform", __version__))
    return entries, [*problems, *listing.diagnostics, *own.diagnostics]


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
