"""`trainform ci` says what `validate`, `check --base` and `diff --base` say, and compiles a job once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest

import trainform.core.compile as compiler
from support.repositories import Repository, environment, job, runtime

JOBSET = "rendered/prod/ml/a/jobset-a.yaml"
LOCK = ".trainform/locks/prod/ml/a.lock"


@pytest.fixture
def repository(root, trainform) -> Repository:
    """Three rendered jobs on `main`, and a change underway."""
    found = Repository(root)
    (root / "jobs" / "llm.yaml").unlink()
    found.start_git()
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    for name in "abc":
        found.write(f"jobs/{name}.yaml", job(name))
    assert trainform("render").code == 0
    found.commit()
    return found


def edit(file: str, old: str, new: str) -> Callable[[Repository], None]:
    def change(repository: Repository) -> None:
        text = (repository.root / file).read_text()
        assert old in text
        repository.write(file, text.replace(old, new))

    return change


def remove(file: str) -> Callable[[Repository], None]:
    return lambda repository: (repository.root / file).unlink()


def damage_snapshots(repository: Repository) -> None:
    for file in (repository.root / ".trainform" / "snapshots").iterdir():
        file.write_text(file.read_text() + "# mine\n")


CHANGES: dict[str, Callable[[Repository], object]] = {
    "nothing": lambda repository: None,
    "a new job": lambda repository: repository.write("jobs/d.yaml", job("d")),
    "a job with an error": lambda repository: repository.write("jobs/d.yaml", job("d", nodes="many")),
    "a job with a warning": edit("jobs/a.yaml", "numNodes: 2", "numNodes: 2\n    command: [python, train.py]"),
    "a changed job": edit("jobs/a.yaml", "numNodes: 2", "numNodes: 3"),
    "a removed job": remove("jobs/a.yaml"),
    "a job of two files": lambda repository: repository.write("jobs/e.yaml", job("a")),
    "no jobs": lambda repository: [remove(f"jobs/{name}.yaml")(repository) for name in "abc"],
    "an edited manifest": edit(JOBSET, "parallelism: 2", "parallelism: 4"),
    "a removed manifest": remove(JOBSET),
    "a strange file": lambda repository: repository.write("rendered/prod/x.yaml", "a: 1\n"),
    "a broken lock": lambda repository: repository.write(LOCK, "{"),
    "damaged snapshots": damage_snapshots,
    "another runtime": edit("runtimes/torch.yaml", "train:1", "train:2"),
    "a runtime with an error": edit("runtimes/torch.yaml", "numNodes: 1", "numNodes: many"),
    "another Environment": edit("environments/prod/environment.yaml", "naming: stable", "naming: content-hash"),
    "an Environment with an error": edit("environments/prod/environment.yaml", "naming: stable", "naming: x"),
    "broken YAML": lambda repository: repository.write("jobs/d.yaml", "a: [\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("upgraded", [False, True], ids=["", "upgraded"])
def test_each_part_is_what_its_command_says(repository, trainform, change, upgraded):
    change(repository)
    if upgraded:
        trainform("upgrade", "--all")
    parts = {"validate": (), "check": ("--base", "main"), "diff": ("--base", "main")}
    alone = {name: trainform(name, "--format", "json", *base) for name, base in parts.items()}
    files = {name: repository.root / f"{name}.json" for name in parts}
    together = trainform("ci", "--base", "main", *(each for name in parts for each in (f"--{name}", str(files[name]))))
    said = {name: files[name].read_text() if files[name].exists() else "" for name in parts}
    assert together.out == ""
    assert said == {name: ran.out for name, ran in alone.items()}
    assert together.code == max(ran.code for ran in alone.values())


def test_it_prints_what_no_file_is_named_for(repository, trainform, tmp_path):
    CHANGES["a new job"](repository)
    ran = trainform("ci", "--base", "main", "--check", str(tmp_path / "check.txt"))
    assert ran.out == trainform("validate").out + trainform("diff", "--base", "main").out
    assert "missing prod/ml/d" in (tmp_path / "check.txt").read_text()


def test_one_part_is_written_in_several_formats(repository, trainform, tmp_path):
    names = ("a.sarif", "a.xml", "a.json", "a.txt")
    trainform("ci", *(each for name in names for each in ("--validate", str(tmp_path / name))))
    assert json.loads((tmp_path / "a.sarif").read_text())["version"] == "2.1.0"
    assert (tmp_path / "a.xml").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "a.json").read_text())["kind"] == "ValidateResult"
    assert "TF608" in (tmp_path / "a.txt").read_text()


def test_a_name_without_a_known_ending_is_refused(repository, trainform):
    ran = trainform("ci", "--diff", "comment.doc")
    assert ran.code == 2
    assert '"comment.doc": the name must end in .md, .html, .json, .txt' in ran.err


@pytest.mark.parametrize("other", ["one.json", "./one.json"])
def test_two_parts_do_not_share_a_file(repository, trainform, other):
    """The second would replace the first, and its errors with it."""
    ran = trainform("ci", "--validate", "one.json", "--check", other)
    assert ran.code == 2
    assert f"one.json and {other} are one file" in ran.err
    assert not (repository.root / "one.json").exists()


def test_a_change_alone_passes_on_request(repository, trainform):
    CHANGES["a new job"](repository)
    trainform("render")
    assert trainform("ci", "--base", "main").code == 1
    assert trainform("ci", "--base", "main", "--changes-pass").code == 0
    edit(JOBSET, "parallelism: 2", "parallelism: 4")(repository)
    assert trainform("ci", "--base", "main", "--changes-pass").code == 1


def test_no_such_base_is_told(repository, trainform):
    ran = trainform("ci", "--base", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "--base" in ran.err


def test_before_the_first_commit_everything_is_new(root, trainform):
    found = Repository(root)
    found.start_git()
    assert trainform("render").code == 0
    ran = trainform("ci")
    assert ran.code == 1
    assert "1 current" in ran.out
    assert "new" in ran.out


def test_no_file_is_written_through_a_link(repository, trainform, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "file.json"
    (repository.root / "check.json").symlink_to(outside)
    ran = trainform("ci", "--check", "check.json")
    assert ran.code == 2
    assert "is a link" in ran.err
    assert not outside.exists()


def test_each_job_is_compiled_once(repository, trainform, monkeypatch):
    compiled: Counter[str] = Counter()
    compile_job = compiler.compile_documents

    def counting(*arguments, **options):
        found = compile_job(*arguments, **options)
        compiled.update(each.name for each in found.jobs)
        return found

    monkeypatch.setattr(compiler, "compile_documents", counting)
    assert trainform("ci").code == 0
    assert compiled == {"a": 1, "b": 1, "c": 1}
