"""What git has of files."""

from __future__ import annotations

import os
import subprocess

import pytest

from support.repositories import Repository
from trainform.io.baseline import Commit
from trainform.io.git import GitError, NoCommit, commit_of, files_at, find_checkout, left_out, process


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


def test_a_folder_outside_of_git_is_an_error(tmp_path):
    with pytest.raises(NoCommit, match="not a git repository"):
        commit_of(str(tmp_path), "HEAD")


def test_a_machine_without_git_is_an_error(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="git cannot be run"):
        commit_of(str(repository.root), "HEAD")


# Names that mean something to git.

ODD = [
    "a\nb.yaml",
    "a\tb.yaml",
    'a"b.yaml',
    "--help",
    ":(glob)**",
    "*",
    "a b.yaml",
    "x blob 5",
    "-",
    os.fsdecode(b"\xff.yaml"),
]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("prefix", ["", "ml/", "a\nb/"])
def test_any_name_of_a_file_is_only_a_name(repository, prefix, name):
    repository.write(f"{prefix}{name}", "1\n")
    commit = repository.commit()
    root = str(repository.root / prefix)
    assert files_at(root, commit, [name, "missing", "also\nmissing"]) == {name: b"1\n"}
    assert Commit(root, commit).paths([name]) == [name]
    assert Commit(root, commit).changed([name]) == set()
    repository.write(f"{prefix}{name}", "2\n")
    assert Commit(root, commit).changed([name]) == {name}


@pytest.mark.parametrize("path", ["", ".", "./x.yaml", "../x.yaml", "a//x.yaml", "/x.yaml", "x.yaml/", "x\0y"])
def test_a_path_that_no_commit_can_hold_is_missing(repository, path):
    repository.write("x.yaml", "1\n")
    assert files_at(str(repository.root), repository.commit(), [path]) == {}


@pytest.mark.parametrize("ref", ["^HEAD", "HEAD..HEAD", "HEAD^{tree}", "--all", "HEAD\0", "a-tag-of-a-file"])
def test_what_is_no_single_commit_is_an_error(repository, ref):
    repository.commit()
    repository.git("tag", "a-tag-of-a-file", "HEAD:trainform.yaml")
    with pytest.raises(GitError, match="commit"):
        commit_of(str(repository.root), ref)


def test_a_tag_of_a_tag_of_a_commit_is_that_commit(repository):
    commit = repository.commit()
    repository.git("tag", "--annotate", "--message", "x", "one")
    repository.git("tag", "--annotate", "--message", "x", "two", "one")
    assert commit_of(str(repository.root), "two") == commit


def test_a_tag_named_as_the_branch_is_ambiguous(repository):
    old = repository.commit()
    repository.git("tag", "main")
    new = repository.commit()
    root = str(repository.root)
    with pytest.raises(GitError, match='"main" is ambiguous: write refs/heads/main'):
        commit_of(root, "main")
    assert (commit_of(root, "refs/heads/main"), commit_of(root, "refs/tags/main")) == (new, old)


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_what_is_named_in_full_is_not_ambiguous(repository, name):
    old = repository.commit()
    repository.git("update-ref", f"refs/heads/{name}", old)
    assert commit_of(str(repository.root), name) == old
    assert commit_of(str(repository.root), repository.commit()) != old


def test_a_branch_named_as_a_commit_does_not_stand_for_it(repository):
    old = repository.commit()
    repository.git("update-ref", f"refs/heads/{old}", repository.commit())
    assert commit_of(str(repository.root), old) == old


# Where git's folder is.


def worktree(repository):
    repository.git("worktree", "add", "--quiet", "../other")
    return repository.root.parent / "other"


def separate(repository):
    (repository.root / ".git").rename(repository.root.parent / "kept.git")
    (repository.root / ".git").write_text("gitdir: ../kept.git\n")
    return repository.root


def linked(repository):
    (repository.root / ".git").rename(repository.root.parent / "kept.git")
    (repository.root / ".git").symlink_to("../kept.git")
    return repository.root


def behind_a_link(repository):
    (repository.root.parent / "link").symlink_to("top")
    return repository.root.parent / "link"


@pytest.mark.parametrize("arrange", [worktree, separate, linked, behind_a_link])
def test_gits_folder_is_found(repository, arrange):
    repository.write("ml/x.yaml", "1\n")
    commit = repository.commit()
    top = arrange(repository)
    root = str(top / "ml")
    assert find_checkout(root).prefix == "ml/"
    assert commit_of(root, "HEAD") == commit
    assert files_at(root, commit, ["x.yaml"]) == {"x.yaml": b"1\n"}
    (top / "ml/x.yaml").write_text("2\n")
    assert Commit(root, commit).changed(["x.yaml"]) == {"x.yaml"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("gitdir: data\n", "names a folder of the work tree"),
        ("gitdir: ../top/data\n", "names a folder of the work tree"),
        ("gitdir: /no/such/folder\n", "not a folder of git"),
        ("gitdir: \n", "names no folder"),
        ("gitdir: a\0b\n", "names no folder"),
        ("anything", "names no folder"),
        ("", "names no folder"),
    ],
)
def test_a_git_file_that_leads_nowhere_or_into_the_work_tree_is_an_error(repository, content, message):
    repository.commit()
    (repository.root / ".git").rename(repository.root / "data")
    (repository.root / ".git").write_text(content)
    with pytest.raises(GitError, match=message):
        commit_of(str(repository.root), "HEAD")


def test_a_link_that_leads_into_the_work_tree_is_an_error(repository):
    (repository.root / ".git").rename(repository.root / "data")
    (repository.root / ".git").symlink_to("data")
    with pytest.raises(GitError, match="names a folder of the work tree"):
        commit_of(str(repository.root), "HEAD")


def test_an_empty_git_folder_does_not_stand_for_the_repository_around_it(repository):
    repository.commit()
    (repository.root / "ml/.git").mkdir(parents=True)
    with pytest.raises(GitError, match="not a git repository"):
        commit_of(str(repository.root / "ml"), "HEAD")


def test_variables_of_git_do_not_lead_elsewhere(repository, tmp_path, monkeypatch):
    commit = repository.commit()
    other = Repository(tmp_path / "other")
    other.start_git()
    for name, value in {"GIT_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_INDEX_FILE": ".git/index"}.items():
        monkeypatch.setenv(name, str(other.root / value))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "broken")
    assert commit_of(str(repository.root), "HEAD") == commit
    assert Commit(str(repository.root), commit).changed(["trainform.yaml"]) == set()


def test_a_checkout_of_another_user_works(repository, tmp_path, monkeypatch):
    """As where CI runs under a user of its own: git asks for `safe.directory` only when it looks for its folder."""
    commit = repository.commit()
    real = process._program()
    script = tmp_path / "bin/git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    plain = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository.root, capture_output=True, text=True, check=False
    )
    assert "dubious ownership" in plain.stderr
    assert commit_of(str(repository.root), "HEAD") == commit
    assert Commit(str(repository.root), commit).changed(["trainform.yaml"]) == set()


def test_git_is_not_taken_from_a_relative_folder_of_path(repository, monkeypatch):
    commit = repository.commit()
    repository.write("git", "#!/bin/sh\n: >hit\n")
    (repository.root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(repository.root)
    assert commit_of(".", "HEAD") == commit
    assert not (repository.root / "hit").exists()


def test_a_git_that_hangs_is_an_error(repository, tmp_path, monkeypatch):
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(process, "PATIENCE", 0.1)
    with pytest.raises(GitError, match="git gave no answer"):
        commit_of(str(repository.root), "HEAD")


# Repositories of every kind.


def sha256(repository):
    repository.git("init", "--quiet", "--object-format", "sha256")


def split_index(repository):
    repository.git("config", "core.splitIndex", "true")


def path_compression(repository):
    repository.git("config", "index.version", "4")


def monitored(repository):
    repository.git("config", "core.fsmonitor", "true")
    repository.git("config", "core.untrackedCache", "true")


@pytest.mark.parametrize("arrange", [sha256, split_index, path_compression, monitored])
def test_every_kind_of_repository_tells_what_changed(tmp_path, arrange):
    repository = Repository(tmp_path / "top")
    if arrange is not sha256:
        repository.start_git()
    arrange(repository)
    for name in ("same", "edited", "deleted", "touched"):
        repository.write(f"a/{name}.yaml", "1\n")
    commit = repository.commit()
    repository.write("a/edited.yaml", "2\n")
    repository.write("a/new.yaml", "1\n")
    (repository.root / "a/deleted.yaml").unlink()
    os.utime(repository.root / "a/touched.yaml", (1, 1))
    root = str(repository.root)
    assert commit_of(root, "HEAD") == commit
    assert Commit(root, commit).changed(["a"]) == {"a/edited.yaml", "a/new.yaml", "a/deleted.yaml"}
    assert files_at(root, commit, ["a/edited.yaml"]) == {"a/edited.yaml": b"1\n"}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_is_told_to_overlook_is_seen(repository, flag):
    for name in ("edited", "deleted", "same"):
        repository.write(f"a/{name}.yaml", "1\n")
    commit = repository.commit()
    repository.git("update-index", flag, "a/edited.yaml", "a/deleted.yaml", "a/same.yaml")
    repository.write("a/edited.yaml", "2\n")
    (repository.root / "a/deleted.yaml").unlink()
    assert Commit(str(repository.root), commit).changed(["a"]) == {"a/edited.yaml", "a/deleted.yaml"}


def test_the_files_of_another_repository_inside_are_seen(repository):
    commit = repository.commit()
    other = Repository(repository.root / "jobs/other")
    other.start_git()
    other.write("x.yaml", "1\n")
    found = Commit(str(repository.root), commit).changed(["jobs"])
    assert {"jobs/other/x.yaml", "jobs/other/trainform.yaml"} <= found


@pytest.mark.parametrize("committed", [True, False])
def test_a_submodule_is_an_error_that_names_it(repository, committed):
    commit = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},jobs/sub")
    (repository.root / "jobs/sub").mkdir(parents=True)
    if committed:
        repository.git("commit", "--quiet", "--message", "submodule")
        commit = repository.git("rev-parse", "HEAD").strip()
    with pytest.raises(GitError, match="jobs/sub is a submodule"):
        Commit(str(repository.root), commit).changed(["jobs"])
    assert Commit(str(repository.root), commit).changed(["rendered"]) == set()


def test_replaced_objects_are_not_taken(repository):
    repository.write("x.yaml", "1\n")
    commit = repository.commit()
    repository.write("y.yaml", "forged\n")
    forged = repository.git("hash-object", "-w", "y.yaml").strip()
    repository.git("replace", repository.git("rev-parse", "HEAD:x.yaml").strip(), forged)
    assert files_at(str(repository.root), commit, ["x.yaml"]) == {"x.yaml": b"1\n"}


def test_contents_that_a_clone_lacks_are_an_error(repository):
    repository.write("x.yaml", "1\n")
    commit = repository.commit()
    blob = repository.git("rev-parse", "HEAD:x.yaml").strip()
    (repository.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=r"lacks the contents of x\.yaml"):
        files_at(str(repository.root), commit, ["x.yaml"])
    assert files_at(str(repository.root), commit, ["y.yaml"]) == {}


@pytest.mark.parametrize("file", ["HEAD", "config", "index", "packed-refs"])
def test_a_broken_repository_is_an_error(repository, file):
    commit = repository.commit()
    (repository.root / ".git" / file).write_bytes(b"\xff\0[broken")
    with pytest.raises(GitError):
        Commit(str(repository.root), commit_of(str(repository.root), "HEAD")).changed(["trainform.yaml"])
    assert commit


def test_a_shallow_clone_has_its_own_commit(repository, tmp_path):
    repository.commit()
    commit = repository.commit()
    Repository(tmp_path / "any").git("clone", "--quiet", "--depth=1", repository.root.as_uri(), str(tmp_path / "clone"))
    root = str(tmp_path / "clone")
    assert commit_of(root, "HEAD") == commit
    assert Commit(root, commit).last_change("trainform.yaml") == Commit(root, commit)
    with pytest.raises(NoCommit, match="a shallow clone may not contain it"):
        commit_of(root, "HEAD~1")


@pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
def test_what_a_sparse_checkout_leaves_out(repository, sparse_index):
    for file in ("a/x.yaml", "b/x.yaml", "b/y.yaml", "c/x.yaml"):
        repository.write(file, "1\n")
    repository.commit()
    root = str(repository.root)
    assert left_out(root, ["a", "b"]) == []
    repository.git("sparse-checkout", "set", "--cone", sparse_index, "a")
    assert left_out(root, ["a", "b"]) == ["b/x.yaml", "b/y.yaml"]
    assert left_out(root, ["a"]) == []
    repository.git("sparse-checkout", "disable")
    assert left_out(root, ["a", "b", "c"]) == []
