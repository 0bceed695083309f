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


def problems(installation: Installation, version: str, folder: Path) -> Iterator[str]:
    """Installs into `folder`, which is new, and tries what is there. The index and its settings are pip's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    empty, bin_ = folder / "empty", folder / "bin"

    def run(*command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, input=stdin, cwd=empty, env=environment, capture_output=True, text=True, check=False
        )

    empty.mkdir(parents=True)
    target = f"{installation.archive}[{installation.extra}]" if installation.extra else str(installation.archive)
    steps: list[tuple[tuple[str | Path, ...], str, str]] = [
        ((sys.executable, "-m", "venv", folder), "", ""),
        ((bin_ / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", target), "", ""),
        ((bin_ / "python", "-m", "pip", "check"), "", "No broken requirements"),
        ((bin_ / "trainform", "--version"), "", version),
        ((bin_ / "trainform", "plugins"), "", "coscheduling"),
        ((bin_ / "trainform", "render", "-"), JOB, "kind: JobSet"),
        ((bin_ / "python", "-P", "-c", _IMPORT_ALL, *installation.packages), "", ""),
    ]
    for command, stdin, expected in steps:
        ran = run(*command, stdin=stdin)
        if ran.returncode or expected not in ran.stdout:
            said = (ran.stderr.strip() or ran.stdout.strip() or "nothing").splitlines()[-1]
            name = " ".join(Path(each).name if isinstance(each, Path) else each for each in command[:4])
            yield f"{installation}: {name} exits {ran.returncode} and says: {said}"
            return
