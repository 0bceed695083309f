"""Rendered files: written whole, only when they changed, and never over somebody else's."""

from __future__ import annotations

import pytest

from trainform.io import writer
from trainform.io.writer import HEADER, Folder, carry_out, plan_changes

JOB = "rendered/default/ml/llm"


def write(root, files, folder=JOB):
    changes = plan_changes(str(root), [Folder(folder, files)])
    return changes if changes.diagnostics else carry_out(str(root), changes)


@pytest.fixture
def root(tmp_path):
    return tmp_path.resolve()


def test_the_layout():
    assert writer.job_folder("rendered", "default", "ml", "llm") == JOB
    assert writer.file_name("JobSet", "llm") == "jobset-llm.yaml"


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden"])
def test_a_name_never_climbs_out_of_its_folder(name):
    with pytest.raises(ValueError, match="not a file name"):
        writer.job_folder("rendered", "default", "ml", name)


def test_a_first_render_makes_folders_and_files(root):
    assert write(root, {"jobset-llm.yaml": b"a: 1\n"}).wrote == [f"{JOB}/jobset-llm.yaml"]
    assert (root / JOB / "jobset-llm.yaml").read_bytes() == HEADER + b"a: 1\n"


def test_no_draft_is_left_behind(root):
    write(root, {"jobset-llm.yaml": b"a: 1\n"})
    assert [path.name for path in (root / JOB).iterdir()] == ["jobset-llm.yaml"]


def test_a_second_render_touches_nothing(root):
    write(root, {"jobset-llm.yaml": b"a: 1\n"})
    before = (root / JOB / "jobset-llm.yaml").stat()
    again = write(root, {"jobset-llm.yaml": b"a: 1\n"})
    assert (again.wrote, again.unchanged) == ([], 1)
    assert (root / JOB / "jobset-llm.yaml").stat() == before


def test_only_what_changed_is_written(root):
    write(root, {"a-x.yaml": b"1\n", "b-x.yaml": b"1\n"})
    again = write(root, {"a-x.yaml": b"1\n", "b-x.yaml": b"2\n"})
    assert (again.wrote, again.unchanged) == ([f"{JOB}/b-x.yaml"], 1)


def test_a_file_that_the_job_no_longer_needs_is_removed(root):
    write(root, {"jobset-llm.yaml": b"1\n", "podgroup-llm.yaml": b"1\n"})
    assert write(root, {"jobset-llm.yaml": b"1\n"}).removed == [f"{JOB}/podgroup-llm.yaml"]
    assert not (root / JOB / "podgroup-llm.yaml").exists()


def test_the_folders_of_other_jobs_are_left_alone(root):
    write(root, {"jobset-old.yaml": b"1\n"}, folder="rendered/default/ml/old")
    assert write(root, {"jobset-llm.yaml": b"1\n"}).removed == []
    assert (root / "rendered/default/ml/old/jobset-old.yaml").exists()


@pytest.mark.parametrize("name", ["kustomization.yaml", "notes.txt"])
def test_a_file_of_somebody_else_is_never_removed(root, name):
    (root / JOB).mkdir(parents=True)
    (root / JOB / name).write_text("mine\n")
    assert write(root, {"jobset-llm.yaml": b"1\n"}).removed == []
    assert (root / JOB / name).read_text() == "mine\n"


def test_a_file_of_somebody_else_is_never_overwritten(root):
    (root / JOB).mkdir(parents=True)
    (root / JOB / "jobset-llm.yaml").write_text("mine\n")
    assert [each.code for each in write(root, {"jobset-llm.yaml": b"1\n"}).diagnostics] == ["TF706"]
    assert (root / JOB / "jobset-llm.yaml").read_text() == "mine\n"


def test_one_problem_leaves_the_whole_folder_as_it_is(root):
    (root / JOB).mkdir(parents=True)
    (root / JOB / "jobset-llm.yaml").write_text("mine\n")
    files = {"configmap-llm.yaml": b"1\n", "jobset-llm.yaml": b"1\n"}
    changes = plan_changes(
        str(root), [Folder(JOB, files), Folder("rendered/default/ml/b", {"jobset-b.yaml": b""})]
    )
    assert [path for path, _ in changes.write] == ["rendered/default/ml/b/jobset-b.yaml"]


def test_a_link_out_of_the_repository_is_never_written_through(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (root / "rendered").symlink_to(outside)
    assert [each.code for each in write(root, {"jobset-llm.yaml": b"1\n"}).diagnostics] == ["TF702"]
    assert list(outside.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_told(root):
    (root / "rendered").write_text("")
    assert [each.code for each in write(root, {"jobset-llm.yaml": b"1\n"}).diagnostics] == ["TF707"]


def test_a_failing_disk_is_told_and_leaves_the_old_file(root, monkeypatch):
    write(root, {"jobset-llm.yaml": b"1\n"})

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    done = write(root, {"jobset-llm.yaml": b"2\n"})
    assert [each.message for each in done.diagnostics] == ["cannot be written: No space left on device"]
    assert [path.name for path in (root / JOB).iterdir()] == ["jobset-llm.yaml"]
    assert (root / JOB / "jobset-llm.yaml").read_bytes() == HEADER + b"1\n"
