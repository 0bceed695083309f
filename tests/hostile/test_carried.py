"""A generator carries no file from outside of the job's folder, waits for nothing, and takes no more than its share."""

from __future__ import annotations

import os

import pytest

from support.attacks import COMMANDS, SECRET, Victim

GENERATOR = """\
---
apiVersion: trainform.dev/v1alpha1
kind: ConfigMapGenerator
metadata: {name: files}
files: [FILE]
"""


def carry(victim: Victim, file: str) -> None:
    path = victim.root / "jobs" / "new.yaml"
    path.write_text(
        (victim.root / "jobs" / "llm.yaml").read_text().replace("llm", "new") + GENERATOR.replace("FILE", file)
    )


def assert_nothing_is_carried(victim: Victim) -> None:
    before = victim.everything()
    for command in COMMANDS:
        ended = victim.trainform(command)
        assert SECRET not in ended.output, command
        assert victim.everything() == before, command
    assert "error TF" in victim.trainform("validate").output


@pytest.mark.parametrize(
    "way", ["../../outside/secret", "/etc/hostname", "x=../runtimes/torch.yaml", "a\\..\\b", "~/x"]
)
def test_no_path_leads_out_of_the_jobs_folder(victim, way):
    carry(victim, way)
    assert_nothing_is_carried(victim)


def test_no_link_is_followed_out_of_the_repository(victim):
    outside = victim.root.parent / "of-somebody-else.txt"
    outside.write_text(SECRET)
    victim.link("jobs/train.py", outside)
    carry(victim, "train.py")
    assert_nothing_is_carried(victim)


@pytest.mark.parametrize("name", [".git/config", ".GIT/config", "git~1/config"])
def test_gits_own_folder_is_not_carried(victim, name):
    (victim.root / "jobs" / ".git").mkdir()
    (victim.root / "jobs" / ".git" / "config").write_text(SECRET)
    carry(victim, name)
    assert_nothing_is_carried(victim)


def test_a_pipe_is_not_waited_for(victim):
    os.mkfifo(victim.root / "jobs" / "train.py")
    carry(victim, "train.py")
    assert_nothing_is_carried(victim)


def test_many_generators_of_one_large_file_read_it_a_few_times(victim):
    (victim.root / "jobs" / "large.bin").write_bytes(b"x" * 2**25)
    carry(victim, "large.bin")
    path = victim.root / "jobs" / "new.yaml"
    path.write_text(path.read_text() + GENERATOR.replace("FILE", "large.bin") * 500)
    ended = victim.trainform("validate --format json")
    assert "64 MiB that the generators of a file may carry" in ended.output
