"""`trainform retire`: jobs that are done leave git's work tree, and nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.repositories import Repository, environment, job, runtime

OTHER = "# kept\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\n"
YEARS = {"old": "2025-01-01T00:00:00Z", "new": "2026-06-01T00:00:00Z"}


@pytest.fixture
def fleet(root: Path, trainform) -> Repository:
    """Rendered jobs: `old` and `older` are from 2025, `new` from 2026."""
    repository = Repository(root)
    repository.start_git()
    repository.write("environments/prod/environment.yaml", environment())
    repository.write("runtimes/torch.yaml", runtime())
    repository.write("jobs/llm.yaml", job("old"))
    repository.write("jobs/two.yaml", f"# a pair\n{job('older')}---\n# the second\n{job('pair')}")
    commit(repository, YEARS["old"])
    repository.write("jobs/new.yaml", job("new"))
    assert trainform("render").code == 0
    commit(repository, YEARS["new"])
    return repository


def commit(repository: Repository, date: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_COMMITTER_DATE", date)
        patch.setenv("GIT_AUTHOR_DATE", date)
        repository.commit()


def jobs(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((root / "jobs").iterdir())}


def retired(ran) -> set[str]:
    assert ran.code == 0, ran.err
    return {each["name"] for each in json.loads(ran.out)["jobs"]}


def jobsets(root: Path, **states: str) -> str:
    """A file as kubectl prints it."""
    conditions = {
        "running": [],
        "completed": [{"type": "Completed", "status": "True"}],
        "failed": [{"type": "Failed", "status": "True"}],
        "suspended": [{"type": "Completed", "status": "False"}],
    }
    items = [
        {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "namespace": "ml"},
         "status": {"conditions": conditions[state]}}
        for name, state in states.items()
    ]  # fmt: skip
    (root / "jobsets.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return "jobsets.yaml"


def test_a_status_of_another_version_is_no_list_without_jobs(fleet, trainform):
    status = {"kind": "StatusResult", "environment": "default", "jobs": [{"name": "old", "state": "archived"}]}
    (fleet.root / "status.json").write_text(json.dumps({"apiVersion": "trainform.dev/v1alpha1", **status}))
    ran = trainform("retire", "--finished", "status.json")
    assert (ran.code, ran.out) == (2, "")
    assert "status.json: is not what `trainform status --format json` prints" in ran.err


def test_a_job_by_name(fleet, trainform):
    ran = trainform("retire", "ml/old")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("jobs/llm.yaml: deleted: ml/old\n\ndelete")
    assert "1 job deleted" in ran.out
    assert 'git commit --message "Retire 1 job"' in ran.out
    assert [*jobs(fleet.root)] == ["new.yaml", "two.yaml"]


def test_what_is_said_is_what_diff_says(fleet, trainform):
    told = trainform("retire", "old", "pair").out
    diff = trainform("diff").out
    assert diff in told


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["older"], f"---\n# the second\n{job('pair')}".removeprefix("---\n")),
        (["pair"], f"# a pair\n{job('older')}"),
    ],
)
def test_other_documents_of_a_file_keep_every_character(fleet, trainform, names, left):
    ran = trainform("retire", *names)
    assert f"jobs/two.yaml: edited: ml/{names[0]}" in ran.out
    assert jobs(fleet.root)["two.yaml"] == left


CARRIED = """\
---
apiVersion: trainform.dev/v1alpha1
kind: ConfigMapGenerator
metadata: {name: files}
files: [train.py, zero3.json, common.json]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
"""
NAMES = """\
    env:
    - {name: A, valueFrom: {configMapKeyRef: {name: files, key: train.py}}}
    - {name: B, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
"""


def test_what_stands_beside_a_job_and_what_it_carries_goes_with_it(fleet, root, trainform):
    other = CARRIED.replace("name: files", "name: other").replace("train.py, zero3.json, ", "")
    fleet.write("jobs/own.yaml", job("own") + NAMES + CARRIED)
    fleet.write(
        "jobs/shared.yaml", f"{job('one')}{NAMES}---\n{job('other')}{NAMES}{CARRIED.replace('zero3.json, ', '')}"
    )
    fleet.write("jobs/third.yaml", job("third") + other)
    for name in ("train.py", "zero3.json", "common.json"):
        fleet.write(f"jobs/{name}", "{}\n")
    assert trainform("render").code == 0
    before = jobs(root)
    ran = trainform("retire", "own", "one")
    assert "jobs/own.yaml: deleted: ml/own\n" in ran.out
    assert "jobs/zero3.json: deleted\n" in ran.out
    assert before.keys() - jobs(root).keys() == {"own.yaml", "zero3.json"}
    assert jobs(root)["shared.yaml"] == before["shared.yaml"].partition("---\n")[2]
    assert trainform("render").code == 0
    assert trainform("retire", "other").code == 0
    assert before.keys() - jobs(root).keys() == {"own.yaml", "zero3.json", "shared.yaml", "train.py"}
    assert trainform("render").code == 0


def test_a_job_is_as_young_as_what_it_carries(fleet, root, trainform):
    fleet.write("jobs/own.yaml", job("own") + NAMES + CARRIED.replace(", common.json", ""))
    fleet.write("jobs/train.py", "1\n")
    fleet.write("jobs/zero3.json", "{}\n")
    commit(fleet, YEARS["old"])
    before = ("retire", "--before", "2026-01-01", "--dry-run", "--format", "json")
    assert retired(trainform(*before)) == {"old", "older", "own", "pair"}
    fleet.write("jobs/train.py", "2\n")
    commit(fleet, YEARS["new"])
    assert retired(trainform(*before)) == {"old", "older", "pair"}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_endings_are_kept(fleet, trainform, ends):
    text = f"{OTHER}---\n{job('old')}---\n{OTHER.replace('notes', 'more')}".replace("\n", ends)
    (fleet.root / "jobs/llm.yaml").write_bytes(text.encode())
    assert trainform("retire", "old").code == 0
    left = f"{OTHER}---\n{OTHER.replace('notes', 'more')}".replace("\n", ends)
    assert (fleet.root / "jobs/llm.yaml").read_bytes() == left.encode()


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (["--before", "2026-01-01"], {"old", "older", "pair"}),
        (["--before", "2024-01-01"], set()),
        (["--older-than", "0"], {"old", "older", "pair", "new"}),
        (["--before", "2026-01-01", "--keep", "ml/old"], {"older", "pair"}),
        (["--before", "2026-01-01", "--keep", "old*"], {"pair"}),
        (["old", "new", "--before", "2026-01-01"], {"old"}),
        (["--older-than", "0", "--before", "2026-01-01"], {"old", "older", "pair"}),
    ],
)
def test_jobs_by_age_in_git(fleet, trainform, options, gone):
    assert retired(trainform("retire", "--format", "json", *options)) == gone


def test_a_file_that_is_not_committed_is_young(fleet, trainform):
    path = fleet.root / "jobs/llm.yaml"
    path.write_text(path.read_text() + "# edited\n")
    (fleet.root / "jobs/fresh.yaml").write_text(job("fresh"))
    assert retired(trainform("retire", "--before", "2026-01-01", "--format", "json")) == {"older", "pair"}


@pytest.mark.parametrize(
    ("options", "gone"), [([], {"old"}), (["--failed"], {"old", "new"}), (["--before", "2024-01-01"], set())]
)
def test_jobs_by_how_they_ended(fleet, root, trainform, options, gone):
    file = jobsets(root, old="completed", older="suspended", pair="running", new="failed", stranger="completed")
    assert retired(trainform("retire", "--finished", file, *options, "--format", "json")) == gone


def test_a_job_must_have_ended_everywhere(fleet, root, trainform):
    fleet.write("environments/eu/environment.yaml", environment().replace("prod", "eu"))
    assert trainform("render").code == 0
    ran = trainform("retire", "--finished", jobsets(root, old="completed"))
    assert ran.code == 2
    assert "write ENV=FILE, where ENV is one of eu, prod" in ran.err
    one, other = (root / f"{name}.yaml" for name in ("one", "other"))
    os.replace(jobsets(root, old="completed", new="completed"), one)
    os.replace(jobsets(root, old="completed", new="running"), other)
    given = [f"--finished=prod={one}", f"--finished=eu={other}"]
    assert retired(trainform("retire", "--dry-run", "--format", "json", given[0])) == set()
    assert retired(trainform("retire", "--dry-run", "--format", "json", *given)) == {"old"}


def test_a_dry_run_changes_nothing(fleet, trainform):
    before = {path: path.read_bytes() for path in fleet.root.rglob("*") if path.is_file() and ".git/" not in str(path)}
    ran = trainform("retire", "--older-than", "0", "--dry-run")
    assert "jobs/two.yaml: would be deleted: ml/older, ml/pair" in ran.out
    assert "4 jobs deleted" in ran.out
    assert {path: path.read_bytes() for path in before} == before


def test_the_original_is_safe_from_edits_of_the_copy(fleet, trainform):
    (fleet.root / "jobs/alias.yaml").symlink_to("two.yaml")
    os.remove(fleet.root / "jobs/alias.yaml")
    inode = os.stat(fleet.root / "jobs/two.yaml").st_ino
    trainform("retire", "pair", "--dry-run")
    assert os.stat(fleet.root / "jobs/two.yaml").st_ino == inode
    assert "pair" in (fleet.root / "jobs/two.yaml").read_text()


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("jobs/many.yaml.j2", job("made"), "a template made it"),
        ("jobs/many.yaml", "apiVersion: v1\nkind: List\nitems:\n- " + "\n  ".join(job("made").splitlines()) + "\n- "
         + "\n  ".join(job("also").splitlines()) + "\n", "it is an item of a List"),
        ("jobs/many.yaml", f"{job('made')}---\r\n{OTHER}", "its file has mixed line endings"),
    ],
)  # fmt: skip
def test_what_must_be_removed_by_hand(fleet, trainform, path, text, why):
    (fleet.root / path).write_bytes(text.encode())
    ran = trainform("retire", "made", "old")
    assert ran.code == 2
    assert f"cannot remove ml/made from its file: {why}" in ran.err
    assert "nothing was removed" in ran.err
    assert ("docs/sweeps.md" in ran.err) == path.endswith(".j2")
    assert "llm.yaml" in jobs(fleet.root)


LIST = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
    "- " + "\n  ".join(job(name).splitlines()) + "\n" for name in ("old-item", "other")
)


@pytest.mark.parametrize(
    ("path", "text", "made"),
    [("jobs/many.yaml.j2", job("made"), ["ml/made"]), ("jobs/list.yaml", LIST, ["ml/old-item"])],
)
def test_what_cannot_be_removed_and_was_not_named_stays_with_a_warning(fleet, trainform, path, text, made):
    fleet.write(path, text)
    commit(fleet, YEARS["old"])
    ran = trainform("retire", "--before", "2026-01-01", "--keep", "other")
    assert ran.code == 0
    for name in made:
        assert f"warning TF717 metadata: cannot remove {name} from its file" in ran.err
    assert {*jobs(fleet.root)} == {"new.yaml", path.removeprefix("jobs/")}
    assert (fleet.root / path).read_text() == text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "name jobs, or say which"),
        (["--failed", "old"], "--failed needs --finished"),
        (["nobody"], 'no TrainJob is named "nobody"'),
        (["--finished", "missing.yaml"], "missing.yaml"),
        (["--finished", "here=jobs/llm.yaml"], "write ENV=FILE"),
        (["--before", "yesterday"], "does not match the format"),
    ],
)
def test_a_wrong_command_line(fleet, trainform, options, told):
    ran = trainform("retire", *options)
    assert ran.code == 2
    assert told in ran.err


def test_a_broken_file_may_hold_one_of_the_jobs(fleet, trainform):
    (fleet.root / "jobs/broken.yaml").write_text("{")
    ran = trainform("retire", "--older-than", "0")
    assert ran.code == 2
    assert "jobs/broken.yaml" in ran.err
    assert len(jobs(fleet.root)) == 4


def test_without_git_the_age_is_not_known(root, trainform):
    ran = trainform("retire", "--older-than", "30")
    assert ran.code == 2
    assert "the age of jobs is not known: this is not a git repository" in ran.err


def test_nothing_to_retire(fleet, trainform):
    assert trainform("retire", "--before", "2000-01-01").out == "no job is to be retired\n"


def test_the_page_shows_what_is_printed(tmp_path, trainform, monkeypatch):
    page = (Path(__file__).parents[3] / "docs/old-jobs.md").read_text(encoding="utf-8")
    shown = page.split("```console\n$ trainform retire hello\n")[1].split("```")[0]
    new = tmp_path / "new"
    assert trainform("init", str(new)).code == 0
    assert trainform("render", "--root", str(new)).code == 0
    assert trainform("retire", "hello", "--root", str(new)).out == shown
