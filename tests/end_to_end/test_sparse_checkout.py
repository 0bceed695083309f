"""A sparse checkout leaves out lockfiles, without which every job would count as new."""

from __future__ import annotations

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run

COMMANDS = {
    "render": ["render"],
    "upgrade": ["upgrade", "--all"],
    "check": ["check"],
    "check --base": ["check", "--base", "HEAD"],
    "ci": ["ci"],
    "diff": ["diff"],
    "report": ["report"],
    "rerun": ["rerun", "llm"],
}


@pytest.fixture
def repository(tmp_path):
    repository = Repository(tmp_path / "top")
    repository.start_git()
    repository.write("environments/prod/environment.yaml", environment())
    repository.write("runtimes/torch.yaml", runtime("example/train:1"))
    repository.write("jobs/llm.yaml", job("llm"))
    repository.write("notes/x.md", "")
    assert run(["render", "--root", str(repository.root)]) == 0
    repository.commit()
    return repository


def sparse(repository, *folders):
    repository.git("sparse-checkout", "set", "--cone", *folders)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_it_is_refused_with_the_way_out(repository, capfd, command):
    sparse(repository, "environments", "runtimes", "jobs", "rendered")
    capfd.readouterr()
    assert run([*command, "--root", str(repository.root)]) == 2
    error = capfd.readouterr().err
    assert "the sparse checkout leaves out" in error
    assert "`git sparse-checkout add .trainform/locks` or `git sparse-checkout disable`" in error
    assert repository.changed() == []


@pytest.mark.parametrize("command", [["render"], ["check", "--base", "HEAD"], ["diff"], ["report"]])
def test_the_way_out_leads_out(repository, command):
    sparse(repository, "environments", "runtimes", "jobs", "rendered")
    repository.git("sparse-checkout", "add", ".trainform/locks", ".trainform/snapshots")
    assert run([*command, "--root", str(repository.root)]) == 0


def test_what_trainform_does_not_need_may_be_left_out(repository):
    sparse(repository, "environments", "runtimes", "jobs", "rendered", ".trainform")
    assert not (repository.root / "notes").exists()
    assert run(["render", "--root", str(repository.root)]) == 0
    assert repository.changed() == []
