"""A diff that recalls a glance at every job tells what a diff tells that looks at all of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from end_to_end.changes import ALL, FEW, edit, edit_and_commit, edit_by_hand, edit_the_runtime, every_job, write_jobs
from support.repositories import Repository, environment, job
from trainform.cli.main import run
from trainform.io import cache_file as record
from trainform.io.paths import JobId
from trainform.io.repository import open_repository
from trainform.review.diff.totals import Asks
from trainform.workspace import fleet, proven, slices
from trainform.workspace.state import State, read_state

JOBS = 26


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Thirteen jobs in two environments, rendered and committed."""
    found = Repository(tmp_path_factory.mktemp("recalled"))
    found.start_git()
    write_jobs(found)
    assert run(["--root", str(found.root), "render"]) == 0
    found.commit()
    return found


class Place(Repository):
    """A copy of it, and what `trainform diff` says there: exit code, output, and the jobs that it looked at."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root)
        self.capfd, self.monkeypatch = capfd, monkeypatch

    @property
    def record(self) -> Path:
        return Path(record._path(str(self.root), "seen"))

    def trainform(self, *words: str) -> tuple[int, str, str]:
        code = run(["--root", str(self.root), *words])
        return code, *self.capfd.readouterr()

    def diff(self, *words: str) -> tuple[tuple[int, str, str], list[JobId]]:
        looked: list[JobId] = []
        with self.monkeypatch.context() as patch:
            own = fleet.glances

            def look(state: State, jobs: Sequence[JobId], asks: Asks) -> fleet.Seen:
                looked.extend(jobs)
                return own(state, jobs, asks)

            patch.setattr(fleet, "glances", look)
            said = self.trainform("diff", "--format", "json", *words)
        return said, looked

    def assert_recalled(self, *words: str) -> int:
        """What is told is the same without the record; how many jobs were looked at with it."""
        assert self.record.exists()
        said, looked = self.diff(*words)
        self.record.unlink(missing_ok=True)
        assert self.diff(*words) == (said, self.jobs())
        return len(looked)

    def jobs(self) -> list[JobId]:
        return read_state(open_repository(str(self.root))[0]).ids()


@pytest.fixture
def place(
    origin: Repository, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Place:
    """With a record of the commit that is checked out."""
    root = tmp_path / "place"
    shutil.copytree(origin.root, root, symlinks=True)
    monkeypatch.setattr(proven, "LEAST", 1)
    place = Place(root, capfd, monkeypatch)
    assert len(place.diff()[1]) == JOBS
    return place


def add_a_manifest(place: Repository) -> None:
    place.write("rendered/prod/ml/job-3/jobset-other.yaml", "kind: JobSet\n")


def edit_a_lock(place: Repository) -> None:
    file = place.root / ".trainform/locks/prod/ml/job-3.lock"
    file.write_text(file.read_text().replace("jobs/job-3.yaml", "jobs/job-4.yaml"))


def a_run_was_stopped(place: Repository) -> None:
    file = place.root / ".trainform/locks/prod/ml/job-3.lock"
    file.write_text(file.read_text().rstrip().removesuffix("}") + ', "previous": null}\n')


def an_environment_goes(place: Repository) -> None:
    shutil.rmtree(place.root / "environments/test")


def other_values(place: Repository) -> None:
    place.write("jobs/made.yaml.j2", job("made").replace("numNodes: 2", "numNodes: {{ env.nodes }}"))
    place.write("environments/prod/environment.yaml", environment() + "  values: {nodes: 3}\n")


def settings_of_output(place: Repository) -> None:
    place.write("trainform.yaml", "rendered: elsewhere\n")


def a_link_for_a_folder(place: Repository) -> None:
    shutil.move(place.root / "rendered/prod", place.root / "elsewhere")
    (place.root / "rendered/prod").symlink_to("../elsewhere")


ONE = [add_a_manifest, edit_a_lock, a_run_was_stopped]
MANY = [an_environment_goes, other_values, settings_of_output, a_link_for_a_folder]


@pytest.mark.parametrize("change", [*FEW, *ONE], ids=lambda change: change.__name__)
@pytest.mark.parametrize("words", ["", "--env prod", "--base HEAD~0"])
def test_only_jobs_that_changed_are_looked_at(place, change, words):
    change(place)
    assert place.assert_recalled(*words.split()) <= 2


@pytest.mark.parametrize("change", [*ALL, *MANY], ids=lambda change: change.__name__)
@pytest.mark.parametrize("words", ["", "--env prod"])
def test_a_change_that_may_concern_any_job(place, change, words):
    change(place)
    place.assert_recalled(*words.split())


@pytest.mark.parametrize("change", [edit, edit_by_hand, edit_the_runtime], ids=lambda change: change.__name__)
def test_a_change_is_told_the_same_once_it_is_rendered_and_committed(place, change):
    change(place)
    assert place.trainform("render")[0] in (0, 2)
    assert place.assert_recalled() <= 2
    place.diff()
    place.commit()
    for words in ([], ["--base", "HEAD~1"]):
        assert place.assert_recalled(*words) <= 2
        place.diff()


def test_jobs_that_differ_between_the_record_and_the_base_are_looked_at(place):
    edit_and_commit(place)
    assert place.trainform("render")[0] == 0
    place.commit()
    assert place.assert_recalled() == 2
    place.diff()
    assert place.assert_recalled("--base", "HEAD~1") == 2


def test_a_copy_in_a_folder_recalls_nothing(place, tmp_path):
    shutil.copytree(place.root, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    edit(place)
    assert place.assert_recalled("--base", str(tmp_path / "copy")) == JOBS


def test_many_jobs_that_changed_have_all_looked_at_and_recorded_anew(place):
    every_job(place)
    assert place.trainform("render")[0] == 0
    assert place.assert_recalled() == JOBS
    place.commit()
    place.diff()
    assert place.diff()[1] == []


def test_what_changed_while_it_was_recorded_is_looked_at(place):
    place.record.unlink()
    edit_by_hand(place)
    place.diff()
    assert place.assert_recalled() == 1


def test_another_version_looks_at_everything(place, monkeypatch):
    monkeypatch.setattr(proven, "__version__", "0.0.9")
    assert place.assert_recalled() == JOBS


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'0\n{"made": {}}'])
def test_a_record_that_somebody_wrote_is_none(place, data):
    place.record.write_bytes(data)
    assert place.assert_recalled() == JOBS


def test_a_record_that_somebody_edited_is_none(place):
    place.record.write_bytes(place.record.read_bytes().replace(b"job-3", b"job-4"))
    assert place.assert_recalled() == JOBS


def test_a_commit_that_git_forgot(place):
    known = record.read(str(place.root), "seen")
    assert known is not None
    record.write(str(place.root), "seen", {**known, "commit": "1" * 40})
    assert place.assert_recalled() == JOBS


def assert_unrecorded(place: Place, file: str) -> None:
    """All jobs are looked at again, and an edit of a file of one of them is seen."""
    place.record.unlink()
    place.diff()
    (place.root / file).write_text((place.root / file).read_text().replace("parallelism: 2", "parallelism: 7"))
    assert place.assert_recalled() == JOBS


def test_jobs_that_git_does_not_know_are_not_recorded(place):
    """What lies behind a link, or in a repository of its own, changes without the notice of git."""
    shutil.move(place.root / "rendered/prod", place.root / "elsewhere")
    (place.root / "rendered/prod").symlink_to("../elsewhere")
    shutil.move(place.root / ".trainform/locks/test", place.root / "locks")
    (place.root / ".trainform/locks/test").symlink_to("../../locks")
    place.commit()
    assert_unrecorded(place, "elsewhere/ml/job-3/jobset-job-3.yaml")


def test_a_repository_within_the_repository(place, tmp_path):
    other = Repository(tmp_path / "other")
    shutil.copytree(place.root / "rendered/prod", other.root, dirs_exist_ok=True)
    other.start_git()
    other.commit()
    place.git("rm", "-rq", "--cached", "rendered/prod")
    shutil.rmtree(place.root / "rendered/prod")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "rendered/prod")
    place.commit()
    assert_unrecorded(place, "rendered/prod/ml/job-3/jobset-job-3.yaml")


def test_check_leaves_the_same_record(place, monkeypatch):
    kept = record.read(str(place.root), "seen")
    place.record.unlink()
    monkeypatch.setattr(slices, "SMALLEST", 2)
    monkeypatch.setattr(slices, "LARGEST", 2)
    assert place.trainform("check")[0] == 0
    found = record.read(str(place.root), "seen")
    assert _by_job(found) == _by_job(kept)
    assert place.diff()[1] == []


def test_check_of_a_part_or_of_what_differs_leaves_none(place, monkeypatch):
    place.record.unlink()
    monkeypatch.setattr(slices, "SMALLEST", 2)
    monkeypatch.setattr(slices, "LARGEST", 2)
    place.trainform("check", "--env", "prod")
    place.trainform("check", "--shard", "1/2")
    edit(place)
    place.trainform("check")
    assert not place.record.exists()


def _by_job(known: dict[str, Any] | None) -> dict[JobId, object]:
    assert known is not None
    return {
        (environment, namespace, name): (source, known["pins"][pins], known["asks"][asks])
        for environment, namespaces in known["jobs"].items()
        for namespace, jobs in namespaces.items()
        for name, (source, pins, asks) in jobs.items()
    }


def test_several_processes_see_what_one_sees(place, monkeypatch):
    told = place.trainform("diff", "--format", "json", "--base", "HEAD")
    place.record.unlink()
    monkeypatch.setattr(fleet, "LARGEST", 3)
    assert place.trainform("diff", "--format", "json", "--base", "HEAD") == told
    assert place.diff()[1] == []
