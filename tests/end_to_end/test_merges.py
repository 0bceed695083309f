"""Pairs of branches that change jobs at random, merged by real git: no file lists what others own, so nothing collides.

Each pair starts from the same commit. TRAINFORM_PAIRS sets how many pairs run.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from support.kustomize import build, needs_kubectl
from support.nursery import Nursery
from support.repositories import Repository, environment, job, runtime
from trainform.output.kustomization import kustomization_text

PAIRS = int(os.environ.get("TRAINFORM_PAIRS", "16"))
NAMESPACES = ("ml", "nlp", "vision")
RUNTIME = "runtimes/torch.yaml"


class Job(NamedTuple):
    namespace: str
    nodes: int
    file: str


Jobs = dict[str, Job]
"""The jobs of a commit, by name; no two namespaces have jobs of one name here."""


class Fleet(Repository):
    """A repository of nine jobs, frozen on a runtime that has changed since, and a namespace with one job only."""

    def __init__(self, root: Path, nursery: Nursery, naming: str, engine: str) -> None:
        super().__init__(root)
        self.nursery = nursery
        self.start_git()
        self.git("config", "gc.auto", "0")
        self.write("environments/prod/environment.yaml", environment(naming=naming, engine=engine))
        self.write(RUNTIME, runtime())
        self.jobs: Jobs = {}
        for number in range(9):
            self.put(f"job-{number}", NAMESPACES[min(number, 2)] if number < 5 else NAMESPACES[number % 2 + 1], 2)
        self.trainform("render")
        self.write(RUNTIME, runtime("example/train:2"))
        self.commit()
        self.start = dict(self.jobs)

    def put(self, name: str, namespace: str, nodes: int) -> None:
        file = self.jobs[name].file if name in self.jobs else f"jobs/{name}.yaml"
        self.jobs[name] = Job(namespace, nodes, file)
        self.write(file, job(name, nodes, namespace))

    def trainform(self, *arguments: str, code: int = 0) -> str:
        ended = self.nursery.run(self.root, *arguments)
        assert ended.code == code, ended.output
        return ended.output

    def passes_check(self) -> bool:
        ended = self.nursery.run(self.root, "check")
        assert ended.code in (0, 1), ended.output
        return ended.code == 0

    def branch(self, name: str, changes: Callable[[Fleet], set[str]]) -> tuple[set[str], Jobs]:
        """Makes a branch of the start. Returns what it touched, and its jobs."""
        self.git("checkout", "--quiet", "--force", "-B", name, "main")
        self.jobs = dict(self.start)
        touched = changes(self)
        self.trainform("render", "--allow-empty")
        self.commit()
        return touched, self.jobs

    def merges(self, name: str) -> bool:
        """Whether git merges a branch without a conflict; with one, it is given up."""
        command = ["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a", "merge", "--no-edit", name]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return True
        self.git("merge", "--abort")
        return False


def add(fleet: Fleet, chance: random.Random) -> str:
    name = f"new-{chance.randrange(40)}"
    if name not in fleet.jobs:
        fleet.put(name, chance.choice(NAMESPACES), chance.randrange(1, 9))
    return name


def delete(fleet: Fleet, chance: random.Random) -> str:
    name = chance.choice([*fleet.jobs])
    (fleet.root / fleet.jobs.pop(name).file).unlink()
    return name


def move(fleet: Fleet, chance: random.Random) -> str:
    name = chance.choice([*fleet.jobs])
    fleet.put(name, chance.choice(NAMESPACES), fleet.jobs[name].nodes)
    return name


def edit(fleet: Fleet, chance: random.Random) -> str:
    name = chance.choice([*fleet.jobs])
    fleet.put(name, fleet.jobs[name].namespace, chance.randrange(10, 99))
    return name


def upgrade(fleet: Fleet, chance: random.Random) -> str:
    fleet.trainform("render", "--allow-empty")  # a new job can be upgraded only once it is rendered
    name = chance.choice([*fleet.jobs])
    fleet.trainform("upgrade", name)
    return name


def move_the_file(fleet: Fleet, chance: random.Random) -> str:
    name = chance.choice([*fleet.jobs])
    old = fleet.jobs[name]
    fleet.jobs[name] = old._replace(file=f"jobs/{name}-{chance.randrange(100, 999)}.yaml")
    (fleet.root / old.file).rename(fleet.root / fleet.jobs[name].file)
    return name


def change_the_runtime(fleet: Fleet, chance: random.Random) -> str:
    fleet.write(RUNTIME, runtime(f"example/train:{chance.randrange(3, 99)}"))
    return RUNTIME


def empty_a_namespace(fleet: Fleet, chance: random.Random) -> str:
    """The last job of a namespace goes, or moves elsewhere, and another one may come to take it for the old."""
    first, *_ = [name for name, each in fleet.jobs.items() if each.namespace == "ml"] or [*fleet.jobs]
    if chance.random() < 0.5:
        fleet.put(first, "nlp", fleet.jobs[first].nodes)
    else:
        (fleet.root / fleet.jobs.pop(first).file).unlink()
    return first


CHANGES = (add, add, delete, delete, move, edit, upgrade, move_the_file, change_the_runtime, empty_a_namespace)


def at_random(chance: random.Random) -> Callable[[Fleet], set[str]]:
    def changes(fleet: Fleet) -> set[str]:
        return {chance.choice(CHANGES)(fleet, chance) for _ in range(chance.randint(1, 4)) if len(fleet.jobs) > 1}

    return changes


def merged_jobs(start: Jobs, one: tuple[set[str], Jobs], other: tuple[set[str], Jobs]) -> Jobs:
    """The jobs after a merge of branches that touched different ones."""
    names = {*start, *one[1], *other[1]}
    taken = {name: (one if name in one[0] else other)[1].get(name) for name in names}
    return {name: found for name, found in taken.items() if found is not None}


def argo_cd_reads(root: Path, environment: str) -> dict[str, list[str]]:
    """The manifests that Argo CD's directory source finds for each namespace: one Application for each folder."""
    folders = [path for path in (root / "rendered" / environment).iterdir() if path.is_dir()]
    return {folder.name: manifests(folder, (".yaml", ".yml", ".json")) for folder in folders}


def flux_reads(root: Path, environment: str) -> dict[str, list[str]]:
    """The manifests of each namespace's Kustomization: where there is no kustomization.yaml, every YAML file below."""
    found = {}
    for file in (root / "rendered/_flux" / environment).iterdir():
        folder = root / yaml.safe_load(file.read_text())["spec"]["path"]
        assert folder.is_dir()  # else: "kustomization path not found", and nothing is pruned
        assert not [path for path in folder.rglob("*") if path.stem.casefold() == "kustomization"]
        found[folder.name] = manifests(folder, (".yaml", ".yml"))
    return found


def manifests(folder: Path, endings: tuple[str, ...]) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in endings)


def jobsets(root: Path, environment: str) -> dict[str, tuple[str, int]]:
    """Namespace and nodes of each JobSet that an engine applies, by the name of its job."""
    found = {}
    for path in (root / "rendered" / environment).rglob("jobset-*.yaml"):
        tree = yaml.safe_load(path.read_text())
        nodes = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"]
        assert path.parent.name not in found
        found[path.parent.name] = (tree["metadata"]["namespace"], nodes)
    return found


@pytest.mark.parametrize(("naming", "engine"), [("stable", "argocd"), ("content-hash", "flux")])
def test_what_git_merges_cleanly_is_what_render_would_write(tmp_path, nursery, naming, engine):
    fleet = Fleet(tmp_path / "repository", nursery, naming, engine)
    chance = random.Random(naming)
    apart = 0
    for pair in range(PAIRS // 2):
        one, other = (fleet.branch(name, at_random(chance)) for name in ("one", "other"))
        is_apart = not one[0] & other[0]
        apart += is_apart
        clean = fleet.merges("one")
        assert clean or not is_apart, f"pair {pair}: {one[0]} and {other[0]} collide"
        if not clean:
            continue
        passes = fleet.passes_check()
        if is_apart:
            assert passes, f"pair {pair}: {one[0]} and {other[0]}"
            expected = merged_jobs(fleet.start, one, other)
            assert jobsets(fleet.root, "prod") == {name: (each[0], each[1]) for name, each in expected.items()}
        if passes:
            read = argo_cd_reads(fleet.root, "prod"), engine == "flux" and flux_reads(fleet.root, "prod")
            before = fleet.files("rendered", ".trainform")
            fleet.trainform("render")
            assert fleet.files("rendered", ".trainform") == before
            assert read[0] == argo_cd_reads(fleet.root, "prod")
            assert engine != "flux" or read[0] == read[1]
        else:
            fleet.trainform("render")
            assert fleet.passes_check()
    assert apart > PAIRS / 6  # most pairs touch different jobs


def test_one_branch_empties_a_namespace_and_the_other_adds_a_job_to_it(tmp_path, nursery):
    """Git takes the lock that moves to another namespace for a folder that was renamed, unless something stays."""
    fleet = Fleet(tmp_path / "repository", nursery, "stable", "flux")
    fleet.trainform("upgrade", "--all")
    fleet.commit()

    def moves_the_last(fleet: Fleet) -> set[str]:
        fleet.put("job-0", "nlp", 2)
        return {"job-0"}

    def adds_one(fleet: Fleet) -> set[str]:
        fleet.put("new", "ml", 2)
        return {"new"}

    fleet.branch("one", moves_the_last)
    fleet.branch("other", adds_one)
    assert fleet.merges("one")
    assert fleet.passes_check()
    assert argo_cd_reads(fleet.root, "prod")["ml"] == ["new/jobset-new.yaml"]


@pytest.mark.parametrize("neighbour", ["added", "deleted"])
def test_two_branches_that_change_neighbours(tmp_path, nursery, neighbour):
    fleet = Fleet(tmp_path / "repository", nursery, "stable", "argocd")

    def deletes(name: str) -> Callable[[Fleet], set[str]]:
        def changes(fleet: Fleet) -> set[str]:
            (fleet.root / fleet.jobs.pop(name).file).unlink()
            return {name}

        return changes

    def adds(fleet: Fleet) -> set[str]:
        fleet.put("job-3a", "vision", 2)
        return {"job-3a"}

    fleet.branch("one", deletes("job-3"))
    fleet.branch("other", adds if neighbour == "added" else deletes("job-4"))
    assert fleet.merges("one")
    assert fleet.passes_check()


def generated(folder: Path) -> dict[str, Any]:
    """What kustomize makes of the kustomization that Flux generates for a folder: every YAML file below is listed."""
    (folder / "kustomization.yaml").write_text(kustomization_text(manifests(folder, (".yaml", ".yml"))))
    try:
        return {f"{tree['kind']}/{tree['metadata']['name']}": tree for tree in build(folder)}
    finally:
        (folder / "kustomization.yaml").unlink()


@needs_kubectl
def test_flux_and_argo_cd_apply_the_same_objects(tmp_path, nursery):
    fleet = Fleet(tmp_path / "repository", nursery, "content-hash", "flux")
    for namespace in NAMESPACES:
        folder = fleet.root / "rendered/prod" / namespace
        trees = [yaml.safe_load(path.read_text()) for path in folder.rglob("*.yaml")]
        assert generated(folder) == {f"{tree['kind']}/{tree['metadata']['name']}": tree for tree in trees}
