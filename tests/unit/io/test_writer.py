"""What is written is whole, in one step; what a stopped run left is cleared away."""

from __future__ import annotations

import errno
import os

import pytest

from trainform.io import exchange
from trainform.io.files import write_bytes
from trainform.io.links import LinkError
from trainform.io.staging import Staging
from trainform.io.writer import (
    JobChange,
    apply,
    apply_together,
    remove,
    rewrite,
    stage,
    stand_alone,
    write,
    write_together,
)

FOLDER, LOCKS = "rendered/default/ml", ".trainform/locks/default/ml"
JOB, LOCK = f"{FOLDER}/llm", f"{LOCKS}/llm.lock"


@pytest.fixture
def root(tmp_path):
    return tmp_path.resolve()


@pytest.fixture
def staging(root):
    found = Staging(str(root), "staging-1", record="")
    yield found
    found.clear()


@pytest.fixture(params=["in-one-step", "by-renaming"])
def either_way(request, monkeypatch):
    """With Linux's way to exchange two folders, and without."""
    if request.param == "by-renaming":
        monkeypatch.setattr(exchange, "_renameat2", lambda: None)


def change(staging, files, lock, underway=b""):
    apply(staging, JOB, LOCK, stage(staging, JobChange(JOB, LOCK, files, lock, underway)))


def put(staging, **files):
    data = {f"{name}.yaml": text.encode() for name, text in files.items()}
    change(staging, data, b"lock", b"underway" if os.path.isdir(f"{staging.root}/{JOB}") else b"")


def on_disk(root, folder):
    return {path.relative_to(root / folder).as_posix(): path.read_text() for path in (root / folder).rglob("*.*")}


def test_a_new_job_gets_its_folder_and_its_lock(root, staging):
    put(staging, a="1")
    assert on_disk(root, JOB) == {"a.yaml": "1"}
    assert (root / LOCK).read_text() == "lock"


@pytest.mark.usefixtures("either_way")
def test_a_changed_job_has_its_new_files_and_no_others(root, staging):
    put(staging, a="1", b="1")
    put(staging, a="2", c="1")
    assert on_disk(root, JOB) == {"a.yaml": "2", "c.yaml": "1"}


def test_a_file_that_stays_the_same_is_not_written_again(root, staging):
    put(staging, a="1", b="1")
    before = (root / JOB / "b.yaml").stat()
    put(staging, a="2", b="1")
    after = (root / JOB / "b.yaml").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_lock_alone_can_change(root, staging):
    put(staging, a="1")
    change(staging, None, b"other")
    assert (root / LOCK).read_text() == "other"
    assert on_disk(root, JOB) == {"a.yaml": "1"}


def stage_new(staging, *names):
    for name in names:
        stage(staging, JobChange(f"{FOLDER}/{name}", f"{LOCKS}/{name}.lock", {"a.yaml": b"1"}, b"lock"))


def test_the_jobs_of_a_new_namespace_come_together(root, staging):
    stage_new(staging, "llm", "tts")
    assert stand_alone(staging, FOLDER, LOCKS, ["tts", "llm"])
    apply_together(staging, FOLDER, LOCKS)
    assert on_disk(root, FOLDER) == {"llm/a.yaml": "1", "tts/a.yaml": "1"}
    assert on_disk(root, LOCKS) == {"llm.lock": "lock", "tts.lock": "lock"}


def test_jobs_come_each_for_itself_where_something_is_there_or_something_else_is_staged(root, staging):
    stage_new(staging, "llm", "tts")
    assert not stand_alone(staging, FOLDER, LOCKS, ["llm"])  # left by a first attempt, which was not the last
    for there in (FOLDER, LOCKS):
        (root / there).mkdir(parents=True)
        assert not stand_alone(staging, FOLDER, LOCKS, ["llm", "tts"])
        (root / there).rmdir()
    assert stand_alone(staging, FOLDER, LOCKS, ["llm", "tts"])


def test_a_job_that_is_gone_leaves_no_folder(root, staging):
    put(staging, a="1")
    change(staging, {}, b"")
    staging.clear()
    assert list(root.iterdir()) == []


def test_both_states_are_in_the_lock_while_the_folder_is_replaced(root, staging, monkeypatch):
    put(staging, a="1")
    seen = []
    monkeypatch.setattr("trainform.io.writer.exchange", lambda new, old: seen.append((root / LOCK).read_text()))
    put(staging, a="2")
    assert seen == ["underway"]


def test_a_failing_disk_leaves_the_old_file(root, staging, monkeypatch):
    write(staging, "a/b.yaml", b"1")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write(staging, "a/b.yaml", b"2")
    assert (root / "a/b.yaml").read_text() == "1"


def test_files_that_are_written_together_come_all_or_none(root, staging, monkeypatch):
    """A full disk is noticed before the first file is replaced."""
    write_together(staging, {"a/b.yaml": b"1", "c.yaml": b"1"})

    def full(path, data, **options):
        if path.endswith("c.yaml"):
            raise OSError(28, "No space left on device")
        write_bytes(path, data, **options)

    monkeypatch.setattr("trainform.io.writer.write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_together(staging, {"a/b.yaml": b"2", "c.yaml": b"2"})
    assert [(root / file).read_text() for file in ("a/b.yaml", "c.yaml")] == ["1", "1"]


def test_files_that_are_written_together_follow_no_link(root, staging, tmp_path_factory):
    (root / "a").symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(LinkError):
        write_together(staging, {"b.yaml": b"1", "a/c.yaml": b"1"})
    assert not (root / "b.yaml").exists()


def test_removing_takes_empty_folders_along_and_no_others(root, staging):
    write(staging, "a/b/c.yaml", b"1")
    write(staging, "a/d.yaml", b"1")
    remove(str(root), "a/b/c.yaml")
    remove(str(root), "a/b/c.yaml")
    assert on_disk(root, "a") == {"d.yaml": "1"}
    assert not (root / "a/b").exists()


def test_a_file_of_the_user_keeps_its_mode_and_its_links(root, staging):
    (root / "real.yaml").write_text("1")
    (root / "real.yaml").chmod(0o600)
    (root / "link.yaml").symlink_to("real.yaml")
    rewrite(staging, "link.yaml", b"2")
    assert (root / "link.yaml").is_symlink()
    assert (root / "real.yaml").read_text() == "2"
    assert os.stat(root / "real.yaml").st_mode & 0o777 == 0o600


def test_a_removed_job_keeps_its_lock_where_its_folder_cannot_be_looked_at(root, staging, monkeypatch):
    """Without the lock, the folder would be nobody's, and stay for ever."""
    put(staging, a="1")
    real = os.stat

    def broken(path, **options):
        if str(path).endswith("/llm"):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, **options)

    monkeypatch.setattr(os, "stat", broken)
    with pytest.raises(OSError, match="Input/output error"):
        change(staging, None, b"")
    assert (root / LOCK).exists()
