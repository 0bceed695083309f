"""A project does what a change asks for, most urgent first, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editor import settled
from support.repositories import environment, job, runtime
from trainform.editor.names import FileNames
from trainform.editor.project import STEP, Project
from trainform.workspace import InvocationError
from trainform.workspace.validate import validate_chunk

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata: {a: b}\n"
MOUNTING = """\
  runtimePatches:
  - manager: example.com/me
    trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
      {name: node, template: {spec: {template: {spec: {volumes: [{name: v, configMap: {name: scripts}}]}}}}}]}}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {f"jobs/job-{number:02}.yaml": job(f"job-{number:02}") for number in range(3 * STEP)}
    files["runtimes/torch.yaml"] = runtime()
    files["environments/prod/environment.yaml"] = environment()
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The files of each chunk that is compiled from now on; empty for what jobs share."""
    found: list[tuple[str, ...]] = []

    def watched(workspace, shard, environments, chunk):
        found.append(("everything",) if chunk.files is None else tuple(chunk.files))
        return validate_chunk(workspace, shard, environments, chunk)

    monkeypatch.setattr("trainform.editor.units.validate_chunk", watched)
    return found


def codes(findings: dict[str, list], file: str) -> list[str]:
    return sorted(each.code for each in findings.get(file, []))


def test_a_keystroke_compiles_one_file(root, compiled):
    project = Project(str(root))
    project.change("jobs/job-05.yaml", job("job-05").encode())
    settled(project)
    del compiled[:]
    project.change("jobs/job-05.yaml", job("job-05", nodes="x").encode())
    assert "TF102" in codes(settled(project), "jobs/job-05.yaml")
    assert compiled == [("jobs/job-05.yaml",)]


def test_several_keystrokes_before_a_step_are_one(root, compiled):
    project = Project(str(root))
    project.change("jobs/job-05.yaml", job("job-05").encode())
    settled(project)
    del compiled[:]
    for nodes in range(3, 9):
        project.change("jobs/job-05.yaml", job("job-05", nodes).encode())
    settled(project)
    assert compiled == [("jobs/job-05.yaml",)]


def test_what_jobs_share_compiles_all_of_them_the_open_one_first(root, compiled):
    project = Project(str(root))
    project.change("jobs/job-25.yaml", job("job-25").encode())
    settled(project)
    del compiled[:]
    project.change("runtimes/torch.yaml", runtime().replace("numNodes: 1", "numNodes: 0").encode())
    project.step()
    project.step()
    assert compiled == [(), ("jobs/job-25.yaml",)]
    assert codes(project.take_changes(), "jobs/job-25.yaml") == ["TF206"]
    settled(project)
    assert sorted(file for chunk in compiled for file in chunk) == sorted(project.snapshot().workspace.job_files)


def test_an_edit_of_a_shared_file_that_is_undone_compiles_no_job(root, compiled):
    project = Project(str(root))
    settled(project)
    del compiled[:]
    project.change("runtimes/torch.yaml", runtime().encode())
    settled(project)
    assert compiled == [()]


def test_a_new_file_compiles_only_itself(root, compiled):
    project = Project(str(root))
    settled(project)
    del compiled[:]
    project.change("jobs/new.yaml", job("new", nodes="x").encode())
    assert "TF102" in codes(settled(project), "jobs/new.yaml")
    assert compiled == [(), ("jobs/new.yaml",)]


def test_a_folder_that_is_gone_is_cleared(root):
    project = Project(str(root))
    (root / "jobs/deep").mkdir()
    (root / "jobs/deep/a.yaml").write_text(job("a", nodes="x"))
    assert "TF102" in codes(settled(project), "jobs/deep/a.yaml")
    (root / "jobs/deep/a.yaml").unlink()
    project.change_on_disk(["jobs/deep"])
    assert settled(project)["jobs/deep/a.yaml"] == []


def test_a_companion_in_the_folder_costs_no_compile_in_one_piece(root, compiled):
    (root / "jobs/job-05.yaml").write_text(job("job-05") + MOUNTING)
    (root / "jobs/scripts.yaml").write_text(CONFIG_MAP)
    project = Project(str(root))
    assert codes(settled(project), "jobs/scripts.yaml") == []
    assert ("everything",) not in compiled
    project.change("jobs/scripts.yaml", CONFIG_MAP.replace("name: scripts", "name: other").encode())
    assert "TF204" in codes(settled(project), "jobs/scripts.yaml")


def test_jobs_of_one_name_are_compiled_in_one_piece(root, compiled):
    project = Project(str(root))
    settled(project)
    project.change("jobs/job-05.yaml", job("job-06").encode())
    assert "TF203" in codes(settled(project), "jobs/job-06.yaml")
    assert compiled[-1] == ("everything",)
    project.change("jobs/job-05.yaml", job("job-05").encode())
    assert "TF203" not in codes(settled(project), "jobs/job-06.yaml")


def test_a_lockfile_compiles_the_job_that_it_belongs_to(root, compiled):
    project = Project(str(root))
    settled(project)
    del compiled[:]
    project.change_on_disk([".trainform/locks/prod/ml/job-05.lock"])
    settled(project)
    shared, unit = compiled
    assert shared == ()
    assert "jobs/job-05.yaml" in unit


def test_buffers_of_manifests_count_for_nothing(root):
    project = Project(str(root))
    settled(project)
    project.change("rendered/prod/ml/job-05/jobset-job-05.yaml", b"x")
    assert project.is_settled


def test_an_error_of_a_plugin_is_told_once(root, monkeypatch):
    def fails(*args, **kwargs):
        raise InvocationError("plugin acme does not load")

    project = Project(str(root))
    monkeypatch.setattr("trainform.editor.units.validate_chunk", fails)
    with pytest.raises(InvocationError):
        project.step()
    assert project.is_settled
    monkeypatch.undo()
    project.change("jobs/job-05.yaml", job("job-05", nodes="x").encode())
    assert "TF102" in codes(settled(project), "jobs/job-05.yaml")


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        pytest.param("runtimes/torch.yaml", runtime().replace("numNodes: 1", "numNode: 1"), "TF101", id="a runtime"),
        pytest.param(
            "environments/prod/environment.yaml",
            environment() + "  sceduling: {}\n",
            "TF101",
            id="an Environment",
        ),
    ],
)
def test_an_open_file_that_jobs_share_is_told_before_they_are_compiled(root, compiled, file, text, code):
    project = Project(str(root))
    settled(project)
    del compiled[:]
    project.change(file, text.encode())
    project.step()
    assert code in codes(project.take_changes(), file)
    assert compiled == [()]


def test_names_are_learned_once_all_findings_are_told_and_of_a_changed_file_again(root, monkeypatch):
    project = Project(str(root))
    assert not project.is_curious
    settled(project)
    while project.is_curious:
        project.learn()
    file, read = "jobs/job-05.yaml", list[str]()

    def watched(text: str) -> FileNames:
        read.append(text)
        return FileNames()

    monkeypatch.setattr("trainform.editor.snapshot.names_of", watched)
    project.snapshot().names(file)
    assert read == []
    before = project.snapshot()
    project.change(file, b"a: b")
    settled(project)
    project.learn()
    assert read == ["a: b"]
    assert before.names(file) != FileNames()


def test_a_folder_that_goes_takes_its_names_along(root):
    project = Project(str(root))
    settled(project)
    file = "jobs/job-05.yaml"
    assert project.snapshot().names(file) != FileNames()
    (root / "jobs").rename(root / "elsewhere")
    project.change_on_disk(["jobs"])
    settled(project)
    assert project.snapshot().names(file) == FileNames()
