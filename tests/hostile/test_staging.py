"""What a commit brings to where trainform keeps its own state is neither trusted nor moved; what a killed run left is
cleared away."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from support.attacks import Victim
from support.nursery import KILLED
from support.repositories import job
from trainform.io import cache_file
from trainform.io.own_state import state_folder, state_in_git
from trainform.io.staging import writing

MARK = "left-by-a-commit"


def marked(victim: Victim) -> set[str]:
    """Where the files of the attack are."""
    files = [path for folder in (victim.root, victim.outside) for path in folder.rglob(MARK)]
    return {path.relative_to(victim.root.parent).as_posix() for path in files}


@pytest.mark.parametrize("staging", [".trainform/staging", ".trainform/staging-0123456789abcdef0123456789abcdef"])
@pytest.mark.parametrize(
    "path",
    [
        "rendered/prod/ml/evil~old", "jobs/evil~old", ".git/hooks/evil~old", ".git/trainform~old", "link/evil~old",
        ".github/workflows~old", "x~old",
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["render", "upgrade --all", "rerun ml/llm", "init . --env prod", "keys"])
def test_a_staging_folder_of_a_commit_is_moved_nowhere(victim, staging, path, command):
    victim.link("link", victim.outside)
    victim.write(f"{staging}/{path}/{MARK}", "")
    here = marked(victim)
    victim.trainform(command)
    assert marked(victim) == here


@pytest.mark.parametrize("link", [".trainform/staging", ".trainform/draft", ".trainform/staging-x"])
def test_a_link_in_its_place_is_not_written_through(victim, link):
    victim.link(link, victim.outside)
    victim.write("jobs/new.yaml", job("new"))
    before = victim.everything()
    assert victim.trainform("render").code == 0
    assert victim.everything() == before


def test_a_killed_run_leaves_nothing_to_commit_and_nothing_after_the_next(victim):
    victim.write("jobs/new.yaml", job("new"))
    step, code = 0, KILLED
    while code == KILLED:
        step += 1
        code = victim.nursery.run(victim.root, "render", kill_at=step).code
        assert not any("staging" in line for line in victim.changed()), step
        assert victim.trainform("render").code == 0
        assert not list((victim.root / ".trainform").glob("staging*")), step
        assert not list((victim.root / ".git/trainform").glob("*staging*")), step
        shutil.rmtree(victim.root / "rendered")
        shutil.rmtree(victim.root / ".trainform")
        victim.git("checkout", "--", "rendered", ".trainform")
    assert step > 10


def leave(root: Path, path: str) -> Path:
    """A staging folder of a killed run in which a folder lies aside."""
    with writing(str(root)) as staging:
        staging.create()
        aside = Path(staging.path(f"{path}~old"))
        aside.mkdir(parents=True)
        (aside / MARK).write_text("")
        shutil.copytree(staging.folder, root.parent / "kept")
        record = Path(staging.record)
    record.write_text("")
    shutil.copytree(root.parent / "kept", staging.folder)
    return Path(staging.folder)


def test_a_job_that_was_moved_aside_goes_back(victim):
    leave(victim.root, "rendered/prod/ml/tts")
    with writing(str(victim.root)):
        pass
    assert (victim.root / "rendered/prod/ml/tts" / MARK).exists()


@pytest.mark.parametrize("path", ["rendered/prod/ml", "jobs/a/b/c", ".git/a/b/c", "rendered/prod/ml/.hidden"])
def test_nothing_else_goes_back(victim, path):
    folder = leave(victim.root, path)
    with writing(str(victim.root)):
        pass
    assert marked(victim) == set()
    assert not folder.exists()


def test_nothing_goes_back_through_a_link_or_over_what_is_there(victim):
    leave(victim.root, "rendered/prod/ml/tts")
    victim.link("rendered/prod/ml", victim.outside)
    with writing(str(victim.root)):
        pass
    assert not (victim.outside / "tts").exists()


def test_two_runs_that_cannot_lock_each_other_out_share_no_staging_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("trainform.io.lock._acquired", lambda path: None)
    with writing(str(tmp_path)) as first:
        first.create()
        with writing(str(tmp_path)) as second:
            second.create()
            assert first.folder != second.folder
        assert Path(first.folder).is_dir()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without git, and a temporary folder of its own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "repository").mkdir()
    return tmp_path / "repository"


def test_git_in_a_folder_of_the_work_tree_vouches_for_nothing(root):
    """As if a commit had brought it, with a cache in it."""
    (root / ".git").write_text("gitdir: build/git\n")
    (root / "build/git/trainform").mkdir(parents=True)
    assert state_in_git(str(root)) is None
    assert cache_file.clock(str(root)) is None
    assert cache_file.read(str(root), "cache") is None


@pytest.mark.parametrize("command", ["render", "check", "validate"])
def test_a_git_file_that_names_another_folder_has_nothing_written_there(victim, command):
    """Git lets no commit hold a `.git`, but an archive may."""
    victim.write("project/trainform.yaml", "")
    victim.write("project/jobs/llm.yaml", job("llm"))
    victim.write("project/.git", "gitdir: ../../outside\n")
    before = victim.everything()
    victim.nursery.run(victim.root / "project", command)
    assert victim.everything() == before


@pytest.mark.parametrize("git", ["../checkout/.git/worktrees/a", "../checkout/.git/modules/a", "../elsewhere.git"])
def test_worktrees_and_submodules_have_a_folder_of_git(root, git):
    (root / ".git").write_text(f"gitdir: {git}\n")
    (root / git).mkdir(parents=True)
    (root / git / "HEAD").write_text("ref: refs/heads/main\n")
    assert state_in_git(str(root)) == os.path.realpath(root / git / "trainform")


def test_a_link_in_gits_folder_is_not_followed(root):
    (root / ".git").mkdir()
    (root / ".git/trainform").symlink_to(root)
    assert state_in_git(str(root)) is None


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_a_folder_in_the_temporary_folder_that_others_may_change_or_read_is_not_used(root, mode):
    folder = Path(tempfile.gettempdir(), f"trainform-{os.getuid()}")
    folder.mkdir()
    folder.chmod(mode)
    assert state_folder(str(root)) is None
    folder.chmod(0o700)
    assert state_folder(str(root)) == str(folder)


def test_a_link_in_the_temporary_folder_is_not_followed(root):
    Path(tempfile.gettempdir(), f"trainform-{os.getuid()}").symlink_to(root)
    assert state_folder(str(root)) is None
    with writing(str(root)) as staging:
        staging.create()
    assert list(root.iterdir()) == []


def test_a_link_at_a_file_of_the_cache_is_not_followed(root):
    (root / ".git").mkdir()
    cache_file.write(str(root), "cache", {"a": 1})
    path = Path(cache_file._path(str(root), "cache"))
    path.rename(root / "forged.json")
    path.symlink_to(root / "forged.json")
    assert cache_file.read(str(root), "cache") is None
