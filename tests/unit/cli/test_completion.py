"""What a shell offers after the Tab key."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.repositories import environment, job, runtime


@pytest.fixture
def offered(root, trainform):
    """The words for a command line whose last word is not complete."""
    (root / "runtimes").mkdir()
    (root / "environments/prod").mkdir(parents=True)
    (root / "environments/prod/environment.yaml").write_text(environment())
    (root / "runtimes/torch.yaml").write_text(runtime())
    (root / "jobs/llm.yaml").write_text(job("llm"))
    assert trainform("render").code == 0
    (root / "jobs/new.yaml").write_text(job("new"))

    def words(line: str) -> list[str]:
        variables = {
            "_TRAINFORM_COMPLETE": "bash_complete",
            "COMP_WORDS": f"trainform {line}",
            "COMP_CWORD": str(len(line.split(" "))),
        }
        command = [sys.executable, "-c", "import sys; from trainform.cli.main import run; sys.exit(run([]))"]
        ran = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False, cwd=root)
        assert ran.stderr == ""
        return [each.partition(",")[2] for each in ran.stdout.splitlines() if each]

    return words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rend", ["render"]),
        ("explain l", ["llm"]),
        ("render ml/", ["ml/llm"]),
        ("render jobs/", ["jobs/llm.yaml", "jobs/new.yaml"]),
        ("upgrade --env p", ["prod"]),
        ("--env p", ["prod"]),
        ("upgrade --runtime tor", ["torch", "torch-distributed", "torch-distributed-with-cache",
                                   "torchtune-llama3.2-1b", "torchtune-llama3.2-3b", "torchtune-qwen2.5-1.5b"]),
        ("runtimes show jax", ["jax-distributed"]),
    ],
)  # fmt: skip
def test_names_of_the_repository(offered, line, words):
    assert offered(line) == words


def test_names_that_a_shell_would_obey_are_not_offered(offered, root):
    (root / ".trainform/locks/prod/ml/ev\x1bil.lock").write_text("")
    assert offered("explain ev") == []
