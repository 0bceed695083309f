"""Valid repositories to start from: this project's own, and each golden case laid out as one."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

from fuzz.case import Case, Entry, Step
from fuzz.place import set_up
from fuzz.process import Machine, run_forked

PROJECT = Path(__file__).parents[2]
OWN = ("trainform.yaml", "jobs", "runtimes", "environments", "rendered", ".trainform")
JOBS = ("TrainJob",)
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime", "ConfigMap", "ServiceAccount", "Role", "RoleBinding")
_KIND = re.compile(r"^kind: *(\w+)", re.MULTILINE)
_NAME = re.compile(r"^ *name: *([\w.-]+)|metadata: *\{name: *([\w.-]+)", re.MULTILINE)

Files = dict[str, Entry]


class Seeds:
    """The seeds by name. Each is read when it is first asked for."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        self.folder = folder
        self.machine = machine
        self.names = ["own", *sorted(_golden())]
        self._rendered: dict[str, Files] = {}

    def files(self, name: str) -> Files:
        return _own() if name == "own" else _laid_out(_golden()[name])

    def rendered(self, name: str) -> Files:
        """The files of a seed with its locks, snapshots and manifests."""
        if name not in self._rendered:
            place = set_up(Case(self.files(name), ()), self.folder / "seed")
            run_forked(Step(("render", "--keep-going")), place, self.machine)
            self._rendered[name] = _read(place.root)
            place.clear()
        return self._rendered[name]


@cache
def _golden() -> dict[str, Path]:
    cases = (PROJECT / "golden").glob("*/*/input")
    return {case.parent.relative_to(PROJECT / "golden").as_posix(): case for case in cases}


@cache
def _own() -> Files:
    return _read(PROJECT, only=OWN)


def _read(root: Path, only: Collection[str] = ()) -> Files:
    """The files below `root`, outside of folders that are not ours. `only`: at the top, only these; files of a test
    run come and go beside them."""
    files = {}
    for above, folders, names in os.walk(root):
        if Path(above) == root:
            folders[:] = [name for name in folders if name in OWN]
            names[:] = [name for name in names if name in (only or names)]
        for name in names:
            path = Path(above, name)
            files[path.relative_to(root).as_posix()] = Entry(text=path.read_text(errors="surrogateescape"))
    return files


def _laid_out(case: Path) -> Files:
    """A golden case's files in the folders of a repository, by the kind of their first object."""
    texts = {path.relative_to(case).as_posix(): path.read_text() for path in sorted(case.rglob("*.yaml"))}
    environment = next((_environment(text) for text in texts.values() if "kind: Environment" in text), "prod")
    files = {"trainform.yaml": Entry()}
    for path, text in texts.items():
        found = _KIND.search(text)
        kind = found[1] if found else ""
        folder = f"environments/{environment}"
        if kind in JOBS:
            folder = "jobs"
        elif kind in RUNTIMES:
            folder = "runtimes"
        files[f"{folder}/{path.rpartition('/')[2]}"] = Entry(text=text)
    return files


def _environment(text: str) -> str:
    found = _NAME.search(text[text.index("kind: Environment") :])
    return (found[1] or found[2] or "prod") if found else "prod"
