"""A run that is killed leaves each job old or new, whole; the next run repairs what is left, silently."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from support.nursery import KILLED, Nursery
from support.repositories import Repository, environment, job, runtime

JOBS = ("changed", "gone", "new", "same")


class Scene(NamedTuple):
    """A repository before a run that changes, adds and removes a job, and the same one after it."""

    before: Repository
    after: Repository


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    before = Repository(folder / "before")
    before.write("environments/prod/environment.yaml", environment(naming="content-hash"))
    before.write("runtimes/torch.yaml", runtime())
    for name in ("changed", "gone", "same"):
        before.write(f"jobs/{name}.yaml", job(name, namespace=name))
    assert nursery.run(before.root, "render").code == 0
    (before.root / "jobs/gone.yaml").unlink()
    before.write("jobs/changed.yaml", job("changed", nodes=4, namespace="changed"))
    before.write("jobs/new.yaml", job("new", namespace="new"))
    before.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    shutil.copytree(before.root, folder / "after")
    after = Repository(folder / "after")
    assert nursery.run(after.root, "render").code == 0
    return Scene(before, after)


def folders(repository: Repository) -> dict[str, dict[str, bytes]]:
    """The files of each job's folder."""
    return {name: repository.files(f"rendered/prod/{name}/{name}") for name in JOBS}


class Killing:
    """Copies of the scene in which a run is killed."""

    def __init__(self, scene: Scene, nursery: Nursery, folder: Path) -> None:
        self.scene, self.nursery, self.folder = scene, nursery, folder
        self.old, self.new = folders(scene.before), folders(scene.after)
        self.number = 0

    def copy(self) -> Repository:
        self.number += 1
        shutil.copytree(self.scene.before.root, self.folder / str(self.number))
        return Repository(self.folder / str(self.number))

    def assert_whole(self, repository: Repository) -> None:
        for name, found in folders(repository).items():
            assert found in (self.old[name], self.new[name]), f"{name} is neither old nor new"

    def assert_repaired(self, repository: Repository) -> None:
        ended = self.nursery.run(repository.root, "render")
        assert ended.code == 0, ended.output
        assert "error" not in ended.output
        assert repository.files("rendered", ".trainform") == self.scene.after.files("rendered", ".trainform")


@pytest.fixture
def killing(scene: Scene, nursery: Nursery, tmp_path: Path) -> Killing:
    return Killing(scene, nursery, tmp_path)


@pytest.mark.parametrize("swap", [True, False], ids=["in-one-step", "by-renaming"])
def test_a_kill_before_each_change_of_the_disk(killing, swap):
    step, code = 0, KILLED
    while code == KILLED:
        step += 1
        repository = killing.copy()
        code = killing.nursery.run(repository.root, "render", kill_at=step, swap=swap).code
        if swap:
            killing.assert_whole(repository)
        killing.assert_repaired(repository)
    assert code == 0
    assert step > 40


def test_kills_at_random_moments(killing):
    chance = random.Random(2026)
    codes = set()
    for _ in range(200):
        repository = killing.copy()
        codes.add(killing.nursery.run(repository.root, "render", kill_after=chance.uniform(0.001, 0.03)).code)
        killing.assert_whole(repository)
        killing.assert_repaired(repository)
    assert KILLED in codes


def test_a_killed_upgrade_is_undone_or_done(killing):
    """What was not put in place stays behind, and the next upgrade takes it along."""
    step, code = 0, KILLED
    while code == KILLED:
        step += 1
        repository = killing.copy()
        code = killing.nursery.run(repository.root, "upgrade", "same", kill_at=step).code
        assert killing.nursery.run(repository.root, "check", "--format", "json").code == 1  # other jobs are stale
        assert killing.nursery.run(repository.root, "upgrade", "same").code == 0
        lock = (repository.root / ".trainform/locks/prod/same/same.lock").read_text()
        assert "previous" not in lock
        assert b"train:2" in b"".join(folders(repository)["same"].values())
    assert step > 5
