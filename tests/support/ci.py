"""A repository with a CI system around it, and its scripts."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path

import jsonschema_rs

from unit.cli.conftest import job

ROOT = Path(__file__).parents[2]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
    ran = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def program(folder: Path, name: str, text: str) -> None:
    """A program of that name, in a folder that is in PATH."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def render(folder: Path, environment: dict[str, str]) -> None:
    subprocess.run(["trainform", "render"], cwd=folder, env=environment, check=True, capture_output=True)


def changed(checkout: Path, environment: dict[str, str]) -> None:
    """A new job, rendered."""
    (checkout / "jobs" / "new.yaml").write_text(job("new"))
    render(checkout, environment)


def sh(script: str, folder: Path, environment: dict[str, str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script of `ci/`."""
    return subprocess.run(
        ["sh", ROOT / "ci" / f"{script}.sh"],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def faults(schema: str, document: object) -> list[str]:
    """What a schema that check-jsonschema ships finds wrong."""
    found = files("check_jsonschema").joinpath("builtin_schemas", "vendor", f"{schema}.json")
    validator = jsonschema_rs.validator_for(json.loads(found.read_bytes()))
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(document)]
