"""`trainform init`: create a repository, and connect it to Argo CD or Flux."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import command, is_quiet

if TYPE_CHECKING:
    from trainform.workspace.bootstrap.choices import Choices, Site
    from trainform.workspace.bootstrap.writing import Bootstrap

ENGINES = ("none", "argocd", "flux")
SCHEDULERS = ("none", "kueue", "coscheduling", "volcano", "kai", "yunikorn")
SECRETS = ("reference", "external-secret", "sealed-secret", "sops")
SAMPLES = ("torch", "torchtune", "deepspeed", "jax", "xgboost", "flux")
CI = ("github", "gitlab", "none")


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
@click.option(
    "--scheduler",
    type=click.Choice(SCHEDULERS),
    default="none",
    show_default=True,
    help="What queues jobs, or holds their pods until all of them have a place.",
)
@click.option("--queue", default="", metavar="NAME", help="The scheduler's queue; needed by kueue.")
@click.option(
    "--secrets",
    type=click.Choice(SECRETS),
    default="reference",
    show_default=True,
    help="Where the keys of MPI and Flux jobs come from.",
)
@click.option("--recipient", "recipients", multiple=True, metavar="AGE1…", help="An age key, for --secrets sops.")
@click.option(
    "--sample",
    "samples",
    type=click.Choice(SAMPLES),
    multiple=True,
    help="A framework to write a sample job for; can be repeated. Default: torch.",
)
@click.option(
    "--ci", type=click.Choice(CI), help="The CI system. Default: the one that git's remote suggests, else github."
)
@click.option(
    "--install",
    default="",
    metavar="SPEC",
    help="What CI gives to `pip install`, such as trainform @ git+https://…@v1. Default: this version.",
)
@click.option("--repository", metavar="URL", help="Address of the git repository. Default: that of the remote origin.")
def init(folder: str, **given: Any) -> int:
    """Create a working repository.

    DIR is its folder; default: the current one. Writes settings, an environment, sample jobs, a CI workflow,
    pre-commit hooks, schemas for editors and, for Argo CD or Flux, the manifests that connect it to this repository.
    Asks what you want if you give no option, on a terminal.

    In a folder of a larger git repository, the workflow and the hooks go to the top of that repository, and engines
    get paths from there. Existing files are never overwritten, apart from schemas: if one is in the way, nothing is
    written.
    """
    from trainform.cli.terminal import print_diagnostics
    from trainform.workspace.bootstrap.choices import place_of
    from trainform.workspace.bootstrap.texts import texts
    from trainform.workspace.bootstrap.writing import write_new

    place = place_of(folder)
    choices = _chosen(_asked(place) if _asks() else given, place)
    made = write_new(place.top, texts(choices))
    print_diagnostics(made.diagnostics, sys.stderr)
    if made.diagnostics:
        return FAULTY
    _tell(made, _next(folder, choices))
    return OK


def _asks() -> bool:
    """Whether somebody can answer, and has not said anything on the command line."""
    from trainform.cli.streams import is_terminal

    context = click.get_current_context()
    sources = {context.get_parameter_source(name) for name in context.params if name != "folder"}
    return sources <= {click.core.ParameterSource.DEFAULT} and is_terminal(sys.stdin) and is_terminal(sys.stdout)


def _asked(place: Site) -> dict[str, Any]:
    """The options as answers to questions; an empty line takes the default."""
    given: dict[str, Any] = {
        "environment": click.prompt("Name of the first environment", "prod"),
        "engine": _choice("GitOps engine that applies the manifests", ENGINES, "none"),
        "scheduler": _choice("Queue or gang scheduler", SCHEDULERS, "none"),
        "queue": "",
        "samples": (_choice("Framework of the sample job", SAMPLES, "torch"),),
        "ci": _choice("CI system", CI, place.ci),
        "repository": None,
        "install": "",
        "secrets": "reference",
        "recipients": (),
    }
    if given["scheduler"] == "kueue":
        given["queue"] = click.prompt("LocalQueue of the jobs")
    if given["engine"] == "argocd" and not place.address:
        given["repository"] = click.prompt("Address of the git repository", "", show_default=False)
    return given


def _choice(question: str, choices: Iterable[str], default: str) -> str:
    answer: str = click.prompt(question, default, type=click.Choice([*choices]))
    return answer


def _chosen(given: dict[str, Any], place: Site) -> Choices:
    """The choices. Raises UsageError for those that cannot be."""
    from trainform.workspace.bootstrap.choices import Choices

    _check_name("--env", given["environment"])
    if given["queue"]:
        _check_name("--queue", given["queue"])
    elif given["scheduler"] == "kueue":
        raise click.UsageError("kueue needs the LocalQueue of the jobs: name it with --queue")
    if given["queue"] and given["scheduler"] in ("none", "coscheduling"):
        raise click.BadParameter(f"scheduler {given['scheduler']} has no queues", param_hint="--queue")
    if (given["secrets"] == "sops") != bool(given["recipients"]):
        raise click.UsageError("--secrets sops and --recipient belong together")
    if given["secrets"] == "sops" and given["engine"] == "argocd":
        raise click.BadParameter("Argo CD cannot decrypt SOPS files: take another mode", param_hint="--secrets")
    _check_text("--install", given["install"])
    _check_text("--repository", given["repository"] or "")
    return Choices(
        **given
        | {
            "samples": given["samples"] or ("torch",),
            "ci": given["ci"] or place.ci,
            "repository": place.address if given["repository"] is None else given["repository"],
            "prefix": place.prefix,
        }
    )


def _check_name(option: str, name: str) -> None:
    from trainform.k8s.names import dns1123_label

    if problem := dns1123_label(name):
        raise click.BadParameter(f'"{name}" {problem}', param_hint=option)


def _check_text(option: str, text: str) -> None:
    """It is written between quotes into YAML and shell scripts."""
    if not text.isprintable() or set(text) & set("\"'`$\\"):
        raise click.BadParameter(f"{text!r} has quotes, `$`, a backslash or control characters", param_hint=option)


def _next(folder: str, choices: Choices) -> Iterator[str]:
    """The next steps as shell commands; lines that begin with # are comments."""
    environment, gitops = choices.environment, f"{choices.prefix}gitops"
    if os.path.realpath(folder) != os.path.realpath("."):
        yield f"# in {folder}:"
    if choices.engine == "argocd" and not choices.repository:
        yield f"# write your repository's address into project.yaml and trainform-{environment}.yaml of {gitops}/argocd"
    if choices.secrets == "sealed-secret":
        yield f"kubeseal --fetch-cert >environments/{environment}/keys/cert.pem && trainform keys"
    elif choices.secrets == "sops":
        yield "trainform keys"
    yield "trainform render"
    yield 'git add --all && git commit --message "Training jobs" && git push'
    if choices.engine == "argocd":
        patch = "kubectl --namespace argocd patch configmap argocd-cm --patch-file gitops/argocd/argocd-cm.yaml"
        yield f"{patch} && kubectl apply --kustomize gitops/argocd"
    elif choices.engine == "flux":
        yield "kubectl apply --kustomize gitops/flux"
    else:
        yield f"kubectl apply --recursive --filename rendered/{environment}"


def _tell(made: Bootstrap, following: Iterable[str]) -> None:
    from trainform.cli.terminal import print_line

    print_made(made)
    if is_quiet():
        return
    print_line("")
    print_line("next:")
    for line in following:
        print_line(f"  {line}")


def print_made(made: Bootstrap) -> None:
    """Print what was written, and what the user must add to a file that other tools share."""
    from trainform.cli.terminal import print_line
    from trainform.diagnostics.order import counted

    for path, _ in made.write if not is_quiet() else ():
        print_line(f"wrote {path}")
    if made.unchanged and not is_quiet():
        print_line(f"{counted(made.unchanged, 'file')} unchanged")
    for path, text in made.told:
        print_line("")
        print_line(f"{path} exists; add to it what applies:")
        for line in text.splitlines():
            print_line(f"  {line}".rstrip())
