"""Which files a commit would lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.repositories import Repository, job, runtime
from trainform.io.git import GitError
from trainform.io.repository import open_repository
from trainform.workspace.verify.tracked import files_not_added


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    repository.start_git()
    repository.write("runtimes/torch.yaml", runtime())
    repository.write("jobs/llm.yaml", job("llm"))
    repository.commit()
    return repository


def lacking(repository: Repository) -> list[str]:
    return files_not_added(open_repository(str(repository.root))[0])


def test_nothing_is_lacking_after_a_commit(repository):
    assert lacking(repository) == []


@pytest.mark.parametrize(
    "file",
    [
        "trainform.yaml", "jobs/new.yaml", "jobs/team/new.yml", "jobs/new.json", "jobs/new.yaml.j2",
        "runtimes/mine.yaml", "environments/prod/environment.yaml", "rendered/default/ml/new/jobset-new.yaml",
        "rendered/default/ml/.gitkeep", ".trainform/locks/default/ml/new.lock", ".trainform/snapshots/0123.json",
    ],
)  # fmt: skip
def test_what_is_read_or_written_is_lacking_until_it_is_added(repository, file):
    repository.git("rm", "--quiet", "--cached", "trainform.yaml")
    repository.write(".gitignore", "rendered/\n*.lock\n")  # ignored files are lacking, too
    repository.write(file, "")
    assert lacking(repository) == sorted({"trainform.yaml", file})
    repository.git("add", "--force", file)
    assert lacking(repository) == ([] if file == "trainform.yaml" else ["trainform.yaml"])


@pytest.mark.parametrize(
    "file",
    [
        "README.md", "jobs/notes.txt", "jobs/.hidden.yaml", "jobs/.idea/a.yaml", "src/train.yaml",
        "rendered/.DS_Store", "rendered/default/Thumbs.db", ".trainform/locks/.swp",
    ],
)  # fmt: skip
def test_other_files_are_none_of_its_business(repository, file):
    repository.write(file, "")
    assert lacking(repository) == []


def test_a_file_that_a_job_carries_is_lacking_until_it_is_added(repository):
    generator = "apiVersion: trainform.dev/v1alpha1\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [train.py]\n"
    repository.write("jobs/llm.yaml", f"{job('llm')}---\n{generator}")
    repository.write("jobs/train.py", "")
    repository.write("jobs/other.py", "")
    assert lacking(repository) == ["jobs/train.py"]
    repository.git("add", "jobs/train.py")
    assert lacking(repository) == []


def test_the_folders_are_those_of_the_settings(repository):
    repository.write("trainform.yaml", "jobs: work\nrendered: out\n")
    for file in ("jobs/a.yaml", "rendered/a.yaml", "work/b.yaml", "out/b.yaml"):
        repository.write(file, "")
    assert lacking(repository) == ["out/b.yaml", "work/b.yaml"]


def test_without_git_there_is_no_answer(tmp_path):
    with pytest.raises(GitError, match="not a git repository"):
        lacking(Repository(tmp_path))
