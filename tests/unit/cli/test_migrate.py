"""`trainform migrate`: nothing of a user's is overwritten. `test_pages.py` plays the page about it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import Ran

Trainform = Callable[..., Ran]

OLD = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: old}
spec:
  pytorchReplicaSpecs:
    Worker:
      template: {spec: {containers: [{name: pytorch, image: "example/old:1", command: [torchrun, old.py]}]}}
"""
EARLIER = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: early}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numProcPerNode: "8"  # GPUs
"""


def test_only_write_writes(root, trainform):
    (root / "old.yaml").write_text(OLD)
    before = sorted(root.rglob("*"))
    assert trainform("migrate", "old.yaml").code == 0
    assert trainform("migrate", "--dry-run", "--format", "json", "old.yaml").code == 0
    assert sorted(root.rglob("*")) == before
    assert trainform("migrate", "--write", "old.yaml").code == 0
    assert (root / "jobs" / "old.yaml").exists()


def test_a_job_with_a_generated_name_is_told_by_how_its_names_begin(root, trainform):
    (root / "old.yaml").write_text(OLD.replace("name: old", "generateName: nightly-"))
    ran = trainform("migrate", "--write", "old.yaml")
    assert "wrote jobs/nightly.yaml, from PyTorchJob (kubeflow.org/v1) nightly-…\n" in ran.out


def test_a_second_time_nothing_changes(root, trainform):
    (root / "old.yaml").write_text(OLD)
    assert trainform("migrate", "--write", "old.yaml").code == 0
    ran = trainform("migrate", "--write", "old.yaml")
    assert ran.code == 0
    assert ran.out.startswith("1 file unchanged\n")


def test_what_many_jobs_lose_alike_is_told_once_with_its_places(root, trainform):
    lossy = OLD.replace("spec:\n  py", "spec:\n  runPolicy: {cleanPodPolicy: All}\n  py")
    for number in range(1, 13):
        (root / f"old-{number:02}.yaml").write_text(lossy.replace("name: old", f"name: old-{number}"))
    files = [f"old-{number:02}.yaml" for number in range(1, 13)]
    ran = trainform("migrate", *files)
    assert ran.err.count("TF855") == 1
    places = ", ".join(f"{file}:5" for file in files[1:11])
    assert f"note: the same in 11 more places: {places}, …\n" in ran.err
    assert "\n12 warnings in 12 files\n" in ran.err
    told = json.loads(trainform("migrate", "--format", "json", *files).out)["diagnostics"]
    assert [each["file"] for each in told] == files


def test_a_file_in_the_way_stays_and_nothing_else_is_written(root, trainform):
    (root / "jobs" / "old.yaml").write_text("# mine\n")
    (root / "old.yaml").write_text(OLD)
    (root / "jobs" / "early.yaml").write_text(EARLIER)
    ran = trainform("migrate", "--write", "old.yaml", "jobs/early.yaml")
    assert ran.code == 2
    assert "jobs/old.yaml: error TF706" in ran.err
    assert (root / "jobs" / "old.yaml").read_text() == "# mine\n"
    assert (root / "jobs" / "early.yaml").read_text() == EARLIER


def test_an_old_job_among_the_new_ones_is_to_be_removed(root, trainform):
    (root / "jobs" / "pytorch job.yaml").write_text(OLD)
    out = trainform("migrate", "--write", "jobs").out
    assert out.endswith("next: git rm 'jobs/pytorch job.yaml' && trainform validate && trainform render\n")


def test_with_an_error_nothing_is_written(root, trainform):
    (root / "old.yaml").write_text(OLD + "---\n" + OLD.replace("Worker", "Slave").replace("name: old", "name: b"))
    assert trainform("migrate", "--write", "old.yaml").code == 2
    assert not (root / "jobs" / "old.yaml").exists()


def test_two_jobs_of_one_name_are_an_error(root, trainform):
    (root / "old.yaml").write_text(f"{OLD}---\n{OLD}")
    ran = trainform("migrate", "old.yaml")
    assert ran.code == 2
    assert "old.yaml:11:18: error TF203" in ran.err


def test_jobs_of_one_name_in_two_namespaces_get_folders(root, trainform):
    for namespace in ("a", "b"):
        (root / f"{namespace}.yaml").write_text(OLD.replace("name: old", f"name: old, namespace: {namespace}"))
    assert trainform("migrate", "--write", "a.yaml", "b.yaml").code == 0
    assert sorted(path.name for path in (root / "jobs").glob("*/old.yaml")) == ["old.yaml"] * 2
    assert trainform("render").code == 0


def test_an_edited_file_keeps_its_line_endings(root, trainform):
    path = root / "jobs" / "early.yaml"
    path.write_bytes(EARLIER.replace("\n", "\r\n").encode())
    assert trainform("migrate", "--write", "jobs/early.yaml").out.startswith("edited jobs/early.yaml\n")
    assert path.read_bytes() == EARLIER.replace('"8"', "8").replace("\n", "\r\n").encode()


def test_a_train_job_from_elsewhere_becomes_a_file_of_the_repository(root, trainform, tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "x.yaml"
    path.write_text(EARLIER)
    assert trainform("migrate", "--write", str(path)).code == 0
    assert (root / "jobs" / "early.yaml").read_text() == EARLIER.replace('"8"', "8")
    assert path.read_text() == EARLIER


def test_train_jobs_of_one_name_from_elsewhere_do_not_replace_each_other(root, trainform, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(EARLIER.replace("name: early", f"name: early, namespace: {name}"))
    (root / "old.yaml").write_text(OLD.replace("name: old", "name: early, namespace: c"))
    assert trainform("migrate", "--write", str(folder), "old.yaml").code == 0
    assert sorted(path.parent.name for path in (root / "jobs").glob("*/early.yaml")) == ["a", "b", "c"]


def test_one_train_job_twice_from_elsewhere_is_an_error(root, trainform, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(EARLIER)
    ran = trainform("migrate", "--write", str(folder))
    assert ran.code == 2
    assert "another job is called early, too: the one at" in ran.err
    assert not (root / "jobs/early.yaml").exists()


def test_a_file_that_is_edited_where_no_command_reads_it_is_to_be_moved(root, trainform):
    (root / "old").mkdir()
    (root / "old" / "early.yaml").write_text(EARLIER)
    ran = trainform("migrate", "--write", "old")
    assert (
        ran.out
        == "edited old/early.yaml\n\nnext: git mv old/early.yaml jobs/ && trainform validate && trainform render\n"
    )


def test_stdin_is_read(root, trainform):
    ran = trainform("migrate", "-", stdin=OLD)
    assert ran.code == 0
    assert ran.out.startswith("# jobs/old.yaml\napiVersion: trainer.kubeflow.org/v1alpha1\n")
    assert trainform("render", "-", stdin=ran.out).code == 0


def test_json_names_files_and_where_they_come_from(root, trainform):
    (root / "old.yaml").write_text(OLD)
    result = json.loads(trainform("migrate", "--write", "--format", "json", "old.yaml").out)
    (file,) = result["files"]
    origin = {"file": "old.yaml", "line": 1, "kind": "PyTorchJob", "namespace": "", "name": "old"}
    assert (result["kind"], result["written"], result["diagnostics"]) == ("MigrateResult", ["jobs/old.yaml"], [])
    assert (file["file"], file["change"], file["origins"]) == ("jobs/old.yaml", "new", [origin])


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("none.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "TF202"),
        ("empty.yaml", "", "TF202"),
        ("loop.yaml.j2", OLD, "TF865"),
        ("broken.yaml", "a: [", "TF001"),
    ],
)
def test_files_without_a_job_are_an_error(root, trainform, name: str, text: str, code: str):
    (root / name).write_text(text)
    ran = trainform("migrate", name)
    assert ran.code == 2
    assert f"error {code}" in ran.err


def test_a_missing_file_is_an_error(root, trainform):
    assert "error TF704" in trainform("migrate", "missing.yaml").err


def test_current_train_jobs_are_left_alone(root, trainform):
    ran = trainform("migrate", "jobs")
    assert (ran.code, ran.out) == (0, "")
    assert "of the current API" in ran.err
