"""What `./dev demo` tells to try next."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ("jobs", "runtimes", "environments", "rendered", ".trainform", "trainform.yaml")
TOLD = (ROOT / "dev").read_text(encoding="utf-8").partition("demo() {")[2].partition("\n}")[0]
COMMANDS = re.findall(r"^  \.venv/bin/trainform (.*?) +# ", TOLD, re.MULTILINE)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The jobs of this repository, committed."""
    folder = tmp_path / "sample"
    folder.mkdir()
    for name in filter(lambda each: (ROOT / each).exists(), SAMPLE):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for command in ("init --quiet", "add --all", "-c user.name=t -c user.email=t@example.com commit --quiet -m jobs"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works(sample, command):
    job = sample / "jobs/nlp/llama-sft.yaml"
    changed = "diff" in command
    if changed:
        job.write_text(job.read_text().replace("numNodes: 4", "numNodes: 8"))
    ran = subprocess.run(
        [sys.executable, "-m", "trainform", *shlex.split(command)],
        cwd=sample,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1 if changed else 0, "")
    if changed:
        assert "nlp/llama-sft in prod-kueue" in ran.stdout


@pytest.mark.parametrize("path", re.findall(r"(?:rendered|jobs)/\S+\.yaml", TOLD))
def test_each_file_is_there(path):
    assert (ROOT / path).is_file()
