"""`trainform migrate`: old jobs as TrainJobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import chosen_root, command, is_quiet, root_option

if TYPE_CHECKING:
    from trainform.workspace.migration.program import MigratedFile, Outcome


@command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--write/--dry-run",
    "write",
    default=False,
    help="Write the files into the repository, or print them. Default: --dry-run.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@root_option
def migrate(files: tuple[str, ...], write: bool, form: str, root: str | None) -> int:
    """Turn PyTorchJobs, MPIJobs and other old jobs into TrainJobs.

    FILE is a file, a folder, or "-" for stdin. A PyTorchJob, TFJob, MPIJob, XGBoostJob, JAXJob or PaddleJob becomes a
    TrainJob in jobs/ and, if a shipped runtime is not enough, a runtime in runtimes/, which jobs with the same
    infrastructure share. TrainJobs and runtimes of earlier Trainer versions are edited in place, comments included.

    Whatever has no place in a TrainJob is listed with file, line and reason. Files that exist are never overwritten,
    and with an error nothing is written.
    """
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.migration.program import migrate_files

    stdin = sys.stdin.buffer.read() if "-" in files else None
    chosen = chosen_root(root)
    done = migrate_files(chosen, [each for each in files if each != "-"], stdin, write=write)
    if form == "json":
        _print_json(done)
    elif write:
        _print_written(done)
    else:
        _print_dry_run(done, chosen)
    return FAULTY if has_errors(done.problems) else OK


def _print_dry_run(done: Outcome, root: str) -> None:
    from trainform.cli.terminal import print_diagnostics, print_line, print_page
    from trainform.diagnostics.order import counted, has_errors, once

    print_page("---\n".join(f"# {change.file}\n{change.text}" for change in done.changes))
    print_diagnostics(once(done.problems), sys.stderr)
    if has_errors(done.problems) or is_quiet():
        return
    files = counted(len(done.changes), "file")
    print_line(f"next: --write writes {files} below {root}" if done.changes else CURRENT, sys.stderr)


CURRENT = "nothing to do: these TrainJobs and runtimes are of the current API"


def _print_written(done: Outcome) -> None:
    from shlex import join

    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import counted, has_errors, once

    print_diagnostics(once(done.problems), sys.stderr)
    if has_errors(done.problems):
        print_line("nothing was written, because of the errors above", sys.stderr)
        return
    if is_quiet():
        return
    written = [change for change in done.changes if change.file in done.written]
    for change in written:
        print_line(_told(change))
    if unchanged := len(done.changes) - len(written):
        print_line(f"{counted(unchanged, 'file')} unchanged")
    if not done.changes:
        print_line(CURRENT)
        return
    print_line("")
    steps = [["git", "rm", *done.outlived]] if done.outlived else []
    steps += [["git", "mv", *files, f"{folder}/"] for folder, files in sorted(done.misplaced.items())]
    steps += [["trainform", "validate"], ["trainform", "render"]]
    print_line(f"next: {' && '.join(map(join, steps))}")


def _told(change: MigratedFile) -> str:
    from trainform.workspace.migration.program import kind_of_origin, name_of_origin

    if not change.is_new:
        return f"edited {change.file}"
    first, *others = change.origins
    if others:
        return f"wrote {change.file}, for {len(change.origins)} jobs"
    return f"wrote {change.file}, from {kind_of_origin(first)} {name_of_origin(first)}"


def _print_json(done: Outcome) -> None:
    from trainform.cli.terminal import print_result
    from trainform.diagnostics.order import in_order

    print_result(
        "MigrateResult",
        files=[_as_json(change) for change in done.changes],
        written=sorted(done.written),
        diagnostics=[problem.to_json() for problem in in_order(done.problems)],
    )


def _as_json(change: MigratedFile) -> dict[str, Any]:
    from trainform.k8s.tree import metadata_of, text

    return {
        "file": change.file,
        "change": "new" if change.is_new else "edited",
        "text": change.text,
        "origins": [
            {
                "file": each.file,
                "line": each.position(()).line,
                "kind": text(each.tree, "kind"),
                "namespace": text(metadata_of(each.tree), "namespace"),
                "name": text(metadata_of(each.tree), "name"),
            }
            for each in change.origins
        ],
    }
