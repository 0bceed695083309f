"""`trainform facts`: what a live cluster says of itself, as files of an Environment."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainform.cli import DIFFERS, FAULTY, OK, complete
from trainform.cli.live.options import cluster_options
from trainform.cli.options import Command, chosen_root, is_quiet, repository_options

if TYPE_CHECKING:
    from trainform.workspace.live.facts import Pulled


def _known_kinds(_context: click.Context, _option: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    from trainform.k8s.fact_kinds import FACT_VERSIONS

    unknown = [kind for kind in kinds if kind not in FACT_VERSIONS]
    if unknown:
        raise click.BadParameter(f"no kind of cluster facts: {', '.join(unknown)}; they are {', '.join(FACT_VERSIONS)}")
    return kinds


def _names_of_namespaces(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from trainform.k8s.names import dns1123_label, quoted

    for name in names:
        if reason := dns1123_label(name):
            raise click.BadParameter(quoted(name, reason))
    return names


@click.group()
def facts() -> None:
    """Read the facts of a live cluster into files of an Environment."""


@facts.command(cls=Command)
@cluster_options()
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NS",
    callback=_names_of_namespaces,
    help="Only this namespace; can be repeated.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="KIND",
    shell_complete=complete.fact_kind,
    callback=_known_kinds,
    help="Leave out a kind, such as Node; can be repeated.",
)
@click.option("--check", is_flag=True, help="Write nothing; show what differs, with exit code 1.")
@click.option("--rbac", is_flag=True, help="Print the roles that this needs, without asking a cluster.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@repository_options
def pull(
    kubeconfig: str,
    context: str,
    timeout: float | None,
    namespaces: tuple[str, ...],
    without: tuple[str, ...],
    check: bool,
    rbac: bool,
    form: str,
    root: str | None,
    env: tuple[str, ...],
) -> int:
    """Write the facts of a cluster to environments/ENV/cluster/.

    Facts are queues, quotas, nodes, classes and limits, and of these only what trainform reads: no status, no
    Secrets; nodes are counted as pools. The same cluster gives the same bytes. Files without the header of this
    command are kept. On any error, nothing is written.
    """
    if rbac:
        return _print_roles(without, namespaces)
    from trainform.cluster.connection import COMMAND_SECONDS, Login
    from trainform.diagnostics.order import has_errors
    from trainform.workspace.live.facts import PullOptions
    from trainform.workspace.live.facts import pull as pull_facts

    options = PullOptions(Login(kubeconfig, context, timeout or COMMAND_SECONDS), without, namespaces, check)
    found = pull_facts(chosen_root(root), env, options)
    if form == "json":
        _print_json(found)
    else:
        _print_text(found, check)
    if has_errors(found.problems):
        return FAULTY
    return DIFFERS if check and found.has_drifted else OK


def _print_roles(without: tuple[str, ...], namespaces: tuple[str, ...]) -> int:
    from trainform.cli.terminal import print_text
    from trainform.k8s.pulled.access import fact_rules
    from trainform.output.roles import role_text

    print_text(role_text("trainform-facts", fact_rules(without, namespaces)))
    return OK


def _print_text(found: Pulled, check: bool) -> None:
    from trainform.cli.terminal import print_diagnostics, print_line
    from trainform.diagnostics.order import counted

    print_diagnostics(found.problems, sys.stderr)
    for key, said, live in found.versions:
        print_line(f'spec.cluster.{key} of environment {found.environment} is "{said}", but the cluster has {live}')
    if check:
        for line in found.difference():
            print_line(line)
    elif found.written:
        for path, change in found.changes.items():
            print_line(f"{'removed' if change == 'removed' else 'wrote'} {path}")
    if is_quiet():
        return
    for note in found.notes:
        print_line(f"note: {note}")
    if found.absent:
        print_line(f"not installed: {', '.join(found.absent)}")
    if found.written or check:
        total = counted(sum(found.counts.values()), "fact")
        state = "differs from the files" if check and found.has_drifted else "nothing changed"
        told = f": {state}" if check or not found.changes else ""
        print_line(f"{total} of {found.environment} from {found.context or 'this cluster'} ({found.server}){told}")


def _print_json(found: Pulled) -> None:
    from trainform.cli.terminal import print_result
    from trainform.diagnostics.order import in_order

    print_result(
        "FactsResult",
        environment=found.environment,
        context=found.context,
        server=found.server,
        files=[{"file": file, "change": change} for file, change in found.changes.items()],
        versions=[{"key": key, "declared": said, "live": live} for key, said, live in found.versions],
        counts=dict(sorted(found.counts.items())),
        absent=found.absent,
        notes=found.notes,
        written=found.written,
        diff=found.difference(),
        diagnostics=[problem.to_json() for problem in in_order(found.problems)],
    )
