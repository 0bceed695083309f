"""Which files make up a repository."""

from __future__ import annotations

import errno
import os

import pytest

from trainform.diagnostics import Diagnostic
from trainform.io.repository import Repository, find_root, list_files, read_file


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder.resolve()


def make(root, *files):
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("kind: X\n")


def test_files_come_in_order_without_hidden_and_foreign_ones(root):
    make(
        root,
        "jobs/b.yaml",
        "jobs/a.yml",
        "jobs/c/d.json",
        "jobs/notes.txt",
        "jobs/.hidden.yaml",
        "jobs/.x/e.yaml",
    )
    assert list_files(str(root), "jobs").files == ["jobs/a.yml", "jobs/b.yaml", "jobs/c/d.json"]


def test_a_missing_folder_holds_nothing(root):
    listing = list_files(str(root), "jobs")
    assert (listing.files, listing.diagnostics) == ([], [])


def test_a_folder_that_cannot_be_looked_at_is_not_an_empty_one(root, monkeypatch):
    make(root, "jobs/a.yaml")

    def broken(path):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "lstat", broken)
    [problem] = list_files(str(root), "jobs").diagnostics
    assert (problem.code, problem.message) == ("TF701", "cannot be listed: Input/output error")


def test_a_link_inside_the_repository_is_followed(root):
    make(root, "shared/a.yaml")
    (root / "jobs").mkdir()
    (root / "jobs" / "link.yaml").symlink_to(root / "shared" / "a.yaml")
    (root / "jobs" / "folder").symlink_to(root / "shared")
    assert list_files(str(root), "jobs").files == ["jobs/folder/a.yaml", "jobs/link.yaml"]


@pytest.mark.parametrize("target", ["outside", "outside/secret.yaml"])
def test_a_link_that_leads_out_of_the_repository_is_an_error(root, target):
    make(root.parent, "outside/secret.yaml")
    (root / "jobs").mkdir()
    (root / "jobs" / "link.yaml").symlink_to(root.parent / target)
    listing = list_files(str(root), "jobs")
    assert listing.files == []
    assert [(each.code, each.file) for each in listing.diagnostics] == [("TF702", "jobs/link.yaml")]


def test_a_link_to_a_folder_that_holds_it_ends(root):
    make(root, "jobs/a.yaml")
    (root / "jobs" / "loop").symlink_to(root / "jobs")
    assert list_files(str(root), "jobs").files == ["jobs/a.yaml"]


def test_a_broken_link_is_listed_and_told_when_read(root):
    (root / "jobs").mkdir()
    (root / "jobs" / "gone.yaml").symlink_to(root / "nowhere.yaml")
    assert list_files(str(root), "jobs").files == ["jobs/gone.yaml"]
    problem = read_file(str(root), "jobs/gone.yaml")
    assert isinstance(problem, Diagnostic)
    assert (problem.code, problem.message) == ("TF701", "cannot be read: No such file or directory")


def test_a_folder_in_place_of_a_file_is_told(root):
    (root / "a.yaml").mkdir()
    problem = read_file(str(root), "a.yaml")
    assert isinstance(problem, Diagnostic)
    assert problem.file == "a.yaml"


def test_the_root_is_the_nearest_folder_above_with_settings(root):
    make(root, "trainform.yaml", "jobs/deep/a.yaml")
    assert find_root(str(root / "jobs" / "deep")) == str(root)


def test_without_settings_the_root_is_where_one_stands(root):
    assert find_root(str(root)) == str(root)


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("jobs/a.yaml", ["jobs/a.yaml"]),
        ("jobs", ["jobs/a.yaml", "jobs/b.yaml"]),
        ("jobs/", ["jobs/a.yaml", "jobs/b.yaml"]),
        (".", ["jobs/a.yaml", "jobs/b.yaml"]),
    ],
)
def test_a_path_may_be_a_file_or_a_folder(root, monkeypatch, path, files):
    make(root, "jobs/a.yaml", "jobs/b.yaml", "rendered/default/ml/a/jobset-a.yaml")
    monkeypatch.chdir(root)
    assert Repository(str(root)).at(path).files == files


def test_a_path_is_found_from_the_current_folder_or_from_the_root(root, monkeypatch):
    make(root, "jobs/a.yaml")
    monkeypatch.chdir(root / "jobs")
    assert Repository(str(root)).at("a.yaml").files == ["jobs/a.yaml"]
    assert Repository(str(root)).at("jobs/a.yaml").files == ["jobs/a.yaml"]


def test_a_file_elsewhere_keeps_its_absolute_path(root, monkeypatch):
    make(root.parent, "elsewhere/a.yaml")
    monkeypatch.chdir(root)
    elsewhere = str(root.parent / "elsewhere")
    assert Repository(str(root)).at("../elsewhere/a.yaml").files == [os.path.join(elsewhere, "a.yaml")]
    assert Repository(str(root)).at(elsewhere).files == [os.path.join(elsewhere, "a.yaml")]


def test_a_path_that_does_not_exist_is_told(root):
    assert [each.code for each in Repository(str(root)).at("nowhere").diagnostics] == ["TF704"]
