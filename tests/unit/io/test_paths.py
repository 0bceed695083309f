"""What earlier runs left, as it is found."""

from __future__ import annotations

import pytest

from trainform.io import paths as state
from trainform.io.links import leads_out


@pytest.fixture
def root(tmp_path):
    return tmp_path.resolve()


def make(root, *files):
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(file)


def test_locks_are_found_by_their_place(root):
    make(root, *(f".trainform/locks/{name}" for name in ("b/ml/x.lock", "a/ml/y.lock", "a/ml/notes", "a/.z/q.lock")))
    assert state.locked_jobs(str(root)) == [("a", "ml", "y"), ("b", "ml", "x")]
    assert state.lockfile_path(("a", "ml", "y")) == ".trainform/locks/a/ml/y.lock"


def test_without_state_there_is_none(root):
    assert state.locked_jobs(str(root)) == []
    assert state.snapshots(str(root)) == []
    assert state.folder_bytes(str(root), "rendered") == {}
    assert state.file_bytes(str(root), "rendered") is None


def test_a_file_where_a_folder_should_be_holds_none(root):
    make(root, ".trainform/locks")
    assert state.locked_jobs(str(root)) == []


def test_a_folder_tells_links_and_folders_from_files(root):
    make(root, "f/a.yaml", "f/sub/b.yaml")
    (root / "f/link.yaml").symlink_to("a.yaml")
    assert state.folder_bytes(str(root), "f") == {"a.yaml": b"f/a.yaml", "link.yaml": None, "sub": None}


def test_files_below_a_folder_come_in_order(root):
    make(root, "r/b/x", "r/a/y", "r/z")
    assert list(state.files_below(str(root), "r")) == ["r/z", "r/a/y", "r/b/x"]


def test_a_link_out_of_the_repository_is_seen(root, tmp_path_factory):
    (root / "rendered").symlink_to(tmp_path_factory.mktemp("outside"))
    assert leads_out(str(root), "rendered/a/b")
    assert not leads_out(str(root), "other/a/b")
