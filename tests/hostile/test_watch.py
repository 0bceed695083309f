"""`trainform render --watch` in a repository whose files a stranger made: nothing outside of it is watched, no name
commands the terminal, and what is written is no reason to write again."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from support.attacks import Victim
from support.repositories import job
from support.watching import Watch
from trainform.workspace.watch.places import places_of

READY = "watching for changes"


def watched(victim: Victim) -> set[str]:
    return {os.path.relpath(folder, victim.root) for folder in places_of(str(victim.root)).folders}


@pytest.mark.parametrize("place", ["jobs", "runtimes", "environments", "jobs/team", "jobs/link.yaml"])
@pytest.mark.parametrize("target", ["/", "..", "../..", ".git", "../outside", "/proc/self", "/dev"])
def test_no_link_leads_the_watch_out_of_the_repository_or_into_git(victim: Victim, place: str, target: str) -> None:
    """`/` would be every folder of the machine."""
    if not target.startswith("/"):
        target = str(victim.root / target)
    victim.link(place, target)
    assert [folder for folder in watched(victim) if folder.startswith((".", "/"))] == []


def test_links_in_a_circle_end(victim: Victim) -> None:
    for number in range(10):
        victim.write(f"jobs/{number}/job.yaml", job(f"llm-{number}"))
        for other in range(10):
            victim.link(f"jobs/{number}/to-{other}", f"../{other}")
    assert watched(victim) == {"environments", "environments/prod", "jobs", "runtimes"} | {
        f"jobs/{n}" for n in range(10)
    }


@pytest.mark.parametrize("setting", ["jobs: /", "jobs: ..", "jobs: .git", "jobs: .", "jobs: [", "jobs: 'a\\0b'"])
def test_settings_do_not_lead_out_either(victim: Victim, setting: str) -> None:
    victim.write("trainform.yaml", setting.replace("\\0", "\0"))
    assert [folder for folder in watched(victim) if folder.startswith(("..", ".git", "/"))] == []


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def test_no_name_of_a_file_commands_the_terminal(victim: Victim) -> None:
    names = ["a\x1b]0;owned\x07.yaml", "b\n::error::forged.yaml", "c\u202elmay.yaml", "d\r.yaml"]
    with Watch(victim.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        for name in names:
            (victim.root / "jobs" / name).write_text(job("broken", nodes="many"))
        (victim.root / "jobs" / os.fsdecode(b"e\xff.yaml")).write_text("{")
        (victim.root / "jobs" / "f\x1b[2J").mkdir()
        watch.wait_for("nothing was written because of the errors above")
        for name in names:
            (victim.root / "jobs" / name).unlink()
        (victim.root / "jobs" / os.fsdecode(b"e\xff.yaml")).unlink()
        watch.wait_for("1 job unchanged")
    assert CONTROL.search(watch.output) is None
    assert not [line for line in watch.output.splitlines() if line.startswith("::")]


def test_a_folder_of_any_name_is_watched(victim: Victim) -> None:
    odd = victim.root / "jobs" / os.fsdecode(b"d\xff")
    with Watch(victim.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        odd.mkdir()
        (odd / "more.yaml").write_text(job("more"))
        watch.wait_for("1 new job")
        (odd / "more.yaml").write_text(job("more", nodes=3))
        watch.wait_for("asks for 3 pods")


def test_what_is_not_a_plain_file_is_survived(victim: Victim) -> None:
    with Watch(victim.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        os.mkfifo(victim.root / "jobs/pipe.yaml")
        watch.wait_for("nothing was written because of the errors above")
        (victim.root / "jobs/pipe.yaml").unlink()
        watch.wait_for("1 job unchanged")


def test_a_watch_of_its_own_output_ends_by_itself(victim: Victim) -> None:
    """A link brings `rendered/` into the folder of jobs: a run that writes makes another run, and that one writes
    nothing."""
    victim.link("jobs/loop", "../rendered")
    with Watch(victim.root, "render", "--watch") as watch:
        watch.wait_for(READY)
        victim.write("jobs/llm.yaml", job("llm", nodes=4))
        watch.wait_for("1 job restarts")
        watch.wait_for("1 job unchanged")
        victim.write("jobs/llm.yaml", job("llm", nodes=5))
        told = watch.wait_for("1 job restarts")
    assert told.count("unchanged") <= 1


def test_a_module_in_the_current_folder_is_not_imported(victim: Victim, tmp_path: Path) -> None:
    """Each run starts an interpreter."""
    for module in ("signal", "yaml", "multiprocessing", "trainform"):
        victim.write(f"{module}.py", f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    with Watch(victim.root, "render", "--watch", PYTHONSAFEPATH="1") as watch:
        watch.wait_for(READY)
    assert not (tmp_path / "imported").exists()
