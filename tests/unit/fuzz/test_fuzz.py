"""A little fuzzing in every test run: the kept cases, and the first ones of a fixed seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
CORPUS = TESTS / "fuzz" / "corpus"


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, since it forks."""
    paths = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    command = [sys.executable, "-m", "fuzz", *arguments]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)


def test_the_kept_cases_break_no_promise():
    ran = fuzz("--replay", str(CORPUS))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("targets", "cases"),
    [
        (("repositories",), 25),
        (("loader", "emitter", "patches", "templates", "lockfiles", "settings"), 200),
        (("streams",), 40),
    ],
    ids=["repositories", "parsers", "streams"],
)
def test_the_first_cases_of_a_seed_break_no_promise(targets, cases, tmp_path):
    chosen = (word for target in targets for word in ("--target", target))
    ran = fuzz(*chosen, "--cases", str(cases), "--seed", "3", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stderr


def test_it_says_how_inputs_are_chosen(tmp_path):
    ran = fuzz("--target", "settings", "--minutes", "0.005", "--no-coverage", "--out", str(tmp_path))
    assert "chosen by chance, not by coverage" in ran.stderr


def test_a_kept_case_that_fails_is_told(tmp_path):
    case = tmp_path / "case.json"
    case.write_text('{"steps": [{"arguments": ["validate", "--format", "json", "--fail-on"]}], "files": {}}')
    assert fuzz("--replay", str(case)).returncode == 0
    (tmp_path / "empty").mkdir()
    assert fuzz("--replay", str(tmp_path / "empty")).returncode == 1


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 300_000
