"""A class, queue or topology that does not exist is an error at the line that names it, whoever wrote that line."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from support.scheduling import IMAGE, STEP, fact
from trainform import compile_stream

Tree = dict[str, Any]

KUEUE = "kueue.x-k8s.io/"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
KAI = "kai.scheduler/"
ABSENT = "absent-name"

LEVELS = {"levels": [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}
FACTS: dict[str, list[Tree]] = {
    "PriorityClass": [{**fact("PriorityClass", "high", version="scheduling.k8s.io/v1"), "value": 1}],
    "RuntimeClass": [{**fact("RuntimeClass", "kata", version="node.k8s.io/v1"), "handler": "kata"}],
    "WorkloadPriorityClass": [{**fact("WorkloadPriorityClass", "prod"), "value": 1}],
    "LocalQueue": [fact("LocalQueue", "team-a", {"clusterQueue": "all"}, namespace="ml")],
    "Topology": [fact("Topology", "dc", LEVELS)],
    "Volcano Queue": [fact("Queue", "team-a", {"weight": 1}, version="scheduling.volcano.sh/v1beta1")],
    "KAI Queue": [fact("Queue", "team-a", version="scheduling.run.ai/v2")],
    "KAI Topology": [fact("Topology", "dc", LEVELS, version="kai.scheduler/v1alpha1")],
}
for name in ("PriorityClass", "RuntimeClass", "WorkloadPriorityClass"):
    FACTS[name][0].pop("spec")

CODES = {
    "PriorityClass": "TF330",
    "RuntimeClass": "TF332",
    "WorkloadPriorityClass": "TF352",
    "LocalQueue": "TF350",
    "Topology": "TF353",
    "Volcano Queue": "TF362",
    "KAI Queue": "TF370",
    "KAI Topology": "TF372",
}


def on_pods(**metadata_or_spec: Any) -> Tree:
    """A template in which the pods of `node` have this."""
    pods = {"spec": {"template": metadata_or_spec}}
    return {"spec": {"replicatedJobs": [{"name": "node", "template": pods}]}}


def runtime(template: Tree | None = None, pod: Tree | None = None, annotations: Tree | None = None) -> Tree:
    pods = {
        "metadata": {"annotations": annotations or {}},
        "spec": {
            "containers": [{"name": "node", "image": IMAGE, "resources": {"requests": {"cpu": 1}}}],
            **(pod or {}),
        },
    }
    node = {"name": "node", "template": {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": pods}}}
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"metadata": template or {}, "spec": {"replicatedJobs": [node]}}}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}}
    return {**head, "spec": spec}


def job(runtime_patch: Tree | None = None, **marks: Tree) -> Tree:
    patches = [{"manager": "example.com/me", "trainingRuntimeSpec": {"template": runtime_patch}}]
    spec = {"runtimeRef": {"name": "rt"}, **({"runtimePatches": patches} if runtime_patch else {})}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    return {**head, "metadata": {"name": "llm", "namespace": "ml", **marks}, "spec": spec}


def environment(**spec: Any) -> Tree:
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}}
    return {**head, "spec": spec}


def patch_of(kind: str, patch: Tree) -> Tree:
    return {"patches": [{"target": {"kind": kind}, "patch": patch}]}


def runtime_patch_of(template: Tree) -> Tree:
    return {"runtimePatches": [{"manager": "example.com/prod", "trainingRuntimeSpec": {"template": template}}]}


def gang(scheduler: str, **settings: Any) -> Tree:
    return {"scheduling": {"gang": {"scheduler": scheduler, **settings}}}


def kueue(**settings: Any) -> Tree:
    return {"scheduling": {"kueue": settings}}


LABEL = {"labels": {f"{KUEUE}queue-name": ABSENT}}
PRIORITY = {"labels": {f"{KUEUE}priority-class": ABSENT}}
RACK = {f"{KUEUE}podset-required-topology": ABSENT}
KAI_LABEL = {"labels": {f"{KAI}queue": ABSENT}}
KAI_MARKS = {f"{KAI}topology": ABSENT, f"{KAI}topology-required-placement": "example.com/rack"}
VOLCANO_MARK = {"annotations": {VOLCANO_QUEUE: ABSENT}}

CASES: dict[str, tuple[str, Tree, Tree, Tree]] = {
    # id: kind, then job, runtime and Environment; one of them names what does not exist
    "PriorityClass of the runtime": (
        "PriorityClass", job(), runtime(pod={"priorityClassName": ABSENT}), environment(),
    ),
    "PriorityClass of a patch": (
        "PriorityClass", job(), runtime(),
        environment(**patch_of("JobSet", on_pods(spec={"priorityClassName": ABSENT}))),
    ),
    "PriorityClass of a PodGroup, in a patch": (
        "PriorityClass", job(), runtime(),
        environment(**gang("volcano"), **patch_of("PodGroup", {"spec": {"priorityClassName": ABSENT}})),
    ),
    "PriorityClass of the TrainJob, which KAI reads": (
        "PriorityClass", job(labels={"priorityClassName": ABSENT}), runtime(), environment(**gang("kai")),
    ),
    "PriorityClass of the runtime's template, which KAI reads": (
        "PriorityClass", job(), runtime({"labels": {"priorityClassName": ABSENT}}), environment(**gang("kai")),
    ),
    "RuntimeClass of the runtime": (
        "RuntimeClass", job(), runtime(pod={"runtimeClassName": ABSENT}), environment(),
    ),
    "RuntimeClass of a patch": (
        "RuntimeClass", job(), runtime(),
        environment(**patch_of("JobSet", on_pods(spec={"runtimeClassName": ABSENT}))),
    ),
    "WorkloadPriorityClass of the TrainJob": (
        "WorkloadPriorityClass", job(**PRIORITY), runtime(), environment(),
    ),
    "WorkloadPriorityClass of its runtimePatches": (
        "WorkloadPriorityClass", job({"metadata": PRIORITY}), runtime(), environment(),
    ),
    "WorkloadPriorityClass of the runtime": (
        "WorkloadPriorityClass", job(), runtime(PRIORITY), environment(),
    ),
    "WorkloadPriorityClass of the Environment": (
        "WorkloadPriorityClass", job(), runtime(), environment(**kueue(localQueue="team-a", priorityClass=ABSENT)),
    ),
    "WorkloadPriorityClass of the Environment's runtimePatches": (
        "WorkloadPriorityClass", job(), runtime(), environment(**runtime_patch_of({"metadata": PRIORITY})),
    ),
    "WorkloadPriorityClass of a patch": (
        "WorkloadPriorityClass", job(), runtime(), environment(**patch_of("JobSet", {"metadata": PRIORITY})),
    ),
    "LocalQueue of the TrainJob": ("LocalQueue", job(**LABEL), runtime(), environment()),
    "LocalQueue of its runtimePatches": ("LocalQueue", job({"metadata": LABEL}), runtime(), environment()),
    "LocalQueue of the runtime": ("LocalQueue", job(), runtime(LABEL), environment()),
    "LocalQueue of the Environment": ("LocalQueue", job(), runtime(), environment(**kueue(localQueue=ABSENT))),
    "LocalQueue of the Environment's runtimePatches": (
        "LocalQueue", job(), runtime(), environment(**runtime_patch_of({"metadata": LABEL})),
    ),
    "LocalQueue of a patch": ("LocalQueue", job(), runtime(), environment(**patch_of("JobSet", {"metadata": LABEL}))),
    "level of the TrainJob's runtimePatches": (
        "Topology", job(on_pods(metadata={"annotations": RACK})), runtime(), environment(),
    ),
    "level of the runtime": ("Topology", job(), runtime(annotations=RACK), environment()),
    "level of the Environment": (
        "Topology", job(), runtime(), environment(**kueue(localQueue="team-a", topology={"required": ABSENT})),
    ),
    "level of a step in the Environment": (
        "Topology", job(), runtime(),
        environment(**kueue(localQueue="team-a", steps={"node": {"topology": {"preferred": ABSENT}}})),
    ),
    "level of the Environment's runtimePatches": (
        "Topology", job(), runtime(), environment(**runtime_patch_of(on_pods(metadata={"annotations": RACK}))),
    ),
    "level of a patch": (
        "Topology", job(), runtime(), environment(**patch_of("JobSet", on_pods(metadata={"annotations": RACK}))),
    ),
    "Volcano's queue of the TrainJob": (
        "Volcano Queue", job(**VOLCANO_MARK), runtime(), environment(**gang("volcano")),
    ),
    "Volcano's queue of its runtimePatches": (
        "Volcano Queue", job({"metadata": VOLCANO_MARK}), runtime(), environment(**gang("volcano")),
    ),
    "Volcano's queue of the runtime": ("Volcano Queue", job(), runtime(VOLCANO_MARK), environment(**gang("volcano"))),
    "Volcano's queue of the Environment": (
        "Volcano Queue", job(), runtime(), environment(**gang("volcano", queue=ABSENT)),
    ),
    "Volcano's queue of a patch": (
        "Volcano Queue", job(), runtime(),
        environment(**gang("volcano"), **patch_of("PodGroup", {"spec": {"queue": ABSENT}})),
    ),
    "KAI's queue of the TrainJob": ("KAI Queue", job(**KAI_LABEL), runtime(), environment(**gang("kai"))),
    "KAI's queue of its runtimePatches": (
        "KAI Queue", job({"metadata": KAI_LABEL}), runtime(), environment(**gang("kai")),
    ),
    "KAI's queue of the runtime": ("KAI Queue", job(), runtime(KAI_LABEL), environment(**gang("kai"))),
    "KAI's queue of pods that the runtime sends there": (
        "KAI Queue", job(), runtime(KAI_LABEL, {"schedulerName": "kai-scheduler"}), environment(),
    ),
    "KAI's queue of the Environment": ("KAI Queue", job(), runtime(), environment(**gang("kai", queue=ABSENT))),
    "KAI's queue of the Environment's runtimePatches": (
        "KAI Queue", job(), runtime(), environment(**gang("kai"), **runtime_patch_of({"metadata": KAI_LABEL})),
    ),
    "KAI's queue of a patch": (
        "KAI Queue", job(), runtime(), environment(**gang("kai"), **patch_of("JobSet", {"metadata": KAI_LABEL})),
    ),
    "KAI's topology of the TrainJob": (
        "KAI Topology", job(annotations=KAI_MARKS), runtime(), environment(**gang("kai")),
    ),
    "KAI's topology of the runtime": (
        "KAI Topology", job(), runtime({"annotations": KAI_MARKS}), environment(**gang("kai")),
    ),
    "KAI's topology of the Environment": (
        "KAI Topology", job(), runtime(),
        environment(**gang("kai", topology={"name": ABSENT, "required": "example.com/rack"})),
    ),
    "KAI's topology of a patch": (
        "KAI Topology", job(), runtime(),
        environment(**gang("kai"), **patch_of("JobSet", {"metadata": {"annotations": KAI_MARKS}})),
    ),
}  # fmt: skip


def errors(kind: str, *documents: Tree, word: str = ABSENT) -> list[tuple[str, str]]:
    """Each error's code with the line at which it stands; `word` takes the place of the name that does not exist."""
    text = yaml.safe_dump_all([*documents, *FACTS[kind]], sort_keys=False).replace(ABSENT, word)
    result = compile_stream(text)
    told = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    lines = text.splitlines()
    return [(each["code"], lines[each["line"] - 1].strip()) for each in told if each["severity"] == "error"]


@pytest.mark.parametrize(("kind", "job", "runtime", "environment"), CASES.values(), ids=CASES)
def test_what_does_not_exist_is_told_at_the_line_that_names_it(kind, job, runtime, environment):
    [(code, line)] = errors(kind, job, runtime, environment)
    assert code == CODES[kind]
    assert ABSENT in line


NAMES = {
    "PriorityClass": "high",
    "RuntimeClass": "kata",
    "WorkloadPriorityClass": "prod",
    "LocalQueue": "team-a",
    "Topology": "example.com/rack",
    "Volcano Queue": "team-a",
    "KAI Queue": "team-a",
    "KAI Topology": "dc",
}


@pytest.mark.parametrize(("kind", "job", "runtime", "environment"), CASES.values(), ids=CASES)
def test_what_exists_is_no_error(kind, job, runtime, environment):
    assert errors(kind, job, runtime, environment, word=NAMES[kind]) == []


def test_kais_label_is_nothing_to_other_schedulers():
    label = {"labels": {"priorityClassName": ABSENT}}
    assert errors("PriorityClass", job(), runtime(label), environment(**gang("volcano"))) == []
