"""Create a new repository, with manifests that connect it to Argo CD or Flux."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from trainform.diagnostics import Diagnostic
from trainform.io.links import LinkError, read_file
from trainform.io.paths import exists
from trainform.io.place import file_error, os_error

NAMESPACE = "ml"
"""The namespace of the sample job, and the default for jobs."""

TEMPLATES = {
    "trainform.yaml": "trainform.yaml",
    "gitattributes": ".gitattributes",
    "github/workflows/trainform.yaml": ".github/workflows/trainform.yaml",
    "environments/environment.yaml": "environments/{environment}/environment.yaml",
    "jobs/hello.yaml": "jobs/hello.yaml",
    "runtimes/README.md": "runtimes/README.md",
}
"""Template paths in `output/templates/init`, and the repository files they become."""


@dataclass(slots=True)
class Bootstrap:
    """The missing files, and how many already exist. If there are diagnostics, nothing is written."""

    write: list[tuple[str, bytes]] = field(default_factory=list)
    unchanged: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def bootstrap(root: str, engine: str, environment: str) -> Bootstrap:
    """Create a repository at `root` with one environment, applied by `engine` (argocd, flux or none)."""
    return write_new(root, _texts(engine, environment))


def write_new(root: str, texts: dict[str, str]) -> Bootstrap:
    """Write files, by path, that are not there yet. Nothing is written if a different file is in the way."""
    made = _plan(root, texts)
    if not made.diagnostics:
        made.diagnostics += _write(root, made)
    return made


def _texts(engine: str, environment: str) -> dict[str, str]:
    """The text of each repository file, by path."""
    values = {"engine": engine, "environment": environment, "namespace": NAMESPACE}
    texts = {path.format(**values): _rendered(name, values) for name, path in TEMPLATES.items()}
    return texts | {f"gitops/{engine}/{name}": text for name, text in _engine_files(engine, environment).items()}


def _rendered(name: str, values: dict[str, str]) -> str:
    """Render a template. Delimiters are square, because workflows and ApplicationSets use curly ones."""
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


def _engine_files(engine: str, environment: str) -> dict[str, str]:
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


def _write(root: str, changes: Bootstrap) -> list[Diagnostic]:
    from trainform.io.staging import writing
    from trainform.io.writer import write

    if not changes.write:
        return []
    path = changes.write[0][0]
    try:
        os.makedirs(root, exist_ok=True)
        with writing(root) as staging:
            for path, data in changes.write:
                write(staging, path, data)
    except OSError as error:
        return [os_error("TF707", path, error, "cannot be written")]
    return []


def _plan(root: str, texts: dict[str, str]) -> Bootstrap:
    """The missing files, and a problem for each path taken by a different file."""
    changes = Bootstrap()
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
    """The bytes at `path`, None if nothing is there, or why we cannot write there."""
    try:
        return read_file(root, path)
    except FileNotFoundError:
        return file_error("TF706", path, "is a link that leads nowhere", "remove it") if exists(root, path) else None
    except LinkError as error:
        return file_error("TF702", path, error.strerror or "", "remove the link")
    except OSError as error:
        return os_error("TF707", path, error, "cannot be written")


def _in_the_way(path: str, found: bytes | Diagnostic) -> Diagnostic:
    if not isinstance(found, bytes):
        return found
    hint = "move it away, or choose another folder"
    return file_error("TF706", path, "is in the way: it differs from what would be written", hint)
