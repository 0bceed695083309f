"""A link in a repository leads neither out of it nor into git's own folder, for reading or for writing; no device, pipe
or socket is opened; and nothing waits."""

from __future__ import annotations

import os

import pytest

from support.attacks import COMMANDS, SECRET, Victim
from support.repositories import job, runtime

READ = (
    "trainform.yaml", "jobs/llm.yaml", "jobs/new.yaml", "jobs/new.yaml.j2", "runtimes/torch.yaml",
    "environments/prod/environment.yaml", "environments/prod/facts.yaml", "environments/prod/keys/ml.x.yaml",
    ".trainform/locks/prod/ml/llm.lock", "rendered/prod/ml/llm/jobset-llm.yaml", "rendered/kustomization.yaml",
    "rendered/prod/kustomization.yaml", ".gitattributes", ".vscode/settings.json", ".trainform/schemas/any.json",
)  # fmt: skip
FOLDERS = (
    "jobs", "runtimes", "environments", "environments/prod", "rendered", "rendered/prod", "rendered/prod/ml",
    "rendered/prod/ml/llm", ".trainform", ".trainform/locks", ".trainform/locks/prod", ".trainform/snapshots",
    ".trainform/schemas", ".vscode",
)  # fmt: skip


def assert_nothing_comes_out(victim: Victim, commands: tuple[str, ...] = COMMANDS) -> None:
    """No command prints the secret, changes a file elsewhere, or fails as a bug does."""
    before = victim.everything()
    for command in commands:
        ended = victim.trainform(command)
        assert SECRET not in ended.output, command
        assert victim.everything() == before, command


@pytest.mark.parametrize("path", READ)
def test_a_link_to_a_file_elsewhere_prints_nothing_of_it(victim, path):
    victim.link(path, victim.outside / "secret.yaml")
    assert_nothing_comes_out(victim)


@pytest.mark.parametrize("path", FOLDERS)
def test_a_link_to_a_folder_elsewhere_is_neither_read_nor_written(victim, path):
    victim.link(path, victim.outside)
    assert_nothing_comes_out(victim)


@pytest.mark.parametrize(
    "path", ["rendered", "rendered/prod", ".trainform", ".trainform/locks", ".trainform/snapshots"]
)
def test_nothing_is_written_into_gits_own_folder(victim, path):
    victim.link(path, victim.root / ".git" / "hooks")
    victim.write("jobs/new.yaml", (victim.root / "jobs/llm.yaml").read_text().replace("llm", "new"))
    assert_nothing_comes_out(victim, ("render", "render --keep-going", "upgrade --all", "init . --env prod"))
    assert victim.trainform("render").code == 2


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("trainform.yaml", "/dev/zero"),
        ("trainform.yaml", "/proc/self/environ"),
        ("trainform.yaml", "trainform.yaml"),
        ("trainform.yaml", ".git/config"),
        ("jobs/llm.yaml", "/dev/zero"),
        ("jobs/llm.yaml", "llm.yaml"),
        ("jobs/llm.yaml", "../.git/config"),
        ("jobs/circle", "circle"),
        ("runtimes/torch.yaml", "/dev/tty"),
        ("environments/prod/environment.yaml", "environment.yaml"),
        ("environments", "environments"),
        ("rendered/prod/ml/llm", "llm"),
        ("rendered", "rendered"),
        (".trainform", ".trainform"),
        (".trainform/locks/prod/ml/llm.lock", "llm.lock"),
        (".trainform/locks/prod/ml/llm.lock", "/dev/zero"),
    ],
)
def test_devices_circles_and_gits_files_are_errors(victim, path, target):
    victim.link(path, target)
    assert_nothing_comes_out(victim)
    assert victim.trainform("check").code != 0


@pytest.mark.parametrize("path", ["trainform.yaml", "jobs/llm.yaml", "runtimes/torch.yaml"])
def test_a_pipe_is_not_waited_for(victim, path):
    (victim.root / path).unlink()
    os.mkfifo(victim.root / path)
    assert_nothing_comes_out(victim)
    ended = victim.trainform("validate")
    assert f"{path}: error TF701: cannot be read: not a regular file" in ended.output


def test_a_link_within_the_repository_is_followed(victim):
    victim.write("shared/a.yaml", (victim.root / "jobs/llm.yaml").read_text().replace("llm", "other"))
    victim.link("jobs/a.yaml", "../shared/a.yaml")
    assert victim.trainform("render").code == 0
    assert (victim.root / "rendered/prod/ml/other/jobset-other.yaml").is_file()
    assert victim.trainform("rerun ml/other").code == 0
    assert (victim.root / "jobs/a.yaml").is_symlink()
    assert "trainform.dev/rerun" in (victim.root / "shared/a.yaml").read_text()


@pytest.mark.parametrize("named", ["jobs/llm.yaml", "jobs/folder", "jobs/folder/secret.yaml"])
def test_a_path_that_is_named_leads_out_no_further(victim, named):
    """Hooks of pre-commit name the files of a commit."""
    victim.link("jobs/llm.yaml", victim.outside / "secret.yaml")
    victim.link("jobs/folder", victim.outside)
    ended = victim.trainform(f"validate {named}")
    assert ended.code == 2
    assert "TF702: leads out of the repository" in ended.output
    assert SECRET not in ended.output


def test_a_file_of_another_folder_may_be_named(victim):
    (victim.outside / "job.yaml").write_text((victim.root / "jobs/llm.yaml").read_text())
    ended = victim.trainform(f"validate {victim.outside / 'job.yaml'}")
    assert "TF701" not in ended.output, ended.output


@pytest.mark.parametrize("place", ["report.html", "out/pre-commit"])
def test_a_report_is_not_written_through_a_link(victim, place):
    victim.link("report.html", victim.outside / "secret.yaml")
    victim.link("out", ".git/hooks")
    before = victim.everything()
    ended = victim.trainform(f"report --output {place}")
    assert ended.code == 2
    assert "link" in ended.output or "git's own folder" in ended.output
    assert victim.everything() == before


@pytest.mark.parametrize("command", ["report --root ml --output out/report.html", "ci --root ml --diff out/comment.md"])
def test_nothing_is_written_through_a_link_of_the_checkout_above_the_project(victim, command):
    victim.write("ml/trainform.yaml", "")
    victim.write("ml/jobs/llm.yaml", job("llm"))
    victim.write("ml/runtimes/torch.yaml", runtime())
    victim.commit()
    victim.link("out", victim.outside)
    before = victim.everything()
    ended = victim.trainform(command)
    assert ended.code in (1, 2)
    assert "leads out of the repository" in ended.output
    assert victim.everything() == before


def test_init_writes_nothing_through_a_link(victim):
    (victim.root / "jobs/llm.yaml").unlink()
    for path, target in (("jobs/hello.yaml", victim.outside / "new.yaml"), (".github", victim.root / ".git")):
        victim.link(path, target)
    before = victim.everything()
    ended = victim.trainform("init . --env prod")
    assert ended.code == 2
    assert ".github/workflows/trainform.yaml: error TF702: leads into git's own folder" in ended.output
    assert "jobs/hello.yaml: error TF702: leads out of the repository" in ended.output
    assert victim.everything() == before


@pytest.mark.parametrize(
    "name", [".GIT", ".git ", ".git.", "git~1", "GIT~1", ".git::$INDEX_ALLOCATION", ".g\u200cit", "a/.Git/hooks"]
)
@pytest.mark.parametrize("key", ["rendered", "jobs"])
def test_a_name_that_some_file_system_takes_for_git_is_refused(victim, name, key):
    victim.write("trainform.yaml", f'{key}: "{name}"\n')
    ended = victim.trainform("render")
    assert ended.code == 2
    assert "TF703" in ended.output
    assert "some file systems take it for .git" in ended.output


@pytest.mark.parametrize("name", ["git~1", ".git", ".GIT", "GIT~1 ", ".g\u200cit", "../../out"])
@pytest.mark.parametrize("field", ["name", "namespace"])
def test_no_job_is_written_under_such_a_name(victim, name, field):
    before = victim.everything()
    was = {"name": "llm", "namespace": "ml"}[field]
    text = (victim.root / "jobs/llm.yaml").read_text()
    victim.write("jobs/llm.yaml", text.replace(f"{field}: {was}", f'{field}: "{name}"'))
    assert victim.trainform("render").code == 2
    assert victim.everything() == before


def test_an_environment_of_such_a_name_is_refused(victim):
    text = (victim.root / "environments/prod/environment.yaml").read_text()
    victim.write("environments/git~1/environment.yaml", text.replace("name: prod", "name: git~1"))
    assert victim.trainform("render").code == 2
    assert not (victim.root / "rendered/git~1").exists()
