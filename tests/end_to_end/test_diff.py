"""`trainform diff`, with real git."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from end_to_end import diff_story
from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run

DOCS = Path(__file__).parents[2] / "docs" / "diff.md"
SIDECAR = " " * 16 + "- {name: logs, image: registry.example.com/logs:1}\n"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def jobs(self) -> dict[str, str]:
        """The change of each job, by its name."""
        return {each["name"]: each["change"] for each in json.loads(self.out)["jobs"]}


class Project(Repository):
    """A repository, and what trainform says in it."""

    def __init__(self, root: Path, read: Callable[[], Any]) -> None:
        super().__init__(root)
        self.read = read

    def trainform(self, *arguments: str) -> Ran:
        code = run([*arguments, "--root", str(self.root)])
        captured = self.read()
        return Ran(code, captured.out.decode(), captured.err.decode())

    def diff(self, *arguments: str) -> Ran:
        return self.trainform("diff", "--format", "json", *arguments)

    def reasons(self, name: str) -> list[dict[str, Any]]:
        jobs = json.loads(self.diff().out)["jobs"]
        return next(each["reasons"] for each in jobs if each["name"] == name)

    def done(self, *arguments: str) -> None:
        ran = self.trainform(*arguments)
        assert ran.code == 0, ran.err

    def render_and_commit(self) -> str:
        self.done("render")
        return self.commit()


@pytest.fixture
def project(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Project:
    """Two rendered jobs of one runtime, committed."""
    project = Project(tmp_path / "repository", capfdbinary.readouterr)
    project.start_git()
    project.write("environments/prod/environment.yaml", environment())
    project.write("runtimes/torch.yaml", runtime())
    project.write("jobs/llm.yaml", job("llm"))
    project.write("jobs/bert.yaml", job("bert"))
    project.render_and_commit()
    return project


def test_nothing_changed(project):
    assert project.trainform("diff") == (0, "no job changes\n", "")


@pytest.mark.parametrize("rendered", [False, True])
def test_before_the_first_commit_every_job_is_new(tmp_path, capfdbinary, rendered):
    project = Project(tmp_path / "repository", capfdbinary.readouterr)
    project.start_git()
    project.write("environments/prod/environment.yaml", environment())
    project.write("runtimes/torch.yaml", runtime())
    project.write("jobs/llm.yaml", job("llm"))
    if rendered:
        project.done("render")
    ran = project.diff()
    assert (ran.code, ran.jobs) == (1, {"llm": "new"})
    ran = project.trainform("report")
    assert (ran.code, "1 new job" in ran.out) == (0, True)


@pytest.mark.parametrize("base", ["main", "HEAD~1", "HEAD"])
def test_a_commit_that_is_not_there_is_an_error(project, base):
    if base == "HEAD":
        (project.root / ".git/HEAD").write_text("0" * 39 + "1\n")
    ran = project.diff("--base", base if base != "main" else "no-such-branch")
    assert ran.code == 2
    assert "a shallow clone may not contain it" in ran.err


def test_a_changed_job_restarts(project):
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    ran = project.diff()
    assert (ran.code, ran.jobs) == (1, {"llm": "restart"})


def test_a_new_job(project):
    project.write("jobs/gpt.yaml", job("gpt"))
    assert project.diff().jobs == {"gpt": "new"}


def test_a_job_whose_file_is_gone(project):
    (project.root / "jobs/llm.yaml").unlink()
    assert project.diff().jobs == {"llm": "delete"}


def test_a_job_that_is_gone_from_a_file_of_several(project):
    project.write("jobs/llm.yaml", job("llm") + "---\n" + job("gpt"))
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm"))
    assert project.diff().jobs == {"gpt": "delete"}


def test_a_job_that_moves_to_another_file_does_not_change(project):
    (project.root / "jobs/llm.yaml").rename(project.root / "jobs/moved.yaml")
    assert project.diff().jobs == {}


@pytest.mark.parametrize("comment", ["# a comment\n", "---\n"])
def test_noise_in_a_job_is_no_change(project, comment):
    project.write("jobs/llm.yaml", comment + job("llm").replace("name: llm", 'name: "llm"'))
    assert project.diff() == (0, project.diff().out, "")


def test_rendering_first_makes_no_difference(project):
    """What a pull request shows is the same whether its author rendered or not."""
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    project.write("jobs/gpt.yaml", job("gpt"))
    (project.root / "jobs/bert.yaml").unlink()
    before = project.diff()
    project.trainform("render")
    assert project.diff() == before
    project.commit()
    assert project.diff("--base", "HEAD~1") == before
    assert project.diff().jobs == {}


def test_what_was_committed_without_a_render_is_still_to_come(project, tmp_path):
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    (project.root / "jobs/bert.yaml").unlink()
    project.commit()
    (project.root / "README").write_text("")
    project.commit()
    assert project.diff().jobs == {"bert": "delete", "llm": "restart"}
    assert [reason["inherited"] for reason in project.reasons("llm")] == [False] * 4
    shutil.copytree(project.root, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    assert project.diff("--base", str(tmp_path / "copy")) == project.diff()
    told = project.diff()
    project.trainform("render")
    assert project.diff() == told
    project.commit()
    assert project.diff().jobs == {}


def test_values_that_were_committed_without_a_render_are_still_to_come(project):
    values = "  values: {{nodes: {0}}}\n"
    project.write("jobs/gpt.yaml.j2", job("gpt").replace("numNodes: 2", "numNodes: {{ env.nodes }}"))
    project.write("environments/prod/environment.yaml", environment() + values.format(2))
    project.render_and_commit()
    project.write("environments/prod/environment.yaml", environment() + values.format(4))
    project.commit()
    assert project.diff().jobs == {"gpt": "restart"}
    project.write("environments/prod/environment.yaml", environment() + "  jobs: {paths: [jobs/bert.yaml]}\n")
    project.commit()
    assert project.diff().jobs == {"gpt": "delete", "llm": "delete"}


def test_a_change_of_the_runtime_leaves_jobs_behind(project):
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    ran = project.diff()
    assert (ran.code, ran.jobs) == (1, {"bert": "behind", "llm": "behind"})
    assert (
        "2 jobs are behind: runtime torch changed (by this change; nothing restarts)\n" in project.trainform("diff").out
    )


def test_a_comment_in_the_runtime_leaves_nobody_behind(project):
    project.write("runtimes/torch.yaml", "# a comment\n" + runtime())
    assert project.diff().jobs == {}


def test_a_change_of_the_environment_leaves_jobs_behind(project):
    project.write("environments/prod/environment.yaml", environment() + "  values: {registry: here}\n")
    assert project.diff().jobs == {"bert": "behind", "llm": "behind"}


FACT = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1\n"


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("runtimes/torch.yaml", runtime("registry.example.com/train:2"), "runtime torch changed"),
        ("environments/prod/environment.yaml", environment() + "  values: {a: b}\n", "Environment prod changed"),
        ("environments/prod/fact.yaml", FACT, "Environment prod changed"),
        ("jobs/fact.yaml", FACT, "Environment prod changed"),
        ("jobs/both.yaml", f"{FACT}---\n{job('gpt')}", "Environment prod changed"),
        ("jobs/fact.json", '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}', "Environment prod"),
    ],
    ids=["runtime", "Environment", "fact", "fact among jobs", "fact in the file of a job", "JSON"],
)
def test_every_command_tells_the_same_jobs_that_were_behind_before(project, file, text, why):
    project.write(file, text)
    project.render_and_commit()
    (told,) = (line for line in project.trainform("render").out.splitlines() if "behind" in line)
    assert told.startswith(f"2 jobs are behind: {why}")
    assert project.trainform("diff").out == f"{told} (before this change)\n\nno job changes\n"
    assert project.diff().code == 0
    assert f"<li>{told}</li>" in project.trainform("report").out
    assert told in project.trainform("validate").out


def test_jobs_with_two_reasons_count_for_each(project):
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    project.render_and_commit()
    project.write("environments/prod/environment.yaml", environment() + "  values: {a: b}\n")
    told = [line for line in project.trainform("render").out.splitlines() if "behind" in line]
    assert project.trainform("diff").out.splitlines()[:2] == [
        f"{told[0]} (by this change; nothing restarts)",
        f"{told[1]} (before this change)",
    ]


def test_a_job_that_changes_and_is_behind_counts_as_both(project):
    """As for `render`, which says how many jobs are not up to date."""
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    project.done("upgrade", "llm")
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:3"))
    told = project.trainform("render").out.splitlines()[-1]
    assert told == "2 jobs are behind: runtime torch changed"
    assert project.diff().jobs == {"llm": "restart", "bert": "behind"}
    assert f"{told} (by this change; nothing restarts)\n" in project.trainform("diff").out


@pytest.mark.parametrize("nodes", [2, 3], ids=["identical", "changed"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_second_file_with_the_same_job_is_the_error_that_render_tells(project, nodes, is_committed):
    project.write("jobs/copy.yaml", job("llm", nodes=nodes))
    if is_committed:
        project.commit()
    rendered, ran = project.trainform("render"), project.diff()
    assert (rendered.code, ran.code, ran.jobs) == (2, 2, {})
    assert ran.err.partition("\n\n")[0] == rendered.err.partition("\n\n")[0]
    assert "TF203" in ran.err


def test_a_job_that_changes_tells_its_own_reasons_from_inherited_ones(project):
    project.write("runtimes/torch.yaml", runtime() + SIDECAR)
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    inherited = {reason["field"].rpartition(".")[2]: reason["inherited"] for reason in project.reasons("llm")}
    assert inherited == {"parallelism": False, "completions": False, "value": False, "containers[1]": True}


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_jobs_compared_in_several_processes_are_those_of_one(project, monkeypatch, start):
    """Changed, upgraded, renamed and deleted ones, also where forking is not safe."""
    for number in range(6):
        project.write(f"jobs/more-{number}.yaml", job(f"more-{number}"))
    project.render_and_commit()
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    project.done("upgrade", "--all")
    project.write("jobs/more-1.yaml", job("more-1", nodes=3))
    project.write("jobs/more-2.yaml", job("else"))
    (project.root / "jobs/more-3.yaml").unlink()
    alone = project.diff()
    assert {*alone.jobs.values()} == {"restart", "new", "delete"}
    monkeypatch.setattr("trainform.workspace.parallel.SMALLEST", 1)
    monkeypatch.setattr("trainform.workspace.diff.job_diffs.processors", lambda: 2)
    monkeypatch.setattr("trainform.io.workers.START_METHOD", start)
    assert project.diff() == alone


def test_what_an_upgrade_changes_is_inherited(project):
    project.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))
    project.commit()
    project.trainform("upgrade", "llm")
    (reason,) = project.reasons("llm")
    assert reason == {
        "object": "JobSet/llm",
        "field": "spec.replicatedJobs[0].template.spec.template.spec.containers[0].image",
        "before": "registry.example.com/train:1",
        "after": "registry.example.com/train:2",
        "immutable": True,
        "inherited": True,
    }


def test_content_hash_shows_one_job_under_a_new_name(project):
    project.write("environments/prod/environment.yaml", environment("content-hash"))
    project.trainform("upgrade", "--all")
    project.commit()
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    assert project.diff().jobs == {"llm": "restart"}
    first, *others = project.reasons("llm")
    assert first["field"] == "metadata.name"
    assert {reason["field"].rpartition(".")[2] for reason in others} == {"parallelism", "completions", "value"}
    assert f"new object {first['after']}" in project.trainform("diff").out


def test_a_job_that_is_to_run_again(project):
    project.trainform("rerun", "llm")
    told = project.trainform("diff").out
    assert "restart        ml/llm in prod: is to run again: delete the finished JobSet llm, and it starts anew" in told


def test_an_edit_by_hand_of_what_is_rendered(project):
    file = "rendered/prod/ml/llm/jobset-llm.yaml"
    project.write(file, (project.root / file).read_text().replace("train:1", "mine:1"))
    assert project.diff().jobs == {"llm": "restart"}


def test_a_layout_is_no_change(project):
    project.write("environments/prod/environment.yaml", environment(layout="per-job"))
    project.trainform("upgrade", "--all")
    assert project.diff().jobs == {}


def test_an_environment_that_comes_and_one_that_goes(project):
    old, new = project.root / "environments/prod", project.root / "environments/eu"
    shutil.move(old, new)
    project.write("environments/eu/environment.yaml", environment().replace("name: prod", "name: eu"))
    jobs = json.loads(project.diff().out)["jobs"]
    assert [(each["environment"], each["name"], each["change"]) for each in jobs] == [
        ("prod", "bert", "delete"),
        ("prod", "llm", "delete"),
        ("eu", "bert", "new"),
        ("eu", "llm", "new"),
    ]


def test_jobs_that_an_environment_no_longer_selects(project):
    selecting = environment() + "  jobs: {paths: [jobs/bert.yaml]}\n"
    project.write("environments/prod/environment.yaml", selecting)
    assert project.diff().jobs == {"llm": "delete", "bert": "behind"}


def test_a_template_with_other_values(project):
    values = "  values: {{nodes: {0}}}\n"
    project.write("jobs/gpt.yaml.j2", job("gpt").replace("numNodes: 2", "numNodes: {{ env.nodes }}"))
    project.write("environments/prod/environment.yaml", environment() + values.format(2))
    project.render_and_commit()
    project.write("environments/prod/environment.yaml", environment() + values.format(4))
    assert project.diff().jobs == {"gpt": "restart", "bert": "behind", "llm": "behind"}


def test_a_runtime_in_the_file_of_another_job_is_found(project):
    project.write("jobs/bert.yaml", runtime().replace("name: torch", "name: own", 1) + "---\n" + job("bert"))
    project.write("jobs/llm.yaml", job("llm").replace("name: torch", "name: own"))
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm", nodes=3).replace("name: torch", "name: own"))
    ran = project.diff()
    assert (ran.jobs, ran.err) == ({"llm": "restart"}, "")


def test_only_some_environments(project):
    project.write("environments/eu/environment.yaml", environment().replace("name: prod", "name: eu"))
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    found = json.loads(project.diff("--env", "eu").out)
    assert [each["environment"] for each in found["jobs"]] == ["eu"]
    assert list(found["totals"]) == ["eu"]


def test_a_copy_in_a_folder_is_a_base_too(project, tmp_path):
    shutil.copytree(project.root, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    (project.root / "jobs/bert.yaml").unlink()
    against_git = project.diff()
    shutil.rmtree(project.root / ".git")
    assert project.diff("--base", str(tmp_path / "copy")) == against_git


def test_a_repository_in_a_folder_of_a_larger_one(tmp_path, capfdbinary):
    above = Repository(tmp_path)
    above.start_git()
    project = Project(tmp_path / "training", capfdbinary.readouterr)
    project.write("runtimes/torch.yaml", runtime())
    project.write("jobs/llm.yaml", job("llm"))
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    above.write("jobs/other.yaml", job("other"))
    assert project.diff().jobs == {"llm": "restart"}


def test_totals_are_those_of_all_jobs(project):
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    totals = json.loads(project.diff().out)["totals"]
    assert totals == {
        "prod": {
            "": {
                "before": {"jobs": 2, "pods": 4, "resources": {}},
                "after": {"jobs": 2, "pods": 5, "resources": {}},
            }
        }
    }


def test_a_job_with_an_error_is_no_part_of_it(project):
    project.write("jobs/llm.yaml", job("llm").replace("numNodes", "numNode"))
    project.write("jobs/bert.yaml", job("bert", nodes=3))
    ran = project.diff()
    assert (ran.code, ran.jobs) == (2, {"bert": "restart"})
    assert "jobs/llm.yaml" in ran.err
    assert "did you mean" in ran.err


@pytest.mark.parametrize("file", ["jobs/llm.yaml", "environments/prod/environment.yaml", "runtimes/torch.yaml"])
def test_what_cannot_be_read_deletes_no_job(project, file):
    project.write(file, "{")
    ran = project.diff()
    assert ran.code == 2
    assert "delete" not in ran.jobs.values()


def test_a_broken_lock(project):
    project.write(".trainform/locks/prod/ml/llm.lock", "{")
    ran = project.diff()
    assert ran.code == 2
    assert "delete" not in ran.jobs.values()
    assert ".trainform/locks/prod/ml/llm.lock" in ran.err


@pytest.mark.parametrize("base", ["no-such-branch", "--output=x", ""])
def test_a_base_that_is_not_there(project, base):
    ran = project.trainform("diff", f"--base={base}")
    assert (ran.code, ran.out) == (2, "")
    assert "--base" in ran.err


def test_without_git(project):
    shutil.rmtree(project.root / ".git")
    ran = project.trainform("diff")
    assert (ran.code, ran.out) == (2, "")
    assert "Error: diff compares with a commit of git, and this is not a git repository: name a copy" in ran.err
    assert "--base FOLDER" in ran.err
    assert "Invalid value" not in ran.err


def test_without_a_git_program(project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = project.trainform("diff")
    assert (ran.code, ran.out) == (2, "")
    assert "and git cannot be run: there is none in PATH: name a copy" in ran.err


def test_without_git_a_base_that_was_given_is_what_is_wrong(project):
    shutil.rmtree(project.root / ".git")
    ran = project.trainform("diff", "--base", "main")
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for --base: this is not a git repository; there is no such folder either" in ran.err


def test_check_without_git_says_what_it_needs(project):
    shutil.rmtree(project.root / ".git")
    ran = project.trainform("check", "--base", "main")
    assert "error TF718: --base: this is not a git repository\n  help: run it in a clone, with git" in ran.err


def test_a_link_that_leads_out_of_the_repository_is_not_followed(project, tmp_path):
    folder = project.root / "rendered/prod/ml/llm"
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    ran = project.diff()
    assert (ran.code, ran.out) == (2, "")
    assert "rendered/prod/ml/llm: leads out of the repository" in ran.err


@pytest.fixture
def story(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Project:
    story = Project(tmp_path / "story", capfdbinary.readouterr)
    story.start_git()
    diff_story.before(story)
    story.render_and_commit()
    diff_story.change(story)
    return story


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_story_in_the_documentation(story, form, pytestconfig):
    """docs/diff.md shows what is printed: `pytest --update-golden` brings it up to date."""
    told = story.trainform("diff", "--format", form).out
    before, _, rest = DOCS.read_text().partition(f"~~~ {form}\n")
    shown, end, after = rest.partition("~~~\n")
    if pytestconfig.getoption("--update-golden"):
        DOCS.write_text(f"{before}~~~ {form}\n{told}{end}{after}")
    else:
        assert shown == told


def test_html_of_the_story(story):
    ran = story.trainform("diff", "--format", "html")
    assert ran.code == 1
    assert ran.out.startswith("<!doctype html>")
    assert "5 jobs are behind: runtime torch changed" in ran.out


def test_the_number_of_git_processes_does_not_grow_with_the_jobs(project, monkeypatch):
    started = []
    start = subprocess.Popen

    def counting(command, **options):
        started.append(command)
        return start(command, **options)

    def processes(*names: str) -> int:
        for name in names:
            project.write(f"jobs/{name}.yaml", job(name, nodes=3))
        started.clear()
        with monkeypatch.context() as patch:
            patch.setattr(subprocess, "Popen", counting)
            assert project.diff().code == 1
        return len(started)

    assert processes("llm", "new") == processes("llm", "bert", "new", *(f"new-{number}" for number in range(20)))


def of_engine(project: Project, engine: str, naming: str = "stable", more: str = "") -> None:
    """The project's Environment with an engine and `more` fields of its spec, applied to its jobs."""
    project.write("environments/prod/environment.yaml", environment(naming, engine=engine) + more)
    project.done("upgrade", "--all")
    project.render_and_commit()


def protected(text: str) -> str:
    return text.replace("gitops: {", "gitops: {pruneProtection: confirm, ")


def pods(ran: Ran) -> list[int]:
    """The pods of queueless jobs, before and after."""
    balance = json.loads(ran.out)["totals"]["prod"][""]
    return [balance[side]["pods"] for side in ("before", "after")]


def test_what_flux_does_not_prune_keeps_its_pods(project):
    of_engine(project, "flux")
    project.write("environments/prod/environment.yaml", protected(environment(engine="flux")))
    project.done("upgrade", "--all")
    project.render_and_commit()
    (project.root / "jobs/llm.yaml").unlink()
    ran = project.diff()
    assert ran.jobs == {"llm": "orphan"}
    assert pods(ran) == [4, 4]
    assert "keeps running until you delete JobSet llm" in project.trainform("diff").out


def test_what_flux_does_not_prune_runs_beside_its_successor(project):
    project.write("environments/prod/environment.yaml", protected(environment("content-hash", engine="flux")))
    project.done("upgrade", "--all")
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm", nodes=3))
    ran = project.diff()
    assert ran.jobs == {"llm": "restart"}
    assert pods(ran) == [4, 7]
    assert "nothing prunes the old one: both run" in project.trainform("diff").out


def test_protection_that_is_not_yet_applied_protects_nothing(project):
    """The job is frozen: its object in the cluster has no annotation that keeps Flux from pruning it."""
    of_engine(project, "flux")
    project.write("environments/prod/environment.yaml", protected(environment(engine="flux")))
    project.render_and_commit()
    (project.root / "jobs/llm.yaml").unlink()
    assert project.diff().jobs == {"llm": "delete"}


def test_flux_leaves_a_queued_job_alone(project):
    of_engine(project, "flux", more="  scheduling: {kueue: {localQueue: team-a}}\n")
    patch = "{template: {metadata: {labels: {owner: search}}}}"
    patches = f"  runtimePatches: [{{manager: example.com/owner, trainingRuntimeSpec: {patch}}}]\n"
    project.write("jobs/llm.yaml", job("llm") + patches)
    assert project.diff().jobs == {"llm": "restart"}
    assert "Flux never updates a JobSet in a queue" in project.trainform("diff").out


def test_a_suspended_job_is_resumed_from_git(project):
    of_engine(project, "argocd")
    suspended = job("llm") + "  suspend: true\n"
    project.write("jobs/llm.yaml", suspended)
    assert project.diff().jobs == {"llm": "in-place"}
    assert "pods stop" in project.trainform("diff").out
    project.render_and_commit()
    project.write("jobs/llm.yaml", job("llm"))
    assert project.diff().jobs == {"llm": "in-place"}
    assert "pods start" in project.trainform("diff").out


def test_another_default_namespace_deletes_its_jobs_and_starts_them_anew(project):
    project.write("jobs/llm.yaml", job("llm").replace("  namespace: ml\n", ""))
    project.render_and_commit()
    project.write("environments/prod/environment.yaml", environment() + "  namespace: other\n")
    jobs = json.loads(project.diff().out)["jobs"]
    assert [(each["namespace"], each["name"], each["change"]) for each in jobs] == [
        ("default", "llm", "delete"),
        ("other", "llm", "new"),
        ("ml", "bert", "behind"),
    ]
