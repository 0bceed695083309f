"""Git holds paths of two thousand folders, more than a walk through folders can call: they are told, and what is
below is neither read nor overlooked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.attacks import COMMANDS, Victim
from trainform.io.links import DEEPEST, located

FOLDERS = 1_800


@pytest.fixture(autouse=True)
def removed(tmp_path: Path) -> Iterator[None]:
    """Pytest removes folders of earlier runs with a call for each level: what is left here would end a later run."""
    yield
    subprocess.run(["rm", "-rf", tmp_path], check=True)


def bury(folder: Path, name: str = "x.yaml", folders: int = FOLDERS) -> None:
    """Put a file that many folders deep: a path that long cannot be opened at once."""
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY)
    for _ in range(folders):
        os.mkdir("a", dir_fd=place)
        below = os.open("a", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)


@pytest.mark.parametrize(
    "place",
    ["jobs", "environments/prod", "rendered", "rendered/prod/ml/llm"],
)
def test_no_command_takes_deep_folders_for_a_bug(victim: Victim, place: str):
    bury(victim.root / place)
    for command in (*COMMANDS, f"diff --base {victim.root}", "retire llm"):
        victim.trainform(command)


@pytest.mark.parametrize("place", ["jobs", "runtimes", "environments/prod"])
def test_a_folder_that_is_too_deep_is_an_error(victim: Victim, place: str):
    bury(victim.root / place)
    ended = victim.trainform("validate")
    assert ended.code == 2
    assert f"TF701: cannot be listed: lies more than {DEEPEST} folders deep" in ended.output


@pytest.mark.parametrize("place", ["rendered", "rendered/prod"])
def test_check_overlooks_nothing_that_lies_deep_where_an_engine_looks(victim: Victim, place: str):
    """An engine may read what is too deep for trainform."""
    bury(victim.root / place, "secret.yaml", DEEPEST + 20)
    ended = victim.trainform("check")
    assert ended.code == 1
    assert "1 foreign" in ended.output
    assert f"  {place}/a/a/" in ended.output


def test_no_job_is_written_where_it_cannot_be_read(victim: Victim):
    deep = "a/" * FOLDERS
    assert victim.trainform(f"job new deep --command train --file jobs/{deep}x.yaml").code == 2
    assert not (victim.root / "jobs/a").exists()


def test_ordinary_depth_is_fine(tmp_path: Path):
    path = "a/" * (DEEPEST - 1) + "x"
    assert located(str(tmp_path), path) == f"{tmp_path}/{path}"
