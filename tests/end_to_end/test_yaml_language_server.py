"""A new repository in an editor: what the real yaml-language-server completes, shows and underlines.

Runs where `yaml-language-server` is on the PATH, or where the variable YAML_LANGUAGE_SERVER names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from support.yaml_server import Squiggle, YamlServer, command, yaml_server
from trainform.cli.main import run

PROGRAM = command()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="yaml-language-server is not installed")

MARK = "‸"
"""Where the cursor is."""

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: llm
spec:
  runtimeRef:
    name: torch-distributed
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: mine
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          spec:
            template:
              spec:
"""
POD = " " * 16
"""Before a field of the pod in the runtime."""

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata:
  name: prod
spec:
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    assert run(("init", str(folder))) == 0
    return folder


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[YamlServer]:
    """With the settings that `init` writes for VS Code."""
    assert PROGRAM
    chosen = json.loads((root / ".vscode/settings.json").read_text())
    with yaml_server(PROGRAM, root, chosen) as running:
        yield running


@pytest.fixture(scope="module")
def plain(root: Path) -> Iterator[YamlServer]:
    """Without any settings, as another editor starts it."""
    assert PROGRAM
    with yaml_server(PROGRAM, root, {}) as running:
        yield running


def cursor(text: str) -> tuple[str, int, int]:
    """The text without its mark, and the mark's line and column."""
    before, _, after = text.partition(MARK)
    return before + after, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


@pytest.mark.parametrize(
    ("file", "text", "offered"),
    [
        ("jobs/a.yaml", "‸\n", {"apiVersion", "kind"}),
        ("jobs/a.yaml", "kind: ‸\n", {"TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "Environment"}),
        ("jobs/a.yaml", f"{JOB}  trainer:\n    ‸\n", {"image", "command", "args", "numNodes", "resourcesPerNode"}),
        ("jobs/a.yaml", f"{JOB}    kind: ‸\n", {"TrainingRuntime", "ClusterTrainingRuntime"}),
        ("jobs/a.yaml", f"{JOB}  trainer:\n    resourcesPerNode:\n      ‸\n", {"limits", "requests"}),
        ("runtimes/a.yaml", f"{RUNTIME}{POD}‸\n", {"containers", "volumes", "nodeSelector"}),
        ("runtimes/a.yaml", f"{RUNTIME}{POD}restartPolicy: ‸\n", {"Always", "Never", "OnFailure"}),
        ("runtimes/a.yaml", f"{RUNTIME}{POD}containers:\n{POD}- name: node\n{POD}  ‸\n",
         {"image", "env", "volumeMounts"}),
        ("environments/prod/environment.yaml", f"{ENVIRONMENT}  gitops:\n    engine: ‸\n", {"argocd", "flux"}),
        ("jobs/a.yaml", f"{JOB}---\n{ENVIRONMENT}  namespace: a\n  ‸\n", {"scheduling", "gitops"}),
        ("trainform.yaml", "‸\n", {"jobs", "lints", "plugins"}),
        ("trainform.yaml", "lints:\n  ‸\n", {"TF604", "TF608"}),
        ("trainform.yaml", "lints:\n  TF608: ‸\n", {"error", "warning", "info"}),
    ],
)  # fmt: skip
def test_what_is_completed(server, file, text, offered):
    whole, line, column = cursor(text)
    server.open(file, whole)
    assert offered <= set(server.complete(file, line, column))


@pytest.mark.parametrize(
    ("file", "text", "shown"),
    [
        ("jobs/b.yaml", f"{JOB}  trainer:\n    numN‸odes: 2\n", ["The number of training nodes", "Example:"]),
        ("jobs/b.yaml", f"{JOB}  trainer:\n    resourcesPerNode:\n      lim‸its: {{cpu: 1}}\n",
         ["Limits describes the maximum amount of compute resources allowed."]),
        ("runtimes/b.yaml", f"{RUNTIME}{POD}serviceAcc‸ountName: a\n",
         ["ServiceAccountName is the name of the ServiceAccount"]),
        ("environments/prod/environment.yaml", f"{ENVIRONMENT}  gitops:\n    nam‸ing: stable\n",
         ["so that a changed job is a new object", "Allowed Values:", "content-hash"]),
        ("trainform.yaml", "lints:\n  TF6‸08: info\n", ["image without a digest"]),
    ],
)  # fmt: skip
def test_what_is_shown_of_a_field(server, file, text, shown):
    whole, line, column = cursor(text)
    server.open(file, whole)
    found = server.hover(file, line, column).replace("\\", "")
    assert [each for each in shown if each not in found] == []


@pytest.mark.parametrize(
    ("file", "text", "place", "said"),
    [
        ("jobs/c.yaml", f"{JOB}  trainer:\n    imag: x\n", (9, 5), "Property imag is not allowed."),
        ("jobs/c.yaml", f"{JOB}  trainer:\n    numNodes: two\n", (9, 15), "Incorrect type. Expected one of integer"),
        ("jobs/c.yaml", f"{JOB}  trainer:\n    numNodes: 0\n", (9, 15), "Value is below the minimum of 1."),
        ("jobs/c.yaml", JOB.replace("v1alpha1", "v2alpha1"), (1, 13), 'Value must be "trainer.kubeflow.org/v1alpha1".'),
        ("jobs/c.yaml", f"{ENVIRONMENT}  gitops: {{}}\n---\n{JOB}  trainr: {{}}\n", (15, 3),
         "Property trainr is not allowed."),
        ("runtimes/c.yaml", f"{RUNTIME}{POD}containers:\n{POD}- image: a\n", (15, 19),
         'Missing property "name".'),
        ("environments/prod/environment.yaml", f"{ENVIRONMENT}  gitops: {{engine: argo}}\n", (6, 20),
         "Value is not accepted."),
        ("trainform.yaml", "job: jobs\n", (1, 1), "Property job is not allowed."),
    ],
)  # fmt: skip
def test_what_is_underlined(server, file, text, place, said):
    (found,) = server.open(file, text)
    assert (found.line, found.column) == place
    assert found.message.startswith(said)


def test_nothing_is_underlined_in_what_init_writes(server, root):
    files = [path for path in root.rglob("*.yaml") if not {".github", ".pre-commit-config.yaml"} & {*path.parts}]
    found = {path.name: server.open(str(path.relative_to(root)), path.read_text()) for path in files}
    assert {"trainform.yaml", "environment.yaml", "hello.yaml"} <= found.keys()
    assert {name: each for name, each in found.items() if each} == {}


def test_other_kinds_beside_a_job_are_left_alone(server):
    text = JOB + dedent(
        """\
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: settings}
        data: {a: b}
        """
    )
    assert server.open("jobs/d.yaml", text) == []


def test_a_modeline_is_enough_without_any_settings(plain, root):
    text = (root / "jobs/hello.yaml").read_text()
    line = text.splitlines().index("  trainer:") + 2
    assert plain.open("jobs/hello.yaml", text) == []
    wrong = text.replace("    numNodes: 2", "    numNods: 2")
    assert plain.open("jobs/wrong.yaml", wrong) == [Squiggle(line, 5, "Property numNods is not allowed.")]
    assert "numNodes" in plain.complete("jobs/wrong.yaml", line, 5)
