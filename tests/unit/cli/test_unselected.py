"""A TrainJob that no Environment selects is told, by every command that leaves it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.repositories import Repository
from trainform import compile_stream

from .conftest import Ran, job

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {{jobs: {jobs}}}
"""


def environment(root: Path, name: str, jobs: str) -> None:
    folder = root / "environments" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environment.yaml").write_text(ENVIRONMENT.format(name=name, jobs=jobs))


@pytest.fixture
def lonely(root: Path) -> Path:
    """A repository whose only Environment selects llm.yaml by its path, and so not b.yaml."""
    repository = Repository(root)
    repository.start_git()
    environment(root, "prod", "{paths: [jobs/llm.yaml]}")
    repository.commit()
    (root / "jobs" / "b.yaml").write_text(job("b"))
    return root


Trainform = Callable[..., Ran]


@pytest.mark.parametrize(
    "command", ["validate", "render", "check", "diff", "report", "upgrade --all", "validate jobs/b.yaml"]
)
def test_every_command_that_leaves_the_job_out_says_so(trainform: Trainform, lonely: Path, command: str):
    ran = trainform(*command.split())
    said = ran.out + ran.err
    assert "jobs/b.yaml:4:9: warning TF166 metadata.name: no Environment selects this job" in said
    assert "add jobs/b.yaml to spec.jobs.paths of environments/prod/environment.yaml, now [jobs/llm.yaml]" in said


@pytest.mark.parametrize("command", ["render", "check"])
def test_a_warm_cache_does_not_swallow_it(trainform: Trainform, lonely: Path, command: str):
    trainform("render")
    first, second, third = (trainform(command) for _ in range(3))
    assert "TF166" in first.err
    assert first == second == third
    assert first.code == 0


def test_the_hint_names_each_environment_and_what_it_selects(trainform: Trainform, root: Path):
    environment(root, "dev", "{paths: [jobs/dev/**]}")
    environment(root, "prod", "{selector: {matchLabels: {tier: x}, matchExpressions: [{key: a, operator: Exists}]}}")
    said = trainform("validate").out
    assert "help: give it labels that match spec.jobs.selector of environments/prod/environment.yaml: tier=x,a" in said
    assert "or add jobs/llm.yaml to spec.jobs.paths of environments/dev/environment.yaml, now [jobs/dev/**]" in said


@pytest.mark.parametrize("selected_by_prod", ["{paths: [jobs/llm.yaml]}", "{selector: {}}"])
def test_a_job_of_another_environment_than_the_one_asked_for_is_fine(
    trainform: Trainform, root: Path, selected_by_prod: str
):
    environment(root, "dev", "{selector: {matchLabels: {tier: dev}}}")
    environment(root, "prod", selected_by_prod)
    (root / "jobs" / "dev.yaml").write_text(job("b").replace("name: b", "name: b\n  labels: {tier: dev}"))
    assert "TF166" not in trainform("validate", "--env", "dev").out


def test_an_environment_with_errors_may_select_anything(trainform: Trainform, lonely: Path):
    environment(lonely, "dev", "[]")
    assert "TF166" not in trainform("validate").out


def test_without_an_environment_every_job_is_rendered(trainform: Trainform, root: Path):
    assert "TF166" not in trainform("validate").out


def test_a_template_is_told_at_its_kind(trainform: Trainform, lonely: Path):
    (lonely / "jobs" / "b.yaml").rename(lonely / "jobs" / "b.yaml.j2")
    assert "jobs/b.yaml.j2:2:1: warning TF166: no Environment selects this job" in trainform("validate").out


@pytest.mark.parametrize(("tier", "told"), [("x", False), ("y", True)])
def test_a_template_is_told_if_no_environment_selects_what_it_makes_of_it(
    trainform: Trainform, root: Path, tier: str, told: bool
):
    environment(root, "dev", "{selector: {matchLabels: {tier: x}}}")
    environment(root, "prod", "{selector: {matchLabels: {tier: z}}}")
    (root / "jobs" / "llm.yaml").unlink()
    (root / "jobs" / "b.yaml.j2").write_text(job("b").replace("name: b", f"name: b\n  labels: {{tier: {tier}}}"))
    assert ("TF166" in trainform("validate").out) == told


def test_a_job_beside_a_selected_one_in_its_file_is_told_in_warm_runs_too(trainform: Trainform, root: Path):
    Repository(root).start_git()
    environment(root, "prod", "{selector: {matchLabels: {tier: x}}}")
    chosen = job("llm").replace("name: llm", "name: llm\n  labels: {tier: x}")
    (root / "jobs" / "llm.yaml").write_text(f"{chosen}---\n{job('b')}")
    for command in ("render", "render", "check", "check"):
        assert "TF166" in trainform(command).err


def test_other_files_that_nobody_selects_are_none_of_its_business(trainform: Trainform, lonely: Path):
    (lonely / "jobs" / "b.yaml").write_text("kind: ConfigMap\nmetadata: {name: TrainJob}\n")
    assert "TF166" not in trainform("validate").out


@pytest.mark.parametrize(
    ("settings", "comment"),
    [("lints: {TF166: 'off'}", ""), ("", "  # trainform: ignore TF166 -- a draft"), ("", "baseline")],
)
def test_the_team_can_silence_it(trainform: Trainform, lonely: Path, settings: str, comment: str):
    (lonely / "trainform.yaml").write_text(settings)
    if comment == "baseline":
        trainform("validate", "--write-baseline")
    else:
        (lonely / "jobs" / "b.yaml").write_text(job("b").replace("name: b", f"name: b{comment}"))
    said = [trainform(command) for command in ("validate", "render", "check", "render", "check", "diff")]
    assert not [ran for ran in said if "TF166" in ran.out + ran.err]
    assert "TF640" not in said[0].out


def test_raised_to_an_error_it_stops_a_render(trainform: Trainform, lonely: Path):
    (lonely / "trainform.yaml").write_text("lints: {TF166: error}")
    assert trainform("render").code == 2
    assert trainform("check").code == 2
    assert trainform("diff").code == 2


def test_of_many_jobs_each_is_told_once_in_chunks(trainform: Trainform, root: Path):
    environment(root, "prod", "{paths: [jobs/llm.yaml]}")
    for number in range(120):
        (root / "jobs" / f"b{number}.yaml").write_text(job(f"b{number}"))
    told = json.loads(trainform("validate", "--format", "json", "--workers", "2").out)["diagnostics"]
    assert len([each for each in told if each["code"] == "TF166"]) == 120


def test_a_stream_tells_the_job_that_its_environment_leaves_out():
    stream = ENVIRONMENT.format(name="prod", jobs="{selector: {matchLabels: {tier: x}}}")
    chosen = job("llm").replace("name: llm", "name: llm\n  labels: {tier: x}")
    told = compile_stream(f"{stream}---\n{chosen}---\n{job('b')}")["diagnostics"]
    assert [(each["code"], each["line"]) for each in told] == [("TF166", 22)]
    assert told[0]["hint"] == "give it labels that match spec.jobs.selector of Environment prod: tier=x"


@pytest.mark.parametrize("command", ["render", "explain", "rerun", "upgrade", "retire"])
@pytest.mark.parametrize("asked", ["b", "ml/b", "jobs/b.yaml"])
def test_naming_the_job_says_why_it_is_not_rendered(trainform: Trainform, lonely: Path, command: str, asked: str):
    ran = trainform(command, asked)
    assert ran.code == 2
    assert "jobs/b.yaml:4:9: error TF166 metadata.name: no Environment selects this job" in ran.err
    assert "TF705" not in ran.err
    assert not (lonely / "rendered").exists()


@pytest.mark.parametrize("command", ["render", "explain", "rerun", "upgrade"])
def test_naming_a_job_that_no_selector_matches_says_so(trainform: Trainform, root: Path, command: str):
    environment(root, "prod", "{selector: {matchLabels: {team: a}}}")
    ran = trainform(command, "llm")
    assert ran.code == 2
    assert "error TF166 metadata.name: no Environment selects this job" in ran.err
    assert "give it labels that match spec.jobs.selector of environments/prod/environment.yaml: team=a" in ran.err


def test_a_job_of_another_environment_is_not_one_of_the_environment_that_was_asked_for(trainform, lonely):
    environment(lonely, "eu", "{paths: [jobs/b.yaml]}")
    ran = trainform("render", "b", "--env", "prod")
    assert (ran.code, "TF166" in ran.err) == (2, False)
    assert 'error TF705: no TrainJob is named "b" in environment prod' in ran.err
    assert trainform("render", "b").code == 0


def test_a_template_that_no_environment_selects_is_told_by_its_file(trainform: Trainform, lonely: Path):
    (lonely / "jobs" / "many.yaml.j2").write_text(job("many"))
    ran = trainform("render", "jobs/many.yaml.j2")
    assert (ran.code, "error TF166" in ran.err) == (2, True)


def test_a_broken_environment_may_select_any_job(trainform: Trainform, lonely: Path):
    environment(lonely, "prod", "5")
    ran = trainform("render", "llm")
    assert (ran.code, "TF166" in ran.err, "TF705" in ran.err) == (2, False, False)


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        ("b.yaml", job("b") + "  - [\n", "TF001"),
        ("b.yaml", job("b").replace("kind: TrainJob", "kind: TrainJob\nkind: TrainJob"), "TF005"),
        ("b.json", '{"kind": "TrainJob", "apiVersion": ', "TF001"),
    ],
)
@pytest.mark.parametrize("command", ["validate", "render", "check"])
def test_an_error_in_a_file_that_no_environment_selects_is_a_warning(
    trainform: Trainform, lonely: Path, command: str, file: str, text: str, code: str
):
    """Nothing is rendered from it, so that no other job has to wait."""
    trainform("render", "--quiet")
    (lonely / "jobs" / "b.yaml").unlink()
    (lonely / "jobs" / file).write_text(text)
    ran = trainform(command)
    assert ran.code == 0
    assert f"warning {code}" in ran.out + ran.err


def test_a_job_in_json_that_no_environment_selects_is_told(trainform: Trainform, lonely: Path):
    (lonely / "jobs" / "c.json").write_text('{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", '
                                            '"metadata": {"name": "c"}, "spec": {}}')  # fmt: skip
    said = trainform("validate").out
    assert "jobs/c.json:1:" in said
    assert said.count("warning TF166") == 2
