"""The archives installed as users do, each in a virtual environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm, namespace: ml}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: example/llm:1, command: [torchrun, train.py], numNodes: 2}
"""

_IMPORT_ALL = """
import importlib, importlib.metadata, sys
for module, packages in importlib.metadata.packages_distributions().items():
    if not set(packages).isdisjoint(sys.argv[1:]):
        importlib.import_module(module)
"""


class Installation(NamedTuple):
    archive: Path
    extra: str = ""
    packages: tuple[str, ...] = ()
    """What the extra brings: can be imported."""

    def __str__(self) -> str:
        return f"{self.archive.name}[{self.extra}]" if self.extra else self.archive.name


def installations(wheel: Path, sdist: Path, tree: Path) -> list[Installation]:
    """The sdist, the wheel, and the wheel with each of its extras."""
    extras = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    with_extra = [
        Installation(wheel, extra, tuple(Requirement(each).name for each in requirements))
        for extra, requirements in extras.items()
    ]
    return [Installation(sdist), Installation(wheel), *with_extra]


class _Step(NamedTuple):
    what: str
    command: tuple[str | Path, ...]
    expected: str = ""
    """Part of what it must print."""
    stdin: str = ""


def problems(installation: Installation, version: str, folder: Path) -> Iterator[str]:
    """Installs into `folder`, which is new, and tries what is there. The index and its settings are pip's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    elsewhere = folder / "elsewhere"  # where nothing can be imported from
    elsewhere.mkdir(parents=True)
    for step in _steps(installation, version, folder):
        ran = subprocess.run(
            step.command,
            input=step.stdin,
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode or step.expected not in ran.stdout:
            said = (ran.stderr.strip() or ran.stdout.strip() or "nothing").splitlines()[-1]
            yield f"{installation}: {step.what} exits {ran.returncode} and says: {said}"
            return


def _steps(installation: Installation, version: str, folder: Path) -> list[_Step]:
    python, trainform = folder / "bin" / "python", folder / "bin" / "trainform"
    target = f"{installation.archive}[{installation.extra}]" if installation.extra else str(installation.archive)
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    return [
        _Step("python -m venv", (sys.executable, "-m", "venv", folder)),
        _Step("pip install", (*pip, "install", "--quiet", target)),
        _Step("pip check", (*pip, "check"), "No broken requirements"),
        _Step("trainform --version", (trainform, "--version"), f"trainform {version}\n"),
        _Step("trainform plugins", (trainform, "plugins"), "coscheduling"),
        _Step("trainform render -", (trainform, "render", "-"), "kind: JobSet", JOB),
        _Step("importing the extra", (python, "-c", _IMPORT_ALL, *installation.packages)),
    ]
