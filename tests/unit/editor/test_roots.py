"""Which repository a file belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainform.editor.roots import is_root, place_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in ("with/trainform.yaml", "with/inner/trainform.yaml", "plain/jobs/a.yaml", "other/notes/a.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "root", "file"),
    [
        ("with/jobs/a.yaml", "with", "jobs/a.yaml"),
        ("with/inner/jobs/a.yaml", "with/inner", "jobs/a.yaml"),
        ("with/jobs/../trainform.yaml", "with", "trainform.yaml"),
        ("plain/jobs/deep/new.yaml", "plain", "jobs/deep/new.yaml"),
    ],
)
def test_a_file_belongs_to_the_nearest_repository(folder, path, root, file):
    assert place_of(str(folder / path), [str(folder / "plain")]) == (str(folder / root), file)


@pytest.mark.parametrize("path", ["other/notes/a.yaml", "plain/jobs/a.yaml", "nowhere.yaml"])
def test_a_file_of_no_repository_belongs_nowhere(folder, path):
    assert place_of(str(folder / path), [str(folder / "other")]) is None


def test_a_repository_behind_a_link_is_the_one_that_it_leads_to(folder):
    (folder / "link").symlink_to(folder / "with")
    assert place_of(str(folder / "link/jobs/a.yaml"), []) == (str(folder / "with"), "jobs/a.yaml")


@pytest.mark.parametrize(
    ("root", "shown", "found"),
    [
        ("with", [], True),
        ("plain", ["plain"], True),
        ("plain", ["with"], False),
        ("other", ["other"], False),
        ("none", ["none"], False),
    ],
)
def test_a_repository_is_one_as_long_as_files_belong_to_it(folder, root, shown, found):
    assert is_root(str(folder / root), [str(folder / each) for each in shown]) == found
