"""The text of each file of a new repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainform import __version__
from trainform.io.settings import Settings
from trainform.workspace.bootstrap.choices import Choices
from trainform.workspace.bootstrap.editor import editor_files, with_modeline
from trainform.workspace.bootstrap.templates import rendered, shipped
from trainform.workspace.bootstrap.writing import NewFile

_ALWAYS = {
    "trainform.yaml": "trainform.yaml",
    "environments/environment.yaml": "environments/{environment}/environment.yaml",
    "runtimes/README.md": "runtimes/README.md",
}
"""Templates in `output/templates/init`, and the files they become, from the new repository's root."""

_HOOKS = ".pre-commit-config.yaml"


def texts(choices: Choices) -> dict[str, NewFile]:
    """Every file by its path from the top of the checkout, since git and CI systems read theirs only there."""
    own = {path: NewFile(with_modeline(path, text)) for path, text in _own_texts(choices)}
    own |= {f"gitops/{choices.engine}/{name}": NewFile(text) for name, text in _engine_files(choices).items()}
    own[".gitattributes"] = NewFile(_rendered("gitattributes", choices), "append")
    top = {_HOOKS: NewFile(_rendered("pre-commit-config.yaml", choices), "tell"), **_ci_files(choices)}
    editor = editor_files(Settings(), choices.prefix)
    return {f"{choices.prefix}{path}": file for path, file in own.items()} | top | editor


def _own_texts(choices: Choices) -> Iterator[tuple[str, str]]:
    for name, path in _ALWAYS.items():
        yield path.format(environment=choices.environment), _rendered(name, choices)
    for sample in choices.samples:
        name = "hello" if sample == "torch" else f"hello-{sample}"
        yield f"jobs/{name}.yaml", _rendered(f"jobs/{sample}.yaml", choices)


def _ci_files(choices: Choices) -> dict[str, NewFile]:
    if choices.ci == "github":
        folder = choices.prefix.strip("/").replace("/", "-")
        name = f"trainform-{folder}" if folder else "trainform"
        return {f".github/workflows/{name}.yaml": NewFile(_rendered("github-workflow.yaml", choices))}
    if choices.ci == "gitlab":
        return {".gitlab-ci.yml": NewFile(_rendered("gitlab-ci.yml", choices), "tell")}
    return {}


def _rendered(name: str, choices: Choices) -> str:
    values = choices._asdict() | {
        "install": choices.install or f"trainform=={__version__}",
        "folder": choices.prefix.rstrip("/"),
        "pattern": re.escape(choices.prefix),
    }
    return rendered(f"init/{name}", values)


def _engine_files(choices: Choices) -> dict[str, str]:
    """The files of `gitops/<engine>/`."""
    if choices.engine == "argocd":
        from trainform.output import argocd

        health = {kind: shipped("health", f"{kind}.lua") for kind in argocd.HEALTH_KINDS}
        return argocd.files(choices.environment, health, choices.repository, choices.prefix)
    if choices.engine == "flux":
        from trainform.output import flux

        return flux.files(choices.environment, choices.prefix)
    return {}
