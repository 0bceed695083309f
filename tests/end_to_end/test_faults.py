"""A sample of what `./dev faults` does for as long as one likes: no fault of the machine leaves a lie behind."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator

import pytest

from faults.__main__ import open_stage, run
from faults.kinds import KINDS, Stage
from faults.promises import breaches
from faults.scenes import LOCKS, Scene, make_scenes
from support.inject import Calls, Fault, reason_against
from support.nursery import KILLED, Ended
from support.repositories import Repository

pytestmark = pytest.mark.skipif(bool(reason_against()), reason=reason_against())

SAMPLE = ("render, cached", "check of an edited manifest, cached")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with open_stage(tmp_path_factory.mktemp("faults")) as stage:
        yield stage


@pytest.fixture(scope="module")
def scenes(stage: Stage) -> dict[str, Scene]:
    return {scene.name: scene for scene in make_scenes(stage.folder, stage.nursery)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_promise_holds_after_a_fault(stage, scenes, kind):
    result = run(stage, [scenes[name] for name in SAMPLE], [kind], seconds=60, rounds=4)
    assert [f"{each.fault} in {each.scene}: {each.breach}" for each in result.broken] == []
    assert result.rounds > 0


@pytest.mark.parametrize(
    ("calls", "error", "code"),
    [(Calls.CHANGES, 0, KILLED), (Calls.CREATES, errno.ENOSPC, 2), (Calls.OPENS, errno.EMFILE, 2)],
    ids=["killed", "disk full", "no descriptors"],
)
def test_a_fault_strikes(stage, scenes, calls, error, code):
    """Otherwise every promise would hold."""
    with stage.play(scenes["render"]) as repository:
        fault = Fault(str(stage.folder), calls, 3, error, stays=True)
        assert stage.nursery.run(repository.root, "render", fault=fault).code == code


class Done:
    """A blow that damages the results itself, and says how the run ended."""

    def __init__(self, damage, code=0, output=""):
        self.damage, self.ended = damage, Ended(code, output)

    def strike(self, stage, scene, repository):
        stage.nursery.run(repository.root, *scene.arguments)
        self.damage(repository)
        return [self.ended]


def tear(repository: Repository) -> None:
    """Half of a file."""
    (file,) = (repository.root / "rendered/prod/new/new").glob("jobset-*")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def litter(repository: Repository) -> None:
    repository.write(".git/trainform/draft", "")


def lose(repository: Repository) -> None:
    shutil.rmtree(repository.root / LOCKS)


def nothing(_: Repository) -> None: ...


@pytest.mark.parametrize(
    ("blow", "told"),
    [
        (Done(tear), "the folder of new is neither old nor new"),
        (Done(lose), "exit code 0 although"),
        (Done(litter), "left behind: .git/trainform/draft"),
        (Done(nothing, 70), "exit code 70"),
        (Done(nothing, 2, "Traceback (most recent call last)"), "a traceback"),
        (Done(nothing, 2), "an error without a word"),
    ],
)
def test_a_broken_promise_is_told(stage, scenes, blow, told):
    with stage.play(scenes["render"]) as repository:
        assert any(told in breach for breach in breaches(stage, scenes["render"], blow, repository))


def test_where_nothing_breaks_every_promise_holds(stage, scenes):
    for scene in scenes.values():
        with stage.play(scene) as repository:
            assert breaches(stage, scene, Done(nothing, scene.code, "something"), repository) == [], scene.name
