"""Repositories to measure on are the same each time, and have nothing to warn of."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

import pytest

from benchmarks.generate import ENVIRONMENTS, RUNTIMES, Job, mixed_files, mixed_job, torch_files, write
from trainform.cli.main import run


@pytest.fixture
def repository(tmp_path, monkeypatch):
    write(tmp_path, mixed_files(60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_number_of_jobs_gives_the_same_files():
    assert list(mixed_files(130)) == list(mixed_files(130))


def test_more_jobs_leave_the_others_as_they_are():
    assert set(mixed_files(60)) < set(mixed_files(130))


def test_nothing_is_wrong_with_mixed_jobs(repository, capfd):
    assert run(["validate", "--fail-on", "info"]) == 0
    assert capfd.readouterr().out.startswith("no problems")


def test_mixed_jobs_render_without_a_word_of_warning(repository, capfd):
    assert run(["render"]) == 0
    assert capfd.readouterr().err == ""
    assert {path.name for path in (repository / "rendered").iterdir()} == set(ENVIRONMENTS)
    assert len(list((repository / "rendered").rglob("jobset-*.yaml"))) == 60


def test_torch_jobs_render_without_a_word_of_warning(tmp_path, capfd):
    write(tmp_path, torch_files(20))
    assert run(["render", "--root", str(tmp_path)]) == 0
    assert capfd.readouterr().err == ""
    rendered = [path.name for path in (tmp_path / "rendered").rglob("*-llm-*.yaml")]
    assert sorted(rendered) == [f"jobset-{Job(number, 'torch-0').name}.yaml" for number in range(20)]


def test_sixty_jobs_meet_every_runtime_in_every_environment():
    assert len({(job.runtime, job.environment) for job in map(mixed_job, range(60))}) == 20 * 3
    assert len(RUNTIMES) == 20
    assert len(ENVIRONMENTS) == 3


def test_no_folder_holds_many_files():
    folders = Counter(PurePosixPath(mixed_job(number).file).parent for number in range(100_000))
    assert max(folders.values()) <= 300


def test_another_revision_is_another_text_of_the_same_job():
    before, after = mixed_job(7), mixed_job(7, revision=1)
    assert before.file == after.file
    assert before.text() != after.text()
