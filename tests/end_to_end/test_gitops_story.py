"""The life of a repository that Argo CD or Flux follows, with real git."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from support.kustomize import build, needs_kubectl
from support.nursery import Ended, Nursery
from support.repositories import Repository, environment, job, runtime

FOLDER = "rendered/prod/ml"
JOBSET = f"{FOLDER}/llm/jobset-llm.yaml"


class Story(Repository):
    """A repository with one job, rendered and committed."""

    def __init__(self, root: Path, nursery: Nursery) -> None:
        super().__init__(root)
        self.start_git()
        self.nursery = nursery
        self.write("environments/prod/environment.yaml", environment())
        self.write("runtimes/torch.yaml", runtime())
        self.write("jobs/llm.yaml", job("llm"))
        self.render_and_commit()

    def trainform(self, *arguments: str) -> Ended:
        return self.nursery.run(self.root, *arguments)

    def render_and_commit(self) -> str:
        ended = self.trainform("render")
        assert ended.code == 0, ended.output
        return self.commit()

    def check(self, *arguments: str) -> dict[str, str]:
        """The state of each job, by its name."""
        jobs = json.loads(self.trainform("check", "--format", "json", *arguments).output)["jobs"]
        return {each["name"] or each["files"][0]: each["state"] for each in jobs}


@pytest.fixture
def story(tmp_path: Path, nursery: Nursery) -> Story:
    return Story(tmp_path / "repository", nursery)


def test_a_new_job_touches_no_other(story):
    story.write("jobs/bert.yaml", job("bert"))
    story.trainform("render")
    assert story.changed() == [
        "?? .trainform/locks/prod/ml/bert.lock",
        "?? jobs/bert.yaml",
        "?? rendered/prod/ml/bert/jobset-bert.yaml",
    ]


@pytest.mark.parametrize(
    ("file", "text", "cause"),
    [
        ("runtimes/torch.yaml", runtime("registry.example.com/train:2"), "runtime torch changed"),
        ("environments/prod/environment.yaml", environment(layout="per-job"), "Environment prod changed"),
    ],
)
def test_nothing_restarts_until_it_is_upgraded(story, file, text, cause):
    story.write(file, text)
    assert story.trainform("render").output == f"1 job unchanged\n1 job is behind: {cause}\n"
    assert story.changed() == [f" M {file}"]
    assert story.check() == {"llm": "current"}
    assert f"1 job is behind: {cause}" in story.trainform("validate").output

    assert story.trainform("upgrade", "--all").code == 0
    assert " M .trainform/locks/prod/ml/llm.lock" in story.changed()
    assert story.trainform("render").output == "1 job unchanged\n"
    assert story.check("--base", "HEAD") == {"llm": "current"}


def test_a_changed_job_takes_everything_current(story):
    story.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    story.write("jobs/llm.yaml", job("llm", nodes=4))
    story.trainform("render")
    assert b"train:2" in story.files(FOLDER)[JOBSET]


@pytest.mark.parametrize(("naming", "removed"), [("stable", 0), ("content-hash", 1)])
def test_a_change_of_nodes_under_both_namings(story, naming, removed):
    story.write("environments/prod/environment.yaml", environment(naming=naming))
    story.trainform("upgrade", "--all")
    story.commit()
    before = {path for path in story.files(FOLDER) if "jobset-" in path}
    story.write("jobs/llm.yaml", job("llm", nodes=4))
    story.trainform("render")
    assert len(before - story.files(FOLDER).keys()) == removed
    assert story.check() == {"llm": "current"}


@pytest.mark.parametrize(("naming", "removed"), [("stable", 0), ("content-hash", 1)])
def test_a_rerun_under_both_namings(story, naming, removed):
    story.write("environments/prod/environment.yaml", environment(naming=naming))
    story.trainform("upgrade", "--all")
    story.commit()
    before = {path for path in story.files(FOLDER) if "jobset-" in path}
    assert story.trainform("rerun", "llm").code == 0
    assert story.check() == {"llm": "stale"}
    story.trainform("render")
    assert len(before - story.files(FOLDER).keys()) == removed


def test_a_renamed_job_is_another_job(story):
    (story.root / "jobs/llm.yaml").unlink()
    story.write("jobs/llm2.yaml", job("llm2"))
    story.trainform("render")
    assert not (story.root / FOLDER / "llm").exists()
    assert (story.root / FOLDER / "llm2/jobset-llm2.yaml").exists()


def test_a_job_that_moves_to_another_file_stays_as_it_is(story):
    story.git("mv", "jobs/llm.yaml", "jobs/large.yaml")
    assert story.check() == {"llm": "stale"}
    story.trainform("render")
    assert story.changed() == [" M .trainform/locks/prod/ml/llm.lock", "R  jobs/llm.yaml -> jobs/large.yaml"]


def test_the_last_job_of_a_namespace_leaves_a_folder_for_the_engine_to_prune_from(story):
    story.write("jobs/bert.yaml", job("bert", namespace="nlp"))
    story.render_and_commit()
    (story.root / "jobs/bert.yaml").unlink()
    story.trainform("render")
    assert story.files("rendered/prod/nlp", ".trainform/locks/prod/nlp") == {
        "rendered/prod/nlp/.gitkeep": b"",
        ".trainform/locks/prod/nlp/.gitkeep": b"",
    }
    assert story.check() == {"llm": "current"}


def test_a_namespace_is_given_up_by_removing_its_folder(story):
    story.write("jobs/bert.yaml", job("bert", namespace="nlp"))
    story.write("environments/prod/environment.yaml", environment(engine="flux"))
    story.render_and_commit()
    assert (story.root / "rendered/_flux/prod/nlp.yaml").exists()
    (story.root / "jobs/bert.yaml").unlink()
    story.render_and_commit()
    assert (story.root / "rendered/_flux/prod/nlp.yaml").exists()
    story.git("rm", "-r", "rendered/prod/nlp")
    assert story.check() == {
        "llm": "current",
        "rendered/_flux/prod/nlp.yaml": "stale",
        ".trainform/locks/prod/nlp/.gitkeep": "stale",
    }
    story.render_and_commit()
    assert story.check() == {"llm": "current"}
    assert not [file for file in story.files("rendered", ".trainform") if "nlp" in file]


def test_the_last_job_of_an_environment_is_not_deleted_unasked(story):
    story.write("jobs/llm.yaml", "")
    ended = story.trainform("render")
    assert ended.code == 2
    assert "TF714" in ended.output
    assert (story.root / JOBSET).exists()
    assert story.trainform("render", "--allow-empty").code == 0
    assert set(story.files("rendered", ".trainform/locks")) == {
        "rendered/prod/ml/.gitkeep",
        ".trainform/locks/prod/ml/.gitkeep",
    }


def test_an_edit_by_hand_is_found_and_never_overwritten(story):
    story.write(JOBSET, "mine\n")
    story.write("jobs/llm.yaml", job("llm", nodes=4))
    ended = story.trainform("render")
    assert ended.code == 2
    assert f"{JOBSET}: error TF710" in ended.output
    assert story.check() == {"llm": "edited"}
    story.git("checkout", "--", JOBSET)
    assert story.trainform("render").code == 0


def test_a_deleted_file_of_a_frozen_job_comes_back_as_it_was(story):
    story.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    (story.root / JOBSET).unlink()
    assert story.check() == {"llm": "missing"}
    assert story.trainform("render").code == 0
    assert story.changed() == [" M runtimes/torch.yaml"]


def test_output_and_lock_edited_together_are_found_by_compiling_and_by_history(story):
    edited = story.files(FOLDER)[JOBSET].replace(b"train:1", b"evil:1")
    story.write(JOBSET, edited.decode())
    lock = json.loads((story.root / ".trainform/locks/prod/ml/llm.lock").read_text())
    lock["files"]["jobset-llm.yaml"] = sha256(edited).hexdigest()
    story.write(".trainform/locks/prod/ml/llm.lock", json.dumps(lock))
    assert story.check() == {"llm": "edited"}
    story.write(".trainform/locks/prod/ml/llm.lock", json.dumps({**lock, "compiler": "0.0.1"}))
    assert story.check() == {"llm": "unproven"}
    assert story.trainform("check", "--base", "HEAD").code == 1


def test_bytes_of_a_frozen_job_are_those_of_the_base(story):
    """Of a version that cannot be compiled again here, history is the only proof."""
    lock = story.root / ".trainform/locks/prod/ml/llm.lock"
    lock.write_text(lock.read_text().replace('"compiler": "', '"compiler": "0.0.1-'))
    story.commit()
    assert story.check("--base", "HEAD") == {"llm": "unproven"}
    assert story.trainform("check", "--base", "HEAD").code == 0
    before = story.files(FOLDER)[JOBSET]
    story.write(JOBSET, before.decode() + "# evil\n")
    after = sha256(before + b"# evil\n").hexdigest()
    lock.write_text(lock.read_text().replace(sha256(before).hexdigest(), after))
    assert story.check() == {"llm": "unproven"}
    assert story.check("--base", "HEAD") == {"llm": "edited"}


def test_two_branches_that_add_a_job_each_merge_without_a_conflict(story):
    for name in ("bert", "clip"):
        story.git("checkout", "--quiet", "-b", name, "main")
        story.write(f"jobs/{name}.yaml", job(name))
        story.render_and_commit()
    story.git("merge", "--quiet", "--no-edit", "bert")
    assert story.check() == {"bert": "current", "clip": "current", "llm": "current"}
    assert story.trainform("render").code == 0


@pytest.mark.parametrize(
    ("pruning", "bert"), [([], "current"), (["--prune-snapshots"], "missing")], ids=["kept", "pruned"]
)
def test_a_merge_loses_a_snapshot_only_if_it_was_pruned_on_purpose(story, pruning, bert):
    story.git("checkout", "--quiet", "-b", "other")
    story.write("jobs/bert.yaml", job("bert"))
    story.render_and_commit()
    story.git("checkout", "--quiet", "main")
    story.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    story.trainform("upgrade", "--all")
    story.trainform("render", *pruning)
    story.commit()
    story.git("merge", "--quiet", "--no-edit", "other")
    assert story.check() == {"bert": bert, "llm": "current"}
    assert ("jobs/bert.yaml:1:1: warning TF712" in story.trainform("render").output) == (bert == "missing")
    assert story.trainform("upgrade", "bert").code == 0
    assert story.check() == {"bert": "current", "llm": "current"}


@needs_kubectl
@pytest.mark.parametrize("layout", ["per-object", "per-job"])
def test_kustomize_builds_a_job_whose_environment_asks_for_it(story, layout):
    story.write("environments/prod/environment.yaml", environment(layout=layout, kustomization="true"))
    story.trainform("upgrade", "--all")
    assert [tree["metadata"]["name"] for tree in build(story.root / FOLDER / "llm")] == ["llm"]
    assert story.check() == {"llm": "current"}


def test_two_runs_at_once_end_as_one_would(story):
    for number in range(20):
        story.write(f"jobs/job-{number}.yaml", job(f"job-{number}"))
    command = [sys.executable, "-m", "trainform", "--root", str(story.root), "render"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ended = [(*run.communicate(), run.returncode) for run in runs]
    assert [code for _, _, code in ended] == [0, 0]
    assert sorted(out == "21 jobs unchanged\n" for out, _, _ in ended) == [False, True]
    assert set(story.check().values()) == {"current"}
