"""`trainform check`. What it finds with git is in the end-to-end story."""

from __future__ import annotations

import json

import pytest
import yaml

from support.golden import ROOT as GOLDEN
from support.repositories import environment, job

FOLDER = "rendered/default/ml/llm"
JOBSET = f"{FOLDER}/jobset-llm.yaml"
LOCK = ".trainform/locks/default/ml/llm.lock"


@pytest.fixture
def rendered(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job("llm").replace("name: torch", "name: torch-distributed"))
    assert trainform("render").code == 0
    return root


def found(trainform, *arguments):
    """Exit code, and the state and the files of each job that is not current."""
    ran = trainform("check", "--format", "json", *arguments)
    jobs = json.loads(ran.out)["jobs"]
    return ran.code, [(each["name"], each["state"], each["files"]) for each in jobs if each["state"] != "current"]


def test_what_was_rendered_is_current(rendered, trainform):
    assert trainform("check") == (0, "1 current\n", "")
    assert json.loads(trainform("check", "--format", "json").out) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "CheckResult",
        "jobs": [
            {"environment": "default", "namespace": "ml", "name": "llm", "state": "current", "files": [], "pins": []}
        ],
    }


def test_nothing_rendered_is_told(root, trainform):
    assert found(trainform) == (1, [("llm", "missing", [])])


def edit(path):
    path.write_text(path.read_text() + "# mine\n")


@pytest.mark.parametrize(
    ("change", "state", "files"),
    [
        (lambda root: edit(root / JOBSET), "edited", [JOBSET]),
        (lambda root: (root / JOBSET).with_name("extra.yaml").write_text(""), "edited", [f"{FOLDER}/extra.yaml"]),
        (lambda root: (root / JOBSET).unlink(), "missing", [JOBSET]),
        (lambda root: (root / LOCK).write_text("{"), "edited", [LOCK]),
        (lambda root: (root / "jobs/llm.yaml").rename(root / "jobs/x.yaml"), "stale", [LOCK]),
    ],
    ids=["edited", "foreign", "missing", "broken-lock", "moved"],
)
def test_every_difference_has_a_name(rendered, trainform, change, state, files):
    change(rendered)
    assert found(trainform) == (1, [("llm", state, files)])


def test_a_changed_job_is_stale(rendered, trainform):
    text = (rendered / "jobs/llm.yaml").read_text()
    (rendered / "jobs/llm.yaml").write_text(text.replace("numNodes: 2", "numNodes: 3"))
    code, ((name, state, _),) = found(trainform)
    assert (code, name, state) == (1, "llm", "stale")
    assert "stale default/ml/llm: its TrainJob changed: run `trainform render`\n" in trainform("check").out


def test_an_error_of_a_changed_job_is_told_and_is_no_mere_difference(rendered, trainform):
    text = (rendered / "jobs/llm.yaml").read_text()
    (rendered / "jobs/llm.yaml").write_text(text.replace("numNodes: 2", "numNodes: -2"))
    ran = trainform("check")
    assert ran.code == 2
    assert "stale default/ml/llm" in ran.out
    assert "error TF" in ran.err


def test_a_broken_runtime_is_no_matter_of_frozen_jobs(rendered, trainform):
    (rendered / "runtimes").mkdir()
    (rendered / "runtimes/broken.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: x}\nspec: {a: 1}\n"
    )
    assert found(trainform) == (0, [])


def test_a_comment_changes_nothing(rendered, trainform):
    edit(rendered / "jobs/llm.yaml")
    assert found(trainform) == (0, [])


def test_a_job_that_is_gone_is_an_orphan(rendered, trainform):
    (rendered / "jobs/llm.yaml").unlink()
    code, ((name, state, files),) = found(trainform)
    assert (code, name, state) == (1, "llm", "orphan")
    assert JOBSET in files


@pytest.mark.parametrize(
    "file", ["rendered/default/ml/old/jobset-old.yaml", "rendered/default/ml/x.yaml", "rendered/old/ml/a/b.yaml"]
)
def test_a_file_of_no_job_is_foreign(rendered, trainform, file):
    (rendered / file).parent.mkdir(parents=True, exist_ok=True)
    (rendered / file).write_text("kind: JobSet\n")
    code, ((_, state, files),) = found(trainform)
    assert (code, state, files) == (1, "foreign", [file])


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("rendered/x.yaml", ["", "", ""]),
        ("rendered/default/x.yaml", ["default", "", ""]),
        ("rendered/default/ml/x.yaml", ["default", "ml", ""]),
        ("rendered/default/old/llm/x.yaml", ["default", "old", "llm"]),
        ("rendered/old/ml/a/b/x.yaml", ["old", "ml", "a"]),
    ],
)
def test_the_path_of_a_foreign_file_tells_its_environment_namespace_and_job(rendered, trainform, file, place):
    (rendered / file).parent.mkdir(parents=True, exist_ok=True)
    (rendered / file).write_text("kind: JobSet\n")
    jobs = json.loads(trainform("check", "--format", "json").out)["jobs"]
    (foreign,) = (each for each in jobs if each["state"] == "foreign")
    assert [foreign[key] for key in ("environment", "namespace", "name")] == place


def test_a_folder_that_an_earlier_setting_named_belongs_to_no_environment(rendered, trainform):
    (rendered / "trainform.yaml").write_text("rendered: manifests\n")
    jobs = json.loads(trainform("check", "--format", "json").out)["jobs"]
    (foreign,) = (each for each in jobs if each["state"] == "foreign")
    assert (foreign["environment"], foreign["name"], foreign["files"]) == ("", "", ["rendered"])


def test_jobs_are_told_by_name_and_then_what_is_no_job(rendered, trainform):
    text = (rendered / "jobs/llm.yaml").read_text()
    for name in ("alpha", "zeta"):
        (rendered / f"jobs/{name}.yaml").write_text(text.replace("llm", name))
    assert trainform("render").code == 0
    (rendered / "jobs/alpha.yaml").unlink()
    (rendered / "jobs/zeta.yaml").write_text(text.replace("llm", "zeta").replace("numNodes: 2", "numNodes: 3"))
    (rendered / "rendered/default/aa/aa").mkdir(parents=True)
    (rendered / "rendered/default/aa/aa/x.yaml").write_text("kind: JobSet\n")
    told = [(name, state) for name, state, _ in found(trainform)[1]]
    assert told == [("alpha", "orphan"), ("zeta", "stale"), ("aa", "foreign")]


def test_with_an_environment_only_its_foreign_files_are_told(root, trainform):
    for name in ("prod", "test"):
        (root / f"environments/{name}").mkdir(parents=True)
        (root / f"environments/{name}/environment.yaml").write_text(environment().replace("prod", name))
    assert trainform("render").code == 0
    for name in ("prod", "test"):
        (root / f"rendered/{name}/x.yaml").write_text("kind: JobSet\n")
    assert found(trainform, "--env", "prod") == (1, [("", "foreign", ["rendered/prod/x.yaml"])])


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_text(path.read_text().replace("numNodes: 1", "numNodes: 7")), "do not match its name"),
        (lambda path: path.write_bytes(b"\xff"), "do not match its name"),
    ],
    ids=["edited", "no text"],
)
def test_render_cannot_restore_a_manifest_from_a_damaged_snapshot(rendered, trainform, damage, why):
    (snapshot,) = (rendered / ".trainform/snapshots").iterdir()
    damage(snapshot)
    (rendered / "rendered/default/ml/llm/jobset-llm.yaml").unlink()
    ran = trainform("render", "--no-cache")
    assert ran.code == 2
    path = f".trainform/snapshots/{snapshot.name}"
    assert f"{path}: error TF712" in ran.err
    assert why in ran.err
    assert f"restore it: `git checkout -- {path}`; or run `trainform upgrade` for the jobs that need it\n" in ran.err


def test_a_changed_snapshot_proves_nothing(rendered, trainform):
    (snapshot,) = (rendered / ".trainform/snapshots").iterdir()
    edit(snapshot)
    assert found(trainform) == (0, [])  # a comment is no change
    snapshot.write_text(snapshot.read_text().replace("numNodes: 1", "numNodes: 7"))
    code, ((_, state, files),) = found(trainform)
    assert (code, state, files) == (1, "edited", [f".trainform/snapshots/{snapshot.name}"])
    snapshot.unlink()
    code, ((_, state, files),) = found(trainform)
    assert (code, state, files) == (1, "missing", [f".trainform/snapshots/{snapshot.name}"])
    assert "run `trainform upgrade` for the job" in trainform("check").out


def test_a_job_of_another_version_is_unproven(rendered, trainform):
    lock = rendered / LOCK
    lock.write_text(lock.read_text().replace('"compiler": "', '"compiler": "0.0.1-'))
    assert found(trainform) == (0, [("llm", "unproven", [])])


def test_a_key_that_was_made_anew_leaves_a_job_behind_and_unproven(root, trainform):
    case = GOLDEN / "secrets/sealed-secret-is-copied/input"
    name = yaml.safe_load((case / "environment.yaml").read_text())["metadata"]["name"]
    files = {"environment.yaml": f"environments/{name}", "key.yaml": f"environments/{name}/keys"}
    for file, folder in {**files, "job.yaml": "jobs", "runtime.yaml": "runtimes"}.items():
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / file).write_text((case / file).read_text())
    (root / "jobs/llm.yaml").unlink()
    assert trainform("render").code == 0
    assert found(trainform) == (0, [])
    key = root / f"environments/{name}/keys/key.yaml"
    key.write_text(key.read_text() + "  # another\n")
    assert found(trainform) == (0, [])
    key.write_text(key.read_text() + "status: {}\n")
    assert [state for _, state, _ in found(trainform)[1]] == ["unproven"]
    assert "1 job is behind: key Secret" in trainform("render").out


def test_check_writes_nothing(rendered, trainform):
    before = {path: path.stat().st_mtime_ns for path in rendered.rglob("*")}
    trainform("check")
    assert {path: path.stat().st_mtime_ns for path in rendered.rglob("*")} == before


def test_an_input_that_cannot_be_read_is_an_error(rendered, trainform):
    (rendered / "jobs/broken.yaml").write_text("a: [\n")
    ran = trainform("check")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/broken.yaml" in ran.err


def test_a_base_that_git_does_not_know_is_an_error(rendered, trainform, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(rendered.parent))
    ran = trainform("check", "--base", "main")
    assert (ran.code, ran.out) == (2, "")
    assert "error TF718: --base: " in ran.err
