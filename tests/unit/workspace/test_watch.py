"""When `render --watch` renders: what it watches, and what it waits for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Generator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.workspace import InvocationError
from trainform.workspace.watch.moments import ATTEMPTS, PATIENCE, SETTLE, Moment, WatchFailed, changes_in, moments
from trainform.workspace.watch.places import is_input, is_missing, places_of

RENDER = Moment()
TICK = 0.25  # seconds of a clock that counts exactly
NOTHING: tuple[None, Collection[str]] = (None, ())


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path.resolve() / "repository")
    found.start_git()
    found.write("trainform.yaml", "")
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    return found


def folders(repository: Repository) -> set[str]:
    """What is watched, relative to the root."""
    return {os.path.relpath(folder, repository.root) for folder in places_of(str(repository.root)).folders}


def test_folders_of_input_are_watched_and_no_others(repository):
    repository.write("jobs/team/more.yaml", job("more"))
    repository.write("jobs/.cache/old.yaml", job("old"))
    repository.write("rendered/prod/ml/llm/jobset-llm.yaml", "")
    repository.write("docs/page.md", "")
    assert folders(repository) == {"environments", "environments/prod", "jobs", "jobs/team", "runtimes"}


def test_folders_are_those_of_the_settings(repository):
    repository.write("trainform.yaml", "jobs: work\n")
    repository.write("work/llm.yaml", job("llm"))
    assert folders(repository) == {"environments", "environments/prod", "work", "runtimes"}


def test_links_are_followed_within_the_repository_only(repository, tmp_path):
    repository.write("shared/scripts/train.py", "")
    repository.write("other/llm.yaml", job("llm"))
    (tmp_path / "outside").mkdir()
    for name, target in {
        "inside": "../shared", "file.yaml": "../other/llm.yaml", "outside": tmp_path / "outside",
        "root": "/", "git": "../.git", "circle": "circle", "up": "..", "dangling": "nowhere",
    }.items():  # fmt: skip
        (repository.root / "jobs" / name).symlink_to(target)
    found = folders(repository)
    assert {"shared", "shared/scripts", "other"} <= found
    assert not [folder for folder in found if folder.startswith((".git", "..", "/"))]


@pytest.mark.parametrize(
    ("path", "counts"), [("jobs/llm.yaml", True), ("jobs/.llm.yaml.swp", False), ("jobs/a\x1b\n.yaml", True)]
)
def test_hidden_files_do_not_count(path, counts):
    assert is_input(path) == counts


def test_a_file_that_is_gone_or_empty_may_be_half_written(tmp_path):
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "full.yaml").write_text("a")
    assert [is_missing(f"{tmp_path}/{name}") for name in ("empty.yaml", "full.yaml", "gone.yaml")] == [
        True,
        False,
        True,
    ]
    assert not is_missing(f"{tmp_path}/4913")


class Over(Exception):
    """The script has been played."""


class Scripted:
    """Plays batches of changes, one for each tick of a clock: names of files in `jobs/`, after an action where one is
    given. After the last, nothing happens any more."""

    def __init__(self, repository: Repository, *script: tuple[Callable[[], object] | None, Collection[str]]) -> None:
        self.repository = repository
        self.script = [*script, *[NOTHING] * 15]
        self.now = 0.0
        self.watched: list[Collection[str]] = []

    def changes(self, folders: Collection[str]) -> Generator[Collection[str]]:
        self.watched.append(folders)
        while self.script:
            self.now += TICK
            action, names = self.script.pop(0)
            if action:
                action()
            yield [f"{self.repository.root}/jobs/{name}" for name in names]
        raise Over

    def clock(self) -> float:
        return self.now

    def moments(self, root: Path | None = None) -> list[tuple[int, Moment]]:
        """The moments, with the number of the tick."""
        found: list[tuple[int, Moment]] = []
        with suppress(Over):
            for moment in moments(str(root or self.repository.root), self.changes, self.clock):
                found.append((round(self.now / TICK), moment))
        return found


def test_a_first_moment_and_one_for_each_bundle_of_changes(repository):
    script = [NOTHING, NOTHING, (None, ["llm.yaml"]), NOTHING, (None, ["llm.yaml", "more", "train.py"])]
    assert Scripted(repository, *script).moments() == [(1, RENDER), (3, RENDER), (5, RENDER)]


def test_a_file_that_is_written_anew_is_waited_for(repository):
    """Some programs remove a file and write it again: its job must not count as deleted."""
    path = repository.root / "jobs/llm.yaml"
    script = [NOTHING, (path.unlink, ["llm.yaml"]), NOTHING, (lambda: path.write_text(job("llm")), ["llm.yaml"])]
    assert Scripted(repository, *script).moments() == [(1, RENDER), (4, RENDER)]


def test_a_file_that_is_emptied_is_waited_for(repository):
    path = repository.root / "jobs/llm.yaml"
    script = [NOTHING, (lambda: path.write_text(""), ["llm.yaml"]), (lambda: path.write_text("a: b"), ["llm.yaml"])]
    assert Scripted(repository, *script).moments() == [(1, RENDER), (3, RENDER)]


def test_a_file_that_stays_away_is_deleted(repository):
    script = [NOTHING, ((repository.root / "jobs/llm.yaml").unlink, ["llm.yaml"])]
    (_, first), (tick, second) = Scripted(repository, *script).moments()
    assert (first, second) == (RENDER, RENDER)
    assert tick == 2 + round(SETTLE / TICK)


def test_other_files_that_change_all_the_time_put_off_no_deletion(repository):
    script = [NOTHING, ((repository.root / "jobs/llm.yaml").unlink, ["llm.yaml"]), *[(None, ["log.txt"])] * 3]
    assert Scripted(repository, *script).moments()[1] == (2 + round(SETTLE / TICK), RENDER)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rebase-merge", "a rebase is in progress"),
        ("rebase-apply", "a rebase is in progress"),
        ("MERGE_HEAD", "a merge is in progress"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
        ("REVERT_HEAD", "a revert is in progress"),
        ("index.lock", "git is changing files (index.lock exists)"),
    ],
)
def test_nothing_is_rendered_while_git_is_at_work(repository, name, told):
    mark = repository.root / ".git" / name
    script = [NOTHING, (mark.touch, ["llm.yaml"]), *[NOTHING] * 15, (mark.unlink, ())]
    found = Scripted(repository, *script).moments()
    assert found == [(1, RENDER), (2 + round(PATIENCE / TICK), Moment(told)), (18, RENDER)]


def test_nothing_is_told_where_git_is_quick_or_nothing_is_to_be_rendered(repository):
    lock = repository.root / ".git/index.lock"
    script = [NOTHING, (lock.touch, ["llm.yaml"]), (lock.unlink, ()), NOTHING, (lock.touch, ()), *[NOTHING] * 20]
    assert Scripted(repository, *script).moments() == [(1, RENDER), (3, RENDER)]


def test_a_git_worktree_has_a_folder_of_its_own_in_git(repository, tmp_path):
    repository.commit()
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    (repository.root / ".git/MERGE_HEAD").touch()
    assert places_of(str(tmp_path / "tree")).underway() == ""
    assert places_of(str(repository.root)).underway() == "a merge is in progress"


def test_without_git_nothing_is_waited_for(tmp_path):
    assert places_of(str(tmp_path)).underway() == ""


@pytest.mark.parametrize(
    "action",
    [
        lambda repository: repository.write("trainform.yaml", "jobs: work\n"),
        lambda repository: repository.write(".trainform/baseline.json", "{}"),
        lambda repository: repository.commit(),
        lambda repository: repository.write(".git/reftable/tables.list", "0x1-0x2.ref"),
        lambda repository: (repository.root / "jobs").rename(repository.root / "work"),
    ],
    ids=["settings", "baseline", "commit", "reftable", "folder"],
)
def test_what_no_watched_folder_tells_is_noticed_too(repository, action):
    script = [NOTHING, NOTHING, (lambda: action(repository), ())]
    assert Scripted(repository, *script).moments() == [(1, RENDER), (4, RENDER)]


@pytest.mark.parametrize("is_worktree", [False, True])
def test_a_commit_is_noticed_where_git_keeps_no_log_of_head(repository, tmp_path, is_worktree):
    repository.git("config", "core.logAllRefUpdates", "false")
    repository.commit()
    tree = repository
    if is_worktree:
        repository.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
        tree = Repository(tmp_path / "tree")
    shutil.rmtree(repository.root / ".git/logs", ignore_errors=True)
    places = places_of(str(tree.root))
    before = places.marks()
    tree.git("commit", "--quiet", "--allow-empty", "--message", "more")
    assert places.marks() != before


def test_a_folder_that_cannot_be_named_to_the_package_is_looked_at_instead(repository):
    odd = f"{repository.root}/jobs/" + os.fsdecode(b"d\xff")
    os.mkdir(odd)
    Path(odd, "more.yaml").write_text("")
    places = places_of(str(repository.root))
    assert odd not in places.folders
    for change in (
        lambda: Path(odd, "more.yaml").write_text(job("more")),
        lambda: Path(odd, "less.yaml").write_text(job("less")),
        lambda: os.rename(odd, f"{odd}s"),
    ):
        before = places.marks()
        change()
        assert places.marks() != before


def test_a_root_that_becomes_a_link_to_another_folder_is_watched_there(repository, tmp_path):
    following = tmp_path.resolve() / "next"
    shutil.copytree(repository.root, following)
    link = tmp_path / "current"
    link.symlink_to(repository.root)

    def switch() -> None:
        link.unlink()
        link.symlink_to(following)

    scripted = Scripted(repository, NOTHING, NOTHING, (switch, ()))
    assert scripted.moments(link) == [(1, RENDER), (4, RENDER)]
    before, after = scripted.watched
    assert f"{repository.root}/jobs" in before
    assert f"{following}/jobs" in after


def test_new_folders_are_watched_before_the_next_moment(repository):
    def add() -> None:
        repository.write("jobs/team/more.yaml", job("more"))

    scripted = Scripted(repository, NOTHING, (add, ["team"]))
    assert scripted.moments() == [(1, RENDER), (3, RENDER)]
    before, after = scripted.watched
    assert {*after} - {*before} == {f"{repository.root}/jobs/team"}


def test_a_folder_that_goes_while_the_watch_begins_is_no_error(repository):
    scripted, attempts = Scripted(repository), []

    def changes(folders: Collection[str]) -> Generator[Collection[str]]:
        attempts.append(folders)
        if len(attempts) == 1:
            raise FileNotFoundError(folders)
        yield from scripted.changes(folders)

    assert [*islice(moments(str(repository.root), changes), 1)] == [RENDER]
    assert len(attempts) == 2


def test_a_repository_that_is_gone_ends_the_watch(repository, tmp_path):
    script = [NOTHING, (lambda: repository.root.rename(tmp_path / "elsewhere"), ())]
    scripted = Scripted(repository, *script)
    found = moments(str(repository.root), scripted.changes, scripted.clock)
    assert next(found) == RENDER
    with pytest.raises(InvocationError, match=f"{repository.root} is gone"):
        next(found)


def test_what_watchfiles_tells_are_paths_and_quiet_ticks(tmp_path):
    folder = tmp_path.resolve()
    batches = changes_in([str(folder)])
    assert next(batches) == []
    (folder / ".hidden").write_text("")
    (folder / "llm.yaml").write_text("a")
    told = next(batch for batch in batches if batch)
    assert told == [f"{folder}/llm.yaml"]
    batches.close()


def refuse(*_folders: str, **_options: object) -> Generator[set]:
    raise RuntimeError("OS file watch limit reached")
    yield


def test_a_system_that_watches_no_more_folders_is_told(repository, monkeypatch):
    monkeypatch.setattr("watchfiles.watch", refuse)
    with pytest.raises(InvocationError, match=r"cannot watch 4 folders: OS file watch limit reached; on Linux, raise"):
        next(moments(str(repository.root)))


def test_a_change_that_cannot_be_told_is_one_all_the_same(repository):
    def fail() -> None:
        raise WatchFailed("not UTF-8")

    script = [NOTHING, *[(fail, ()), NOTHING] * 2 * ATTEMPTS]
    found = Scripted(repository, *script).moments()
    assert [moment for _, moment in found] == [RENDER] * (1 + 2 * ATTEMPTS)
