"""One run at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from trainform.io import lock
from trainform.io.lock import exclusive, mutex_path


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def folder_of_the_lock(root):
    path = mutex_path(str(root))
    assert path is not None
    return Path(path).parent


def test_a_second_run_waits_and_says_so(root, monkeypatch, capsys):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    entered = threading.Event()

    def second():
        with exclusive(str(root)):
            entered.set()

    with exclusive(str(root)):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.2)
    thread.join(5)
    assert entered.is_set()
    assert capsys.readouterr().err == "waiting for another trainform run in this repository\n"


@pytest.mark.parametrize("with_git", [True, False])
def test_a_run_of_another_process_waits(root, with_git):
    if with_git:
        (root / ".git").mkdir()
    program = (
        "import sys; from trainform.io import lock; lock.PATIENCE = 0.05\n"
        "with lock.exclusive(sys.argv[1]): print('entered')"
    )
    command = [sys.executable, "-c", program, str(root)]
    with exclusive(str(root)):
        second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert second.stderr is not None
        assert second.stderr.readline() == "waiting for another trainform run in this repository\n"
        assert second.poll() is None
    assert second.communicate(timeout=10) == ("entered\n", "")


def test_a_run_alone_says_nothing_and_leaves_nothing(root, capsys):
    with exclusive(str(root)):
        pass
    assert capsys.readouterr().err == ""
    assert list(root.iterdir()) == []


def test_the_lock_file_lies_in_gits_own_folder(root):
    (root / ".git").mkdir()
    with exclusive(str(root)):
        pass
    assert [path.name for path in root.iterdir()] == [".git"]
    assert folder_of_the_lock(root) == root / ".git" / "trainform"


def test_without_git_the_lock_file_lies_in_this_users_folder_in_the_temporary_folder(root):
    own = Path(tempfile.gettempdir(), f"trainform-{os.getuid()}")
    assert folder_of_the_lock(root) == own
    (root / ".git").write_text("gitdir: /no/such/folder\n")
    assert folder_of_the_lock(root) == own


def test_two_repositories_of_one_checkout_do_not_wait_for_each_other(root):
    (root / ".git").mkdir()
    files = {mutex_path(str(root)), mutex_path(str(root / "a")), mutex_path(str(root / "b"))}
    assert len(files) == 3


def test_one_repository_has_one_lock_whatever_its_path(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    assert mutex_path(str(tmp_path / "link")) == mutex_path(str(root))


def test_where_no_lock_file_can_be_made_nobody_waits(root, capsys, monkeypatch):
    """Here a file is in the way of each folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    (root / f"trainform-{os.getuid()}").write_text("")
    (root / ".git").mkdir()
    (root / ".git" / "trainform").write_text("")
    with exclusive(str(root)) as first, exclusive(str(root)) as second:
        assert (first, second) == (False, False)
    assert capsys.readouterr().err == ""
