"""A run that looks only at what changed since a commit that was proven does what a run over everything does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from end_to_end.changes import ALL, FEW, delete, edit, edit_the_runtime, write_jobs
from support.repositories import Repository, job, runtime
from trainform.cli.main import run
from trainform.io import git
from trainform.workspace import proven, slices


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """Thirteen jobs in two environments, rendered, committed, and proven by `render` and `check`."""
    found = Repository(tmp_path_factory.mktemp("proven") / "origin")
    found.start_git()
    write_jobs(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proven, "LEAST", 1)
        patch.setattr(slices, "SMALLEST", 2)
        patch.setattr(slices, "LARGEST", 2)
        assert run(["--root", str(found.root), "render"]) == 0
        found.commit()
        assert run(["--root", str(found.root), "render"]) == 0
        assert run(["--root", str(found.root), "check"]) == 0
        yield found


def records(root: Path) -> list[Path]:
    return sorted((root / ".git/trainform").glob("*.json"))


class Twins:
    """Two copies of the same repository: one with records of what was proven, and one without."""

    def __init__(self, origin: Repository, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capfd = folder, capfd
        self.repository = Repository(folder / "origin")
        shutil.rmtree(self.repository.root)
        shutil.copytree(origin.root, self.repository.root, symlinks=True)
        for record in records(self.repository.root):
            purpose = record.stem.rpartition("-")[2]
            record.rename(self.record(self.repository.root, purpose))

    @staticmethod
    def record(root: Path, purpose: str) -> Path:
        from trainform.io import cache_file as record

        return Path(record._path(str(root), purpose))

    def run(self, monkeypatch: pytest.MonkeyPatch, *arguments: str, with_records: bool) -> tuple[object, ...]:
        """Exit code, output, the files that are there then, and how many files of jobs were read."""
        kept = self.folder / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.repository.root, kept, symlinks=True)
        if not with_records:
            shutil.rmtree(self.repository.root / ".git/trainform")
        read: list[str] = []
        with monkeypatch.context() as patch:
            from trainform.workspace import discovery as targets
            from trainform.workspace.target import Target

            own = targets.Survey.part

            def part(self: targets.Survey, files: list[str]) -> list[Target]:
                read.extend(files)
                return own(self, files)

            patch.setattr(targets.Survey, "part", part)
            patch.setattr(slices, "can_fork", lambda: False)
            code = run(["--root", str(self.repository.root), *arguments])
        out, err = self.capfd.readouterr()
        files = self.repository.files(".", ".trainform")
        state = {path: data for path, data in files.items() if not path.startswith(".git/")}
        shutil.rmtree(self.repository.root)
        shutil.move(kept, self.repository.root)
        return code, out, err, state, len(set(read))

    def assert_alike(self, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
        """Both do the same; the number of files of jobs that were read by the one that had records."""
        whole = self.run(monkeypatch, *arguments, with_records=False)
        part = self.run(monkeypatch, *arguments, with_records=True)
        assert part[:3] == whole[:3]
        assert part[3] == whole[3]
        return int(str(part[4]))


@pytest.fixture
def twins(origin: Repository, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Twins:
    return Twins(origin, tmp_path, capfd)


@pytest.fixture
def place(origin: Repository, tmp_path: Path) -> Repository:
    """A copy of the repository without records."""
    found = Repository(tmp_path / "place")
    shutil.rmtree(found.root)
    shutil.copytree(origin.root, found.root)
    shutil.rmtree(found.root / ".git/trainform")
    return found


COMMANDS = ["render", "render --dry-run", "render --keep-going", "check --format json", "check --base HEAD"]


@pytest.mark.parametrize("change", FEW, ids=lambda change: change.__name__)
@pytest.mark.parametrize("words", COMMANDS)
def test_a_change_of_a_few_jobs_is_found_without_reading_the_others(twins, monkeypatch, change, words):
    change(twins.repository)
    assert twins.assert_alike(monkeypatch, *words.split()) <= 3


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.__name__)
@pytest.mark.parametrize("words", COMMANDS)
def test_a_change_that_may_concern_any_job_has_all_of_them_read(twins, monkeypatch, change, words):
    change(twins.repository)
    assert twins.assert_alike(monkeypatch, *words.split()) <= 11  # through the record, before it was put aside


def test_the_last_job_of_a_runtime_takes_its_snapshot_along(twins, monkeypatch):
    twins.repository.write("runtimes/other.yaml", runtime().replace("name: torch\n", "name: other\n"))
    twins.repository.write("jobs/job-3.yaml", job("job-3").replace("name: torch\n", "name: other\n"))
    root = str(twins.repository.root)
    for _ in range(2):
        assert run(["--root", root, "render"]) == 0
        twins.repository.commit()
    snapshots = len(list((twins.repository.root / ".trainform/snapshots").iterdir()))
    twins.capfd.readouterr()
    delete(twins.repository)
    assert twins.assert_alike(monkeypatch, "render") <= 3
    assert run(["--root", root, "render"]) == 0
    assert len(list((twins.repository.root / ".trainform/snapshots").iterdir())) == snapshots - 1


def test_who_is_behind_is_told_from_the_record(twins, monkeypatch):
    edit_the_runtime(twins.repository)
    root = str(twins.repository.root)
    twins.repository.commit()
    assert run(["--root", root, "render"]) == 0
    assert "26 jobs are behind: runtime torch changed" in twins.capfd.readouterr().out
    edit(twins.repository)
    assert twins.assert_alike(monkeypatch, "render") == 1
    assert run(["--root", root, "render"]) == 0
    assert "24 jobs are behind: runtime torch changed" in twins.capfd.readouterr().out


def test_another_version_does_not_trust_the_record(twins, monkeypatch):
    monkeypatch.setattr(proven, "__version__", "0.0.9")
    assert proven.look("rendered", type("R", (), {"root": str(twins.repository.root)})()) is None


def test_files_that_git_does_not_know_leave_no_record(place, capfd):
    place.write("elsewhere/new.yaml", job("new"))
    (place.root / "jobs/link").symlink_to("../elsewhere")
    assert run(["--root", str(place.root), "render"]) == 0
    place.commit()
    assert run(["--root", str(place.root), "render"]) == 0
    assert records(place.root) == []


@pytest.mark.parametrize(
    "path", ["jobs/job-3.yaml", "runtimes/torch.yaml", "environments/prod", "rendered/prod", ".trainform/locks/prod/ml"]
)
@pytest.mark.parametrize("words", ["render", "check"])
def test_what_is_behind_a_link_leaves_no_record(place, capfd, path, words):
    """It may change without the notice of git."""
    shutil.move(place.root / path, place.root / "elsewhere")
    (place.root / path).symlink_to(place.root / "elsewhere")
    place.commit()
    assert run(["--root", str(place.root), words]) == 0
    assert not [each for each in records(place.root) if not each.stem.endswith("seen")]


@pytest.mark.parametrize("path", ["rendered/**", ".trainform/**"])
def test_files_that_git_takes_for_the_same_with_other_bytes_leave_no_record(place, capfd, path):
    place.write(".gitattributes", f"rendered/** linguist-generated=true\n{path} text eol=lf\n")
    place.commit()
    assert run(["--root", str(place.root), "render"]) == 0
    assert records(place.root) == []


@pytest.mark.parametrize("words", ["render", "check"])
def test_a_commit_that_was_made_meanwhile_is_not_what_was_read(place, capfd, monkeypatch, words):

    def commit_of(root: str, name: str) -> str:
        edit(place)
        place.commit()
        return git.commit_of(root, name)

    monkeypatch.setattr("trainform.workspace.proven.commit_of", commit_of)
    assert run(["--root", str(place.root), words]) == 0
    assert records(place.root) == []


SOLO = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: solo}
spec:
  jobs: {paths: ["jobs/solo/**"]}
  patches:
  - target: {kind: JobSet, name: alone}
    patch: "metadata: {annotations: {example.com/a: b}}"
"""


@pytest.mark.parametrize("words", COMMANDS)
def test_an_environment_all_of_whose_jobs_change_is_judged_as_a_whole(twins, monkeypatch, words):
    """Its patch meets no job any more."""
    place, root = twins.repository, str(twins.repository.root)
    place.write("environments/solo/environment.yaml", SOLO)
    place.write("jobs/solo/alone.yaml", job("alone"))
    for command in ("render", "render", "check"):
        place.commit()
        assert run(["--root", root, command]) in (0, 1)
    twins.capfd.readouterr()
    place.write("jobs/solo/alone.yaml", job("another"))
    twins.assert_alike(monkeypatch, *words.split())


@pytest.mark.parametrize("words", COMMANDS)
def test_where_git_has_something_to_say_all_is_read(twins, monkeypatch, words):
    """As it has of a folder that it may not read, without which it goes on."""
    edit(twins.repository)
    monkeypatch.setenv("GIT_TRACE", "1")
    whole, part = (twins.run(monkeypatch, *words.split(), with_records=each)[3:] for each in (False, True))
    assert part == whole
