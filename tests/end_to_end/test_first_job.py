"""`docs/first-job.md` is done literally: in a shell, from a clone and an empty folder to a merged job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.markdown import ROOT
from support.stories import ALONE, CLONE, Place, Said, play, stories

OF_A_CLONE = (
    *("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE"),
    *("compiler", "plugins", "runtimes", "docs"),
)
"""What of a clone is installed."""

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip takes nothing from the network. `PIP_NO_BUILD_ISOLATION=0` is how pip's own variable says "no isolation"."""


class Shell:
    """A shell that stays open, as a terminal does: a folder or an environment that a line enters holds for the next."""

    END = "end of the command:"

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            ["sh"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def say(self, line: str) -> Said:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{{ {line}\n}} </dev/null\nprintf '\\n{self.END} %s\\n' $?\n")
        self.process.stdin.flush()
        text = ""
        for read in self.process.stdout:
            if read.startswith(self.END):
                return Said(int(read.removeprefix(self.END)), text.removesuffix("\n"))
            text += read
        raise AssertionError(f"the shell ended in: {line}\n{text}")

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell beside a clone of trainform. What trainform needs is found where these tests find it, without network."""
    pytest.importorskip("ensurepip")
    for name in OF_A_CLONE:
        source, target = ROOT / name, tmp_path / "trainform" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(source, target)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    environment = {
        **os.environ,
        **ALONE,
        **OFFLINE,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": packages,
    }
    found = Shell(tmp_path, environment)
    yield found
    found.close()


def test_the_first_page_leads_to_a_merged_job(shell: Shell, tmp_path: Path, request: pytest.FixtureRequest):
    (story,) = stories(ROOT / "docs" / "first-job.md")
    assert story.begins == CLONE
    play(story.steps, Place(tmp_path, shell.say, request.config.getoption("--update-golden")))
    assert (tmp_path / "training/rendered/prod/ml/llm/jobset-llm.yaml").is_file()
    installed = next((tmp_path / "trainform-env").rglob("trainform/__init__.py"))
    assert "site-packages" in installed.parts
    assert shell.say("git branch --show-current && git status --porcelain").text == "main\n"
    assert shell.say("trainform check").code == 0
