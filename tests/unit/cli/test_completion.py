"""What a shell offers after the Tab key."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.repositories import environment, job, runtime

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team-b, namespace: ml}
spec: {clusterQueue: all}
"""


@pytest.fixture
def offered(root, trainform):
    """The words for a command line whose last word is not complete."""
    (root / "runtimes").mkdir()
    (root / "environments/prod").mkdir(parents=True)
    text = environment() + "  scheduling: {kueue: {localQueue: team-a}}\n"
    (root / "environments/prod/environment.yaml").write_text(text)
    (root / "runtimes/torch.yaml").write_text(runtime())
    (root / "jobs/llm.yaml").write_text(job("llm"))
    assert trainform("render").code == 0
    (root / "jobs/new.yaml").write_text(job("new"))
    (root / "environments/prod/queues.yaml").write_text(QUEUE)

    def words(line: str, shell: str = "bash") -> list[str]:
        *_, last = line.split(" ")
        variables = {
            "_TRAINFORM_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": f"trainform {line}",
            "COMP_CWORD": last if shell == "fish" else str(len(line.split(" "))),
        }
        command = [sys.executable, "-c", "import sys; from trainform.cli.main import run; sys.exit(run([]))"]
        ran = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False, cwd=root)
        assert ran.stderr == ""
        lines = ran.stdout.splitlines()
        if shell == "zsh":  # three lines for each: its type, its name, its help
            return lines[1::3]
        return [each.partition(",")[2].partition("\t")[0] for each in lines if each]

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
        ("run ml/", ["ml/llm"]),
        ("status l", ["llm"]),
        ("status --env p", ["prod"]),
        ("retire --keep l", ["llm"]),
        ("job new new --runtime jax", ["jax-distributed"]),
        ("job new new --queue ", ["team-a", "team-b"]),
        ("explain TF10", [f"TF10{digit}" for digit in range(1, 9)]),
        ("explain PET_NN", ["PET_NNODES"]),
        ("explain ", ["jobs/llm.yaml", "jobs/new.yaml", "llm", "ml/llm"]),
        ("facts pull --without No", ["Node", "NodePool"]),
    ],
)  # fmt: skip
def test_names_of_the_repository(offered, line, words):
    assert offered(line) == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_the_names(offered, shell):
    assert offered("run l", shell) == ["llm"]
    assert offered("explain TF61", shell) == [f"TF61{digit}" for digit in range(10)]


def test_names_that_a_shell_would_obey_are_not_offered(offered, root):
    (root / ".trainform/locks/prod/ml/ev\x1bil.lock").write_text("")
    assert offered("explain ev") == []
