"""`trainform schema`: JSON Schemas of what people write and of what commands print."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, root_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trainform.workspace.bootstrap.writing import NewFile


def _offered(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from trainform.workspace.json_schema.catalogue import schemas

    return [CompletionItem(name) for name in schemas() if name.startswith(typed)]


@command()
@click.argument("kind", required=False, shell_complete=_offered)
@click.option(
    "--all", "folder", metavar="DIR", type=click.Path(file_okay=False), help="Write every schema to a file in DIR."
)
@click.option(
    "--editor",
    is_flag=True,
    help="Write what editors need into this repository: schemas to .trainform/schemas/, and settings for VS Code.",
)
@root_option
def schema(kind: str | None, folder: str | None, editor: bool, root: str | None) -> int:
    """Print a JSON Schema, for editors and programs.

    With it, an editor completes YAML, explains its fields, and underlines what is wrong.

    KIND is a kind that you write (TrainJob, TrainingRuntime, ClusterTrainingRuntime, Environment, …),
    trainform.yaml, or the kind of a JSON result (DiffResult, ValidateResult, …). With "any", it is the schema of any
    document, chosen by apiVersion and kind. Without KIND, all are listed.

    Run it with --editor after an upgrade of trainform. Existing settings of VS Code are not changed: what to add to
    them is printed.
    """
    if sum(map(bool, (kind, folder, editor))) > 1:
        raise click.UsageError("KIND, --all and --editor exclude each other")
    if editor:
        return _write_for_editors(chosen_root(root))
    if folder:
        return _write_all(folder)
    return _print(kind) if kind else _list()


def _print(kind: str) -> int:
    from trainform.cli.terminal import print_bytes
    from trainform.diagnostics.suggest import did_you_mean
    from trainform.workspace.json_schema.catalogue import schemas

    known = schemas()
    if kind not in known:
        hint = did_you_mean(kind, known) or f"known are {', '.join(known)}"
        raise click.BadParameter(f'there is no schema "{kind}": {hint}', param_hint="KIND")
    print_bytes(known[kind].text().encode())
    return OK


def _list() -> int:
    from trainform.cli.terminal import print_table
    from trainform.workspace.json_schema.catalogue import schemas

    print_table(("KIND", "WHAT IT DESCRIBES"), [(each.name, each.make()["description"]) for each in schemas().values()])
    return OK


def _write_all(folder: str) -> int:
    from trainform.workspace.bootstrap.writing import NewFile
    from trainform.workspace.json_schema.catalogue import schemas

    return _write(folder, {each.file: NewFile(each.text(), "replace") for each in schemas().values()})


def _write_for_editors(root: str) -> int:
    from trainform.cli.terminal import print_diagnostics
    from trainform.diagnostics.order import has_errors
    from trainform.io.repository import open_repository
    from trainform.workspace.bootstrap.choices import place_of
    from trainform.workspace.bootstrap.editor import editor_files

    repository, problems = open_repository(root)
    print_diagnostics(problems, sys.stderr)
    if has_errors(problems):
        return FAULTY
    place = place_of(repository.root)
    return _write(place.top, editor_files(repository.settings, place.prefix))


def _write(root: str, files: Mapping[str, NewFile]) -> int:
    from trainform.cli.commands.init import print_made
    from trainform.cli.terminal import print_diagnostics
    from trainform.workspace.bootstrap.writing import write_new

    made = write_new(root, files)
    print_diagnostics(made.diagnostics, sys.stderr)
    if made.diagnostics:
        return FAULTY
    print_made(made)
    return OK
