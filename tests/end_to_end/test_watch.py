"""`trainform render --watch`: what happens while it runs, by real processes and real git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import FileLock

from support.ci import ROOT
from support.packages import site
from support.repositories import Repository, environment, job, runtime
from support.watching import PATIENCE, Watch
from trainform.io.lock import mutex_path

READY = "watching for changes"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rendered and committed job."""
    found = Repository(tmp_path_factory.mktemp("origin"))
    found.start_git()
    found.write("trainform.yaml", "")
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    subprocess.run([sys.executable, "-m", "trainform", "render"], cwd=found.root, check=True, capture_output=True)
    found.commit()
    return found.root


@pytest.fixture
def repository(origin: Path, tmp_path: Path) -> Repository:
    shutil.copytree(origin, tmp_path / "repository")
    return Repository(tmp_path / "repository")


def save(repository: Repository, file: str, text: str) -> None:
    """As most editors do it: write another file and rename it."""
    scratch = (repository.root / file).with_name(".scratch")
    scratch.write_text(text)
    scratch.replace(repository.root / file)


def manifest(repository: Repository, name: str = "llm") -> str:
    return (repository.root / f"rendered/prod/ml/{name}/jobset-{name}.yaml").read_text()


def status(repository: Repository) -> str:
    return repository.git("status", "--porcelain", "--untracked-files=all")


WROTE = "wrote rendered/prod/ml/llm/jobset-llm.yaml\n"


def test_a_change_is_rendered_and_told_in_the_words_of_diff(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        assert watch.wait_for(READY).startswith("1 job unchanged\nno job changes\n")
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        told = watch.wait_for("1 job restarts")
        assert WROTE in told
        assert "parallelism: 4" in manifest(repository)
        shown = subprocess.run(
            [sys.executable, "-m", "trainform", "diff"], cwd=repository.root, capture_output=True, text=True
        ).stdout
        story = shown.partition("\n\n")[0]
        assert story.startswith("restart        ml/llm in prod: ")
        assert story in told

        save(repository, "jobs/llm.yaml", job("llm"))
        told = watch.wait_for("no job changes")
        assert "ml/llm in prod is as in HEAD\n" in told
        assert status(repository) == ""


def test_the_page_shows_what_is_printed(repository):
    page = (ROOT / "docs/watch.md").read_text()
    shown = page.partition("$ trainform render --watch\n")[2].partition("```")[0]
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        for nodes, end in ((4, "1 job restarts"), (2, "no job changes")):
            save(repository, "jobs/llm.yaml", job("llm", nodes=nodes))
            watch.wait_for(end)
    lines = [line for line in watch.output.splitlines() if "trainform validate" not in line]
    assert lines == shown.splitlines()


def test_what_was_told_is_not_told_again(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        watch.wait_for("1 job restarts")
        save(repository, "jobs/more.yaml", job("more"))
        told = watch.wait_for("1 job restarts, 1 new")
        assert "ml/more" in told
        assert "ml/llm" not in told


def test_a_broken_file_is_told_and_the_previous_output_stays(repository):
    before = manifest(repository)
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        save(repository, "jobs/llm.yaml", job("llm", nodes="many"))
        assert "jobs/llm.yaml:10:15: error TF" in watch.wait_for("nothing was written because of the errors above")
        assert manifest(repository) == before
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        assert WROTE in watch.wait_for("1 job restarts")


def test_a_repository_that_begins_with_errors_is_watched_too(repository):
    save(repository, "trainform.yaml", "job: [")
    with Watch(repository.root, "render", "--watch") as watch:
        assert "error" in watch.wait_for(READY)
        save(repository, "trainform.yaml", "")
        watch.wait_for("1 job unchanged")


def test_a_file_that_is_deleted_takes_its_manifests_along(repository):
    repository.write("jobs/more.yaml", job("more"))
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        (repository.root / "jobs/more.yaml").unlink()
        told = watch.wait_for("no job changes")
        assert "removed rendered/prod/ml/more/jobset-more.yaml\n" in told
        assert not (repository.root / "rendered/prod/ml/more").exists()


def test_one_change_makes_one_run(repository):
    """What it wrote itself is no change."""
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        for nodes in (3, 4, 5):
            save(repository, "jobs/llm.yaml", job("llm", nodes=nodes))
            watch.wait_for("1 job restarts")
        watch.press_ctrl_c()
        assert watch.output.count(WROTE) == 3
        assert watch.output.count("unchanged") == 1  # the first run


def test_many_changes_at_once_make_one_run(repository):
    lock = repository.root / ".git/index.lock"
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        lock.touch()
        for number in range(30):
            repository.write(f"jobs/team-{number % 3}/more-{number}.yaml", job(f"more-{number}"))
        watch.wait_for("waiting: git is changing files (index.lock exists)")
        lock.unlink()
        told = watch.wait_for("30 new jobs")
        assert told.count("wrote rendered/") == 20
        assert "wrote 10 more files; --verbose names all\n" in told
        assert " more jobs: `trainform diff` shows all\n" in told


def test_after_a_commit_of_many_jobs_the_first_are_named(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        for number in range(30):
            repository.write(f"jobs/more-{number:02}.yaml", job(f"more-{number:02}"))
        watch.wait_for("30 new jobs")
        repository.commit()
        told = watch.wait_for("no job changes")
        assert told.count(" is as in HEAD\n") == 20
        assert "ml/more-19 in prod is as in HEAD\nand 10 more jobs\n" in told


def test_new_and_renamed_folders_are_watched(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        repository.write("jobs/team/more.yaml", job("more"))
        watch.wait_for("1 new job")
        (repository.root / "jobs/team").rename(repository.root / "jobs/other")
        watch.wait_for("re-pinned")
        save(repository, "jobs/other/more.yaml", job("more", nodes=7))
        watch.wait_for("wrote rendered/prod/ml/more/jobset-more.yaml")
        assert "parallelism: 7" in manifest(repository, "more")


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("runtimes/torch.yaml", runtime("example/train:2"), "1 job behind"),
        ("environments/prod/environment.yaml", environment(layout="per-job"), "1 job behind"),
        ("trainform.yaml", "rendered: output\n", "wrote output/prod/ml/llm/jobset-llm.yaml"),
    ],
    ids=["runtime", "Environment", "settings"],
)
def test_what_jobs_depend_on_is_watched(repository, file, text, told):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        save(repository, file, text)
        watch.wait_for(told)


def test_a_plugin_that_changes_takes_effect_with_the_next_run(repository, tmp_path):
    with site(tmp_path / "site") as plugins:
        body = 'def enforce_pod_spec(self, plan):\n    plan.label_pods("example.com/team", "{}")'
        plugins.plugin("team", body.format("vision"))
        path = os.pathsep.join([str(plugins.folder), os.environ.get("PYTHONPATH", "")])
        with Watch(repository.root, "render", "--watch", PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1") as watch:
            watch.wait_for(READY)
            plugins.plugin("team", body.format("speech"))
            save(repository, "jobs/llm.yaml", job("llm", nodes=4))
            watch.wait_for("1 job restarts")
            assert "example.com/team: speech" in manifest(repository)


def test_a_checkout_of_another_branch(repository):
    """It brings its own manifests: nothing is left to do, and nothing is changed."""
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("jobs/more.yaml", job("more"))
    subprocess.run([sys.executable, "-m", "trainform", "render"], cwd=repository.root, check=True, capture_output=True)
    repository.commit()
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        repository.git("checkout", "--quiet", "main")
        watch.wait_for("1 job unchanged")
        assert status(repository) == ""
        repository.git("checkout", "--quiet", "other")
        watch.wait_for("2 jobs unchanged")
        assert status(repository) == ""


def test_a_commit_becomes_what_is_compared_with(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        watch.wait_for("1 job restarts")
        repository.commit()
        assert "ml/llm in prod is as in HEAD\n" in watch.wait_for("no job changes")


def test_a_rebase_is_waited_for(repository):
    repository.git("checkout", "--quiet", "-b", "mine")
    repository.write("jobs/llm.yaml", job("llm", nodes=8))
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.write("jobs/llm.yaml", job("llm", nodes=4))
    repository.commit()
    repository.git("checkout", "--quiet", "mine")
    subprocess.run([sys.executable, "-m", "trainform", "render"], cwd=repository.root, check=True, capture_output=True)
    repository.commit()
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        with suppress(subprocess.CalledProcessError):
            repository.git("rebase", "main")
        assert "<<<<<<<" in (repository.root / "jobs/llm.yaml").read_text()
        watch.wait_for("waiting: a rebase is in progress")
        repository.git("rebase", "--abort")
        told = watch.wait_for("1 job unchanged")
        assert "error" not in told
        assert status(repository) == ""


def test_the_lock_is_free_between_runs(repository):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        ran = subprocess.run(
            [sys.executable, "-m", "trainform", "upgrade", "--all"], cwd=repository.root, capture_output=True, text=True
        )
        assert ran.returncode == 0
        assert "waiting" not in ran.stderr


ENDINGS: dict[str, Callable[[Watch], tuple[int, str]]] = {"Ctrl-C": Watch.press_ctrl_c, "kill -INT": Watch.interrupt}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_an_interrupt_between_runs_leaves_nothing_behind(repository, ending):
    with Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        code, told = ending(watch)
    assert (code, told.strip()) == (130, "")
    assert status(repository) == ""


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_an_interrupt_within_a_run_leaves_nothing_behind(repository, ending):
    repository.write("jobs/more.yaml", job("more"))
    path = mutex_path(str(repository.root))
    assert path
    with FileLock(path), Watch(repository.root, "render", "--watch") as watch:
        watch.wait_for("waiting for another trainform run in this repository")
        code, told = ending(watch)
    assert (code, told.strip()) == (130, "")
    assert status(repository) == "?? jobs/more.yaml\n"


def test_a_repository_that_is_deleted_ends_the_watch(repository, tmp_path):
    with Watch(tmp_path, "render", "--watch", "--root", str(repository.root)) as watch:
        watch.wait_for(READY)
        shutil.rmtree(repository.root)
        code, told = watch.ended()
        assert code == 2
        assert f"{repository.root} is gone" in told


def test_nobody_reads_on(repository):
    """As in `trainform render --watch | head -1`."""
    command = [sys.executable, "-m", "trainform", "render", "--watch"]
    with subprocess.Popen(command, cwd=repository.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watch:
        assert watch.stdout
        assert watch.stderr
        watch.stdout.close()
        assert watch.stderr.read() == b""
        assert watch.wait() != 70


def test_a_stream_that_is_closed_is_an_empty_one(repository):
    """As in `trainform render --watch >&-`."""
    save(repository, "jobs/llm.yaml", job("llm", nodes=4))
    command = ["sh", "-c", 'exec "$0" -m trainform render --watch >&-', sys.executable]
    with subprocess.Popen(command, cwd=repository.root, stderr=subprocess.PIPE) as watch:
        assert watch.stderr
        end = time.monotonic() + PATIENCE
        while "parallelism: 4" not in manifest(repository) and watch.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        watch.kill()
        assert "parallelism: 4" in manifest(repository)
        assert b"Traceback" not in watch.stderr.read()


def test_some_environments_and_jobs(repository):
    repository.write("environments/lab/environment.yaml", environment().replace("prod", "lab"))
    repository.write("jobs/more.yaml", job("more"))
    with Watch(repository.root, "render", "--watch", "--env", "lab", "more") as watch:
        assert "wrote rendered/lab/ml/more/jobset-more.yaml\n" in watch.wait_for(READY)
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        save(repository, "jobs/more.yaml", job("more", nodes=4))
        assert "wrote rendered/lab/ml/more/jobset-more.yaml\n" in watch.wait_for("new job")
    assert not (repository.root / "rendered/lab/ml/llm").exists()


def test_before_the_first_commit_and_without_git(repository):
    shutil.rmtree(repository.root / ".git")
    with Watch(repository.root, "render", "--watch") as watch:
        assert watch.wait_for(READY).startswith("1 job unchanged\nwatching")
        save(repository, "jobs/llm.yaml", job("llm", nodes=4))
        watch.wait_for(WROTE.strip())
