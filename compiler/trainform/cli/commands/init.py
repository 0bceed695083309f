"""`trainform init`: create a repository, and connect it to Argo CD or Flux."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import command

ENGINES = ("none", "argocd", "flux")


@command()
@click.argument("folder", default=".", metavar="[DIR]", type=click.Path(file_okay=False))
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="none",
    show_default=True,
    help="The GitOps engine that applies the rendered manifests.",
)
@click.option("--env", "environment", default="prod", show_default=True, metavar="NAME", help="The first environment.")
def init(folder: str, engine: str, environment: str) -> int:
    """Create a working repository in DIR (default: the current folder).

    Writes settings, an environment, a sample job, a CI workflow and, for Argo CD or Flux, the manifests that
    connect it to this repository. Existing files are never overwritten: if one is in the way, nothing is written.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.workspace.bootstrap import bootstrap

    _check_name(environment)
    made = bootstrap(os.path.realpath(folder), engine, environment)
    print_diagnostics(made.diagnostics, sys.stderr)
    if made.diagnostics:
        return FAULTY
    _tell([path for path, _ in made.write], made.unchanged, _next(folder, engine, environment))
    return OK


def _check_name(environment: str) -> None:
    from trainform.k8s.names import dns1123_label

    if problem := dns1123_label(environment):
        raise click.BadParameter(f'"{environment}" {problem}', param_hint="--env")


def _next(folder: str, engine: str, environment: str) -> Iterator[str]:
    """The next steps as shell commands; lines that begin with # are comments."""
    if os.path.realpath(folder) != os.path.realpath("."):
        yield f"# in {folder}:"
    if engine == "argocd":
        yield f"# write your repository's address into project.yaml and trainform-{environment}.yaml of gitops/argocd"
    yield "trainform render"
    yield 'git add --all && git commit --message "Training jobs" && git push'
    if engine == "argocd":
        patch = "kubectl --namespace argocd patch configmap argocd-cm --patch-file gitops/argocd/argocd-cm.yaml"
        yield f"{patch} && kubectl apply --kustomize gitops/argocd"
    elif engine == "flux":
        yield "kubectl apply --kustomize gitops/flux"
    else:
        yield f"kubectl apply --recursive --filename rendered/{environment}"


def _tell(wrote: Iterable[str], unchanged: int, following: Iterable[str]) -> None:
    from trainform.cli.terminal import print_line
    from trainform.diagnostics.order import counted

    for path in wrote:
        print_line(f"wrote {path}")
    if unchanged:
        print_line(f"{counted(unchanged, 'file')} unchanged")
    print_line("")
    print_line("next:")
    for line in following:
        print_line(f"  {line}")
