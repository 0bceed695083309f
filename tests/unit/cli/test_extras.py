"""Who imports the packages of the extras: only the commands that need them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.repositories import Repository, environment, job, runtime
from trainform.cli.app import COMMANDS

EXTRAS = ("cryptography", "kubeflow", "kubernetes", "pygls", "pyrage", "torch", "urllib3", "watchfiles")

RUNS = {
    "capacity": ["capacity"],
    "check": ["check"],
    "ci": ["ci"],
    "cmp": ["cmp", "discover"],
    "completion": ["completion", "bash"],
    "diff": ["diff"],
    "explain": ["explain", "llm"],
    "facts": ["facts", "pull", "--rbac"],
    "init": ["init", "new"],
    "job": ["job", "new", "more", "--command", "torchrun train.py"],
    "keys": ["keys"],
    "krm": ["krm"],
    "lsp": ["lsp", "--help"],
    "migrate": ["migrate", "old.yaml"],
    "plugins": ["plugins"],
    "render": ["render"],
    "report": ["report", "--output", "report.html"],
    "rerun": ["rerun", "llm"],
    "retire": ["retire", "llm", "--dry-run"],
    "run": ["run", "llm", "--nodes", "1", "--image-as-is"],
    "runtimes": ["runtimes"],
    "schema": ["schema", "any"],
    "status": ["status", "--rbac"],
    "upgrade": ["upgrade", "--all"],
    "validate": ["validate"],
}
"""A run of each command that needs no cluster, and no key to make."""

STREAM = {"krm": "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"}
"""What a command reads."""

OLD = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: old}
spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, image: example/img:1}]}}}}}
"""


@pytest.fixture
def repository(root: Path, trainform) -> Repository:
    found = Repository(root)
    found.start_git()
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm").replace("  trainer:\n", "  trainer:\n    command: ['true']\n"))
    found.write("old.yaml", OLD)
    (root / "new").mkdir()
    assert trainform("render").code == 0
    found.commit()
    return found


def test_every_command_has_a_run():
    assert [*RUNS] == [*COMMANDS]


@pytest.mark.parametrize("command", RUNS)
def test_a_command_imports_no_extra_that_it_does_not_need(repository, command):
    code = (
        "import sys; from trainform.cli.main import run; code = run(sys.argv[1:]); "
        f"print(code, *[each for each in {EXTRAS} if each in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *RUNS[command]],
        cwd=repository.root,
        input=STREAM.get(command, ""),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stderr.splitlines()[-1] == "0", ran.stderr
