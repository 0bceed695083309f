"""What is offered at the cursor `‸`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editor import snapshot_of
from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.diagnostics import Position
from trainform.editor.features.completion import Offer, completion

ROOT = Path(__file__).parents[3]
OWN = "environments/prod/environment.yaml"
FACTS = "environments/prod/facts.yaml"
NODES = """\
apiVersion: trainform.dev/v1alpha1
kind: NodePool
metadata: {name: big}
spec:
  count: 4
  labels: {example.com/gpu: h100, example.com/rack: r1}
  allocatable: {cpu: 96, nvidia.com/gpu: 8, example.com/nic: 4}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: example.com/block}, {nodeLabel: example.com/rack}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 5
"""
REPOSITORY = {
    "runtimes/torch.yaml": RUNTIME,
    "runtimes/own.yaml": RUNTIME.replace("ClusterTrainingRuntime", "TrainingRuntime").replace(
        "  name: torch\n", "  name: own\n  namespace: ml\n"
    ),
    "runtimes/other.yaml": RUNTIME.replace("ClusterTrainingRuntime", "TrainingRuntime").replace(
        "  name: torch\n", "  name: other\n  namespace: elsewhere\n"
    ),
    OWN: ENVIRONMENT,
    "environments/prod/queues.yaml": QUEUES,
    FACTS: NODES,
    "jobs/first.yaml": job("first"),
}
PATCH = """\
runtimePatches:
- manager: example.com/me
  trainingRuntimeSpec:
    template:
      spec:
        replicatedJobs:
        - name: """


def offers(root: Path, file: str, text: str) -> list[Offer]:
    here = marked(root, {**REPOSITORY, file: text})
    found = completion(here.snapshot, here.file, here.at)
    return found.offers if found else []


def labels(root: Path, file: str, text: str) -> list[str]:
    return [each.label for each in offers(root, file, text)]


LIMITS = "trainer:\n  resourcesPerNode:\n    limits:\n      nvidia.com/gpu: 8\n      "
POD = f"{PATCH}node\n          template: {{spec: {{template: {{spec: {{"
FIELDS = ["initializer", "trainer", "runtimePatches", "suspend", "activeDeadlineSeconds", "managedBy"]
LABELS = ["example.com/block", "example.com/gpu", "example.com/rack"]
TORCH = ["torch", "torch-distributed", "torch-distributed-with-cache"]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        pytest.param("‸", FIELDS, id="fields that are not there yet"),
        pytest.param("trainer:\n  nu‸", ["numNodes", "numProcPerNode"], id="fields that begin as typed"),
        pytest.param("trainer: {image: a, n‸}", ["numNodes", "numProcPerNode"], id="fields in braces"),
        pytest.param("trainer: {image: a, n‸", ["numNodes", "numProcPerNode"], id="fields in open braces"),
        pytest.param("suspend: ‸", ["true", "false"], id="true and false"),
        pytest.param("runtimeRef: {kind: ‸}", ["ClusterTrainingRuntime", "TrainingRuntime"], id="an enum"),
        pytest.param("runtimeRef: {name: torch‸}", TORCH, id="runtimes, also those that ship with trainform"),
        pytest.param("runtimeRef: {kind: TrainingRuntime, name: ‸}", ["own"], id="the runtimes of the namespace"),
        pytest.param("runtimeRef:\n  kind: TrainingRuntime\n  name: ‸\n", ["own"], id="the same in lines"),
        pytest.param(f"{LIMITS}‸", ["cpu", "memory", "ephemeral-storage", "example.com/nic"], id="resources of nodes"),
        pytest.param("trainer:\n  env:\n  - name: PET_NN‸", ["PET_NNODES"], id="variables of frameworks"),
        pytest.param("trainer:\n  env:\n  - ‸", ["name", "value", "valueFrom"], id="the fields of an entry"),
        pytest.param(f"{PATCH}‸", ["node"], id="the steps of the runtime"),
        pytest.param(f"{POD}containers: [{{name: ‸", ["node"], id="the containers of a step"),
        pytest.param(f"{POD}nodeSelector: {{‸", LABELS, id="the labels of nodes"),
        pytest.param(f"{POD}nodeSelector: {{example.com/gpu: ‸", ["h100"], id="the values of a label"),
        pytest.param("trainer: {image: ‸}", [], id="nothing for text that may be anything"),
        pytest.param("trainer: # ‸", [], id="nothing in a comment"),
    ],
)
def test_in_a_job(tmp_path, spec, found):
    text = job(spec=spec if "runtimeRef" in spec else f"runtimeRef: {{name: torch}}\n{spec}")
    shown = labels(tmp_path, "jobs/llm.yaml", text.rstrip("\n") if spec.endswith("‸") else text)
    assert [label for label in shown if "torchtune" not in label] == found


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        pytest.param("jobs/new.yaml", "‸", ["apiVersion", "kind"], id="the head of a new file"),
        pytest.param("jobs/new.yaml", "kind: Train‸", ["TrainJob", "TrainingRuntime"], id="the kinds of documents"),
        pytest.param(OWN, ENVIRONMENT.replace("team-a", "‸"), ["team-a"], id="queues"),
        pytest.param(OWN, ENVIRONMENT.replace("high", "‸"), ["high"], id="priority classes of Kueue"),
        pytest.param(OWN, ENVIRONMENT.replace("name: prod", "name: ‸"), ["prod"], id="the name of an Environment"),
        pytest.param(OWN, ENVIRONMENT + "    gang: {scheduler: k‸", ["kai"], id="gang schedulers"),
        pytest.param(
            OWN,
            ENVIRONMENT.replace("priorityClass: high", "topology: {required: ‸}"),
            ["example.com/block", "example.com/rack"],
            id="levels of topologies",
        ),
        pytest.param(
            OWN, ENVIRONMENT.replace("priorityClass: high", "steps: {‸}"), ["node"], id="steps of the runtimes in use"
        ),
        pytest.param(
            OWN,
            ENVIRONMENT + "  patches:\n  - target: {kind: JobSet, name: ‸}\n",
            ["first"],
            id="jobs as targets of a patch",
        ),
        pytest.param(
            OWN,
            ENVIRONMENT + "  patches:\n  - target: {kind: ‸, name: first}\n",
            ["JobSet", "ConfigMap", "ExternalSecret", "SealedSecret", "PersistentVolumeClaim"],
            id="kinds of objects as targets of a patch",
        ),
        pytest.param(
            OWN,
            ENVIRONMENT + "  patches:\n  - target: {kind: JobSet}\n    patch: {spec: {sus‸}}\n",
            ["suspend"],
            id="fields of the patched object",
        ),
        pytest.param(OWN, ENVIRONMENT + "  prices: {flavors: {‸", ["h100"], id="flavors"),
        pytest.param(
            "runtimes/torch.yaml",
            RUNTIME.replace("image: example", "priorityClassN‸ame: x #"),
            [],
            id="no field of a pod in a container",
        ),
        pytest.param(
            "runtimes/torch.yaml",
            RUNTIME.replace("containers:", "priorityClassName: ‸\n                containers:"),
            ["urgent"],
            id="priority classes in a pod template",
        ),
        pytest.param(
            "runtimes/torch.yaml",
            RUNTIME.replace(
                "- name: node\n                  ", "- name: node\n                  imagePull‸\n                  "
            ),
            ["imagePullPolicy"],
            id="fields of a pod template",
        ),
        pytest.param(
            "runtimes/torch.yaml",
            RUNTIME.replace("ancestor-step: trainer", "ancestor-step: tr‸"),
            ["trainer"],
            id="steps of the training",
        ),
        pytest.param(
            "jobs/llm.yaml",
            job(metadata="labels:\n  kueue.x-k8s.io/q‸"),
            ["kueue.x-k8s.io/queue-name"],
            id="labels that the compiler reads",
        ),
        pytest.param("trainform.yaml", "job‸", ["jobs"], id="settings of the repository"),
        pytest.param(
            FACTS,
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nspec: {clusterQueue: ‸}",
            ["shared"],
            id="facts that facts name",
        ),
    ],
)
def test_in_other_files(tmp_path, file, text, found):
    assert labels(tmp_path, file, text) == found


def test_an_offer_says_what_it_is_and_what_it_inserts(tmp_path):
    [number, _] = offers(tmp_path, "jobs/llm.yaml", job(spec="trainer:\n  num‸\n"))
    assert number.insert == "numNodes: "
    assert (number.kind, number.detail) == ("field", "integer")
    assert number.text.startswith("The number of training nodes, at least 1; each is a pod.")
    [limits] = offers(tmp_path, "jobs/llm.yaml", job(spec="trainer: {resourcesPerNode: {lim‸}}"))
    assert limits.insert == "limits:"


def test_a_key_that_has_its_colon_gets_no_second_one(tmp_path):
    assert [each.insert for each in offers(tmp_path, "jobs/llm.yaml", job(spec="trainer: {numN‸: 4}"))] == ["numNodes"]


def test_required_fields_come_first(tmp_path):
    assert labels(tmp_path, OWN, "apiVersion: trainform.dev/v1alpha1\nkind: Environment\n‸") == ["metadata", "spec"]


@pytest.mark.parametrize("file", ["jobs/nlp/llama-lora.yaml", "runtimes/torch-distributed.yaml"])
def test_it_never_fails_however_much_is_typed(file):
    text = (ROOT / file).read_text()
    for end in range(0, len(text), 7):
        snapshot = snapshot_of(ROOT, {file: text[:end]})
        line, start = text.count("\n", 0, end) + 1, text.rfind("\n", 0, end) + 1
        completion(snapshot, file, Position(line, end - start + 1))
