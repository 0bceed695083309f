"""What git has of files."""

from __future__ import annotations

import pytest

from support.repositories import Repository
from trainform.io.git import GitError, commit_of, files_at


@pytest.fixture
def repository(tmp_path):
    repository = Repository(tmp_path / "top")
    repository.start_git()
    return repository


def test_files_are_as_they_were_at_a_commit(repository):
    repository.write("a/x.yaml", "1\n")
    repository.write("a/empty.yaml", "")
    commit = repository.commit()
    repository.write("a/x.yaml", "2\n")
    root = str(repository.root)
    assert commit_of(root, "HEAD") == commit
    paths = ["a/x.yaml", "a/missing.yaml", "a", "a/empty.yaml"]
    assert files_at(root, commit, paths) == {"a/x.yaml": b"1\n", "a/empty.yaml": b""}
    assert files_at(root, commit, []) == {}


def test_paths_count_from_the_root_of_the_project_not_of_git(repository):
    repository.write("ml/jobs/x.yaml", "1\n")
    commit = repository.commit()
    assert files_at(str(repository.root / "ml"), commit, ["jobs/x.yaml"]) == {"jobs/x.yaml": b"1\n"}


@pytest.mark.parametrize("ref", ["nowhere", "--help", "", "HEAD:trainform.yaml"])
def test_what_is_no_commit_is_an_error(repository, ref):
    repository.commit()
    with pytest.raises(GitError, match="commit"):
        commit_of(str(repository.root), ref)


def test_a_folder_outside_of_git_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match="not a git repository"):
        commit_of(str(tmp_path), "HEAD")


def test_a_machine_without_git_is_an_error(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="git cannot be run"):
        commit_of(str(repository.root), "HEAD")
