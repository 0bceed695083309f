"""`trainform cmp`: the compiler as an Argo CD config management plugin."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainform.cli import FAULTY, OK
from trainform.cli.options import Command

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.io.repository import Repository
    from trainform.workspace.compilation import Outcome
    from trainform.workspace.inputs import EnvironmentInputs

PARAMETERS = "ARGOCD_APP_PARAMETERS"
"""The environment variable with the Application's parameters, as JSON."""

VARIABLES = {"environment": "ARGOCD_ENV_TRAINFORM_ENVIRONMENT", "jobs": "ARGOCD_ENV_TRAINFORM_JOBS"}
"""Variables for Applications that set `plugin.env`; blanks separate jobs. Parameters take precedence."""


@click.group()
def cmp() -> None:
    """Run as an Argo CD config management plugin.

    Argo CD runs these commands in the plugin's sidecar of the repo server, in the folder of an Application.
    """


@cmp.command(cls=Command)
def generate() -> int:
    """Print the manifests of one environment as a YAML stream.

    On an error, no manifests are printed, only the problems on stderr. In a folder below jobs/, only the jobs
    in that folder are rendered.
    """
    from trainform.cli.errors import report_failures
    from trainform.cli.terminal import print_bytes, print_diagnostics
    from trainform.diagnostics.order import has_errors
    from trainform.output.emitter import emit_stream
    from trainform.workspace.compilation import compile_environments

    environments, problems = _chosen(_settings())
    outcome: Outcome = compile_environments(environments, problems)
    told = [each for each in outcome.all_diagnostics() if each.severity != "info"]
    print_diagnostics(told, sys.stderr)
    if code := report_failures(outcome.failures) or (FAULTY if has_errors(told) else OK):
        return code
    print_bytes(emit_stream(tree for job in outcome.jobs for tree in job.objects).encode())
    return OK


@cmp.command(cls=Command)
def discover() -> int:
    """Print the root of the trainform repository, if this is one."""
    from trainform.cli.terminal import print_line
    from trainform.io.repository import find_root
    from trainform.io.settings import FILE

    root = find_root(".")
    if os.path.lexists(os.path.join(root, FILE)):
        print_line(os.path.relpath(root).replace(os.sep, "/"))
    return OK


@cmp.command(cls=Command)
def parameters() -> int:
    """Print the parameters of this Application for the Argo CD UI."""
    from trainform.cli.terminal import print_json

    names = _environments()
    environment: dict[str, Any] = {
        "name": "environment",
        "title": "Environment",
        "tooltip": f"One of {', '.join(names)}" if names else "There is none: jobs compile as the controller would",
        "required": len(names) > 1,
        "itemType": "string",
        "collectionType": "string",
        "string": names[0] if len(names) == 1 else "",
    }
    jobs = {
        "name": "jobs",
        "title": "Jobs",
        "tooltip": "[namespace/]name, or the path of a file; none means all",
        "itemType": "string",
        "collectionType": "array",
        "array": [],
    }
    print_json([environment, jobs])
    return OK


class Parameters(NamedTuple):
    """The Application's parameters; empty means all jobs, or the only environment."""

    environment: str = ""
    jobs: tuple[str, ...] = ()


def _settings() -> Parameters:
    given = _given()
    environment = given.get("environment", os.environ.get(VARIABLES["environment"], ""))
    jobs = given.get("jobs", os.environ.get(VARIABLES["jobs"], "").split())
    if not isinstance(environment, str):
        raise _bad("environment must be a string")
    if not isinstance(jobs, list) or not all(isinstance(job, str) for job in jobs):
        raise _bad("jobs must be an array of strings")
    return Parameters(environment, tuple(jobs))


def _given() -> dict[str, Any]:
    """The value of each parameter: `[{"name": "jobs", "array": ["ml/llm"]}]`."""
    import json

    try:
        entries = json.loads(os.environ.get(PARAMETERS) or "[]") or []
    except ValueError as error:
        raise _bad(f"invalid JSON: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _bad("must be a list of parameters")
    given = {}
    for entry in entries:
        name = entry.get("name")
        if not isinstance(name, str) or name not in VARIABLES:
            raise _bad(f"unknown parameter {name!r}: choose from {' and '.join(VARIABLES)}")
        given[name] = next((entry[kind] for kind in ("string", "array", "map") if entry.get(kind) is not None), "")
    return given


def _bad(message: str) -> click.UsageError:
    return click.BadParameter(message, param_hint=PARAMETERS)


def _chosen(settings: Parameters) -> tuple[list[EnvironmentInputs], list[Diagnostic]]:
    from trainform.cli.options import chosen_root
    from trainform.io.repository import open_repository
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.selection import select

    repository, problems = open_repository(chosen_root(None))
    asked = [settings.environment] if settings.environment else []
    workspace = Workspace(repository, problems, asked, _paths(repository))
    environments = workspace.read()
    if len(environments) > 1:
        raise _bad(f"choose one environment: {', '.join(each.name for each in environments)}")
    if settings.jobs:
        problems += select(workspace, environments, settings.jobs)
    return environments, problems


def _paths(repository: Repository) -> list[str] | None:
    """The current folder if it is inside the jobs folder; else None, for everything."""
    from trainform.io.links import inside

    here, jobs = os.path.realpath("."), os.path.join(repository.root, repository.settings.jobs)
    return ["."] if here != jobs and inside(jobs, here) else None


def _environments() -> list[str]:
    from trainform.cli.options import chosen_root
    from trainform.io.repository import open_repository

    repository, _ = open_repository(chosen_root(None))
    return [folder.rsplit("/", 1)[-1] for folder in repository.environments()]
