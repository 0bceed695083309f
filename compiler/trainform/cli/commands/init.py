"""`trainform init`: a repository to start with, and what connects it to Argo CD or Flux."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from trainform.cli import FAULTY, OK

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic

ENGINES = ("none", "argocd", "flux")
NAMESPACE = "ml"
"""Of the sample job, and of jobs that name none."""

TEMPLATES = {
    "trainform.yaml": "trainform.yaml",
    "gitattributes": ".gitattributes",
    "github/workflows/trainform.yaml": ".github/workflows/trainform.yaml",
    "environments/environment.yaml": "environments/{environment}/environment.yaml",
    "jobs/hello.yaml": "jobs/hello.yaml",
    "runtimes/README.md": "runtimes/README.md",
}
"""Templates, by their place in `output/templates/init`, and the files of the repository that they become."""


@click.command()
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

    _check_name(environment)
    root = os.path.realpath(folder)
    changes = _plan(root, _texts(engine, environment))
    problems = changes.diagnostics or _write(root, changes)
    print_diagnostics(problems, sys.stderr)
    if problems:
        return FAULTY
    _tell([path for path, _ in changes.write], changes.unchanged, _next(folder, engine, environment))
    return OK


def _check_name(environment: str) -> None:
    from trainform.k8s.names import dns1123_label

    if problem := dns1123_label(environment):
        raise click.BadParameter(f'"{environment}" {problem}', param_hint="--env")


def _texts(engine: str, environment: str) -> dict[str, str]:
    """Every file of the repository: its text by its path."""
    values = {"engine": engine, "environment": environment, "namespace": NAMESPACE}
    texts = {path.format(**values): _rendered(name, values) for name, path in TEMPLATES.items()}
    return texts | {f"gitops/{engine}/{name}": text for name, text in _bootstrap(engine, environment).items()}


def _rendered(name: str, values: dict[str, str]) -> str:
    """A template with its values; delimiters are square, as workflows and ApplicationSets have curly ones."""
    from jinja2 import Environment, StrictUndefined

    from trainform import __version__

    jinja = Environment(
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return jinja.from_string(_shipped("templates", "init", *name.split("/"))).render(values, version=__version__)


def _bootstrap(engine: str, environment: str) -> dict[str, str]:
    """The files of `gitops/<engine>/`."""
    if engine == "argocd":
        from trainform.output import argocd

        return argocd.files(environment, {kind: _shipped("health", f"{kind}.lua") for kind in argocd.HEALTH_KINDS})
    if engine == "flux":
        from trainform.output import flux

        return flux.files(environment)
    return {}


def _shipped(*path: str) -> str:
    from importlib.resources import files

    return files("trainform.output").joinpath(*path).read_text(encoding="utf-8")


@dataclass(slots=True)
class _Changes:
    """Files to write, and how many are there already."""

    write: list[tuple[str, bytes]] = field(default_factory=list)
    unchanged: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def _write(root: str, changes: _Changes) -> list[Diagnostic]:
    from trainform.io.lock import claimed
    from trainform.io.place import os_error
    from trainform.io.writer import staging, write

    if not changes.write:
        return []
    path = changes.write[0][0]
    try:
        os.makedirs(root, exist_ok=True)
        with claimed(root), staging(root):
            for path, data in changes.write:
                write(root, path, data)
    except OSError as error:
        return [os_error("TF707", path, error, "cannot be written")]
    return []


def _plan(root: str, texts: dict[str, str]) -> _Changes:
    """What is missing; a problem for each other file that stands where one of ours should."""
    changes = _Changes()
    for path, text in texts.items():
        data = text.encode()
        found = _present(root, path)
        if found is None:
            changes.write.append((path, data))
        elif found == data:
            changes.unchanged += 1
        else:
            changes.diagnostics.append(_in_the_way(path, found))
    return changes


def _present(root: str, path: str) -> bytes | Diagnostic | None:
    """The bytes of the file at `path`, None where nothing is, or why there can be no file of ours."""
    from trainform.io.place import file_error, os_error
    from trainform.io.repository import inside

    if not inside(root, os.path.realpath(os.path.join(root, path))):
        return file_error("TF702", path, "leads out of the repository", "remove the link")
    try:
        with open(os.path.join(root, path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")


def _in_the_way(path: str, found: bytes | Diagnostic) -> Diagnostic:
    from trainform.io.place import file_error

    if not isinstance(found, bytes):
        return found
    hint = "move it away, or choose another folder"
    return file_error("TF706", path, "is in the way: it differs from what init would write", hint)


def _next(folder: str, engine: str, environment: str) -> Iterator[str]:
    """What to do now, as commands; a line that begins with # is not one."""
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
        yield f"kubectl apply --kustomize rendered/{environment}"


def _tell(wrote: Iterable[str], unchanged: int, following: Iterable[str]) -> None:
    from trainform.diagnostics.order import counted

    for path in wrote:
        print(f"wrote {path}")
    if unchanged:
        print(f"{counted(unchanged, 'file')} unchanged")
    print("\nnext:")
    for line in following:
        print(f"  {line}")
